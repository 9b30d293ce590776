"""The charts of a document as one picture in SVG: no script, nothing to load, readable on light and dark."""

from __future__ import annotations

import html
from collections.abc import Callable, Iterator, Sequence
from itertools import groupby

from mlsub.io import MlsubError
from mlsub.io.show import breaks, cells, in_digits, plain, shorten, shorten_apart
from mlsub.present import document as doc
from mlsub.present.charts import LINES, Scale, drawable, scale_of, split

#: The colours of kinds and series, in light and in dark; each has another lightness than its neighbours, for eyes that
#: see no hue.
COLOURS = (
    ("#1a7f37", "#3fb950"), ("#7c9400", "#b9cc3e"), ("#0969da", "#58a6ff"), ("#cf222e", "#ff7b72"),
    ("#bc6c00", "#ffb454"), ("#7d8590", "#8b949e"), ("#8250df", "#c297ff"), ("#24292f", "#e6edf3"),
)  # fmt: skip
#: The width of a picture, the height of axes and of a row, how wide a letter is, and the longest name and line.
_WIDTH, _HEIGHT, _ROW, _LETTER, _NAME, _LINE = 760, 320, 22, 8, 40, 104
_DOT, _STROKE = "m-{0} 0a{0} {0} 0 1 0 {1} 0a{0} {0} 0 1 0-{1} 0", "m-9 0h18"
#: A point of each style, which also stands for its series in the legend.
_SHAPES = dict.fromkeys(LINES, _STROKE) | {
    "marks": _DOT.format(4.5, 9), "hollow": _DOT.format(4, 8), "large": "m0-8l8 8l-8 8l-8-8z",
    "ticks": "m-5-5l10 10m0-10l-10 10", "whiskers": "m-4-7h8m-4 0v14m-4 0h8", "spans": "m-7-5h14v10h-14z",
}  # fmt: skip
_FILLED = ("marks", "spans")
_LIGHT, _DARK = ("".join(f".chart .c{n}{{--c:{c[dark]}}}" for n, c in enumerate(COLOURS)) for dark in (0, 1))
_STYLE = (
    ".chart{font:13px system-ui,sans-serif;fill:currentColor}.chart .t{font-weight:600;font-size:15px}"
    ".chart .g{stroke:currentColor;stroke-opacity:.18}.chart .p{fill:var(--c);stroke:Canvas}"
    ".chart .l{fill:none;stroke:var(--c);stroke-width:2}.chart .dashed{stroke-dasharray:2 4}"
    f".chart .rule{{stroke-dasharray:7 4}}{_LIGHT}@media(prefers-color-scheme:dark){{{_DARK}}}"
)
_ALONE = "svg{color-scheme:light dark;color:CanvasText;background:Canvas}"


def render(document: doc.Document) -> str:
    """The charts of a document below each other, ending in a line feed.

    Raises:
        MlsubError: it has none.
    """
    drawn, top = "", 0
    for chart in _charts(document.blocks):
        picture, height = draw(chart, top)
        drawn, top = drawn + picture, top + height
    if not drawn:
        raise MlsubError("This answer has no chart. Ask for --format html or text.")
    size = f'viewBox="0 0 {_WIDTH} {top}" width="{_WIDTH}" height="{top}"'
    return f'<svg xmlns="http://www.w3.org/2000/svg" {size}><style>{_ALONE}</style>\n{drawn}</svg>\n'


def _charts(blocks: Sequence[doc.Block]) -> Iterator[doc.Chart]:
    for block in blocks:
        if isinstance(block, doc.Section):
            yield from _charts(block.blocks)
        elif isinstance(block, doc.Chart) and block.series:
            yield block


