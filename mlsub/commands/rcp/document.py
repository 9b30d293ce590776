"""Reference points, installed or built, and what a batch size needs, as documents."""

from __future__ import annotations

from collections.abc import Iterator

from mlsub.commands.rcp.model import NewPoint, NewReference
from mlsub.convergence.curves import Plan, ReferenceTable, Row
from mlsub.convergence.in_force import described, merged_between
from mlsub.convergence.words import number
from mlsub.present.document import Column, Document, Facts, Items, Table, Text, document, section
from mlsub.rounds import get_round

_HOW = {
    "exact": "a reference point of this batch size",
    "interpolated": "between two reference points",
    "smaller-batch": "smaller than any reference point: accepted if no faster than the smallest",
    "missing": "larger than any reference point: a new one has to be submitted",
}
_POINT = tuple(Column(name, number=True) for name in ("batch size", "runs", "mean", "stdev", "accepted from"))


def points_document(table: ReferenceTable) -> Document:
    """The reference points of a benchmark."""
    rows = tuple((*_cells(row), _pruned(row)) for row in table.rows)
    round_ = get_round(table.usage, table.round)
    later = merged_between(table.benchmark, round_, table.reference_points, "newest")
    hull = "hull: the lower convex hull of the written rules, from which the official pruning differs"
    return document(
        f"{table.benchmark}, {table.usage} {table.round}{_points_of(table)}: "
        f"{table.unit} to converge, {table.runs} runs an entry",
        Table((*_POINT, Column("pruned")), rows),
        Text(hull) if any("hull" in row[-1] for row in rows) else None,
        Text(f"Changed later, which does not count here: {later}") if later else None,
    )


def built_document(built: NewReference) -> Document:
    """The points that were built."""
    rows = tuple((*_cells(point), _place(point)) for point in built.points)
    return document(
        f"{built.file}: {built.benchmark}, {built.unit} to converge",
        Table((*_POINT, Column(f"beside {built.installed} installed points")), rows),
        section("Notes", Items(built.notes)),
    )


def _cells(point: Row | NewPoint) -> tuple[str, ...]:
    means = (point.mean, point.stdev, point.minimum)
    return (number(point.batch_size), str(point.runs), *map(number, means))


def _place(point: NewPoint) -> str:
    fate = "kept" if point.kept else "pruned"
    return fate if point.replaces is None else f"{fate}; in place of one with a mean of {number(point.replaces)}"


def plan_document(plan: Plan) -> Document:
    """What runs at a batch size need."""
    title = f"{plan.benchmark}, {plan.usage} {plan.round}{_points_of(plan)}"
    return document(f"{title}, batch size {plan.batch_size:g}", Facts(tuple(_facts(plan))))


def _facts(plan: Plan) -> Iterator[tuple[str, str]]:
    yield "reference", _HOW[plan.how]
    if plan.mean is None or plan.stdev is None or plan.minimum is None:
        return
    yield "mean", f"{number(plan.mean)} {plan.unit}, stdev {number(plan.stdev)}"
    yield "accepted", f"an olympic mean of {number(plan.minimum)} {plan.unit} or more"
    if plan.normalised:
        factor = plan.mean / plan.minimum if plan.minimum > 0 else 1.0
        yield (
            "faster",
            f"below {number(plan.mean)} {plan.unit} the time is scaled up, by {factor:.4f} at the limit",
        )


def _points_of(found: ReferenceTable | Plan) -> str:
    """What a title says of the reference points; nothing of the usual ones."""
    words = described(found.reference_points, get_round(found.usage, found.round))
    return f", {words}" if words else ""


def _pruned(row: Row) -> str:
    if row.kept:
        return "" if row.on_hull else "no, though above the hull"
    others = [number(size) for size in row.pruned_by]
    why = f"between {others[0]} and {others[1]}" if len(others) == 2 else f"below the fastest, {others[0]}"
    return why if not row.on_hull else f"{why}, though on the hull"
