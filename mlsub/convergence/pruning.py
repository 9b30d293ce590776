"""Reference points that a smaller batch size outdoes are taken away: official pruning, and the rules' own hull."""

from __future__ import annotations

from collections.abc import Sequence

from mlsub.convergence.algorithm import Algorithm
from mlsub.convergence.reference import Point
from mlsub.convergence.statistics import least_accepted_mean


def interpolated(batch_size: float, low: Point, high: Point, runs: int) -> Point:
    """The point between two others: mean and stdev linear in the batch size, counted as 2 × ``runs`` runs."""
    part = (batch_size - low.batch_size) / (high.batch_size - low.batch_size)
    mean = low.mean + part * (high.mean - low.mean)
    stdev = low.stdev + part * (high.stdev - low.stdev)
    return Point(batch_size, mean, stdev, least_accepted_mean(mean, stdev, 2 * runs, runs - 2), 0)


def pruned(points: Sequence[Point], algorithm: Algorithm, runs: int) -> tuple[Point, ...]:
    """The points the official checker of the round's day keeps.

    Points below the batch size of the fastest go first. Then, from left to right, an inner point slower than the
    interpolation of its neighbours goes; the left neighbour is never looked at again, so this is not the lower hull
    that the written rules describe (logging issue 368).
    """
    if algorithm.pruning == "none":
        return tuple(points)

    def speed(point: Point) -> float:
        return point.minimum if algorithm.pruning == "minimum" else point.mean

    fastest = min(points, key=speed)
    kept = [point for point in points if point.batch_size >= fastest.batch_size]
    at = 1
    while at < len(kept) - 1:
        between = interpolated(kept[at].batch_size, kept[at - 1], kept[at + 1], runs)
        if speed(kept[at]) > speed(between):
            del kept[at]
        else:
            at += 1
    return tuple(kept)


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
