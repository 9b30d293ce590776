"""The Lightning callback on real trainings of a small network."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("torch", reason="PyTorch is not installed: make test-all", exc_type=ImportError)
pytest.importorskip("lightning.pytorch", reason="Lightning is not installed: make test-all", exc_type=ImportError)
pytest.importorskip("sklearn", reason="scikit-learn is not installed: make test-all")

from mlsub.emit import DoomedRunError, EmitError
from mlsub.emit.lightning import RecorderCallback
from tests.emit.adapters.common import (
    TrainingCrashError,
    assert_aborted,
    assert_never_started,
    assert_reached,
    digits,
    example,
    judged,
    keys,
    opened,
    records,
    rejecting,
    run_processes,
    said,
)
from tools.support.digits import hyperparameters

pytestmark = pytest.mark.filterwarnings("ignore")


def trainer(*callbacks: Any, **more: Any) -> Any:
    from lightning.pytorch import Trainer

    given = {"max_epochs": 30, "accelerator": "cpu", "devices": 1, "logger": False, "enable_checkpointing": False}
    quiet = {"enable_progress_bar": False, "enable_model_summary": False}
    return Trainer(callbacks=list(callbacks), **{**given, **quiet, **more})


def fit(log: Path, trainer_: dict[str, Any] | None = None, model: Any = None, **more: Any) -> Any:
    """Train with a callback, and return it."""
    from lightning.pytorch import seed_everything

    recorder = {name: more.pop(name) for name in ("division", "strict") if name in more}
    with opened(log, **recorder) as rec:
        callback = RecorderCallback(rec, digits(**{"quality": "val_accuracy", **more}))
        seed_everything(callback.seed, verbose=False)
        trainer(callback, **(trainer_ or {})).fit(model or network())
    return callback


def network() -> Any:
    return example("lightning_digits").Digits()


def test_the_example_trains_to_the_target(log: Path) -> None:
    example("lightning_digits").main(str(log))
    assert_reached(log)
    assert said(log, "run_start", "file")[0].endswith("call.py")


def test_the_seed_of_the_callback_is_logged(log: Path) -> None:
    callback = fit(log, {"max_epochs": 1})
    assert [record["value"] for record in records(log) if record["key"] == "seed"] == [callback.seed]


def test_a_training_that_misses_its_target_is_aborted(log: Path) -> None:
    fit(log, {"max_epochs": 2})
    assert_aborted(log)
    assert rejecting(log) == {"key.eval_accuracy.target"}
    assert said(log, "eval_accuracy", "epoch_num") == [1, 2]


def test_a_forbidden_hyperparameter_is_refused_when_the_callback_is_made(log: Path) -> None:
    with opened(log) as rec, pytest.raises(DoomedRunError, match="opt_momentum"):
        RecorderCallback(rec, digits("val_accuracy", hyperparameters={"opt_momentum": 0.5}))
    assert_never_started(log)


@pytest.mark.parametrize("change", [{"opt_momentum": 0.5}, {"opt_momentum": None}])
def test_what_a_function_gives_is_refused_before_any_training_step(change: dict[str, Any], log: Path) -> None:
    steps: list[int] = []
    model = network()
    model.training_step = lambda batch, batch_idx: steps.append(batch_idx)
    asked: list[Any] = []

    def made(of: Any) -> dict[str, Any]:
        asked.append(of.max_epochs)
        return hyperparameters(**change)

    with pytest.raises(DoomedRunError, match="opt_momentum"):
        fit(log, model=model, hyperparameters=made)
    assert (steps, asked) == ([], [30])
    assert_never_started(log)


def test_a_function_may_make_the_hyperparameters(log: Path) -> None:
    fit(log, hyperparameters=lambda of: hyperparameters(gradient_accumulation_steps=of.accumulate_grad_batches))
    assert_reached(log)


@pytest.mark.parametrize("where", ["training_step", "validation_step"])
def test_an_exception_leaves_an_aborted_log(where: str, log: Path) -> None:
    model = network()
    inner, calls = getattr(model, where), []

    def crash(*given: Any) -> Any:
        calls.append(given)
        if len(calls) == 2:
            raise TrainingCrashError
        return inner(*given)

    setattr(model, where, crash)
    with pytest.raises(TrainingCrashError):
        fit(log, {"num_sanity_val_steps": 0}, model)
    assert_aborted(log)


def test_the_clock_runs_before_any_data_are_asked_for(log: Path) -> None:
    model, states = network(), []

    def watch(name: str) -> None:
        inner = getattr(model, name)
        setattr(model, name, lambda: states.append("run_start" in keys(log)) or inner())

    watch("train_dataloader")
    watch("val_dataloader")
    fit(log, {"max_epochs": 1, "num_sanity_val_steps": 2}, model)
    assert states == [True, True]
    # The sanity check is no evaluation.
    assert keys(log).count("eval_start") == 1


def test_evaluations_in_the_middle_of_an_epoch_say_its_part(log: Path) -> None:
    fit(log, {"max_epochs": 2, "val_check_interval": 15}, done=lambda quality: False)
    batch = 32 / 1437
    thirds = [round(15 * batch, 6), round(30 * batch, 6), 1, round(1 + 15 * batch, 6), round(1 + 30 * batch, 6), 2]
    assert said(log, "eval_accuracy", "epoch_num") == thirds
    assert said(log, "block_start", "first_epoch_num") == [1, 1, 1, 2, 2, 2]
    assert said(log, "block_start", "epoch_count") == [pytest.approx(1 / 3, abs=1e-6)] * 6


def test_blocks_of_several_epochs_say_how_many(log: Path) -> None:
    fit(log, {"max_epochs": 4, "check_val_every_n_epoch": 2}, done=lambda quality: False)
    assert said(log, "eval_accuracy", "epoch_num") == [2, 4]
    assert said(log, "block_start", "first_epoch_num") == [1, 3]
    assert said(log, "block_start", "epoch_count") == [2, 2]


def test_accumulated_batches_count_as_parts_of_a_step(log: Path) -> None:
    seen: list[Any] = []
    fit(
        log,
        {"max_epochs": 2, "accumulate_grad_batches": 2},
        batch_size=64,
        hyperparameters=hyperparameters(global_batch_size=64, gradient_accumulation_steps=2),
        progress=lambda position: seen.append(position) or {"epoch_num": position.epoch},
        done=lambda quality: False,
    )
    assert said(log, "eval_accuracy", "epoch_num") == [1, 2]
    assert {(p.samples, p.step) for p in seen} == {(0, 0), (1437, 23), (2874, 46)}


def test_open_may_train_on_to_a_quality_of_its_own(log: Path) -> None:
    fit(log, division="open", done=lambda quality: float(quality) >= 0.9)
    qualities = [record["value"] for record in records(log) if record["key"] == "eval_accuracy"]
    assert [quality >= 0.9 for quality in qualities] == [False] * (len(qualities) - 1) + [True]
    assert judged(log).status == "success"


def test_a_metric_that_is_not_there_is_told(log: Path) -> None:
    with pytest.raises(EmitError) as told:
        fit(log, quality="accuracy")
    assert str(told.value) == "no metric is called 'accuracy'; the evaluation has val_accuracy"
    assert_aborted(log)


def test_a_function_may_find_the_quality(log: Path) -> None:
    fit(log, {"max_epochs": 1}, quality=lambda metrics: metrics["val_accuracy"] * 0 + 0.5)
    assert [record["value"] for record in records(log) if record["key"] == "eval_accuracy"] == [0.5]


def test_a_second_training_is_not_logged_into_the_first(log: Path) -> None:
    with opened(log) as rec:
        callback = RecorderCallback(rec, digits("val_accuracy"))
        trainer(callback, max_epochs=1).fit(network())
        before = log.read_text()
        with pytest.raises(EmitError, match="one recorder is one run"):
            trainer(callback, max_epochs=1).fit(network())
    assert log.read_text() == before


def test_the_other_package_of_lightning_will_do(log: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    other = pytest.importorskip("pytorch_lightning", reason="pytorch_lightning is not installed")
    monkeypatch.setitem(sys.modules, "lightning.pytorch", other)
    script = example("lightning_digits")
    assert issubclass(script.Digits, other.LightningModule)
    script.main(str(log))
    assert_reached(log)


TWO = """
import gc
import sys
from lightning.pytorch import Trainer, seed_everything
from mlsub.emit.lightning import LightningRanks, RecorderCallback
from tests.emit.adapters.common import digits, example, opened

with opened(sys.argv[1], ranks=LightningRanks()) as recorder:
    callback = RecorderCallback(recorder, digits("val_accuracy"))
    seed_everything(callback.seed, verbose=False)
    model = example("lightning_digits")
    model.BATCH_SIZE = 16
    Trainer(
        max_epochs=30, callbacks=[callback], accelerator="cpu", devices=2, strategy="ddp", logger=False,
        enable_checkpointing=False, enable_progress_bar=False, enable_model_summary=False,
    ).fit(model.Digits())
gc.collect()
"""


def test_processes_that_lightning_starts_write_one_log(log: Path, tmp_path: Path) -> None:
    script = tmp_path / "two.py"
    script.write_text(TWO)
    done = run_processes(script, log)
    assert done.returncode == 0, done.stderr[-3000:]
    assert_reached(log)
