"""Evaluations whose start and stop have one time: logged after the fact, or with a clock that nobody read."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from mlsub.log.event import Event
from mlsub.review.run import audit_lengths
from tests.review.folding import fold, read_run
from tools.support.corpus import CORPUS
from tools.support.digits import initialise, recorder
from tools.support.judging import report_on


def run(lengths: list[float], between: float = 60_000, benchmark: str = "resnet") -> Any:
    """A run with evaluations of these lengths (ms), each after so many ms of training."""
    made: list[Event] = []

    def log(key: str, time_ms: float, value: Any = None, **metadata: Any) -> None:
        made.append(Event(line=len(made) + 1, time_ms=time_ms, key=key, value=value, metadata=metadata))

    clock = 1_000.0
    log("submission_benchmark", clock, benchmark)
    log("eval_start", clock)
    log("eval_stop", clock)
    log("run_start", clock)
    for length in lengths:
        clock += between
        log("eval_start", clock)
        clock += length
        log("eval_stop", clock)
    log("run_stop", clock, status="success")
    log("eval_start", clock)
    log("eval_stop", clock)
    return fold(made)


@pytest.mark.parametrize(
    ("lengths", "actual"),
    [
        ([0, 0, 0], "3 of 3 evaluations take no time, in a run of 180 s"),
        ([0, 1, 2], "3 of 3 evaluations take 2 ms or less, in a run of 180 s"),
        ([0, 0, 9_000], "2 of 3 evaluations take no time, in a run of 189 s"),
        ([-5, 0, 0], "3 of 3 evaluations take no time, in a run of 180 s"),
        ([0, 9_000], None),
        ([65, 66, 70], None),
        ([], None),
    ],
)
def test_most_evaluations_of_a_run_take_no_time(lengths: list[float], actual: str | None) -> None:
    found = list(audit_lengths(run(lengths), "result_0.txt", "training", "2.1"))
    assert [(one.rule, one.actual, one.line) for one in found] == ([("run.eval-length", actual, 5)] if actual else [])


def test_a_toy_may_be_evaluated_in_no_time() -> None:
    assert list(audit_lengths(run([0, 0, 0], between=999), "result_0.txt", "training", "2.1")) == []


@pytest.mark.parametrize("round_", ["3.1", "5.1"])
def test_what_may_be_evaluated_after_the_run_has_no_length_in_it(round_: str) -> None:
    stable = run([0, 0], benchmark="stable_diffusion")
    assert list(audit_lengths(stable, "result_0.txt", "training", round_)) == []
    assert list(audit_lengths(stable, "result_0.txt", "training", "3.0"))


def test_clocks_that_are_none_say_nothing() -> None:
    strange = run([float("nan"), float("inf")])
    assert list(audit_lengths(strange, "result_0.txt", "training", "2.1")) == []


@pytest.mark.parametrize("after_the_fact", [True, False])
def test_the_recorders_evaluate_leads_to_it_and_its_evaluation_does_not(
    after_the_fact: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    clock = [1_700_000_000.0]
    monkeypatch.setattr("mlsub.emit.writer.time.time", lambda: clock[0])
    log = tmp_path / "result_0.txt"
    with recorder(log) as rec:
        initialise(rec)
        with rec.run():
            with rec.block(first_epoch=1):
                clock[0] += 30
            if after_the_fact:
                rec.evaluate(0.97, epoch=1)
            else:
                with rec.evaluation(epoch=1) as evaluation:
                    clock[0] += 3
                    evaluation.result(0.97)
    report = report_on(log, "rehearsal", "1.0")
    assert report.compliant
    assert [one.actual for one in report.findings if one.rule == "run.eval-length"] == (
        ["1 of 1 evaluations take no time, in a run of 30 s"] if after_the_fact else []
    )


# The published evaluations that take least, and those of the 50 logs that have no length: they may come after the run.
PUBLISHED = {
    "v4.0/smc-ac-power/results/8xSMC-H100-SXM-80GB/resnet": ("4.0", False),
    "v0.7/Google/results/tpu-v4-512-TF/transformer": ("0.7", False),
    "v4.1/Google/results/cloud-tpu-v5p-16-maxdiffusion/stable_diffusion": ("4.1", True),
}


@pytest.mark.skipif(not CORPUS.is_dir(), reason="needs the published logs (folder shared, beside the repository)")
@pytest.mark.parametrize("entry", PUBLISHED)
def test_no_published_log_is_reported(entry: str) -> None:
    round_, short = PUBLISHED[entry]
    for file in sorted((CORPUS / entry).glob("result_*.txt"))[:3]:
        found = read_run(file)
        assert found.lengths.count > 0
        assert (2 * found.lengths.short > found.lengths.count) is short
        assert list(audit_lengths(found, file.name, "training", round_)) == []
