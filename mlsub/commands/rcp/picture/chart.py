"""The chart of a reference and of the entries beside it: the same data for the picture and for the results page."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby

from mlsub.commands.rcp.picture.collect import Picture, Shown
from mlsub.convergence.curves import Line, Reference, limit_lines, mean_line, spans_a_decade
from mlsub.convergence.words import number
from mlsub.io.show import plain
from mlsub.io.version import VERSION
from mlsub.present.chart import Axis, Chart, Series

#: The colours of the reference, and colour and words of each verdict on an olympic mean.
CURVE, LIMIT, POINTS = 0, 5, 7
VERDICTS = {
    "pass": (2, "passes"),
    "fail": (5, "fails"),
    "missing": (1, "no reference covers it"),
    "bypassed": (3, "fails, bypassed"),
    "open": (4, "so far, runs are lacking"),
}
#: Batch sizes so many times smaller or larger than every reference point are not drawn.
_FAR = 16
#: Room beside the outermost batch sizes, and above and below the values.
_ROOM = 0.07
#: How far runs may widen the picture, in heights of the reference; what lies beyond is marked at the edge.
_WIDER = 0.6


def reference_series(reference: Reference, limits: Sequence[Line], *, log: bool) -> Iterator[Series]:
    """The official curve, the hull where it is another, the limit, and the points.

    Args:
        reference: with at least one point that the checker keeps.
        limits: what :func:`limit_lines` gives for it.
        log: the axis of batch sizes is logarithmic.
    """
    kept = set(reference.kept)
    pruned = tuple(point for point in reference.points if point not in kept)
    for points, kind in ((reference.kept, "kept"), (pruned, "pruned")):
        if points:
            yield Series(
                name="reference points" if kind == "kept" else "reference points that the checker prunes",
                style="marks" if kind == "kept" else "hollow",
                points=tuple((point.batch_size, point.mean) for point in points),
                spread=tuple(point.stdev for point in points),
                colour=POINTS,
                key=f"reference-{kind}",
            )
    if len(reference.kept) > 1:
        curve = mean_line(reference.kept, log=log)
        yield Series(name="official curve", style="line", points=curve, colour=CURVE, key="official-curve")
    if reference.hull != reference.kept:
        hull, name = mean_line(reference.hull, log=log), "lower hull of the written rules"
        yield Series(name=name, style="dashed", points=hull, colour=POINTS, key="hull-of-the-rules")
    for at, piece in enumerate(limits):
        yield Series(name="acceptance limit", style="rule", points=piece, colour=LIMIT, key=f"limit-{at}")
    least = tuple((point.batch_size, reference.allowed(point).minimum) for point in reference.kept)
    yield Series(name="acceptance limit", style="ticks", points=least, colour=LIMIT, key="limits")


def chart_of(picture: Picture) -> Chart:
    """The chart of a picture: around the reference, and as far beyond as runs reasonably lie."""
    reference = picture.reference
    sizes = [point.batch_size for point in reference.points]
    near = [e.batch_size for e in picture.entries if min(sizes) / _FAR <= e.batch_size <= max(sizes) * _FAR]
    log = spans_a_decade([*sizes, *near])
    left, right = _sides(min([*sizes, *near]), max([*sizes, *near]), log=log)
    limits = limit_lines(reference, left, log=log)
    inner = (reference.kept[0].batch_size, reference.kept[-1].batch_size, *(p.batch_size for p in reference.kept))
    x = Axis(
        f"global batch size{' (logarithmic)' if log else ''}",
        log=log,
        ends=(left, right),
        named=tuple(dict.fromkeys((*inner, *(size for size in near if left <= size <= right), *sizes))),
        unknown=(max(sizes), "no reference") if any(max(sizes) < size <= right for size in near) else None,
    )
    y = Axis(f"{picture.unit} to converge", ends=_heights(picture, limits))
    return Chart(
        key="rcp",
        title=cut(f"{reference.benchmark}, {picture.round.title}: convergence against the reference", 90),
        about=_about(picture),
        x=x,
        y=y,
        series=(*reference_series(reference, limits, log=log), *_runs(picture, x), *_means(picture, x, y)),
        source=f"Reference points: {cut(reference.source, 60)}. Limit: one-sided t-test at 5 %, {reference.runs} runs "
        f"an entry, pruned and interpolated as the checker of v{picture.round.name} did. mlsub {VERSION}.",
    )


def cut(text: str, width: int) -> str:
    """A name as it is printed: without unprintable characters, the middle left out where it is too long."""
    text = plain(text[:400])
    if len(text) <= width:
        return text
    head = (width - 1) * 2 // 3
    return f"{text[:head]}…{text[len(text) - (width - 1 - head) :]}"


def grouped(value: float) -> str:
    """A batch size with its thousands apart."""
    return f"{value:,.10g}".replace(",", " ")


def distance_words(entry: Shown) -> str | None:
    """How far the olympic mean lies from the limit, None where one is missing."""
    return f"{100 * (entry.mean / entry.limit - 1):+.2f} %" if entry.mean is not None and entry.limit else None


def _about(picture: Picture) -> str:
    if not picture.entries:
        return cut(picture.title, 110)
    count, names = len(picture.entries), [cut(name, 40) for name in picture.organisations]
    more = f" and {len(names) - 6} more" if len(names) > 6 else ""
    entries = f"{count} entr{'y' if count == 1 else 'ies'}"
    return cut(f"{picture.title}; {entries} of {', '.join(names[:6])}{more}", 130)


def _runs(picture: Picture, x: Axis) -> Iterator[Series]:
    """The runs of a batch size and verdict together, and how many did not converge."""
    total = sum(len(entry.points) for entry in picture.entries)
    failed = sum(entry.failed for entry in picture.entries)
    name = f"runs ({total}), larger where several meet"
    shown = sorted((e for e in picture.entries if not x.beyond(e.batch_size)), key=_size_and_verdict)
    for (size, verdict), some in groupby(shown, _size_and_verdict):
        points = tuple((size, point) for entry in some for point in entry.points)
        if points:
            key = f"runs-{size:g}-{verdict}"
            yield Series(name=name, style="marks", points=points, colour=VERDICTS[verdict][0], key=key)
    if failed:
        yield Series(name=f"and {failed} run{'s' * (failed > 1)} that did not converge", style="marks", points=())


def _size_and_verdict(entry: Shown) -> tuple[float, str]:
    return entry.batch_size, entry.verdict


def _means(picture: Picture, x: Axis, y: Axis) -> Iterator[Series]:
    """The olympic mean of each entry, without a point where it has no place in the picture."""
    for entry in picture.entries:
        colour, words = VERDICTS[entry.verdict]
        drawn = not x.beyond(entry.batch_size)
        name = f"{entry.organisation} / {entry.system}" if len(picture.organisations) > 1 else entry.system
        yield Series(
            name=f"olympic mean: {words}",
            style="large",
            points=((entry.batch_size, entry.mean),) if drawn and entry.mean is not None else (),
            colour=colour,
            key=f"mean-{entry.number}",
            label=str(entry.number),
            note=f"{cut(name, 42)}\n{_figures(entry, y, drawn=drawn)}",
        )


def _figures(entry: Shown, y: Axis, *, drawn: bool) -> str:
    mean, (factor, words) = "no olympic mean", y.unit()
    if entry.mean is not None:
        scaled = entry.mean / factor
        mean = f"mean {scaled:.4g} {words}".rstrip() if scaled > 1e-3 else f"mean {number(entry.mean)}"
    if not drawn:
        return f"not drawn, batch {entry.batch_size:.4g}: {mean}"
    distance = distance_words(entry)
    return f"batch {grouped(entry.batch_size)}: {mean}{f', limit {distance}' if distance else ''}"


def _sides(low: float, high: float, *, log: bool) -> tuple[float, float]:
    if log:
        room = (high / low) ** _ROOM
        return low / room, high * room
    room = _ROOM * (high - low) or 0.25 * high
    return max(low - room, 0.0), high + room


def _heights(picture: Picture, limits: Iterable[Line]) -> tuple[float, float]:
    """The reference with its stdevs and limits; runs widen this by no more than a part of its height."""
    points = picture.reference.points
    least = [picture.reference.allowed(point).minimum for point in picture.reference.kept]
    low = min([p.mean - p.stdev for p in points] + least + [value for line in limits for _, value in line])
    high = max(p.mean + p.stdev for p in points)
    height = max(high - low, 0.2 * high)
    low, high = min(low, high - height), max(high, low + height)
    values = [value for entry in picture.entries for value in (*entry.points, entry.mean) if value is not None]
    low = min([low, *(value for value in values if value >= low - _WIDER * height)])
    high = max([high, *(value for value in values if value <= high + _WIDER * height)])
    room = _ROOM * (high - low)
    return max(low - room, min(low, 0.0)), high + room
