"""Draw the picture of a reference and of entries beside it with matplotlib, which is loaded only here."""

from __future__ import annotations

import io
import math
import warnings
from collections.abc import Sequence
from typing import Any

from mlsub.commands.rcp.run import Entry, Picture
from mlsub.convergence.curves import limit_lines, mean_line, spans_a_decade
from mlsub.io import VERSION
from mlsub.io.errors import MlsubError, needs_extra
from mlsub.io.show import plain

#: Inches, and dots an inch of a PNG.
WIDTH, HEIGHT, DPI = 11.0, 6.2, 150
#: Up to so many entries are named beside the picture and numbered in it.
NAMED = 24
#: Batch sizes so many times smaller or larger than every reference point are not drawn.
_FAR = 16
#: How far runs may widen the picture, in heights of the reference; what lies beyond is marked at the edge.
_WIDER = 0.6
_INK, _FAINT, _POINTS, _CURVE, _LEAST = "#222222", "#666666", "#4b535c", "#0072b2", "#c84b00"
#: The colour, the shape and the words of each verdict; shapes can be told apart in grey print.
VERDICTS = {
    "pass": ("#009e73", "o", "passes"),
    "fail": ("#c84b00", "s", "fails"),
    "missing": ("#e08e00", "^", "no reference covers it"),
    "bypassed": ("#b8508c", "D", "fails, bypassed"),
    "open": ("#3aa0dc", "h", "so far, runs are lacking"),
}
#: What a matplotlibrc of the machine says does not count. Names of systems are text, never formulas.
_SETTINGS: Any = {
    **{"svg.hashsalt": "mlsub", "svg.fonttype": "none", "text.usetex": False, "text.parse_math": False},
    **{"font.family": ["DejaVu Sans", "sans-serif"], "font.size": 9.0, "hatch.linewidth": 0.6},
    **{"legend.frameon": False, "legend.fontsize": 8.0, "legend.labelspacing": 0.7},
    **{"axes.spines.top": False, "axes.spines.right": False, "axes.axisbelow": True, "grid.color": "#dddddd"},
    **{"text.color": _INK, "axes.labelcolor": _INK, "xtick.color": _INK, "ytick.color": _INK},
}


def check_matplotlib() -> None:
    """Find out beforehand whether anything can be drawn.

    Raises:
        MlsubError: nothing can.
    """
    from importlib.util import find_spec

    if find_spec("matplotlib") is None:
        raise MlsubError(needs_extra("matplotlib is needed to draw.", "plot"))


def draw(picture: Picture, format_: str) -> bytes:
    """Return a picture as a file; the same picture gives the same bytes with the same matplotlib.

    Args:
        picture: what to draw; its reference has at least one point that the checker keeps.
        format_: ``svg``, ``png`` or ``pdf``.

    Raises:
        MlsubError: matplotlib is not installed.
    """
    check_matplotlib()
    import matplotlib
    from matplotlib.figure import Figure

    title = cut(f"{picture.reference.benchmark}, {picture.round.title}: convergence against the reference", 90)
    with matplotlib.rc_context(), warnings.catch_warnings():
        # A name may hold characters that the font does not have; they show as boxes.
        warnings.simplefilter("ignore")
        matplotlib.rcdefaults()
        matplotlib.rcParams.update(_SETTINGS)
        height = max(HEIGHT, 3.2 + 0.34 * min(len(picture.entries), NAMED + 1))
        figure = Figure(figsize=(WIDTH, height), dpi=DPI, layout="constrained")
        axes = figure.add_subplot()
        _set_axes(axes, picture)
        rows = {**_draw_reference(axes, picture), **_draw_entries(axes, picture)}
        figure.legend(list(rows.values()), list(rows), loc="outside right upper")
        figure.suptitle(title, x=0.01, ha="left", fontsize=11.5, fontweight="bold")
        axes.set_title(_about(picture), loc="left", fontsize=8, color=_FAINT, pad=10)
        figure.supxlabel(_source(picture), x=0.01, ha="left", fontsize=7.5, color=_FAINT)
        dates: dict[str, None] = {"svg": {"Date": None}, "pdf": {"CreationDate": None}}.get(format_, {})
        maker = "Software" if format_ == "png" else "Creator"
        stream = io.BytesIO()
        figure.savefig(stream, format=format_, metadata={"Title": title, maker: f"mlsub {VERSION}", **dates})
    return stream.getvalue()


