"""The charts of a document as one picture in SVG: no script, nothing to load, readable on light and dark."""

from __future__ import annotations

import html
from collections.abc import Callable, Iterator, Sequence

from mlsub.io import MlsubError
from mlsub.io.show import plain
from mlsub.present import document as doc
from mlsub.present.charts import LINES, Scale, drawable, number_words, scale_of, split
from mlsub.present.text import breaks, cells, shorten

#: The colours of kinds and series, in light and in dark; each has another lightness than its neighbours, for eyes that
#: see no hue.
COLOURS = (
    ("#1a7f37", "#3fb950"), ("#7c9400", "#b9cc3e"), ("#0969da", "#58a6ff"), ("#cf222e", "#ff7b72"),
    ("#bc6c00", "#ffb454"), ("#7d8590", "#8b949e"), ("#8250df", "#c297ff"), ("#24292f", "#e6edf3"),
)  # fmt: skip
_WIDTH, _HEIGHT, _ROW, _LETTER = 760, 320, 22, 7.3
_NAME, _LINE = 44, 104
_DASHES = {"dashed": ' stroke-dasharray="2 4"', "rule": ' stroke-dasharray="7 4"'}
_LIGHT, _DARK = (
    "".join(f".chart .c{at}{{--c:{pair[dark]}}}" for at, pair in enumerate(COLOURS)) for dark in (False, True)
)
_STYLE = (
    ".chart{font:13px system-ui,sans-serif;fill:currentColor}.chart .t{font-weight:600;font-size:15px}"
    ".chart .g{stroke:currentColor;stroke-opacity:.18}.chart .p{fill:var(--c);stroke:Canvas}"
    f".chart .l{{fill:none;stroke:var(--c);stroke-width:2}}{_LIGHT}@media(prefers-color-scheme:dark){{{_DARK}}}"
)
_ALONE = (
    "svg{color-scheme:light dark;color:#1f2328;background:#fff}"
    "@media(prefers-color-scheme:dark){svg{color:#e6edf3;background:#0d1117}}"
)


def render(document: doc.Document) -> str:
    """The charts of a document below each other, ending in a line feed.

    Raises:
        MlsubError: it has none.
    """
    charts = list(_charts(document.blocks))
    if not charts:
        raise MlsubError("This answer has no chart. Ask for --format html or text.")
    drawn, top = [], 0
    for chart in charts:
        lines, height = _draw(chart)
        drawn.append(f'<svg y="{top}" {lines}')
        top += height
    size = f'viewBox="0 0 {_WIDTH} {top}" width="{_WIDTH}" height="{top}"'
    return f'<svg xmlns="http://www.w3.org/2000/svg" {size}><style>{_ALONE}</style>\n{"".join(drawn)}</svg>\n'


def draw(chart: doc.Chart) -> str:
    """A chart as an element of a page."""
    return f"<svg {_draw(chart)[0]}"


def _charts(blocks: Sequence[doc.Block]) -> Iterator[doc.Chart]:
    for block in blocks:
        if isinstance(block, doc.Section):
            yield from _charts(block.blocks)
        elif isinstance(block, doc.Chart) and block.series:
            yield block


def _escape(text: str) -> str:
    return html.escape(plain(text))


def _text(x: float, y: float, text: str, anchor: str = "start", more: str = "") -> str:
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}"{more}>{_escape(text)}</text>'


def _draw(chart: doc.Chart) -> tuple[str, int]:
    """Return a chart from the attributes of its element on, and its height."""
    rows = bool(chart.y.names)
    labels = [shorten(one, _NAME) for one in chart.y.names]
    both = [(place, value) for one in chart.series for place, found in split(one, rows=rows) for value in found]
    across, up = scale_of(chart.x, [pair[rows] for pair in both]), scale_of(chart.y, [pair[not rows] for pair in both])
    words = labels or [number_words(tick) for tick in up.ticks(6)]
    legend = list(_legend(chart.series))
    left = max(map(cells, words), default=0) * _LETTER + 16
    said = [chart.about[slice(*part)] for part in breaks(chart.about, _LINE, _LINE)] if chart.about else []
    head = 22 + 18 * len(said)
    top = head + (36 if rows else 56) + 20 * max((line for line, *_ in legend), default=0)
    wide, high = _WIDTH - left - 24, len(labels) * _ROW if rows else _HEIGHT
    bottom = top + high

    def place(point: Sequence[float]) -> tuple[float, float]:
        y = top + _ROW * (point[1] + 0.5) if rows else bottom - up.at(point[1]) * high
        return left + across.at(point[0]) * wide, y

    parts = [_text(8, 22, shorten(chart.title, 90), more=' class="t"')]
    parts += [_text(8, 40 + 18 * at, line) for at, line in enumerate(said)]
    parts += [
        f'<g class="c{one.colour % len(COLOURS)}">{_point(one.style, 14 + x, head + 20 + 20 * line)}'
        f"{_text(26 + x, head + 24 + 20 * line, one.name)}</g>"
        for line, x, one in legend
    ]
    parts += [*_grid(chart, across, up, (left, top, wide, high), labels)]
    for one in chart.series:
        parts.append(f'<g class="c{one.colour % len(COLOURS)}">{"".join(_shapes(one, place))}</g>')
    height = int(bottom + 50)
    named = f"<title>{_escape(chart.title)}</title><desc>{_escape(chart.about)}</desc>"
    size = f'viewBox="0 0 {_WIDTH} {height}" width="{_WIDTH}" height="{height}"'
    return f'class="chart" role="img" {size}>{named}<style>{_STYLE}</style>\n' + "\n".join(parts) + "</svg>\n", height


