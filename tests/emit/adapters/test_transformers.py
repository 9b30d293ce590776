"""The Hugging Face callback on real trainings of a small network."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("torch", reason="PyTorch is not installed: make test-all", exc_type=ImportError)
pytest.importorskip("accelerate", reason="Accelerate is not installed: make test-all", exc_type=ImportError)
pytest.importorskip("transformers", reason="Transformers is not installed: make test-all", exc_type=ImportError)
pytest.importorskip("sklearn", reason="scikit-learn is not installed: make test-all")

from mlsub.emit import DoomedRunError, EmitError
from mlsub.emit.transformers import RecorderCallback
from tests.emit.adapters.common import (
    TrainingCrashError,
    assert_aborted,
    assert_never_started,
    assert_reached,
    digits,
    example,
    keys,
    opened,
    rejecting,
    run_processes,
    said,
)
from tools.support.digits import hyperparameters

pytestmark = pytest.mark.filterwarnings("ignore")


def fit(log: Path, given: dict[str, Any] | None = None, network: Any = None, **more: Any) -> Any:
    """Train with a callback, and return it; ``sets`` and ``callbacks`` go to the Trainer."""
    import torch

    script = example("transformers_digits")
    recorder = {name: more.pop(name) for name in ("division", "strict") if name in more}
    sets = {"train_dataset": script.Digits(training=True), "eval_dataset": script.Digits(training=False)}
    sets.update(more.pop("sets", {}))
    others = more.pop("callbacks", [])
    with opened(log, **recorder) as rec:
        callback = RecorderCallback(rec, digits(**{"quality": "eval_accuracy", **more}))
        torch.manual_seed(callback.seed)
        script.DigitsTrainer(
            network or script.Network(),
            script.arguments(str(log.parent), callback.seed, **{"num_train_epochs": 30, **(given or {})}),
            compute_metrics=script.accuracy,
            callbacks=[callback, *others],
            **sets,
        ).train()
    return callback


def test_the_example_trains_to_the_target(log: Path) -> None:
    example("transformers_digits").main(str(log))
    assert_reached(log)


def test_a_training_that_misses_its_target_is_aborted(log: Path) -> None:
    fit(log, {"num_train_epochs": 2})
    assert_aborted(log)
    assert rejecting(log) == {"key.eval_accuracy.target"}
    assert said(log, "eval_accuracy", "epoch_num") == [1, 2]


@pytest.mark.parametrize("change", [{"opt_momentum": 0.5}, {"opt_momentum": None}])
def test_what_a_function_gives_is_refused_before_any_training_step(change: dict[str, Any], log: Path) -> None:
    network = example("transformers_digits").Network()
    steps: list[Any] = []
    network.layers.register_forward_hook(lambda *given: steps.append(given))
    asked: list[Any] = []

    def made(of: Any) -> dict[str, Any]:
        asked.append(of.num_train_epochs)
        return hyperparameters(**change)

    with pytest.raises(DoomedRunError, match="opt_momentum"):
        fit(log, network=network, hyperparameters=made)
    assert (steps, asked) == ([], [30])
    assert_never_started(log)


@pytest.mark.parametrize("training", [True, False])
def test_an_exception_leaves_an_aborted_log(training: bool, log: Path) -> None:
    network = example("transformers_digits").Network()
    calls: list[int] = []

    def crash(*given: Any) -> None:
        calls.append(1)
        if network.training is training and len(calls) > 2:
            raise TrainingCrashError

    network.layers.register_forward_hook(crash)
    with pytest.raises(TrainingCrashError):
        fit(log, network=network)
    assert_aborted(log)
    assert ("eval_start" in keys(log)) is not training


def test_the_clock_runs_before_any_sample_is_read(log: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    script, states = example("transformers_digits"), []
    inner = script.Digits._read

    def watched(self: Any) -> Any:
        states.append("run_start" in keys(log))
        return inner(self)

    monkeypatch.setattr(script.Digits, "_read", watched)
    sets = {"train_dataset": script.Digits(training=True), "eval_dataset": script.Digits(training=False)}
    fit(log, {"num_train_epochs": 1}, sets=sets)
    assert states == [True, True]


def test_evaluations_in_the_middle_of_an_epoch_say_its_part(log: Path) -> None:
    fit(log, {"num_train_epochs": 2, "eval_strategy": "steps", "eval_steps": 15}, done=lambda quality: False)
    batch = 32 / 1437
    thirds = [round(15 * batch, 6), round(30 * batch, 6), 1, round(1 + 15 * batch, 6), round(1 + 30 * batch, 6), 2]
    assert said(log, "eval_accuracy", "epoch_num") == thirds
    assert said(log, "block_start", "first_epoch_num") == [1, 1, 1, 2, 2, 2]
    assert said(log, "block_start", "epoch_count") == [round(15 * batch, 6)] * 6


def test_a_limit_of_steps_does_not_make_a_whole_epoch(log: Path) -> None:
    fit(log, {"max_steps": 55, "eval_strategy": "steps", "eval_steps": 45}, done=lambda quality: False)
    assert said(log, "eval_accuracy", "epoch_num") == [1, round(1 + 10 * 32 / 1437, 6)]


def test_an_evaluation_before_the_training_counts_as_epoch_0(log: Path) -> None:
    fit(log, {"num_train_epochs": 1, "eval_on_start": True})
    assert said(log, "eval_accuracy", "epoch_num") == [0, 1]


def test_the_quality_may_come_from_one_of_several_data_sets(log: Path) -> None:
    script = example("transformers_digits")
    sets = {"eval_dataset": {"other": script.Digits(training=True), "held_out": script.Digits(training=False)}}
    fit(log, sets=sets, quality="eval_held_out_accuracy")
    assert_reached(log)


def test_accumulated_batches_make_one_step(log: Path) -> None:
    seen: list[Any] = []
    fit(
        log,
        {"num_train_epochs": 2, "gradient_accumulation_steps": 2},
        batch_size=64,
        hyperparameters=hyperparameters(global_batch_size=64, gradient_accumulation_steps=2),
        progress=lambda position: seen.append(position) or {"epoch_num": position.epoch},
        done=lambda quality: False,
    )
    assert {(p.samples, p.step) for p in seen} == {(0, 0), (1437, 23), (2874, 46)}


def test_a_metric_that_is_not_there_is_told(log: Path) -> None:
    with pytest.raises(EmitError, match=r"no metric is called 'accuracy'; the evaluation has .*eval_accuracy"):
        fit(log, quality="accuracy")
    assert_aborted(log)


def test_two_processes_write_one_log(log: Path, tmp_path: Path) -> None:
    script = tmp_path / "two.py"
    script.write_text(TWO)
    done = run_processes(script, log, 2)
    assert done.returncode == 0, done.stderr[-3000:]
    assert_reached(log)


TWO = """
import gc
import sys
import torch
from accelerate import PartialState
from mlsub.emit.transformers import RecorderCallback
from tests.emit.adapters.common import digits, example, opened

PartialState(cpu=True)
script = example("transformers_digits")
with opened(sys.argv[1]) as recorder:
    callback = RecorderCallback(recorder, digits("eval_accuracy"))
    torch.manual_seed(callback.seed)
    script.DigitsTrainer(
        script.Network(), script.arguments("out", callback.seed, per_device_train_batch_size=16),
        train_dataset=script.Digits(training=True), eval_dataset=script.Digits(training=False),
        compute_metrics=script.accuracy, callbacks=[callback],
    ).train()
gc.collect()
torch.distributed.destroy_process_group()
"""
