"""What runs are compared with along the batch size: the official curve, its limit, the hull of the written rules."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from itertools import pairwise
from pathlib import Path

import msgspec

from mlsub.convergence.algorithm import algorithm_of, is_tested, unit_words
from mlsub.convergence.reference import (
    Point,
    Which,
    benchmark_in,
    described,
    points_in_force,
    points_of,
    reference_file,
)
from mlsub.convergence.verdict import interpolated, lower_hull, prune, reference_for
from mlsub.io.errors import MlsubError
from mlsub.rounds import Round
from mlsub.rules.load import benchmark

#: Places between two reference points at which a curve is computed: enough for a smooth line over a decade.
STEPS = 48

#: The places of a line: batch sizes and values, in the benchmark's unit.
Line = tuple[tuple[float, float], ...]


class Reference(msgspec.Struct, frozen=True, kw_only=True):
    """The reference of a benchmark in a round; values are in ``unit``.

    ``points`` are all points by batch size, ``kept`` those the official pruning keeps, ``hull`` the lower hull of the
    written rules. ``runs`` is the number of result files of an entry, ``earlier`` what the round lets a result be
    below the least accepted mean, ``normalised`` whether a faster accepted result is scaled to the mean, ``source``
    the file the points are from, ``removed`` see :class:`mlsub.convergence.verdict.Pruning`.
    """

    benchmark: str
    unit: str
    runs: int
    points: tuple[Point, ...]
    kept: tuple[Point, ...]
    removed: tuple[tuple[float, tuple[float, ...]], ...]
    hull: tuple[Point, ...]
    earlier: float
    normalised: bool
    source: str

    def held_against(self, batch_size: float) -> tuple[Point | None, str]:
        """The point that results at a batch size are compared with, its limit with the round's allowance, and how."""
        point, how = reference_for(batch_size, self.kept, self.runs)
        return (None if point is None else self.allowed(point)), how

    def allowed(self, point: Point) -> Point:
        """A point with the round's allowance taken off its least accepted mean."""
        return msgspec.structs.replace(point, minimum=point.accepted_from(self.earlier))


def reference_of(round_: Round, name: str, own: str | None = None, which: Which = "published") -> Reference:
    """The reference of a benchmark.

    Args:
        round_: whose reference and algorithm hold.
        name: the benchmark.
        own: a file of reference points that counts in place of the installed one, if it is for this benchmark.
        which: of the installed points those at publication, at the deadline, or the newest.

    Raises:
        MlsubError: there is none.
        MlsubError: the file cannot be used.
    """
    algorithm = algorithm_of(round_.usage, round_.name, round_.overlay)
    if algorithm is None:
        raise MlsubError(f"{round_.title} had no convergence test; it began with v1.0")
    if not is_tested(name):
        raise MlsubError(f"{name} is not compared with a reference in any round")
    if name not in round_.benchmarks:
        raise MlsubError(f"{round_.title} has no benchmark {name[:40]}")
    mine = Path(own) if own and benchmark_in(Path(own)) == name else None
    file = mine or reference_file(round_.usage, round_.ruleset, name)
    if file is None:
        raise MlsubError(f"the installed mlperf-logging has no reference points for {name} in {round_.title}")
    runs = benchmark(round_.usage, round_.name, name, round_.overlay).runs
    if mine:
        points, source = points_of(file, name, runs, algorithm), file.name
    else:
        points = points_in_force(file, name, round_, runs, algorithm, which)
        source = ", ".join(filter(None, (f"mlperf-logging {_installed()}", described(which, round_))))
    pruning = prune(points, algorithm, runs)
    return Reference(
        benchmark=name,
        unit=unit_words(name, round_),
        runs=runs,
        points=points,
        kept=pruning.kept,
        removed=pruning.removed,
        hull=lower_hull(points),
        earlier=dict(algorithm.earlier).get(name, 0),
        normalised=algorithm.normalise,
        source=source,
    )


def mean_line(points: Sequence[Point], *, log: bool) -> Line:
    """The means along the batch size, linear between points as the test takes them.

    Args:
        points: at least one, by batch size.
        log: space the places evenly on a logarithmic axis.
    """
    line = [(points[0].batch_size, points[0].mean)]
    for low, high in pairwise(points):
        for size in _between(low.batch_size, high.batch_size, log=log):
            part = (size - low.batch_size) / (high.batch_size - low.batch_size)
            line.append((size, low.mean + part * (high.mean - low.mean)))
        line.append((high.batch_size, high.mean))
    return tuple(line)