def _legend(series: Sequence[doc.Series]) -> Iterator[tuple[int, float, doc.Series]]:
    """Yield the line of each series in the legend, where it begins there, and the series."""
    line, x = 0, 0.0
    for one in series:
        width = cells(one.name) * _LETTER + 40
        if x and x + width > _WIDTH - 16:
            line, x = line + 1, 0.0
        yield line, x, one
        x += width


def _grid(
    chart: doc.Chart, across: Scale, up: Scale, box: tuple[float, float, float, float], labels: Sequence[str]
) -> Iterator[str]:
    """Yield the lines and words of both axes, around a box: its left and top, how wide and how high it is."""
    left, top, wide, high = box
    for tick in across.ticks(8):
        x = left + across.at(tick) * wide
        yield f'<path class="g" d="M{x:.1f} {top:.1f}v{high:.1f}"/>'
        yield _text(x, top + high + 18, number_words(tick), "middle")
    for at, label in enumerate(labels):
        yield _text(left - 8, top + _ROW * (at + 0.7), label, "end")
    for tick in () if labels else up.ticks(6):
        y = top + high - up.at(tick) * high
        yield f'<path class="g" d="M{left:.1f} {y:.1f}h{wide:.1f}"/>'
        yield _text(left - 8, y + 4, number_words(tick), "end")
    yield _text(left + wide, top + high + 38, chart.x.title, "end")
    if not labels:
        yield _text(8, top - 6, chart.y.title)


def _shapes(series: doc.Series, place: Callable[[Sequence[float]], tuple[float, float]]) -> Iterator[str]:
    """Yield what a series is drawn as; what is no number breaks a line, and is no point."""
    path = ""
    for point in series.points:
        known = drawable(point)
        if series.style == "curve" and known:
            yield f'<circle class="p" cx="{place(point)[0]:.1f}" cy="{place(point)[1]:.1f}" r="3"/>'
        if series.style in LINES:
            path += f"{'L' if path and path[-1] != ' ' else 'M'}{_at(*place(point))}" if known else " "
        elif known and series.style == "spans":
            (x, y), (end, _) = place((point[0], point[2])), place((point[1], point[2]))
            yield f'<rect class="p" x="{min(x, end):.1f}" y="{y - 6:.1f}" width="{abs(end - x) or 1:.1f}" height="12"/>'
        elif known and series.style == "whiskers":
            (x, low), (_, high) = place(point[:2]), place((point[0], point[2]))
            yield f'<path class="l" d="M{x - 5:.1f} {low:.1f}h10m-5 0V{high:.1f}m-5 0h10"/>'
        elif known:
            yield _point(series.style, *place(point))
    if path.strip():
        yield f'<path class="l"{_DASHES.get(series.style, "")} d="{path.strip()}"/>'


def _at(x: float, y: float) -> str:
    return f"{x:.1f} {y:.1f}"


def _point(style: str, x: float, y: float) -> str:
    """A point, which also stands for its series in the legend."""
    match style:
        case "line" | "curve" | "dashed" | "rule":
            return f'<path class="l"{_DASHES.get(style, "")} d="M{x - 9:.1f} {y:.1f}h18"/>'
        case "spans":
            return f'<rect class="p" x="{x - 7:.1f}" y="{y - 5:.1f}" width="14" height="10"/>'
        case "whiskers":
            return f'<path class="l" d="M{x - 4:.1f} {y - 7:.1f}h8m-4 0v14m-4 0h8"/>'
        case "ticks":
            return f'<path class="l" d="M{x - 5:.1f} {y - 5:.1f}l10 10m0 -10l-10 10"/>'
        case "hollow":
            return f'<circle class="l" cx="{x:.1f}" cy="{y:.1f}" r="4"/>'
        case "large":
            return f'<path class="p" d="M{x:.1f} {y - 8:.1f}l8 8l-8 8l-8 -8z"/>'
    return f'<circle class="p" cx="{x:.1f}" cy="{y:.1f}" r="4.5" fill-opacity=".8"/>'
