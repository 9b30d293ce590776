"""The RCP test of one entry: which reference points remain, and whether the runs converge no faster than they allow."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

import msgspec

from mlsub.convergence.algorithm import Algorithm
from mlsub.convergence.reference import Point
from mlsub.convergence.runs import BEYOND, Progress
from mlsub.convergence.statistics import between, cut_of, least_accepted_mean, mean_of, trimmed

How = Literal[
    "exact",
    "interpolated",
    "smaller-batch",
    "missing",
    "insufficient-convergence",
    "no-batch-size",
]


def interpolated(batch_size: float, low: Point, high: Point, runs: int) -> Point:
    """The point between two others: mean and stdev linear in the batch size, counted as 2 × ``runs`` runs."""
    mean = between(batch_size, (low.batch_size, low.mean), (high.batch_size, high.mean))
    stdev = between(batch_size, (low.batch_size, low.stdev), (high.batch_size, high.stdev))
    return Point(batch_size, mean, stdev, least_accepted_mean(mean, stdev, 2 * runs, runs - 2), 0)


class Pruning(msgspec.Struct, frozen=True):
    """What the official pruning keeps, and why the rest goes.

    ``removed`` has the batch size of each point that goes, with those of the two neighbours whose interpolation is
    faster, or with that of the fastest point, below which it lies.
    """

    kept: tuple[Point, ...]
    removed: tuple[tuple[float, tuple[float, ...]], ...] = ()


def prune(points: Sequence[Point], algorithm: Algorithm, runs: int) -> Pruning:
    """Prune as the official checker in force for the round does.

    Points below the batch size of the fastest go first. Then, from left to right, an inner point slower than the
    interpolation of its neighbours goes; the left neighbour is never looked at again, so this is not the lower hull
    that the written rules describe (logging issue 368). Where several points have a batch size that one of them keeps,
    all of them stay, as reference data of the user's own may have it.
    """
    if algorithm.pruning == "none":
        return Pruning(tuple(points))

    def speed(point: Point) -> float:
        return point.minimum if algorithm.pruning == "minimum" else point.mean

    fastest = min(points, key=speed)
    kept = [point for point in points if point.batch_size >= fastest.batch_size]
    removed = [(p.batch_size, (fastest.batch_size,)) for p in points if p.batch_size < fastest.batch_size]
    slower: list[tuple[float, tuple[float, ...]]] = []
    at = 1
    while at < len(kept) - 1:
        low, point, high = kept[at - 1 : at + 2]
        if speed(point) > speed(interpolated(point.batch_size, low, high, runs)):
            slower.append((point.batch_size, (low.batch_size, high.batch_size)))
            del kept[at]
        else:
            at += 1
    sizes = {point.batch_size for point in kept}
    gone = tuple(some for some in (*removed, *slower) if some[0] not in sizes)
    return Pruning(tuple(point for point in points if point.batch_size in sizes), gone)


def pruned(points: Sequence[Point], algorithm: Algorithm, runs: int) -> tuple[Point, ...]:
    """The points that the official checker in force for the round keeps."""
    return prune(points, algorithm, runs).kept


def lower_hull(points: Sequence[Point]) -> tuple[Point, ...]:
    """The lower convex hull of the means, from the fastest point on, as the written rules describe it."""
    if not points:
        return ()
    fastest = min(points, key=lambda point: point.mean)
    hull: list[Point] = []
    for point in sorted(points, key=lambda point: point.batch_size):
        if point.batch_size < fastest.batch_size:
            continue
        while len(hull) > 1 and _turns_down(hull[-2], hull[-1], point):
            hull.pop()
        hull.append(point)
    return tuple(hull)


def _turns_down(first: Point, middle: Point, last: Point) -> bool:
    """Whether the middle point lies on or above the line between its neighbours."""
    run, rise = last.batch_size - first.batch_size, last.mean - first.mean
    return (middle.mean - first.mean) * run >= rise * (middle.batch_size - first.batch_size)


class Result(msgspec.Struct, frozen=True):
    """The result of the test.

    ``mean`` is the olympic mean of the runs, in the benchmark's unit; ``reference`` the point it is compared with;
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
    """Compare the runs of an entry with the reference.

    Args:
        progress: how far the runs had to train.
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
    """The point to compare a batch size with, and how it was found; of several points of one size the first counts."""
    for point in points:
        if point.batch_size == size:
            return point, "exact"
    below = [point for point in points if point.batch_size < size]
    above = [point for point in points if point.batch_size > size]
    if below and above:
        low = next(point for point in below if point.batch_size == below[-1].batch_size)
        return interpolated(size, low, above[0], runs), "interpolated"
    if above:
        return above[0], "smaller-batch"
    return None, "missing"
