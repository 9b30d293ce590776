"""What adapters do without any framework: counting, the units of every benchmark and round, and what to install."""

from __future__ import annotations

import subprocess
import sys
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mlsub.convergence import unit_words
from mlsub.emit import EmitError, Position, Recorder
from mlsub.emit.adapting import PositionMetadata, ProgressCounter, Session
from mlsub.rounds import get_round
from tests.emit.adapters.common import ROOT, digits, keys, opened, records, said
from tests.emit.drive import emitted
from tests.emit.test_ranks import together
from tools.oracle.generate import Combination, usage_and_round
from tools.support.digits import recorder
from tools.support.effort import HUNG
from tools.support.sample import rows

training = partial(recorder, usage="training", strict="warn")
MIDDLE = Position(1.5, 1500, 30)


@pytest.mark.parametrize(
    ("round_", "benchmark", "evaluation", "block"),
    [
        ("2.1", "resnet", {"epoch_num": 1.5}, {"first_epoch": 2, "epochs": 0.5}),
        ("5.0", "bert", {"epoch_num": 1500}, {"first_epoch": 1500, "epochs": 500}),
        ("3.1", "stable_diffusion", {"step_num": 30}, {"steps_so_far": 30}),
        ("5.0", "stable_diffusion", {"samples_count": 1500}, {"samples_so_far": 1500}),
        ("4.0", "llama2_70b_lora", {"samples_count": 1500}, {"samples_so_far": 1500}),
        ("5.1", "llama31_8b", {"samples_count": 1500}, {"samples_so_far": 1500}),
    ],
)
def test_positions_are_said_as_benchmark_and_round_count(
    round_: str, benchmark: str, evaluation: dict[str, Any], block: dict[str, Any], tmp_path: Path
) -> None:
    with training(tmp_path / "result_0.txt", round=round_, benchmark=benchmark) as rec:
        language = PositionMetadata(rec)
        assert language.evaluation_metadata(MIDDLE) == evaluation
        assert language.block_arguments(MIDDLE, 0.5, 1000) == block


def test_every_benchmark_of_every_round_gets_the_metadata_it_demands(tmp_path: Path) -> None:
    asked = 0
    for number, each in enumerate(rows(emitted())):
        usage, round_ = usage_and_round(each.round)
        kind: dict[str, Any] = {"usage": usage, "round": round_, "benchmark": each.benchmark, "division": each.division}
        with training(tmp_path / f"result_{number}.txt", **kind) as rec:
            asked += _demands_are_met(rec, each)
    assert asked > 40


def _demands_are_met(rec: Recorder, each: Combination) -> bool:
    if unit_words(each.benchmark, get_round(*usage_and_round(each.round))) == "tokens":
        with pytest.raises(EmitError, match="counts tokens"):
            PositionMetadata(rec)
        language = PositionMetadata(rec, lambda position: {"epoch_num": position.samples * 2048})
    else:
        language = PositionMetadata(rec)
    words = language.evaluation_metadata(MIDDLE)
    for name in ("eval_start", "eval_stop", rec.units.quality_key):
        rec.units.metadata(name, words)
    with rec.block(**language.block_arguments(MIDDLE, 0.5, 1000)):
        pass
    return True


@given(samples=st.integers(1, 5000), batch=st.integers(1, 600), epochs=st.integers(1, 4), drop_last=st.booleans())
def test_samples_never_run_backwards_and_whole_epochs_are_whole(
    samples: int, batch: int, epochs: int, drop_last: bool
) -> None:
    batch = min(batch, samples)
    steps = samples // batch if drop_last else -(-samples // batch)
    course, before = ProgressCounter(samples, batch), Position(0, 0, 0)
    assert course.position() == before
    for epoch in range(1, epochs + 1):
        for step in range(1, steps + 1):
            course.advance(batch, (epoch - 1) * steps + step)
            now = course.position()
            assert before.samples < now.samples and before.step < now.step and before.epoch <= now.epoch <= epoch
            before = now
        course.end_epoch()
        course.end_epoch()
        seen = steps * batch if drop_last else samples
        before = course.position()
        assert before == (epoch, epoch * seen, epoch * steps)
        assert isinstance(before.epoch, int)


