"""From judged logs to the runs that a median window is made of, and what is odd about them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, ClassVar

from mlsub.commands.score.select import Selection, TimedRun, overlapping
from mlsub.io.show import show
from mlsub.log.report import LogReport
from mlsub.present.envelope import Answer
from mlsub.review.cross import audit_same_runs
from mlsub.rules.load import Benchmark

#: Copies, and runs without a start, that are told one by one.
_MAX_TOLD = 5
_SAME = (("submission_platform", "system"), ("submission_org", "organisation"), ("submission_division", "division"))


class Selected(Answer, frozen=True, kw_only=True):
    """Which of more runs than needed to submit: the selection, those runs, and what a reader should know of them."""

    SCHEMA: ClassVar[int] = 1

    usage: str
    round: str
    benchmark: str
    selection: Selection
    submit: tuple[str, ...]
    notes: tuple[str, ...]


def timed(log: LogReport) -> TimedRun | None:
    """A run with its start; None where the log has none, so that it has no place in the order.

    A run that died before run_start counts all the same, from its first sign of life.
    """
    timeline = log.run.timeline
    started = timeline.run_start
    if started is None and not log.compliant:
        started = timeline.init_start if timeline.init_start is not None else timeline.first
    if started is None or not abs(started) < 1e15:
        return None
    if not log.compliant:
        return TimedRun(log.path, started, None, "noncompliant")
    if not log.run.converged:
        return TimedRun(log.path, started, None, "did not converge")
    return TimedRun(log.path, started, log.minutes, None if log.minutes is not None else "no run interval")


def mixed(logs: Sequence[LogReport]) -> Iterator[str]:
    """Why runs are not one experiment repeated."""
    for key, word in _SAME:
        yield from _several(key, word, [log.run.identity.get(key) for log in logs])
    sizes = [log.run.hyperparameters.get("global_batch_size") for log in logs]
    yield from _several("global_batch_size", "batch size", sizes)


def _several(key: str, word: str, values: Sequence[Any]) -> Iterator[str]:
    told = sorted({show(value) for value in values if value is not None})
    if len(told) > 1:
        yield f"the runs are of more than one {word} ({key}: {', '.join(told[:4])})"


def notes_on(selection: Selection, needs: Benchmark) -> Iterator[str]:
    """What a reader should know."""
    if selection.size != needs.runs:
        yield f"an entry of {needs.name} has {needs.runs} runs, not {selection.size}"
    runs = selection.runs
    pairs = [f"{first + 1} and {second + 1}" for first, second in overlapping(runs)]
    if pairs:
        shown = ", ".join(pairs[:5]) + (f", and {len(pairs) - 5} more" if len(pairs) > 5 else "")
        yield f"runs overlap in time, so that they ran on different machines, or a clock is wrong: {shown}"
    if len(runs) == selection.size:
        yield "there are no more runs than one window has, so that nothing is selected"


def of_several_benchmarks(logs: Sequence[LogReport]) -> Iterator[str]:
    """What is wrong where logs name more than one benchmark."""
    named = sorted({str(log.benchmark) for log in logs if log.benchmark})
    if len(named) > 1:
        yield f"the runs are of more than one benchmark ({', '.join(named[:5])}); name those of one"


def no_experiment(logs: Sequence[LogReport]) -> Iterator[str]:
    """Why the logs are not one experiment repeated, each run of it once and with its place in the order."""
    yield from [f"{log.path} has no run_start" for log in logs if timed(log) is None][:_MAX_TOLD]
    yield from mixed(logs)
    copies = [f"{copy.path} tells of a run that is there already: {copy.actual}" for copy in audit_same_runs(logs)]
    yield from copies[:_MAX_TOLD]


def no_window(count: int, size: int, forgiven: int) -> Iterator[str]:
    """Why so many runs have no window of a size."""
    least = 2 * forgiven + 1
    if size < least:
        yield f"a window of {size} has no olympic score, which leaves out {2 * forgiven} runs; name {least} or more"
    elif count < size:
        yield f"there are {count} runs, and a window has {size}"
