"""``mlsub score --window N``: which of more runs than needed to submit."""

from __future__ import annotations

import math
import sys
from collections.abc import Iterable, Iterator, Sequence
from datetime import UTC, datetime
from itertools import pairwise
from statistics import median
from typing import Any, ClassVar, NoReturn

import msgspec

from mlsub.commands.options import Asked
from mlsub.commands.output import Target, tell
from mlsub.io.show import show
from mlsub.log.report import LogReport
from mlsub.present.document import Column, Document, Facts, Span, Table, Text, document
from mlsub.present.envelope import Answer
from mlsub.present.terminal import progress_bar
from mlsub.review.cross import audit_same_runs
from mlsub.rules.load import Benchmark, benchmark
from mlsub.score.scaled import olympic_mean
from mlsub.workspace.runs import find_runs, one_benchmark, read_runs, round_of

#: Problems of one kind, and pairs of runs, that are named.
_MAX_NAMED = 5
_SAME = (
    ("submission_platform", "system"),
    ("submission_org", "organisation"),
    ("submission_division", "division"),
)


class TimedRun(msgspec.Struct, frozen=True):
    """One run: its file, when it started (ms since the Unix epoch) and its time to train in minutes.

    ``minutes`` is None for a run that counts as infinitely slow; ``why`` says why it does.
    """

    path: str
    started: float
    minutes: float | None
    why: str | None = None


class Window(msgspec.Struct, frozen=True):
    """Runs that follow one another, ``first`` to ``last`` counted from 0; ``minutes`` is None where it is invalid."""

    first: int
    last: int
    minutes: float | None


class Selection(msgspec.Struct, frozen=True):
    """The outcome.

    ``runs`` are in the order of their start; ``median`` is that of all windows' scores in minutes, of an even number
    the mean of the two in the middle. It is None where it is infinite, and then ``chosen`` (a number of ``windows``) is
    None as well: half of the windows or more are invalid.
    """

    size: int
    runs: tuple[TimedRun, ...]
    windows: tuple[Window, ...]
    median: float | None
    chosen: int | None

    @property
    def submitted(self) -> tuple[TimedRun, ...]:
        """The runs to submit; none without a valid result."""
        if self.chosen is None:
            return ()
        window = self.windows[self.chosen]
        return self.runs[window.first : window.last + 1]


