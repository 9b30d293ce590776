"""Times that were multiplied in the logs after the runs, and the factor that undoes it.

Up to v1.1 a review could end in edited logs: ``run_stop`` of every run moved away by the factor to the mean of the
reference convergence points, so that it lies at a constant multiple of the time to the last event that the training
logged. (MLCommons logging issue 210 tells of time-stamps updated by hand.)
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from pathlib import Path

import msgspec

from mlsub.io.errors import MlsubError
from mlsub.log.events import read_events
from mlsub.log.run import Timeline
from mlsub.review.runs.stretch import stretch_of_lengths
from mlsub.review.runs.thresholds import thresholds


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


def may_be_edited(timeline: Timeline, last_known_ms: float | None) -> bool:
    """Whether a run may end in a silence at all, from what is known without reading its log again."""
    if timeline.run_start is None or timeline.run_stop is None or last_known_ms is None:
        return False
    return timeline.run_stop - last_known_ms > thresholds().stretch_gap_ms


def ending_of(file: Path, timeline: Timeline, *, old_format: bool = False) -> Ending | None:
    """How a run ended, by its log; None where that cannot be told."""
    start, stop = timeline.run_start, timeline.run_stop
    if start is None or stop is None:
        return None
    last: float | None = None
    try:
        for event in read_events(file, old_format=old_format):
            if event.key == "run_stop":
                break
            if event.time_ms > start:
                last = event.time_ms if last is None else max(last, event.time_ms)
    except MlsubError:
        return None
    return None if last is None else Ending(start, last, stop)
