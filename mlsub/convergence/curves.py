"""What runs are compared with along the batch size: the official curve, its limit, the hull of the written rules."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from itertools import pairwise
from pathlib import Path
from typing import Literal

import msgspec

from mlsub.convergence import (
    Algorithm,
    Cutoff,
    algorithm_of,
    interpolate_linear,
    least_accepted_mean,
    traits_of,
    unit_words,
)
from mlsub.convergence.reference import (
    Point,
    benchmark_in,
    make_points,
    read_points,
    reference_file,
    runs_in_force,
)
from mlsub.io import MlsubError
from mlsub.rounds import Round, overlay_rounds
from mlsub.rules.load import entry_requirements

#: Parts of a curve between two reference points: enough for a smooth line over a decade.
STEPS = 4

#: The places of a line: batch sizes and values, in the benchmark's unit.
Line = tuple[tuple[float, float], ...]
#: How the point that a batch size is compared with was found.
How = Literal["exact", "interpolated", "smaller-batch", "missing"]


def interpolate(batch_size: float, low: Point, high: Point, runs: int) -> Point:
    """The point between two others: mean and stdev linear in the batch size, counted as 2 × ``runs`` runs."""
    mean = interpolate_linear(batch_size, (low.batch_size, low.mean), (high.batch_size, high.mean))
    stdev = interpolate_linear(batch_size, (low.batch_size, low.stdev), (high.batch_size, high.stdev))
    return Point(batch_size, 0, mean, stdev, least_accepted_mean(mean, stdev, 2 * runs, runs - 2))


def find_pruned(points: Sequence[Point], algorithm: Algorithm, runs: int) -> dict[float, tuple[float, ...]]:
    """The batch sizes that the official checker in force for the round prunes, each with why.

    Points below the batch size of the fastest go first. Then, from left to right, an inner point slower than the
    interpolation of its neighbours goes; the left neighbour is never looked at again, so this is not the lower hull
    that the written rules describe (logging issue 368). Where several points have a batch size that one of them keeps,
    all of them stay, as reference data of the user's own may have it.

    Returns:
        By batch size, those of the two neighbours whose interpolation is faster, or that of the fastest point, below
        which it lies.
    """
    if algorithm.pruning == "none":
        return {}

    def speed(point: Point) -> float:
        return point.minimum if algorithm.pruning == "minimum" else point.mean

    fastest = min(points, key=speed)
    kept = [point for point in points if point.batch_size >= fastest.batch_size]
    removed = {p.batch_size: (fastest.batch_size,) for p in points if p.batch_size < fastest.batch_size}
    slower: dict[float, tuple[float, ...]] = {}
    at = 1
    while at < len(kept) - 1:
        low, point, high = kept[at - 1 : at + 2]
        if speed(point) > speed(interpolate(point.batch_size, low, high, runs)):
            slower[point.batch_size] = (low.batch_size, high.batch_size)
            del kept[at]
        else:
            at += 1
    sizes = {point.batch_size for point in kept}
    return {size: others for size, others in (removed | slower).items() if size not in sizes}


def prune(points: Sequence[Point], algorithm: Algorithm, runs: int) -> tuple[Point, ...]:
    """The points that the official checker in force for the round keeps."""
    removed = find_pruned(points, algorithm, runs)
    return tuple(point for point in points if point.batch_size not in removed)


def lower_hull(points: Sequence[Point]) -> tuple[Point, ...]:
    """The lower convex hull of the means, from the fastest point on, as the written rules describe it."""
    if not points:
        return ()
    fastest = min(points, key=lambda point: point.mean)
    hull: list[Point] = []
    for point in sorted(points, key=lambda point: point.batch_size):
        if point.batch_size < fastest.batch_size:
            continue
        while len(hull) > 1 and _lies_above(hull[-2], hull[-1], point):
            hull.pop()
        hull.append(point)
    return tuple(hull)


def _lies_above(first: Point, middle: Point, last: Point) -> bool:
    """Whether the middle point lies on or above the line between its neighbours."""
    run, rise = last.batch_size - first.batch_size, last.mean - first.mean
    return (middle.mean - first.mean) * run >= rise * (middle.batch_size - first.batch_size)


def find_point(size: float, points: Sequence[Point], runs: int) -> tuple[Point | None, How]:
    """The point to compare a batch size with, and how it was found; of several points of one size the first counts."""
    for point in points:
        if point.batch_size == size:
            return point, "exact"
    below = [point for point in points if point.batch_size < size]
    above = [point for point in points if point.batch_size > size]
    if below and above:
        low = next(point for point in below if point.batch_size == below[-1].batch_size)
        return interpolate(size, low, above[0], runs), "interpolated"
    if above:
        return above[0], "smaller-batch"
    return None, "missing"


class RcpReference(msgspec.Struct, frozen=True, kw_only=True):
    """The reference of a benchmark in a round; values are in ``unit``.

    ``points`` are all points by batch size, ``kept`` those the official pruning keeps, ``hull`` the lower hull of the
    written rules. ``runs`` is the number of result files of an entry. ``cutoff``
    says by which day the points were merged, or that they are from the user's ``own`` file.
    """

    round: Round
    benchmark: str
    algorithm: Algorithm
    unit: str
    runs: int
    file: Path
    cutoff: Cutoff | Literal["own"]
    points: tuple[Point, ...]
    kept: tuple[Point, ...]
    hull: tuple[Point, ...]

    @property
    def allowance(self) -> float:
        """What the round lets a result be below the least accepted mean."""
        return dict(self.algorithm.earlier).get(self.benchmark, 0)

    def point_for(self, batch_size: float, *, by_hull: bool = False) -> tuple[Point | None, How]:
        """The point that results at a batch size are compared with, its limit with the round's allowance, and how.

        ``by_hull``: against the lower hull of the written rules in place of the official pruning.
        """
        point, how = find_point(batch_size, self.hull if by_hull else self.kept, self.runs)
        return (None if point is None else self.with_allowance(point)), how

    def with_allowance(self, point: Point) -> Point:
        """A point with the round's allowance taken off its least accepted mean."""
        return msgspec.structs.replace(point, minimum=point.accepted_from(self.allowance))


