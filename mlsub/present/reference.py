"""The chart of a reference: what means at each batch size are accepted, and what lies beside it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from mlsub.convergence.curves import RcpReference, join_lines, limit_lines, mean_lines, spans_a_decade
from mlsub.convergence.reference import Point
from mlsub.present.document import Axis, Chart, Series

#: Colours: of a mean, of a limit, of what does not count, and of what is compared with the reference.
_MEAN, _LIMIT, _ASIDE, OWN = 2, 3, 5, 6


def reference_chart(known: RcpReference, batch_size: float | None = None, own: Iterable[Series] = ()) -> Chart:
    """Return the points of a reference and its limit by batch size, both in the unit of the reference.

    Args:
        known: the reference, of which the official pruning keeps at least one point.
        batch_size: one whose limit is drawn as well.
        own: series of what is compared with the reference.
    """
    kept, pruned = known.kept, [point for point in known.points if point not in known.kept]
    limits = {(point.batch_size, known.with_allowance(point).minimum) for point in kept}
    lines = limit_lines(known)
    if batch_size is not None:
        point, how = known.point_for(batch_size)
        if point is not None:
            limits.add((batch_size, point.minimum))
        if point is not None and how == "smaller-batch":
            lines = (((batch_size, point.minimum), (point.batch_size, point.minimum)), *lines)
    sizes = tuple(sorted({size for size, _ in limits}))
    hull, mean = mean_lines(known.hull, kept)
    series = (
        Series("stdev", "whiskers", _ASIDE, tuple((p.batch_size, p.mean - p.stdev, p.mean + p.stdev) for p in kept)),
        Series("pruned", "hollow", _ASIDE, _means(pruned)),
        Series("lower hull of the written rules", "dashed", _ASIDE, hull if known.hull != kept and hull[1:] else ()),
        Series("mean between points", "line", _MEAN, mean if mean[1:] else ()),
        Series("limit between points", "rule", _LIMIT, join_lines(lines)),
        Series("reference mean", "marks", _MEAN, _means(kept)),
        Series("limit", "ticks", _LIMIT, tuple(sorted(limits))),
        *own,
    )
    return Chart(
        title=f"{known.unit.capitalize()} to converge by batch size",
        about=f"Reference of {known.benchmark} in {known.round.title}: accepted is a mean at the limit or above.",
        x=Axis("global batch size, samples", log=spans_a_decade(sizes), ticks=sizes),
        y=Axis(f"{known.unit} to converge"),
        series=tuple(one for one in series if one.points),
    )


def _means(points: Sequence[Point]) -> tuple[tuple[float, float], ...]:
    return tuple((point.batch_size, point.mean) for point in points)