def cut(text: str, width: int) -> str:
    """Return a name as it is printed: no unprintable characters, the middle left out where it is too long."""
    text = plain(text[:400])
    if len(text) <= width:
        return text
    head = (width - 1) * 2 // 3
    return f"{text[:head]}…{text[len(text) - (width - 1 - head) :]}"


def _set_axes(axes: Any, picture: Picture) -> None:
    """Set the ends, the ticks and the titles of both axes, and mark where there is nothing to compare with."""
    reference = picture.reference
    sizes = [point.batch_size for point in reference.points]
    near = [*sizes, *(e.batch_size for e in picture.entries if min(sizes) / _FAR <= e.batch_size <= max(sizes) * _FAR)]
    low, high, log = min(near), max(near), spans_a_decade(near)
    room = (high / low) ** 0.07 if log else 0.07 * (high - low) or 0.25 * high
    axes.set(
        xscale="log" if log else "linear", xlim=(low / room, high * room) if log else (max(low - room, 0), high + room)
    )
    axes.set_xlabel(f"global batch size{' (logarithmic)' if log else ''}")
    kept = [point.batch_size for point in reference.kept]
    named = _apart([kept[0], kept[-1], *kept, *near], axes.get_xlim(), log=log)
    axes.set_xticks(named, [_grouped(size) for size in named])
    axes.set_xticks([], minor=True)
    axes.set_ylim(_heights(picture, [y for line in limit_lines(reference, low, log=log) for _, y in line]))
    factor, word = _unit(axes.get_ylim()[1])
    axes.set_ylabel(f"{word} {picture.unit} to converge".strip())
    axes.yaxis.set_major_formatter(lambda value, _: f"{value / factor:g}")
    axes.grid(axis="y")
    if high > max(sizes):
        axes.axvspan(max(sizes), axes.get_xlim()[1], facecolor="#eeeeee", linewidth=0, zorder=0, gid="no-reference")
        where = {"xycoords": ("data", "axes fraction"), "textcoords": "offset points", "rotation": 90, "va": "top"}
        axes.annotate("no reference", (max(sizes), 1), (4, -4), fontsize=8, color=_FAINT, **where)


def _apart(values: Sequence[float], ends: tuple[float, float], *, log: bool) -> list[float]:
    """Return the values that leave room for their numbers on an axis, the first ones before the others."""
    low, high = (math.log(end) if log else end for end in ends)
    chosen: dict[float, float] = {}
    for value in values:
        at = ((math.log(value) if log else value) - low) / (high - low)
        if all(abs(at - other) > 0.08 for other in chosen.values()):
            chosen[value] = at
    return sorted(chosen)


def _heights(picture: Picture, limits: Sequence[float]) -> tuple[float, float]:
    """Return the ends of the values: the reference with its stdevs and limits, and runs that are not too far off."""
    reference = picture.reference
    least = [reference.allowed(point).minimum for point in reference.kept]
    low = min([*least, *limits, *(point.mean - point.stdev for point in reference.points)])
    high = max(point.mean + point.stdev for point in reference.points)
    height = max(high - low, 0.2 * high)
    low = min(low, high - height)
    values = [value for entry in picture.entries for value in (*entry.points, entry.mean) if value is not None]
    low = min([low, *(value for value in values if value >= low - _WIDER * height)])
    high = max([high, *(value for value in values if value <= high + _WIDER * height)])
    return max(low - 0.07 * (high - low), min(low, 0.0)), high + 0.07 * (high - low)


def _grouped(size: float) -> str:
    """Return a batch size with its thousands apart."""
    return f"{size:,.10g}".replace(",", " ")


