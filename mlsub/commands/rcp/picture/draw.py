"""Draw a chart with matplotlib, which is loaded only here.

Each verdict has a shape of its own and each line a width and a dash, so that the picture can be read in grey print.
"""

from __future__ import annotations

import io
import math
import warnings
from collections import Counter
from collections.abc import Sequence
from typing import Any

import msgspec

from mlsub.commands.rcp.picture.chart import grouped
from mlsub.io.data import shipped
from mlsub.io.errors import MlsubError, needs_extra
from mlsub.io.version import VERSION
from mlsub.present.chart import Axis, Chart, Series

#: Inches, and dots an inch of a PNG.
WIDTH, LEAST_HEIGHT, DPI = 11.0, 6.2, 150
_LEFT, _AXES, _KEY, _BELOW, _ABOVE = 0.85, 6.55, 7.55, 0.95, 0.8
#: Up to so many notes are shown at all, and up to so many with both lines; up to so many marks have their label.
NAMED, _TWO_LINES, NUMBERED = 24, 12, 60
_LINE, _LEGEND_LINE = 0.15, 0.225
#: How far inside the edge a large mark lies that stands for one beyond it, as a share of the axis.
_INSET = 0.03
INK, FAINT, TOO_FAST = "#222222", "#666666", "#fbe6d8"
_FORMATS = ("svg", "png")


class Looks(msgspec.Struct, frozen=True):
    """Colours, shapes and lines, and the settings of matplotlib, see looks.yaml."""

    palette: tuple[str, ...]
    shapes: dict[int, str]
    lines: dict[str, dict[str, Any]]
    settings: Any


LOOKS = shipped(__file__, "looks.yaml", Looks)


def check_matplotlib() -> None:
    """Find out beforehand whether anything can be drawn.

    Raises:
        MlsubError: nothing can.
    """
    from importlib.util import find_spec

    if find_spec("matplotlib") is None:
        raise MlsubError(needs_extra("matplotlib is needed to draw.", "plot"))


def draw(chart: Chart, format_: str) -> bytes:
    """A chart as an SVG or PNG file; the same chart gives the same bytes with the same matplotlib.

    Args:
        chart: with axes that have ends; spans are not drawn.
        format_: ``svg`` or ``png``.

    Raises:
        MlsubError: matplotlib is not installed.
    """
    if format_ not in _FORMATS:
        raise ValueError(f"a chart cannot be drawn as {format_}")
    check_matplotlib()
    import matplotlib
    from matplotlib.figure import Figure

    with matplotlib.rc_context(), warnings.catch_warnings():
        # A name may hold characters that the font does not have; they show as boxes.
        warnings.simplefilter("ignore")
        matplotlib.rcdefaults()
        matplotlib.rcParams.update(LOOKS.settings)
        names = len({one.name for one in chart.series})
        notes = sum(bool(one.note) for one in chart.series)
        lines = min(notes, NAMED) * (2.5 if notes <= _TWO_LINES else 1.4) + 3
        height = max(LEAST_HEIGHT, (names + 1) * _LEGEND_LINE + lines * _LINE + _BELOW + _ABOVE)
        figure = Figure(figsize=(WIDTH, height), dpi=DPI)
        box = _LEFT / WIDTH, _BELOW / height, _AXES / WIDTH, (height - _BELOW - _ABOVE) / height
        axes = figure.add_axes(box)
        _dress(axes, chart)
        handles = {name: handle for one in chart.series for name, handle in _draw(axes, chart, one)}
        _labels(axes, chart)
        _legends(figure, chart, handles, height)
        stream = io.BytesIO()
        figure.savefig(stream, format=format_, dpi=DPI, metadata=_metadata(chart, format_))
    return stream.getvalue()


def ticks(axis: Axis, width: float) -> list[float]:
    """The values that are named on an axis of some width in points, as far as there is room, by importance."""
    chosen: list[tuple[float, float, float]] = []
    for value in axis.named:
        at, half = width * _along(value, axis), 3.0 * len(grouped(value)) + 3.0
        if all(abs(at - other) >= half + room for _, other, room in chosen):
            chosen.append((value, at, half))
    return sorted(value for value, _, _ in chosen)


def ranges(numbers: Sequence[int]) -> str:
    """Numbers in order, those that follow each other as a range: ``1, 3–5``."""
    runs: list[list[int]] = []
    for number in numbers:
        if runs and runs[-1][-1] == number - 1:
            runs[-1].append(number)
        else:
            runs.append([number])
    return ", ".join(f"{run[0]}" if len(run) == 1 else f"{run[0]}–{run[-1]}" for run in runs)


