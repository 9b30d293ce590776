"""Reference points, and what a batch size needs, as documents."""

from __future__ import annotations

from collections.abc import Iterator

from mlsub.convergence.deadline import Which
from mlsub.convergence.table import Plan, ReferenceTable, Row
from mlsub.present.document import Column, Document, Facts, Table, Text, document

_HOW = {
    "exact": "a reference point of this batch size",
    "interpolated": "between two reference points",
    "smaller-batch": "smaller than any reference point: accepted if no faster than the smallest",
    "missing": "larger than any reference point: a new one has to be submitted",
}
_POINTS = (
    *(Column(name, number=True) for name in ("batch size", "runs", "mean", "stdev", "accepted from")),
    Column("pruned"),
)


def points_document(table: ReferenceTable) -> Document:
    """The reference points of a benchmark."""
    rows = tuple(
        (
            _size(row.batch_size),
            str(row.runs),
            *map(_number, (row.mean, row.stdev, row.minimum)),
            _pruned(row),
        )
        for row in table.rows
    )
    hull = "hull: the lower convex hull of the written rules, from which the official pruning differs"
    return document(
        f"{table.benchmark}, {table.usage} {table.round}{_at(table.reference_points)}: "
        f"{table.unit} to converge, {table.runs} runs an entry",
        Table(_POINTS, rows),
        Text(hull) if any("hull" in row[-1] for row in rows) else None,
    )


def plan_document(plan: Plan) -> Document:
    """What runs at a batch size need."""
    title = f"{plan.benchmark}, {plan.usage} {plan.round}{_at(plan.reference_points)}"
    return document(f"{title}, batch size {plan.batch_size:g}", Facts(tuple(_facts(plan))))


def _facts(plan: Plan) -> Iterator[tuple[str, str]]:
    yield "reference", _HOW[plan.how]
    if plan.mean is None or plan.stdev is None or plan.minimum is None:
        return
    yield "mean", f"{_number(plan.mean)} {plan.unit}, stdev {_number(plan.stdev)}"
    yield "accepted", f"an olympic mean of {_number(plan.minimum)} {plan.unit} or more"
    if plan.normalised:
        factor = plan.mean / plan.minimum if plan.minimum > 0 else 1.0
        yield (
            "faster",
            f"below {_number(plan.mean)} {plan.unit} the time is scaled up, by {factor:.4f} at the limit",
        )


def _at(which: Which) -> str:
    """What a title says of the reference points."""
    return ", points as far as known at the deadline" if which == "deadline" else ""


def _number(value: float) -> str:
    return f"{value:.4f}".rstrip("0").rstrip(".") if value < 1e4 else f"{value:.0f}"


def _pruned(row: Row) -> str:
    if row.kept:
        return "" if row.on_hull else "no, though above the hull"
    others = [_size(size) for size in row.pruned_by]
    why = f"between {others[0]} and {others[1]}" if len(others) == 2 else f"below the fastest, {others[0]}"
    return why if not row.on_hull else f"{why}, though on the hull"


def _size(batch_size: float) -> str:
    return f"{batch_size:g}" if batch_size < 1e6 else f"{batch_size:.0f}"
