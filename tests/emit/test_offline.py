"""Benchmarks that are evaluated after the run: whose records take the time of a checkpoint, and that no others do."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from mlsub.emit import EmitError
from mlsub.log.event import step_of
from tests.docs.pages import blocks
from tests.emit.adapters.common import records
from tools.oracle.generate import Combination, compliant_log
from tools.support.digits import initialise, recorder
from tools.support.judging import report_on

#: What the generator puts in place of some of the keys, or the recorder writes.
APART = {"cache_clear", "train_samples", "eval_samples", "seed"}
GRPO = Combination("6.1", "qwen35_397b_grpo", "closed", None)
START = 1_790_000_000_000


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """The time in ms, which goes on by a second with each look at it."""
    now = [START]

    def tick() -> float:
        now[0] += 1000
        return now[0] / 1000

    monkeypatch.setattr("time.time", tick)
    return now


def hyperparameters() -> dict[str, Any]:
    """Those of a run of GRPO that the rules accept, with 256 samples a step."""
    made = {one["key"]: one["value"] for one in compliant_log(GRPO, stated={"global_batch_size": 256})}
    return {key: value for key, value in made.items() if step_of(key) == "hyperparameters" and key not in APART}


def test_the_recipe_of_the_page_leaves_a_log_that_is_right(log: Path, clock: list[int]) -> None:
    [recipe] = [code for code in blocks("docs/emit.md", "python") if "time_ms=" in code]
    with recorder(log, usage="training", round="6.1", benchmark="qwen35_397b_grpo") as rec:
        rec.log("cache_clear", True)
        with rec.init():
            rec.hyperparameters(hyperparameters())
            rec.samples(train=16_384, evaluation=251)
            rec.fresh_seed()
        exec(compile(recipe, "docs/emit.md", "exec"), {"recorder": rec})  # noqa: S102
    written = records(log)
    [stop] = [one for one in written if one["key"] == "run_stop"]
    evaluations = [one for one in written if one["key"] == "eval_accuracy"]
    last_block = [one for one in written if one["key"] == "block_stop"][-1]
    assert stop["metadata"]["status"] == "success"
    # The time to train ends with the checkpoint, though the training went on and the evaluations came later.
    assert stop["time_ms"] == evaluations[-1]["time_ms"] < last_block["time_ms"]
    assert written.index(stop) > written.index(evaluations[-1]) > written.index(last_block)
    report = report_on(log, "training", "6.1")
    assert report.compliant
    asked = {
        "run.clock-backwards",
        "run.eval-length",
        "run.eval-missing",
        "run.progress-backwards",
        "run.interval-negative",
    }
    assert asked & {one.rule for one in report.findings} == set()


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(
    ("usage", "name", "benchmark", "progress", "taken"),
    [
        ("training", "6.1", "qwen35_397b_grpo", {"samples": 4608}, True),
        ("training", "5.0", "stable_diffusion", {"samples": 512_000}, True),
        ("training", "6.1", "llama31_8b", {"samples": 12_288}, False),
        ("hpc", "3.0", "openfold", {"epoch": 1}, False),
    ],
)
def test_a_time_is_taken_where_the_benchmark_is_evaluated_after_the_run_and_refused_elsewhere(
    usage: str, name: str, benchmark: str, progress: dict[str, int], taken: bool, log: Path, clock: list[int]
) -> None:
    value: Any = {"FID": 91.0, "CLIP": 0.1} if benchmark == "stable_diffusion" else 0.5
    given = {"usage": usage, "round": name, "benchmark": benchmark}
    with recorder(log, strict="warn", division="open", **given) as rec, rec.run() as run:
        checkpoint = clock[0]
        clock[0] += 60_000
        if taken:
            rec.evaluate(value, time_ms=checkpoint, **progress)
            run.stop(time_ms=checkpoint)
        else:
            said = f"takes no time_ms: {benchmark} is not evaluated after the run"
            with pytest.raises(EmitError, match=said):
                rec.evaluate(value, time_ms=checkpoint, **progress)
            with pytest.raises(EmitError, match=said):
                run.stop(time_ms=checkpoint)
            run.stop()
    written = records(log)
    assert written[-1]["key"] == "run_stop"
    late = {one["key"] for one in written if one["key"].startswith("eval_") or one["key"] == "run_stop"}
    assert {one["key"] for one in written if one["time_ms"] == checkpoint} - {"run_start"} == (late if taken else set())


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("wrong", [START // 1000, START - 1, START + 10_000_000, 1.5, "now", True])
def test_a_time_that_is_not_in_the_run_is_refused_and_the_run_can_still_be_stopped(
    wrong: Any, log: Path, clock: list[int]
) -> None:
    with recorder(log, usage="training", round="6.1", benchmark="qwen35_397b_grpo", strict="warn") as rec:
        with pytest.raises(EmitError, match="run_start, which is not logged"):
            rec.evaluate(0.7, samples=4608, time_ms=clock[0])
        with rec.run() as run:
            checkpoint = clock[0]
            with pytest.raises(EmitError, match="time_ms"):
                rec.evaluate(0.7, samples=4608, time_ms=wrong)
            with pytest.raises(EmitError, match="time_ms"):
                run.stop(time_ms=wrong)
            rec.evaluate(0.7, samples=4608, time_ms=checkpoint)
            run.stop(time_ms=checkpoint)
    assert [(one["key"], one["time_ms"]) for one in records(log)][-1] == ("run_stop", checkpoint)
    assert len([one for one in records(log) if one["key"].startswith(("eval_", "run_stop"))]) == 4


def test_other_records_take_no_time(log: Path) -> None:
    with recorder(log) as rec:
        initialise(rec)
        with pytest.raises(EmitError, match="takes no time_ms"):
            rec.block(first_epoch=1, time_ms=START).start()
        with pytest.raises(EmitError, match="takes no time_ms"):
            rec.log("notice", time_ms=1)