def _along(value: float, axis: Axis) -> float:
    """How far along an axis a value lies, 0 to 1."""
    low, high = axis.ends or (0.0, 1.0)
    return math.log(value / low) / math.log(high / low) if axis.log else (value - low) / (high - low)


def _dress(axes: Any, chart: Chart) -> None:
    """Axes, ticks, labels, and the part where there is nothing to compare with."""
    from matplotlib.ticker import FixedLocator, FuncFormatter, MaxNLocator, NullLocator

    factor, words = chart.y.unit()
    if chart.x.log:
        axes.set_xscale("log")
    axes.xaxis.set(major_locator=FixedLocator(ticks(chart.x, _AXES * 72)), minor_locator=NullLocator())
    axes.xaxis.set_major_formatter(FuncFormatter(lambda value, _: grouped(value)))
    axes.yaxis.set_major_locator(MaxNLocator(nbins=8, steps=[1, 2, 2.5, 5, 10]))
    axes.yaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value / factor:g}"))
    axes.set(xlim=chart.x.ends, ylim=chart.y.ends, xlabel=chart.x.title, ylabel=f"{words} {chart.y.title}".strip())
    axes.spines[["top", "right"]].set_visible(False)
    axes.grid(visible=True, axis="y", color="#dddddd", linewidth=0.6, zorder=0)
    axes.set_axisbelow(True)
    if chart.x.unknown and chart.x.ends:
        start, why = chart.x.unknown
        axes.axvspan(start, chart.x.ends[1], facecolor="#eeeeee", linewidth=0, zorder=0, gid="no-reference")
        look = {"rotation": 90, "va": "top", "fontsize": 8, "color": FAINT}
        axes.annotate(why, (start, 1), (4, -4), xycoords=("data", "axes fraction"), textcoords="offset points", **look)


def _draw(axes: Any, chart: Chart, one: Series) -> list[tuple[str, Any]]:
    """Draw a series; its rows in the legend."""
    colour = LOOKS.palette[one.colour]
    if one.spread:
        words = ": mean ± standard deviation" if one.style == "marks" else ""
        return [(one.name + words, _spread(axes, one, colour))]
    if one.style == "marks":
        return [(one.name, _small(axes, chart.y, one, colour))]
    if one.style == "large":
        return [(one.name, _large(axes, chart.y, one, colour))]
    x, y = [point[0] for point in one.points], [point[1] for point in one.points]
    (line,) = axes.plot(x, y, color=colour, gid=one.key, **LOOKS.lines[one.style])
    if one.style != "rule":
        return [(one.name, line)] if one.style != "ticks" else []
    key, floor = one.key.replace("limit", "too-fast"), [axes.get_ylim()[0]] * len(x)
    below = axes.fill_between(x, floor, y, facecolor=TOO_FAST, edgecolor="#e9b897", hatch="//", linewidth=0, zorder=1)
    below.set_gid(key)
    return [(f"{one.name}: least olympic mean", line), ("too fast: not accepted", below)]


def _spread(axes: Any, one: Series, colour: str) -> Any:
    """Points with their standard deviation; the last of them for the legend."""
    look = {"ecolor": colour, "elinewidth": 1.2, "capsize": 4, "capthick": 1.2, "zorder": 5}
    mark = {"markersize": 6.5, "color": colour, "markerfacecolor": "white" if one.style == "hollow" else colour}
    for (x, y), stdev in zip(one.points, one.spread, strict=True):
        bar = axes.errorbar([x], [y], yerr=[stdev], fmt="o", **mark, **look)
        bar.lines[0].set_gid(f"{one.key}-{x:g}")
    return bar


def _small(axes: Any, axis: Axis, one: Series, colour: str) -> Any:
    """One mark for the points that meet, the larger the more there are; at the edge for those beyond it."""
    from matplotlib.lines import Line2D

    look = {"edgecolors": "white", "linewidths": 0.4, "alpha": 0.75, "zorder": 6, "clip_on": False, "color": colour}
    together = Counter((x, y) for x, y in one.points)
    for beyond, shape in ((0, "o"), (1, "^"), (-1, "v")):
        some = [point for point in together if axis.beyond(point[1]) == beyond]
        if some:
            sizes = [min(12.0 + 5.0 * (together[point] - 1), 60.0) for point in some]
            x, y = [x for x, _ in some], [axis.within(y) for _, y in some]
            axes.scatter(x, y, s=sizes, marker=shape, gid=one.key + "-beyond" * (beyond != 0), **look)
    return Line2D([], [], marker="o" if one.points else "", color=FAINT, markersize=3.6, linestyle="")


