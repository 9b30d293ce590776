"""The statistics of the RCP test: olympic means, and the least mean that is not significantly faster."""

from __future__ import annotations

import math
from collections.abc import Sequence

from mlsub.convergence.student import t_distribution

#: One-sided significance of "faster than the reference", and how near the search for the limit ends.
ALPHA = 0.05
TOLERANCE = 0.0001


def cut_of(benchmark: str) -> int:
    """How many of the fastest, and of the slowest, an olympic mean leaves out."""
    return 4 if benchmark == "unet3d" else 1


def trimmed(values: Sequence[float], benchmark: str) -> list[float]:
    """The values without the fastest and the slowest, in order; empty where there are not enough."""
    cut = cut_of(benchmark)
    return sorted(values)[cut : len(values) - cut]


def mean_of(values: Sequence[float]) -> float:
    """The arithmetic mean."""
    return math.fsum(values) / len(values)


def stdev_of(values: Sequence[float]) -> float:
    """The standard deviation of a whole population, as the official tool computes it."""
    mean = mean_of(values)
    return math.sqrt(math.fsum((value - mean) ** 2 for value in values) / len(values))


def least_accepted_mean(mean: float, stdev: float, reference_runs: int, runs: int) -> float:
    """The least mean of a submission that is not significantly faster than a reference.

    A one-sided two-sample t-test with equal variances, the reference's stdev on both sides. The search is the official
    one, a bisection between 0 and the reference's mean, so that the limit is the same number.

    Args:
        mean: of the reference, trimmed, in epochs or samples.
        stdev: of the reference.
        reference_runs: runs behind the reference, after trimming.
        runs: runs of the submission that its mean is over.
    """
    degrees = reference_runs + runs - 2
    if stdev == 0 or degrees <= 0 or reference_runs <= 0 or runs <= 0:
        return mean
    spread = stdev * math.sqrt(1 / reference_runs + 1 / runs)
    low, high = 0.0, mean
    middle = (low + high) / 2
    while high - low > TOLERANCE:
        if t_distribution((middle - mean) / spread, degrees) > ALPHA:
            high = middle
        else:
            low = middle
        previous, middle = middle, (low + high) / 2
        if middle == previous:
            break  # Numbers so large that their neighbours are further apart than the tolerance.
    return middle
