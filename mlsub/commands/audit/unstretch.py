"""Times that were multiplied in the logs after the runs, and the factor that undoes it.

Up to v1.1 a review could end in edited logs: ``run_stop`` of every run moved away by the factor to the mean of the
reference convergence points, so that it lies at a constant multiple of the time to the last event that the training
logged. (MLCommons logging issue 210 tells of time-stamps updated by hand.)
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

import msgspec

from mlsub.log.run import Run
from mlsub.review.runs.stretch import stretch_of_lengths


class Ending(msgspec.Struct, frozen=True):
    """How a run ended, times in ms: ``last`` is the last event before ``stop`` that is not run_stop itself."""

    start: float
    last: float
    stop: float


def edit_factor(endings: Sequence[Ending]) -> Fraction | None:
    """The factor that all runs of an entry were multiplied by, as ``mlsub inspect`` tells it, or None."""
    stretch = stretch_of_lengths([(ending.stop - ending.start, ending.last - ending.start) for ending in endings])
    # The decimals that somebody wrote down, not what binary makes of them.
    return None if stretch is None else Fraction(repr(stretch.factor))


def ending_of(run: Run) -> Ending | None:
    """How a run ended, by its log; None where the log does not say."""
    start, stop, last = run.timeline.run_start, run.timeline.run_stop, run.latest_ms
    if start is None or stop is None or last is None or not last > start:
        return None
    return Ending(start, last, stop)