def _unit(top: float) -> tuple[float, str]:
    """Return what the numbers of an axis up to some value are counted in: 1e6 and ``million``."""
    units = ((1e9, 1e9, "billion"), (1e6, 1e6, "million"), (1e4, 1e3, "thousand"))
    return next(((factor, word) for least, factor, word in units if top >= least), (1.0, ""))


def _draw_reference(axes: Any, picture: Picture) -> dict[str, Any]:
    """Draw points, curve, hull and limit; returns their rows in the legend."""
    reference, kept, rows = picture.reference, picture.reference.kept, dict[str, Any]()
    log, (left, _), (floor, _) = axes.get_xscale() == "log", axes.get_xlim(), axes.get_ylim()
    pruned = [point for point in reference.points if point not in kept]
    for some, name, fill in ((kept, "", _POINTS), (pruned, " that the checker prunes", "white")):
        if some:
            x, y, stdevs = zip(*((point.batch_size, point.mean, point.stdev) for point in some), strict=True)
            look: dict[str, Any] = {"color": _POINTS, "markerfacecolor": fill, "capsize": 4, "zorder": 5}
            bars = axes.errorbar(x, y, yerr=stdevs, fmt="o", **look)
            bars.lines[0].set_gid(f"reference-{'pruned' if name else 'kept'}")
            rows[f"reference points{name or ': mean ± standard deviation'}"] = bars
    if len(kept) > 1:
        x, y = zip(*mean_line(kept, log=log), strict=True)
        (rows["official curve"],) = axes.plot(x, y, color=_CURVE, linewidth=1.8, zorder=3, gid="official-curve")
    if reference.hull != kept:
        x, y = zip(*mean_line(reference.hull, log=log), strict=True)
        (line,) = axes.plot(x, y, color=_POINTS, linewidth=1.2, dashes=[5, 3], zorder=3.5, gid="hull-of-the-rules")
        rows["lower hull of the written rules"] = line
    for at, piece in enumerate(limit_lines(reference, left, log=log)):
        x, y = zip(*piece, strict=True)
        (line,) = axes.plot(x, y, color=_LEAST, linewidth=2.4, zorder=3, gid=f"limit-{at}")
        below = axes.fill_between(x, floor, y, facecolor="#fbe6d8", edgecolor="#e9b897", hatch="//", linewidth=0)
        rows |= {"acceptance limit: least olympic mean": line, "too fast: not accepted": below}
    x, y = zip(*((point.batch_size, reference.allowed(point).minimum) for point in kept), strict=True)
    look = {"linestyle": "", "marker": "_", "markersize": 19, "markeredgewidth": 2.4, "zorder": 4}
    axes.plot(x, y, color=_LEAST, gid="limits", **look)
    return rows


def _draw_entries(axes: Any, picture: Picture) -> dict[str, Any]:
    """Draw the runs and the olympic mean of each entry, by verdict; returns the rows of the legend."""
    from matplotlib.lines import Line2D

    left, right = axes.get_xlim()
    drawn = [entry for entry in picture.entries if left <= entry.batch_size <= right]
    rows: dict[str, Any] = {}
    for verdict, (colour, shape, words) in VERDICTS.items():
        some = [entry for entry in drawn if entry.verdict == verdict]
        runs = [(entry.batch_size, point) for entry in some for point in entry.points]
        means = [(entry.batch_size, entry.mean) for entry in some if entry.mean is not None]
        _scatter(axes, runs, f"runs-{verdict}", s=14, color=colour, marker="o", alpha=0.6, zorder=6)
        _scatter(axes, means, f"means-{verdict}", s=80, color=colour, marker=shape, zorder=7)
        if any(entry.verdict == verdict for entry in picture.entries):
            look: dict[str, Any] = {"linestyle": "", "color": colour, "markeredgecolor": "white", "markersize": 9}
            rows[f"olympic mean: {words}"] = Line2D([], [], marker=shape, **look)
    if picture.entries:
        total, failed = sum(len(e.points) for e in picture.entries), sum(e.failed for e in picture.entries)
        others = f", and {failed} that did not converge" if failed else ""
        rows[f"runs ({total}{others})"] = Line2D([], [], linestyle="", marker="o", color=_FAINT, markersize=3.6)
    _number(axes, [entry for entry in drawn if entry.number <= NAMED])
    factor, word = _unit(axes.get_ylim()[1])
    for entry in picture.entries[:NAMED]:
        name = f"{entry.organisation} / {entry.system}" if len(picture.organisations) > 1 else entry.system
        colour, shape, _ = VERDICTS[entry.verdict]
        text = f"{entry.number}  {cut(name, 42)}\n{_figures(entry, factor, word, drawn=entry in drawn)}"
        rows[text] = Line2D([], [], linestyle="", marker=shape, color=colour, markeredgecolor="white", markersize=7)
    if len(picture.entries) > NAMED:
        rows[f"and {len(picture.entries) - NAMED} more"] = Line2D([], [], linestyle="")
    return rows


