"""More runs than an entry needs: which of them the rules let one submit.

A result is meant to be the median of what a system does, so that whoever ran M > N times may not pick. The runs are put
in the order of their start, each N that follow one another are a window with an olympic score, and the window whose
score is nearest the median of all is the result. (MLPerf training rules, Benchmark results: M > N runs.)
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

    ``runs`` are in the order of their start; ``median`` is that of all windows' scores in minutes, None where it is
    infinite, and then ``chosen`` (a number of ``windows``) is None as well: half of the windows or more are invalid.
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

    Between two windows that are equally near the median (an even number of windows has its median between two) the
    slower is taken, so that nothing can be gained by the number of runs; of equal ones the earlier.

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
    middle = median(scores)
    if math.isinf(middle):
        return Selection(size, tuple(ordered), windows, None, None)
    chosen = min(range(len(windows)), key=lambda n: (abs(scores[n] - middle), -scores[n], n))
    return Selection(size, tuple(ordered), windows, middle, chosen)


def overlapping(runs: Sequence[TimedRun]) -> list[tuple[int, int]]:
    """Neighbours in the order of start of which the later begins before the earlier can have ended."""
    return [
        (n, n + 1)
        for n, (run, after) in enumerate(pairwise(runs))
        if run.minutes is not None and after.started < run.started + run.minutes * 60_000
    ]
