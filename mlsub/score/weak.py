"""HPC's weak scaling: how long a system needs to train many models side by side."""

from __future__ import annotations

from collections.abc import Sequence

from mlsub.log.run import Timeline


def weak_minutes(timelines: Sequence[Timeline], least: int) -> float | None:
    """The time to train all models, in minutes: from the first run_start to the last run_stop.

    Args:
        timelines: those of the compliant runs, times in ms.
        least: how many models there must be.

    Returns:
        None where there are fewer. (MLPerf HPC: time_to_train_all of the official result summarizer.)
    """
    starts = [timeline.run_start for timeline in timelines if timeline.run_start is not None]
    stops = [timeline.run_stop for timeline in timelines if timeline.run_stop is not None]
    if len(timelines) < least or not starts or not stops:
        return None
    return (max(stops) - min(starts)) / 60_000.0
