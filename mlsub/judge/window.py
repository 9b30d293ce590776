"""The median window: which of more runs than needed are the result, and why runs are no experiment repeated."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from itertools import islice, pairwise
from statistics import median

import msgspec

from mlsub.io.show import show
from mlsub.review.fingerprints import audit_same_runs, fingerprint_logs
from mlsub.rules.load import EntryRequirements
from mlsub.score import olympic_mean
from mlsub.submission.model import LogReport

#: Problems of one kind, and pairs of runs, that are named.
_MAX_NAMED = 5
_SAME = (
    ("submission_platform", "system"),
    ("submission_org", "organisation"),
    ("submission_division", "division"),
    ("global_batch_size", "batch size"),
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


def timed_run(log: LogReport) -> TimedRun | None:
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


def notes_on(selection: Selection, needs: EntryRequirements) -> Iterator[str]:
    """What a reader should know."""
    if selection.size != needs.runs:
        yield f"an entry of {needs.name} has {needs.runs} runs, not {selection.size}"
    runs = selection.runs
    if pairs := overlapping(runs):
        yield f"runs overlap in time, so that they ran on different machines, or a clock is wrong: {_listed(pairs)}"
    if len(runs) == selection.size:
        yield "there are no more runs than one window has, so that nothing is selected"
    if pairs := starting_together(runs):
        yield f"runs start in the same millisecond, so that only their file names order them: {_listed(pairs)}"


def _listed(pairs: Sequence[tuple[int, int]]) -> str:
    shown = [f"{first + 1} and {second + 1}" for first, second in pairs[:_MAX_NAMED]]
    more = len(pairs) - len(shown)
    return ", ".join(shown) + (f", and {more} more" if more else "")


def why_no_experiment(logs: Sequence[LogReport]) -> Iterator[str]:
    """Why the logs are not one experiment repeated, each run of it once and with its place in the order."""
    yield from [f"{log.path} has no run_start" for log in logs if timed_run(log) is None][:_MAX_NAMED]
    stated = [log.run.identity | log.run.hyperparameters for log in logs]
    for key, word in _SAME:
        named = sorted({show(one[key]) for one in stated if one.get(key) is not None})
        if len(named) > 1:
            yield f"the runs are of more than one {word} ({key}: {', '.join(named[:4])})"
    for copy in islice(audit_same_runs(fingerprint_logs(logs)), _MAX_NAMED):
        yield f"{copy.path} contains a run that is there already: {copy.actual}"


def why_no_window(count: int, size: int, forgiven: int) -> Iterator[str]:
    """Why so many runs have no window of a size."""
    least = 2 * forgiven + 1
    if size < least:
        yield f"a window of {size} has no olympic score, which leaves out {2 * forgiven} runs; name {least} or more"
    elif count < size:
        yield f"there are {count} runs, and a window has {size}"