def select_window(runs: Sequence[TimedRun], size: int, forgiven: int) -> Selection:
    """Apply the median window.

    An even number of windows has its median between two that are equally near. The slower of them is taken, so that
    nothing can be gained by the number of runs, and half of the windows must not be invalid; of equal ones the earlier.

    Args:
        runs: in any order; those that start together are ordered by path.
        size: N, the runs of a window.
        forgiven: runs that fall out at each end of an olympic mean.

    Raises:
        ValueError: there are fewer runs than a window has.
    """
    if not 0 < size <= len(runs):
        raise ValueError(f"{len(runs)} runs have no window of {size}")
    ordered = sorted(runs, key=lambda run: (run.started, run.path))
    windows = tuple(
        Window(first, first + size - 1, olympic_mean([run.minutes for run in ordered[first : first + size]], forgiven))
        for first in range(len(ordered) - size + 1)
    )
    scores = [math.inf if window.minutes is None else window.minutes for window in windows]
    # By rank: the distances of two scores from the mean of both are equal, but may be rounded differently.
    nearest = sorted(scores)[len(scores) // 2]
    if math.isinf(nearest):
        return Selection(size, tuple(ordered), windows, None, None)
    return Selection(size, tuple(ordered), windows, median(scores), scores.index(nearest))


def overlapping(runs: Sequence[TimedRun]) -> list[tuple[int, int]]:
    """Runs that begin before an earlier one has ended, each with the one of those before that ends last.

    Args:
        runs: in the order of their start. Runs that start together are left to :func:`starting_together`.
    """
    found = []
    last, end = 0, -math.inf
    for n, run in enumerate(runs):
        if runs[last].started < run.started < end:
            found.append((last, n))
        if run.minutes is not None and run.started + run.minutes * 60_000 > end:
            last, end = n, run.started + run.minutes * 60_000
    return found


def starting_together(runs: Sequence[TimedRun]) -> list[tuple[int, int]]:
    """Neighbours in the order of start that started in the same millisecond, so that only their names order them."""
    return [(n, n + 1) for n, (run, after) in enumerate(pairwise(runs)) if run.started == after.started]


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
    named = sorted({show(value) for value in values if value is not None})
    if len(named) > 1:
        yield f"the runs are of more than one {word} ({key}: {', '.join(named[:4])})"


def notes_on(selection: Selection, needs: Benchmark) -> Iterator[str]:
    """What a reader should know."""
    if selection.size != needs.runs:
        yield f"an entry of {needs.name} has {needs.runs} runs, not {selection.size}"
    runs = selection.runs
    if pairs := overlapping(runs):
        yield f"runs overlap in time, so that they ran on different machines, or a clock is wrong: {_named(pairs)}"
    if len(runs) == selection.size:
        yield "there are no more runs than one window has, so that nothing is selected"
    if pairs := starting_together(runs):
        yield f"runs start in the same millisecond, so that only their file names order them: {_named(pairs)}"


def _named(pairs: Sequence[tuple[int, int]]) -> str:
    shown = [f"{first + 1} and {second + 1}" for first, second in pairs[:_MAX_NAMED]]
    more = len(pairs) - len(shown)
    return ", ".join(shown) + (f", and {more} more" if more else "")


def of_several_benchmarks(logs: Sequence[LogReport]) -> Iterator[str]:
    """What is wrong where logs name more than one benchmark."""
    named = sorted({str(log.benchmark) for log in logs if log.benchmark})
    if len(named) > 1:
        yield f"the runs are of more than one benchmark ({', '.join(named[:5])}); name those of one"


def no_experiment(logs: Sequence[LogReport]) -> Iterator[str]:
    """Why the logs are not one experiment repeated, each run of it once and with its place in the order."""
    yield from [f"{log.path} has no run_start" for log in logs if timed(log) is None][:_MAX_NAMED]
    yield from mixed(logs)
    copies = [f"{copy.path} contains a run that is there already: {copy.actual}" for copy in audit_same_runs(logs)]
    yield from copies[:_MAX_NAMED]


def no_window(count: int, size: int, forgiven: int) -> Iterator[str]:
    """Why so many runs have no window of a size."""
    least = 2 * forgiven + 1
    if size < least:
        yield f"a window of {size} has no olympic score, which leaves out {2 * forgiven} runs; name {least} or more"
    elif count < size:
        yield f"there are {count} runs, and a window has {size}"


#: The rules' source, for whoever is asked why it is these runs.
_WHY = "training rules, Scoring: of more runs than needed, the consecutive ones nearest the median are the result"
_RUNS = (
    Column("run", number=True),
    Column("run_start (UTC)", when_narrow="keep", leave_out=1),
    Column("minutes", when_narrow="keep"),
    Column("file"),
    Column("submit", when_narrow="keep"),
)
_WINDOWS = (Column("window", number=True), Column("runs"), Column("score", number=True), Column(""))


def run_selection(asked: Asked, size: int, target: Target) -> NoReturn:
    """Select the runs, print the answer and end: 0 selected, 1 no result possible, 2 could not be read."""
    with progress_bar() as progress:
        settings = asked.settings(progress)
        files = find_runs(asked.paths)
        found = round_of(files, settings)
        logs = read_runs(files, found, settings)
    _end_with(of_several_benchmarks(logs))
    name = one_benchmark(logs, found)
    needs = benchmark(found.usage, found.name, name, found.overlay)
    runs = [run for log in logs if (run := timed(log)) is not None]
    _end_with((*no_experiment(logs), *no_window(len(logs), size, needs.forgiven)))
    selection = select_window(runs, size, needs.forgiven)
    answer = Selected(
        usage=found.usage,
        round=found.name,
        benchmark=name,
        selection=selection,
        submit=tuple(run.path for run in selection.submitted),
        notes=tuple(notes_on(selection, needs)),
    )
    target.write(answer, lambda: selection_document(answer), "selection")
    sys.exit(1 if selection.chosen is None else 0)


def _end_with(problems: Iterable[str]) -> None:
    """End with status 1 where there are problems, and say which."""
    found = list(problems)
    for problem in found:
        tell(f"nothing is selected: {problem}")
    if found:
        sys.exit(1)


def selection_document(selected: Selected) -> Document:
    """The runs, the windows, and what is to be submitted."""
    selection = selected.selection
    return document(
        f"Median window of {selected.benchmark}, {selected.usage} v{selected.round}",
        Text(f"{len(selection.runs)} runs in order of start, {len(selection.windows)} windows of {selection.size}"),
        Table(_RUNS, tuple(_runs(selection)), key=3),
        Table(_WINDOWS, tuple(_windows(selection))),
        Facts((*_outcome(selection), *(("note", note) for note in selected.notes))),
    )


def _runs(selection: Selection) -> Iterator[tuple[str | Span, ...]]:
    submitted = set(selection.submitted)
    for number, run in enumerate(selection.runs, 1):
        minutes = f"{run.minutes:.6f}" if run.minutes is not None else f"infinite: {run.why}"
        yield str(number), _time(run.started), minutes, Span(run.path, "path"), "yes" if run in submitted else ""


def _time(started: float) -> str:
    try:
        return datetime.fromtimestamp(started / 1000, UTC).strftime("%Y-%m-%d %H:%M:%S")
    except (OverflowError, OSError, ValueError):
        return f"{started:.0f} ms"


def _windows(selection: Selection) -> Iterator[tuple[str | Span, ...]]:
    for number, window in enumerate(selection.windows):
        score = "invalid" if window.minutes is None else f"{window.minutes:.6f}"
        chosen = Span("selected", "good") if number == selection.chosen else ""
        yield str(number + 1), f"{window.first + 1} to {window.last + 1}", score, chosen


def _outcome(selection: Selection) -> Iterator[tuple[str, str]]:
    if selection.chosen is None or selection.median is None:
        bad = sum(window.minutes is None for window in selection.windows)
        yield "no result", f"{bad} of {len(selection.windows)} windows are invalid, so that the median is infinite"
    else:
        window = selection.windows[selection.chosen]
        yield "median", f"{selection.median:.6f} minutes"
        yield "submit", f"runs {window.first + 1} to {window.last + 1}, score {window.minutes:.6f} minutes"
    yield "why", _WHY