@lru_cache(maxsize=256)
def reference_of(round_: Round, name: str, rcp_file: str | None = None, cutoff: Cutoff = "published") -> RcpReference:
    """The reference of a benchmark.

    Args:
        round_: whose reference and algorithm hold.
        name: the benchmark.
        rcp_file: a file of reference points that counts in place of the installed one, if it is for this benchmark.
        cutoff: of the installed points those at publication, at the deadline, or the newest.

    Raises:
        MlsubError: there is none, or the file cannot be used.
    """
    algorithm = algorithm_of(round_.usage, round_.name, round_.overlay)
    if algorithm is None:
        raise MlsubError(f"{round_.title} had no convergence test; it began with v1.0")
    if not traits_of(name).tested:
        raise MlsubError(f"{name} is not compared with a reference in any round")
    if name not in round_.benchmarks:
        raise MlsubError(f"{round_.title} has no benchmark {name[:40]}")
    own = Path(rcp_file) if rcp_file and benchmark_in(Path(rcp_file)) == name else None
    # A round of the user's own may name the rules of another, whose reference points are not its own.
    installed = round_.name not in overlay_rounds(round_.usage, round_.overlay)
    file = own or (reference_file(round_.usage, round_.ruleset, name) if installed else None)
    if file is None:
        raise MlsubError(f"the installed mlperf-logging has no reference points for {name} in {round_.title}")
    runs = entry_requirements(round_.usage, round_.name, name, round_.overlay).runs
    if own:
        points = read_points(file, name, runs, algorithm)
    else:
        points = make_points(runs_in_force(file, name, round_, cutoff), name, runs, algorithm)
    return RcpReference(
        round=round_,
        benchmark=name,
        algorithm=algorithm,
        unit=unit_words(name, round_),
        runs=runs,
        file=file,
        cutoff="own" if own else cutoff,
        points=points,
        kept=prune(points, algorithm, runs),
        hull=lower_hull(points),
    )


def mean_lines(*curves: Sequence[Point]) -> tuple[Line, ...]:
    """The means along the batch size, linear between points as the test takes them, for axes of either kind.

    On a logarithmic axis straight lines lie above what they stand for. Where all have their places at the same batch
    sizes, one is above another only where it is.

    Args:
        curves: each of at least one point, by batch size.
    """
    ends = sorted({point.batch_size for points in curves for point in points})
    sizes = {*ends, *(size for low, high in pairwise(ends) for size in _sizes_between(low, high))}
    return tuple(tuple((size, mean) for size in sorted(sizes) for mean in _mean_at(size, points)) for points in curves)


def _mean_at(size: float, points: Sequence[Point]) -> Iterator[float]:
    """Yield the mean at a batch size; of several points of one size all, beside them nothing."""
    same = [point.mean for point in points if point.batch_size == size]
    yield from same
    for low, high in pairwise(points) if not same else ():
        if low.batch_size < size < high.batch_size:
            yield interpolate_linear(size, (low.batch_size, low.mean), (high.batch_size, high.mean))