def _large(axes: Any, axis: Axis, one: Series, colour: str) -> Any:
    """A large mark, with an arrow where it stands for one beyond the edge."""
    from matplotlib.lines import Line2D

    shape = LOOKS.shapes[one.colour]
    look: Any = {"color": colour, "markeredgecolor": "white", "clip_on": False, "zorder": 7, "linestyle": ""}
    for x, y in one.points:
        axes.plot(x, axis.within(y, _INSET), marker=shape, markersize=9, gid=one.key, **look)
        if beyond := axis.beyond(y):
            arrow = "^" if beyond > 0 else "v"
            axes.plot(x, axis.within(y), marker=arrow, markersize=6, gid=one.key.replace("mean", "beyond"), **look)
    return Line2D([], [], marker=shape, markersize=9, **look)


def _labels(axes: Any, chart: Chart) -> None:
    """The labels of large marks to their right; marks that lie near each other share one."""
    marked = [one for one in chart.series if one.label]
    if len(marked) > NUMBERED:
        return
    inch = axes.get_window_extent().height / axes.figure.dpi
    groups: list[list[tuple[float, float, Series]]] = []
    places = [(x, _along(chart.y.within(y, _INSET), chart.y) * inch, one) for one in marked for x, y in one.points]
    for x, y, one in sorted(places, key=lambda place: place[:2]):
        if groups and groups[-1][-1][0] == x and y - groups[-1][-1][1] < _LINE:
            groups[-1].append((x, y, one))
        else:
            groups.append([(x, y, one)])
    for some in groups:
        x, y, one = some[len(some) // 2]
        colours = {other.colour for _, _, other in some}
        colour = LOOKS.palette[one.colour] if len(colours) == 1 else INK
        axes.annotate(
            ranges(sorted(int(other.label) for _, _, other in some)),
            (x, y / inch),
            (9, 0),
            xycoords=("data", "axes fraction"),
            textcoords="offset points",
            va="center",
            fontsize=7.5,
            fontweight="bold",
            color=colour,
            zorder=8,
            bbox={"boxstyle": "round,pad=0.22", "facecolor": "white", "edgecolor": colour, "linewidth": 0.7},
            gid=f"label-{one.label}",
        )


def _legends(figure: Any, chart: Chart, handles: dict[str, Any], height: float) -> None:
    """What lines and marks mean, which mark has which number, the title above and the source below."""
    from matplotlib.lines import Line2D

    left, top = _KEY / WIDTH, 1 - _ABOVE / height
    place = {"loc": "upper left", "handletextpad": 0.8}
    figure.legend(handles.values(), handles, bbox_to_anchor=(left, top), labelspacing=0.75, **place)
    noted = [one for one in chart.series if one.note]
    if noted:
        last = None if len(noted) <= _TWO_LINES else 1
        rows = {
            f"{one.label}  {chr(10).join(one.note.splitlines()[:last])}": handles[one.name] for one in noted[:NAMED]
        }
        if len(noted) > NAMED:
            rows[f"and {len(noted) - NAMED} more"] = Line2D([], [], linestyle="")
        lower = top - (len(handles) + 0.6) * _LEGEND_LINE / height
        key = figure.legend(rows.values(), rows, bbox_to_anchor=(left, lower), fontsize=7.5, **place)
        key.set_title("Entries: olympic mean of the runs", {"size": 8.5, "weight": "bold"})
        key.set_alignment("left")
    left = _LEFT / WIDTH
    figure.text(left, 1 - 0.3 / height, chart.title, fontsize=13, fontweight="bold", va="center", gid="title")
    figure.text(left, 1 - 0.56 / height, chart.about, color=FAINT, va="center", gid="subtitle")
    figure.text(left, 0.3 / height, chart.source, fontsize=7.5, color=FAINT, va="center", gid="source")


def _metadata(chart: Chart, format_: str) -> dict[str, str | None]:
    made = f"mlsub {VERSION}"
    if format_ == "svg":
        return {"Title": chart.title, "Date": None, "Creator": made}
    return {"Title": chart.title, "Software": made}
