"""The RCP test of one entry: whether it converges no faster than the reference could."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

import msgspec

from mlsub.convergence.algorithm import Algorithm
from mlsub.convergence.pruning import interpolated, lower_hull, pruned
from mlsub.convergence.reference import Point
from mlsub.convergence.runs import BEYOND, Progress
from mlsub.convergence.statistics import cut_of, mean_of, trimmed

How = Literal[
    "exact",
    "interpolated",
    "smaller-batch",
    "missing",
    "insufficient-convergence",
    "no-batch-size",
]


class Result(msgspec.Struct, frozen=True):
    """What the test comes to.

    ``mean`` is the olympic mean of the runs, in the benchmark's unit; ``reference`` the point it is held against;
    ``minimum`` the least mean that is accepted; ``scaling`` the factor by which the time is scaled (1 for none).
    """

    passed: bool
    how: How
    batch_size: float | None = None
    mean: float | None = None
    reference: Point | None = None
    minimum: float | None = None
    scaling: float = 1.0


def judge_convergence(
    progress: Progress,
    points: Sequence[Point],
    benchmark: str,
    runs: int,
    algorithm: Algorithm,
    *,
    by_hull: bool = False,
) -> Result:
    """Hold the runs of an entry against the reference.

    Args:
        progress: what the runs came to.
        points: all reference points of the benchmark, by batch size.
        benchmark: decides how many runs are trimmed.
        runs: result files an entry of the benchmark has.
        algorithm: that of the round.
        by_hull: against the lower hull of the written rules in place of the official pruning.
    """
    size = progress.batch_size
    if not isinstance(size, (int, float)) or isinstance(size, bool) or not abs(size) < BEYOND:
        return Result(False, "no-batch-size")
    if progress.failed > cut_of(benchmark):
        return Result(False, "insufficient-convergence", size)
    kept = trimmed(progress.points, benchmark)
    if not kept:
        return Result(False, "insufficient-convergence", size)
    mean = mean_of(kept)
    reference, how = reference_for(size, lower_hull(points) if by_hull else pruned(points, algorithm, runs), runs)
    if reference is None:
        return Result(False, "missing", size, mean)
    minimum = reference.accepted_from(dict(algorithm.earlier).get(benchmark, 0))
    passed = how != "missing" and mean >= minimum
    faster = mean < reference.mean
    scaling = reference.mean / mean if algorithm.normalise and passed and faster and mean > 0 else 1.0
    return Result(
        passed, how if passed or how != "smaller-batch" else "missing", size, mean, reference, minimum, scaling
    )


def reference_for(size: float, points: Sequence[Point], runs: int) -> tuple[Point | None, How]:
    """The point to hold a batch size against, and how it was found."""
    for point in points:
        if point.batch_size == size:
            return point, "exact"
    below = [point for point in points if point.batch_size < size]
    above = [point for point in points if point.batch_size > size]
    if below and above:
        return interpolated(size, below[-1], above[0], runs), "interpolated"
    if above:
        return above[0], "smaller-batch"
    return None, "missing"