def test_an_evaluation_that_comes_to_nothing_is_closed(tmp_path: Path) -> None:
    log = tmp_path / "result_0.txt"
    with opened(log) as rec:
        session = Session(rec, digits("accuracy"))
        session.start(None)
        session.open_block()
        session.begin_evaluation()
        session.open_block()
        assert not session.take_metrics({"accuracy": 0.5})
        session.finish()
        session.finish()
    after = keys(log)[keys(log).index("run_start") + 1 :]
    block, evaluation = ["block_start", "block_stop"], ["eval_start", "eval_stop"]
    assert after == [*block, *evaluation, *block, "eval_start", "eval_accuracy", "eval_stop", "run_stop"]


def test_several_measures_are_found_by_their_metrics(tmp_path: Path) -> None:
    log = tmp_path / "result_0.txt"
    with training(log, round="3.0", benchmark="maskrcnn") as rec, pytest.warns(UserWarning):
        session = Session(rec, digits({"BBOX": "box_map", "SEGM": "mask_map"}))
        session.start(None)
        assert not session.take_metrics({"box_map": 0.1}, last=False)
        assert session.take_metrics({"box_map": 0.4, "mask_map": 0.35, "loss": 1})
    assert [r["value"] for r in records(log) if r["key"] == "eval_accuracy"] == [{"BBOX": 0.4, "SEGM": 0.35}]
    assert said(log, "run_stop", "status") == ["success"]


def test_a_training_that_fails_after_its_end_stays_what_it_is(tmp_path: Path) -> None:
    log = tmp_path / "result_0.txt"
    with opened(log) as rec:
        session = Session(rec, digits("accuracy"))
        session.start(None)
        assert session.take_metrics({"accuracy": 0.97})
        session.fail()
        assert session.take_metrics({"accuracy": 0.1}) and not session.running
    assert (keys(log).count("run_stop"), said(log, "run_stop", "status")) == (1, ["success"])


def test_a_refusal_of_what_a_function_gives_reaches_every_process(tmp_path: Path) -> None:
    def work(rank: int, ranks: Any) -> None:
        training = digits("accuracy", seed=1, hyperparameters=lambda made: {"opt_momentum": 0.5})
        with opened(tmp_path / "result_0.txt", ranks=ranks) as rec:
            Session(rec, training).start(None)

    outcomes = together(3, work)
    assert ["opt_momentum" in str(error) for error in outcomes] == [True] * 3
    assert all(isinstance(error, EmitError) for error in outcomes)


def test_only_the_writers_word_says_that_a_training_is_done(tmp_path: Path) -> None:
    def work(rank: int, ranks: Any) -> bool:
        with opened(tmp_path / "result_0.txt", ranks=ranks, division="open") as rec:
            session = Session(rec, digits("accuracy", seed=1, done=lambda quality: quality > 0.9))
            session.start(None)
            # One process alone would go on, and the others would wait for it for ever.
            return session.take_metrics({"accuracy": 0.95 if rank == 0 else 0.1})

    assert together(3, work) == [True, True, True]


def test_a_forked_process_does_not_write_into_the_log_of_another(tmp_path: Path) -> None:
    class Forked:
        rank, size = 0, 2

        def barrier(self) -> None:
            pass

        def share(self, value: Any) -> Any:
            return value

    ranks = Forked()
    with opened(tmp_path / "result_0.txt", ranks=ranks) as rec:
        session = Session(rec, digits("accuracy"))
        ranks.rank = 1
        with pytest.raises(EmitError, match="process 1 was forked from the one that opened the log"):
            session.start(None)


MISSING = {
    "lightning": ("PyTorch Lightning", ["lightning", "lightning.pytorch", "pytorch_lightning"]),
    "transformers": ("Hugging Face Transformers", ["transformers"]),
    "keras": ("Keras 3", ["keras", "keras.callbacks"]),
}


@pytest.mark.parametrize("name", MISSING)
def test_a_framework_that_is_not_there_is_told(name: str) -> None:
    title, modules = MISSING[name]
    code = f"""
import sys
sys.modules.update(dict.fromkeys({modules}))
try:
    import mlsub.emit.{name}
except ImportError as error:
    print(error)
"""
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, timeout=HUNG)
    assert (done.stdout, done.stderr) == (
        f"{title} is not installed. Install it from a copy of the source: pip install '.[{name}]'\n",
        "",
    )
    # One line, with no second exception above it.
    bare = f"import sys; sys.modules.update(dict.fromkeys({modules})); import mlsub.emit.{name}"
    raised = subprocess.run([sys.executable, "-c", bare], cwd=ROOT, capture_output=True, text=True, timeout=HUNG)
    assert raised.stderr.count("Error") == 1