def limit_lines(reference: Reference, smallest: float, *, log: bool) -> tuple[Line, ...]:
    """The least accepted means along the batch size, in pieces.

    Between two points the interpolation counts as twice an entry's runs, so that its limit does not meet those of the
    points themselves: each piece ends just before them, and the limits at the points belong to no piece.

    Args:
        reference: with at least one point.
        smallest: where the first piece begins, if that is below every point: what is accepted there is what the
            smallest point accepts.
        log: space the places evenly on a logarithmic axis.
    """
    first = reference.kept[0]
    pieces: list[Line] = []
    if smallest < first.batch_size:
        limit = first.accepted_from(reference.earlier)
        pieces.append(((smallest, limit), (first.batch_size, limit)))
    for low, high in pairwise(reference.kept):
        width = high.batch_size - low.batch_size
        sizes = [
            low.batch_size + 1e-6 * width,
            *_between(low.batch_size, high.batch_size, log=log),
            high.batch_size - 1e-6 * width,
        ]
        pieces.append(
            tuple(
                (size, interpolated(size, low, high, reference.runs).accepted_from(reference.earlier))
                for size in dict.fromkeys(sizes)
                if low.batch_size < size < high.batch_size
            )
        )
    return tuple(piece for piece in pieces if len(piece) > 1)


def _between(low: float, high: float, *, log: bool) -> Iterator[float]:
    for step in range(1, STEPS):
        part = step / STEPS
        yield low * (high / low) ** part if log else low + part * (high - low)


def _installed() -> str:
    from importlib.metadata import PackageNotFoundError, version

    try:
        return version("mlperf-logging")
    except PackageNotFoundError:
        return "of an unknown version"


def spans_a_decade(sizes: Sequence[float]) -> bool:
    """Whether batch sizes are better read on a logarithmic axis."""
    return min(sizes) > 0 and math.log10(max(sizes) / min(sizes)) > 1


class Figures(msgspec.Struct, frozen=True):
    """The figures of a reference point; ``kept`` is whether the official pruning keeps it."""

    batch_size: float
    runs: int
    mean: float
    stdev: float
    minimum: float
    kept: bool


class Row(Figures, frozen=True):
    """One reference point; ``on_hull`` is whether the hull of the written rules keeps it.

    ``pruned_by`` are the batch sizes of the two neighbours that are faster between them, or of the fastest point, below
    which it lies.
    """

    on_hull: bool
    pruned_by: tuple[float, ...] = ()


class ReferenceTable(msgspec.Struct, frozen=True):
    """The reference of a benchmark; means, stdevs and limits are in ``unit``."""

    usage: str
    round: str
    benchmark: str
    unit: str
    runs: int
    rows: tuple[Row, ...]
    reference_points: Which = "published"


class Plan(msgspec.Struct, frozen=True):
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
    reference_points: Which = "published"


def reference_table(round_: Round, name: str, which: Which = "published") -> ReferenceTable:
    """The reference points of a benchmark in a round: those at publication, at the deadline, or the newest.

    Raises:
        MlsubError: there are none, or the installed file is broken.
    """
    reference = reference_of(round_, name, which=which)
    removed = dict(reference.removed)
    rows = tuple(
        Row(
            batch_size=point.batch_size,
            runs=point.runs,
            mean=point.mean,
            stdev=point.stdev,
            minimum=reference.allowed(point).minimum,
            kept=point in reference.kept,
            on_hull=point in reference.hull,
            pruned_by=removed.get(point.batch_size, ()),
        )
        for point in reference.points
    )
    return ReferenceTable(round_.usage, round_.name, name, reference.unit, reference.runs, rows, which)


def plan_of(round_: Round, name: str, batch_size: float, which: Which = "published") -> Plan:
    """What an entry with this batch size needs, by the points at publication, at the deadline, or the newest.

    Raises:
        MlsubError: there is no reference, or the installed file is broken.
    """
    reference = reference_of(round_, name, which=which)
    point, how = reference.held_against(batch_size)
    return Plan(
        usage=round_.usage,
        round=round_.name,
        benchmark=name,
        unit=reference.unit,
        batch_size=batch_size,
        how=how,
        mean=point.mean if point else None,
        stdev=point.stdev if point else None,
        minimum=point.minimum if point else None,
        normalised=reference.normalised,
        reference_points=which,
    )