def limit_lines(reference: RcpReference) -> tuple[Line, ...]:
    """The least accepted means along the batch size between two points each, in pieces.

    Between two points the interpolation counts as twice an entry's runs, so that its limit does not meet those of the
    points themselves: each piece ends just before them, and the limits at the points belong to no piece.

    Below the smallest point counts what that point accepts.
    """
    pieces: list[Line] = []
    for low, high in pairwise(reference.kept):
        width = high.batch_size - low.batch_size
        sizes = [
            low.batch_size + 1e-6 * width,
            *_sizes_between(low.batch_size, high.batch_size),
            high.batch_size - 1e-6 * width,
        ]
        pieces.append(
            tuple(
                (size, interpolate(size, low, high, reference.runs).accepted_from(reference.allowance))
                for size in dict.fromkeys(sizes)
                if low.batch_size < size < high.batch_size
            )
        )
    return tuple(piece for piece in pieces if len(piece) > 1)


def join_lines(lines: Iterable[Line]) -> Line:
    """Return lines as one, which breaks at places that are no number."""
    return tuple(place for line in lines for place in (*line, (line[-1][0], math.nan)))[:-1]


def _sizes_between(low: float, high: float) -> Iterator[float]:
    """Yield batch sizes of three digits between two, at about even distances on a logarithmic axis."""
    parts = (step / STEPS for step in range(1, STEPS))
    sizes = (low * (high / low) ** part if low > 0 else low + part * (high - low) for part in parts)
    return (size for size in dict.fromkeys(float(f"{size:.3g}") for size in sizes) if low < size < high)


def spans_a_decade(sizes: Sequence[float]) -> bool:
    """Whether batch sizes are better read on a logarithmic axis."""
    return min(sizes) > 0 and math.log10(max(sizes) / min(sizes)) > 1


class ReferenceRow(Point, frozen=True):
    """One reference point; ``kept`` is whether the official pruning keeps it, ``on_hull`` that of the written rules.

    ``pruned_by`` are the batch sizes of the two neighbours that are faster between them, or of the fastest point, below
    which it lies.
    """

    kept: bool
    on_hull: bool
    pruned_by: tuple[float, ...] = ()


class ReferenceTable(msgspec.Struct, frozen=True):
    """The reference of a benchmark; means, stdevs and limits are in ``unit``."""

    usage: str
    round: str
    benchmark: str
    unit: str
    runs: int
    rows: tuple[ReferenceRow, ...]
    reference_points: Cutoff = "published"


class BatchPlan(msgspec.Struct, frozen=True):
    """What the runs at a batch size are compared with: accepted from ``minimum`` on, scaled below ``mean``."""

    usage: str
    round: str
    benchmark: str
    unit: str
    batch_size: float
    how: str
    mean: float | None
    stdev: float | None
    minimum: float | None
    normalised: bool
    reference_points: Cutoff = "published"


def reference_table(round_: Round, name: str, cutoff: Cutoff = "published") -> ReferenceTable:
    """The reference points of a benchmark in a round: those at publication, at the deadline, or the newest.

    Raises:
        MlsubError: there are none, or the installed file is broken.
    """
    reference = reference_of(round_, name, cutoff=cutoff)
    removed = find_pruned(reference.points, reference.algorithm, reference.runs)
    rows = tuple(
        ReferenceRow(
            **msgspec.structs.asdict(reference.with_allowance(point)),
            kept=point in reference.kept,
            on_hull=point in reference.hull,
            pruned_by=removed.get(point.batch_size, ()),
        )
        for point in reference.points
    )
    return ReferenceTable(round_.usage, round_.name, name, reference.unit, reference.runs, rows, cutoff)


def plan_of(round_: Round, name: str, batch_size: float, cutoff: Cutoff = "published") -> BatchPlan:
    """What an entry with this batch size needs, by the points at publication, at the deadline, or the newest.

    Raises:
        MlsubError: there is no reference, or the installed file is broken.
    """
    reference = reference_of(round_, name, cutoff=cutoff)
    point, how = reference.point_for(batch_size)
    return BatchPlan(
        usage=round_.usage,
        round=round_.name,
        benchmark=name,
        unit=reference.unit,
        batch_size=batch_size,
        how=how,
        mean=point.mean if point else None,
        stdev=point.stdev if point else None,
        minimum=point.minimum if point else None,
        normalised=reference.algorithm.normalise,
        reference_points=cutoff,
    )