def _scatter(axes: Any, points: Sequence[tuple[float, float]], name: str, **look: Any) -> None:
    """Draw marks of one look, and arrows at the edge for those beyond it."""
    low, high = axes.get_ylim()
    inside = [(x, y) for x, y in points if low <= y <= high]
    above, below = [(x, high) for x, y in points if y > high], [(x, low) for x, y in points if y < low]
    look |= {"edgecolors": "white", "linewidths": 0.4, "clip_on": False}
    for some, place, shape in ((inside, "", look["marker"]), (above, "-above", "^"), (below, "-below", "v")):
        if some:
            axes.scatter(*zip(*some, strict=True), gid=name + place, **look | {"marker": shape})


def _number(axes: Any, entries: Sequence[Entry]) -> None:
    """Write their numbers beside the means of entries, to the right and to the left in turn where they are close."""
    low, high = axes.get_ylim()
    placed = [(e.batch_size, min(max(e.mean, low), high), e) for e in entries if e.mean is not None]
    placed.sort(key=lambda place: place[:2])
    for at, (x, y, entry) in enumerate(placed):
        left = at % 2 == 1 and placed[at - 1][0] == x
        look: dict[str, Any] = {"fontsize": 7.5, "fontweight": "bold", "color": VERDICTS[entry.verdict][0], "zorder": 8}
        look["bbox"] = {"facecolor": "white", "edgecolor": "none", "alpha": 0.8, "pad": 1.0}
        place = {"textcoords": "offset points", "va": "center", "ha": "right" if left else "left"}
        axes.annotate(str(entry.number), (x, y), (-8 if left else 8, 0), gid=f"number-{entry.number}", **look, **place)


def _figures(entry: Entry, factor: float, word: str, *, drawn: bool) -> str:
    """Return the batch size, the mean and its distance from the limit in words."""
    mean = "no olympic mean" if entry.mean is None else f"mean {entry.mean / factor:.4g} {word}".rstrip()
    if not drawn:
        return f"not drawn, batch {entry.batch_size:.4g}: {mean}"
    return f"batch {entry.batch_size:,.10g}: {mean}".replace(",", " ") + (
        f", limit {d}" if (d := entry.distance) else ""
    )


def _about(picture: Picture) -> str:
    count, names = len(picture.entries), [cut(name, 40) for name in picture.organisations]
    more = f" and {len(names) - 6} more" if len(names) > 6 else ""
    entries = f"; {count} entr{'y' if count == 1 else 'ies'} of {', '.join(names[:6])}{more}" if count else ""
    return cut(picture.title + entries, 95)


def _source(picture: Picture) -> str:
    reference = picture.reference
    return (
        f"Reference points: {cut(reference.source, 60)}. Limit: one-sided t-test at 5 %, {reference.runs} runs "
        f"an entry, pruned and interpolated as the checker of v{picture.round.name} did. mlsub {VERSION}."
    )
