"""The entries inside the axes of a picture: runs, olympic means, and their labels."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from typing import Any

import msgspec

from mlsub.commands.rcp.picture.collect import Picture, Shown
from mlsub.commands.rcp.picture.frame import Frame
from mlsub.commands.rcp.picture.labels import Box, Label, place
from mlsub.commands.rcp.picture.style import MARKS, cut

#: Up to so many entries are called by name in the picture, and up to so many by number; the key names them.
NAMED, NUMBERED = 3, 60
#: Means of one batch size that lie nearer than this (in points) share a label.
_TOGETHER = 4.0
_FONT = 7.5
#: How far (in points) the mark of a mean beyond the picture lies from the edge, where an arrow stands for it.
_INWARD = 8.0


class _Tag(msgspec.Struct, frozen=True):
    """Means that lie on one another: their place in data, and what they are called."""

    x: float
    y: float
    entries: tuple[Shown, ...]
    text: str


def draw_entries(axes: Any, picture: Picture, frame: Frame) -> None:
    """Draw runs as small marks and olympic means as large ones, all at their batch size; the axes have their limits."""
    shown = [entry for entry in picture.entries if frame.holds(entry.batch_size)]
    _runs(axes, shown, frame)
    for entry in shown:
        if entry.mean is not None:
            _mean(axes, entry, entry.mean, frame)
    if len(picture.entries) <= NUMBERED:
        _tags(axes, shown, picture, frame)


def _runs(axes: Any, shown: Sequence[Shown], frame: Frame) -> None:
    """One mark for the runs that converge at one point, the larger the more there are."""
    together: dict[tuple[float, str], Counter[float]] = {}
    for entry in shown:
        together.setdefault((entry.batch_size, entry.verdict), Counter()).update(entry.points)
    for (size, verdict), values in together.items():
        for beyond, shape in ((0, "o"), (1, "^"), (-1, "v")):
            some = [value for value in values if frame.beyond(value) == beyond]
            if some:
                axes.scatter(
                    [size] * len(some),
                    [frame.within(value) / frame.factor for value in some],
                    s=[min(12.0 + 5.0 * (values[value] - 1), 60.0) for value in some],
                    marker=shape,
                    color=MARKS[verdict].colour,
                    edgecolors="white",
                    linewidths=0.4,
                    alpha=0.75,
                    zorder=6,
                    clip_on=False,
                    gid=f"runs-{size:g}-{verdict}{'-beyond' * (beyond != 0)}",
                )


def _mean(axes: Any, entry: Shown, mean: float, frame: Frame) -> None:
    from matplotlib.transforms import ScaledTranslation

    mark, beyond = MARKS[entry.verdict], frame.beyond(mean)
    place_ = axes.transData + ScaledTranslation(0, -_INWARD * beyond / 72, axes.figure.dpi_scale_trans)
    look = {"color": mark.colour, "markeredgecolor": "white", "markeredgewidth": 1.0, "clip_on": False}
    at = [entry.batch_size], [frame.within(mean) / frame.factor]
    axes.plot(*at, mark.shape, markersize=mark.size, zorder=7, gid=f"mean-{entry.number}", transform=place_, **look)
    if beyond:
        axes.plot(*at, "^" if beyond > 0 else "v", markersize=6, zorder=7, gid=f"beyond-{entry.number}", **look)


def _tags(axes: Any, shown: Sequence[Shown], picture: Picture, frame: Frame) -> None:
    """The labels, each with a line to its mark."""
    tags = _grouped(axes, shown, frame, by_name=len(picture.entries) <= NAMED)
    if not tags:
        return
    at = [_in_points(axes, tag.x, tag.y) for tag in tags]
    at = [(x, y - _INWARD * frame.beyond(tag.entries[0].mean or 0.0)) for tag, (x, y) in zip(tags, at, strict=True)]
    labels = [Label(x, y, 0.64 * _FONT * len(tag.text) + 5, _FONT + 5) for tag, (x, y) in zip(tags, at, strict=True)]
    left, bottom = _in_points(axes, frame.left, frame.bottom / frame.factor)
    right, top = _in_points(axes, frame.right, frame.top / frame.factor)
    boxes = place(labels, _obstacles(axes, shown, picture, frame), Box(left + 3, bottom + 3, right - 1, top - 1))
    for tag, (x, y), box in zip(tags, at, boxes, strict=True):
        colour = MARKS[tag.entries[0].verdict].colour
        axes.annotate(
            tag.text,
            xy=(x, y),
            xycoords="figure points",
            xytext=((box.left + box.right) / 2, (box.bottom + box.top) / 2),
            textcoords="figure points",
            ha="center",
            va="center",
            fontsize=_FONT,
            fontweight="bold",
            color=colour,
            zorder=8,
            bbox={"boxstyle": "round,pad=0.22", "facecolor": "white", "edgecolor": colour, "linewidth": 0.7},
            arrowprops={"arrowstyle": "-", "color": colour, "linewidth": 0.8, "shrinkA": 0, "shrinkB": 3},
            gid=f"label-{tag.entries[0].number}",
        )


def _grouped(axes: Any, shown: Sequence[Shown], frame: Frame, *, by_name: bool) -> list[_Tag]:
    """The means, those that lie on one another together, from left to right and from below."""
    with_mean = [(entry, frame.within(entry.mean) / frame.factor) for entry in shown if entry.mean is not None]
    groups: list[list[tuple[Shown, float]]] = []
    for entry, y in sorted(with_mean, key=lambda pair: (pair[0].batch_size, pair[1], pair[0].number)):
        last = groups[-1][-1] if groups else None
        if (
            last is not None
            and last[0].batch_size == entry.batch_size
            and last[0].verdict == entry.verdict
            and _in_points(axes, entry.batch_size, y)[1] - _in_points(axes, entry.batch_size, last[1])[1] < _TOGETHER
        ):
            groups[-1].append((entry, y))
        else:
            groups.append([(entry, y)])
    return [
        _Tag(
            some[0][0].batch_size,
            math.fsum(y for _, y in some) / len(some),
            tuple(entry for entry, _ in some),
            _text([entry for entry, _ in some], by_name=by_name),
        )
        for some in groups
    ]


def _text(entries: Sequence[Shown], *, by_name: bool) -> str:
    if by_name and len(entries) == 1:
        return f"{entries[0].number} {cut(entries[0].system, 30)}"
    return ranges(sorted(entry.number for entry in entries))


def ranges(numbers: Sequence[int]) -> str:
    """Numbers in order, those that follow each other as a range: ``1, 3–5``."""
    runs: list[list[int]] = []
    for number in numbers:
        if runs and runs[-1][-1] == number - 1:
            runs[-1].append(number)
        else:
            runs.append([number])
    return ", ".join(f"{run[0]}" if len(run) == 1 else f"{run[0]}–{run[-1]}" for run in runs)


def _obstacles(axes: Any, shown: Sequence[Shown], picture: Picture, frame: Frame) -> list[Box]:
    """What labels had better not hide: means, reference points, runs, and a little also the lines."""
    found = []
    for entry in shown:
        if entry.mean is not None:
            found.append(_around(axes, entry.batch_size, frame.within(entry.mean) / frame.factor, 7.0, 3.0))
        for value in set(entry.points):
            found.append(_around(axes, entry.batch_size, frame.within(value) / frame.factor, 3.0, 0.6))
    for point in picture.reference.points:
        box = _around(axes, point.batch_size, point.mean / frame.factor, 5.0, 2.0)
        (_, low), (_, high) = (
            _in_points(axes, point.batch_size, (point.mean + side * point.stdev) / frame.factor) for side in (-1, 1)
        )
        found.append(msgspec.structs.replace(box, bottom=min(low, box.bottom), top=max(high, box.top)))
    for line in (frame.curve, *frame.limits):
        found += [_around(axes, size, value / frame.factor, 2.5, 0.5) for size, value in line]
    return found


def _around(axes: Any, x: float, y: float, reach: float, weight: float) -> Box:
    across, up = _in_points(axes, x, y)
    return Box(across - reach, up - reach, across + reach, up + reach, weight)


def _in_points(axes: Any, x: float, y: float) -> tuple[float, float]:
    """A place of data in points from the lower left of the figure."""
    across, up = axes.transData.transform((x, y))
    return float(across) * 72 / axes.figure.dpi, float(up) * 72 / axes.figure.dpi
