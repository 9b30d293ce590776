"""Reference points that a smaller batch size outdoes are taken away: official pruning, and the rules' own hull."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from mlsub.convergence.algorithm import Algorithm
from mlsub.convergence.reference import Point
from mlsub.convergence.statistics import between, least_accepted_mean


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
    """Prune as the official checker of the round's day does.

    Points below the batch size of the fastest go first. Then, from left to right, an inner point slower than the
    interpolation of its neighbours goes; the left neighbour is never looked at again, so this is not the lower hull
    that the written rules describe (logging issue 368).
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
    return Pruning(tuple(kept), (*removed, *slower))


def pruned(points: Sequence[Point], algorithm: Algorithm, runs: int) -> tuple[Point, ...]:
    """The points that the official checker of the round's day keeps."""
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
