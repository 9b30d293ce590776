"""The reference points of a benchmark and round as a table, and what a batch size needs."""

from __future__ import annotations

import msgspec

from mlsub.convergence.algorithm import Algorithm, algorithm_of, is_tested, unit_words
from mlsub.convergence.deadline import Which, points_at_deadline
from mlsub.convergence.pruning import lower_hull, prune, pruned
from mlsub.convergence.reference import Point, points_of, reference_file
from mlsub.convergence.verdict import reference_for
from mlsub.io.errors import MlsubError
from mlsub.rounds import Round
from mlsub.rules.load import benchmark


class Row(msgspec.Struct, frozen=True):
    """One reference point.

    ``kept`` is whether the official pruning keeps it, ``on_hull`` whether the hull of the written rules does.
    ``pruned_by`` are the batch sizes of the two neighbours that are faster between them, or of the fastest point, below
    which it lies.
    """

    batch_size: float
    runs: int
    mean: float
    stdev: float
    minimum: float
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
    rows: tuple[Row, ...]
    reference_points: Which = "final"


class Plan(msgspec.Struct, frozen=True):
    """What the runs at a batch size are held against: accepted from ``minimum`` on, scaled below ``mean``."""

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
    reference_points: Which = "final"


def _reference(round_: Round, name: str, which: Which) -> tuple[Algorithm, int, tuple[Point, ...]]:
    algorithm = algorithm_of(round_.usage, round_.name, round_.overlay)
    if algorithm is None:
        raise MlsubError(f"{round_.title} had no convergence test; it began with v1.0")
    if not is_tested(name):
        raise MlsubError(f"{name} is not compared with a reference in any round")
    file = reference_file(round_.usage, round_.ruleset, name)
    if file is None:
        raise MlsubError(f"the installed mlperf-logging has no reference points for {name} in {round_.title}")
    runs = benchmark(round_.usage, round_.name, name, round_.overlay).runs
    points = points_of(file, name, runs, algorithm)
    if which == "deadline":
        points = points_at_deadline(points, name, round_, runs, algorithm)
    return algorithm, runs, points


def reference_table(round_: Round, name: str, which: Which = "final") -> ReferenceTable:
    """The reference points of a benchmark in a round: the final ones, or those of the release at the deadline.

    Raises:
        MlsubError: there are none.
        MlsubError: the installed file is broken.
    """
    algorithm, runs, points = _reference(round_, name, which)
    pruning, hull = prune(points, algorithm, runs), lower_hull(points)
    removed = dict(pruning.removed)
    earlier = dict(algorithm.earlier).get(name, 0)
    rows = tuple(
        Row(
            batch_size=point.batch_size,
            runs=point.runs,
            mean=point.mean,
            stdev=point.stdev,
            minimum=point.accepted_from(earlier),
            kept=point in pruning.kept,
            on_hull=point in hull,
            pruned_by=removed.get(point.batch_size, ()),
        )
        for point in points
    )
    return ReferenceTable(round_.usage, round_.name, name, unit_words(name, round_), runs, rows, which)


def plan_of(round_: Round, name: str, batch_size: float, which: Which = "final") -> Plan:
    """What an entry with this batch size needs, by the final points or those of the release at the deadline.

    Raises:
        MlsubError: there is no reference.
        MlsubError: the installed file is broken.
    """
    algorithm, runs, points = _reference(round_, name, which)
    point, how = reference_for(batch_size, pruned(points, algorithm, runs), runs)
    earlier = dict(algorithm.earlier).get(name, 0)
    return Plan(
        usage=round_.usage,
        round=round_.name,
        benchmark=name,
        unit=unit_words(name, round_),
        batch_size=batch_size,
        how=how,
        mean=point.mean if point else None,
        stdev=point.stdev if point else None,
        minimum=point.accepted_from(earlier) if point else None,
        normalised=algorithm.normalise,
        reference_points=which,
    )
