"""Evaluations whose start and stop have one time, and such as state another place than their start and stop."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from mlsub.log.event import Event
from mlsub.log.lengths import Shift
from mlsub.review.run import audit_lengths
from tests.review.folding import fold, read_run
from tools.support.corpus import CORPUS, SHARED
from tools.support.digits import initialise, recorder
from tools.support.judging import report_on
from tools.support.runner import check


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


# Evaluations whose eval_accuracy states another samples_count than their eval_start and eval_stop.


def shifted(places: list[tuple[Any, Any, Any]]) -> Any:
    """A run with evaluations of which start, accuracy and stop state these samples."""
    made = [Event(line=1, time_ms=0.0, key="run_start", value=None, metadata={})]
    for three in places:
        for key, samples in zip(("eval_start", "eval_accuracy", "eval_stop"), three, strict=True):
            metadata = {} if samples is None else {"samples_count": samples}
            made.append(Event(line=len(made) + 1, time_ms=len(made), key=key, value=0.5, metadata=metadata))
    return fold(made)


@pytest.mark.parametrize(
    ("places", "shift"),
    [
        ([(384, 352, 384), (768, 736, 768)], Shift(2, 3, 352, 384, 32)),
        ([(384, 416, 384), (768, 704, 768)], Shift(2, 3, 416, 384, 64)),
        ([(384, 352, 384), (768, 768, 768)], None),
        ([(384, 384, 384), (768, 736, 768)], None),
        ([(384, 352, 384), (768, 736, 736)], None),
        ([(384, 352, 384), (None, 736, None)], None),
        ([(384, "352", 384)], None),
        ([(384, None, 384)], None),
        ([(float("nan"), 352, float("nan"))], None),
        ([], None),
    ],
)
def test_all_evaluations_of_a_run_state_another_place(places: list[tuple[Any, Any, Any]], shift: Shift | None) -> None:
    assert shifted(places).lengths.shift == shift


@pytest.mark.skipif(not (SHARED / "v6.0-sample").is_dir(), reason="the published sample of v6.0 is not here")
def test_the_mean_that_the_convergence_test_would_have_is_named() -> None:
    outcome = check("--round", "6.0", SHARED / "v6.0-sample" / "MiTAC")
    (found,) = outcome.of("entry.samples-count")
    told = (found["expected"], found["severity"], found["line"])
    assert told == ("384, as in eval_start and eval_stop", "warning", 48)
    assert Path(found["path"]).name == "result_0.txt"
    assert found["actual"] == (
        "352 in eval_accuracy, and so in all 15 evaluations of 1 run; "
        "the convergence test reads a mean of 172,000, by eval_stop it is 172,032"
    )