def draw(chart: doc.Chart, top: int = 0) -> tuple[str, int]:
    """Return a chart as an element of a page or picture, in which it lies so far down, and its height."""
    rows = len(chart.y.names)
    both = [(place, value) for one in chart.series for place, found in split(one, rows=rows > 0) for value in found]
    across = scale_of(chart.x, [value if rows else place for place, value in both])
    up = Scale(rows - 0.5, -0.5) if rows else scale_of(chart.y, [value for _, value in both])
    ticks = range(rows) if rows else up.ticks(6)
    names = shorten_apart(chart.y.names, _NAME) if rows else [in_digits(tick, 4) for tick in ticks]
    lines = [chart.about[slice(*part)] for part in breaks(chart.about, _LINE, _LINE) if chart.about]
    legend = list(_legend(chart.series, 42 + 18 * len(lines)))
    left = max(map(cells, names), default=0) * _LETTER + 16
    over = max((int(y) for _, y, _ in legend), default=22 + 18 * len(lines)) + (16 if rows else 36)
    wide, high = _WIDTH - left - 24, rows * _ROW or _HEIGHT

    def at(x: float, y: float) -> str:
        return f"{left + across.at(x) * wide:.1f} {over + high * (1 - up.at(y)):.1f}"

    parts = [_text(8, 22, shorten(chart.title, 90), more='class="t"')]
    parts += [_text(8, 40 + 18 * n, line) for n, line in enumerate(lines)]
    free = 0.0
    for tick in chart.x.ticks or across.ticks(8):
        x, number = left + across.at(tick) * wide, in_digits(tick, 4)
        parts.append(f'<path class="g" d="M{x:.1f} {over}v{high}"/>')
        if x - cells(number) * _LETTER / 2 >= free:
            parts.append(_text(x, over + high + 18, number, "middle"))
            free = x + (cells(number) + 1) * _LETTER / 2
    for tick, name in zip(ticks, names, strict=True):
        y = over + high * (1 - up.at(tick))
        parts.append("" if rows else f'<path class="g" d="M{left:.1f} {y:.1f}h{wide:.1f}"/>')
        parts.append(_text(left - 8, y + 4, name, "end"))
    parts.append(_text(left + wide, over + high + 38, chart.x.title, "end"))
    parts.append("" if rows else _text(8, over - 8, chart.y.title))
    for x, y, one in legend:
        drawn = _path(one, f"M{x + 14:.1f} {y - 4:.1f}{_SHAPES[one.style]}") + _text(x + 28, y, one.name)
        parts.append(f'<g class="c{one.colour % len(COLOURS)}">{drawn}{_shapes(one, at)}</g>')
    named = f"<title>{escape(chart.title)}</title><desc>{escape(chart.about)}</desc><style>{_STYLE}</style>"
    size = f'y="{top}" viewBox="0 0 {_WIDTH} {over + high + 50}" width="{_WIDTH}" height="{over + high + 50}"'
    shown = "\n".join(filter(None, parts))
    return f'<svg class="chart" role="img" {size}>{named}\n{shown}</svg>\n', over + high + 50


def _legend(series: Sequence[doc.Series], y: float) -> Iterator[tuple[float, float, doc.Series]]:
    """Yield where each series stands in the legend, whose first line is at ``y``, and the series."""
    x = 0.0
    for one in (one for one in series if one.points):
        width = cells(one.name) * _LETTER + 40
        if x and x + width > _WIDTH - 16:
            x, y = 0.0, y + 20
        yield x, y, one
        x += width


def _shapes(series: doc.Series, at: Callable[[float, float], str]) -> str:
    """What a series is drawn as; what is no number breaks a line, and is no point."""
    points = [point for point in series.points if drawable(point)]
    match series.style:
        case "spans":
            bars = ((at(x, y), at(end, y).split()[0]) for x, end, y in points)
            return _path(series, "".join(f"M{place}m0-6H{end}v12H{place.split()[0]}z" for place, end in bars))
        case "whiskers":
            ends = ((at(x, low), at(x, high).split()[1]) for x, low, high in points)
            return _path(series, "".join(f"M{place}m-5 0h10m-5 0V{end}m-5 0h10" for place, end in ends))
        case style if style in LINES:
            lines = (some for known, some in groupby(series.points, drawable) if known)
            path = "".join("M" + "L".join(at(*point) for point in line) for line in lines)
            dots = "".join(f"M{at(*point)}{_DOT.format(2, 4)}" for point in points)
            return _path(series, path + dots if style == "curve" else path)
    return _path(series, "".join(f"M{at(*point)}{_SHAPES[series.style]}" for point in points))


def _path(series: doc.Series, path: str) -> str:
    return f'<path class="{"p" if series.style in _FILLED else "l"} {series.style}" d="{path}"/>' if path else ""


def _text(x: float, y: float, text: str, anchor: str = "start", more: str = "") -> str:
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}" {more}>{escape(text)}</text>'


def escape(text: str) -> str:
    """Return a text with nothing in it that HTML or SVG would read as its own."""
    return html.escape(plain(text))
