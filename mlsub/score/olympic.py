"""The olympic mean: what a benchmark's runs are worth together."""

from __future__ import annotations

import math
from collections.abc import Sequence


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
