"""More runs than an entry needs: which of them the rules let one submit.

A result is meant to be the median of what a system does, so that whoever ran M > N times may not pick. The runs are put
in the order of their start, each N that follow one another are a window with an olympic score, and the window whose
score is nearest the median of all is the result. Windows without a valid score count as infinite, and where the median
one is such a window there is no result. (MLPerf training rules, Benchmark Results, Scoring; in the rules since 2021,
training_policies pull request 467. They leave open which of two middle windows is meant.)
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import pairwise
from statistics import median

import msgspec

from mlsub.score.olympic import olympic_mean


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
    """What comes of it.

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
