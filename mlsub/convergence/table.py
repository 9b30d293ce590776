"""The reference points of a benchmark and round as a table, and what a batch size needs."""

from __future__ import annotations

import msgspec

from mlsub.convergence.curves import reference_of
from mlsub.convergence.in_force import Which
from mlsub.rounds import Round


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
