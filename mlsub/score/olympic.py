"""What a benchmark's runs are worth together: the olympic mean, and of HPC's weak scaling the time of all models."""

from __future__ import annotations

import math
from collections.abc import Sequence

from mlsub.log.run import Run, Timeline


def olympic_mean(minutes: Sequence[float | None], dropped: int) -> float | None:
    """The mean without the fastest and the slowest runs.

    Args:
        minutes: time to train of each run in minutes; None for a run that is noncompliant or has no run interval,
            which counts as slowest.
        dropped: how many runs fall out at each end: 1, for unet3d 4.

    Returns:
        The mean in minutes, unrounded; None where more runs count as slowest than may fall out, or where none
        are left. (MLPerf training rules, "Benchmark results": drop the fastest and the slowest time.)
    """
    ordered = sorted(math.inf if value is None else value for value in minutes)
    kept = ordered[dropped : len(ordered) - dropped]
    if not kept or math.isinf(kept[-1]):
        return None
    return sum(kept) / len(kept)


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


def instance_scale(run: Run) -> int | None:
    """The accelerators that train one model, as its log states them; nodes where these have none.

    None where the log states no numbers. (MLPerf HPC: instance_scale of the official result summarizer.)

    Raises:
        TypeError: the summarizer ends in it, for a number is a list or an object.
        OverflowError: the summarizer ends in it, for a number is infinite.
    """
    nodes, per_node = run.scale
    if nodes is None or per_node is None:
        return None
    try:
        return int(nodes) * max(int(per_node), 1)
    except ValueError:
        return None
