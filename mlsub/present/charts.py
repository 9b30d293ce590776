"""What drawings of a chart share: scales and ticks; and its drawing as text."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from mlsub.io.show import cells, in_digits, plain, shorten, shorten_apart
from mlsub.present import document as doc

LINES = ("line", "curve", "dashed", "rule")
#: How text draws points, in this order; all terminals have these, at the same width.
_MARKS = {"whiskers": "-", "spans": "#", "hollow": ".", "ticks": "|", "marks": "o", "large": "X"}
#: No number of samples, minutes or the like is as large.
_LARGEST = 1e15
#: The narrowest and the widest drawing, the widest name of a row, and the most rows.
_LEAST, _MOST, _NAME, _ROWS = 20, 60, 32, 60


class Scale(NamedTuple):
    """The values from one end of an axis to the other."""

    low: float
    high: float
    log: bool = False

    def at(self, value: float) -> float:
        """Where a value lies: 0 is the low end, 1 the high one."""
        if self.log:
            return math.log(value / self.low) / math.log(self.high / self.low)
        return (value - self.low) / (self.high - self.low)

    def ticks(self, most: int) -> list[float]:
        """Round numbers on the axis, at most so many."""
        if self.log:
            exponents = range(math.floor(math.log10(self.low)), math.ceil(math.log10(self.high)) + 1)
            for digits in ((1, 2, 5), (1, 3), (1,)):
                found = [d * 10.0**n for n in exponents for d in digits if self.low <= d * 10.0**n <= self.high]
                if len(found) <= most:
                    break
            if len(found) > 2:
                return found[:: math.ceil(len(found) / most)]
        power = 10.0 ** math.floor(math.log10((self.high - self.low) / most))
        steps = (factor * power for factor in (1, 2, 5, 10, 20))
        spans = ((step, math.ceil(self.low / step), math.floor(self.high / step)) for step in steps)
        step, first, last = next(span for span in spans if span[2] - span[1] < most)
        return [number * step for number in range(first, last + 1)]


def scale_of(axis: doc.Axis, values: Iterable[float]) -> Scale:
    """Return the scale of an axis that has room for all values, with a little more at both ends."""
    known = list(values)
    low, high = min(known, default=0.0), max(known, default=1.0)
    if axis.log and low > 1 / _LARGEST:
        more = (high / low) ** 0.04 if high > low else 2.0
        return Scale(low / more, high * more, log=True)
    more = max((high - low) * 0.04, abs(high) * 1e-6, 1 / _LARGEST)
    # A bar begins at 0.
    return Scale(low - more * (low != 0 or high == 0), high + more * (high != 0 or low == 0))


def drawable(point: Iterable[float]) -> bool:
    """Return whether a point can be drawn: all of it are numbers, and none is absurdly large."""
    return all(abs(value) < _LARGEST for value in point)


def split(series: doc.Series, *, rows: bool) -> Iterator[tuple[float, tuple[float, ...]]]:
    """Yield of each point its place, which is its row or else its x, and its values; those that can be drawn."""
    for point in series.points:
        if drawable(point):
            yield (point[-1], point[:-1]) if rows else (point[0], point[1:])


def _marks(series: Sequence[doc.Series]) -> Iterator[str]:
    """Yield the character of each series; of several of a style the first letters of their names, or a, b, c ..."""
    styles, initials = [one.style for one in series], [plain(one.name)[:1] for one in series]
    distinct = len(set(initials)) == len(initials)
    for at, (style, initial) in enumerate(zip(styles, initials, strict=True)):
        yield _MARKS[style] if styles.count(style) == 1 else initial if distinct else chr(ord("a") + at % 26)


def draw(chart: doc.Chart, width: int) -> tuple[str, list[str]]:
    """Return the title of a chart with its legend, and lines of ASCII, one for each row or x.

    Where they are too many or too wide there are none, and the title says what draws it.
    """
    rows = bool(chart.y.names)
    drawn = [series for series in chart.series if series.points and series.style not in LINES]
    places = sorted({place for series in drawn for place, _ in split(series, rows=rows)})
    names = shorten_apart([plain(chart.y.names[int(at)]) if rows else in_digits(at, 4) for at in places], _NAME)
    room = min(width - max(map(cells, names), default=width) - 3, _MOST)
    if room < _LEAST or len(places) > _ROWS:
        return f"{chart.title}: -o FILE.svg draws it.", []
    values = [value for series in drawn for _, found in split(series, rows=rows) for value in found]
    scale = scale_of(chart.x if rows else chart.y, values)
    marks = list(_marks(drawn))
    grid = {place: [" "] * room for place in places}
    for mark, series in sorted(zip(marks, drawn, strict=True), key=lambda pair: list(_MARKS).index(pair[1].style)):
        for place, found in split(series, rows=rows):
            first, last = (round(scale.at(value) * (room - 1)) for value in (min(found), max(found)))
            grid[place][first : last + 1] = mark * (last - first + 1)
    legend = ", ".join(f"{mark}={series.name}" for mark, series in zip(marks, drawn, strict=True))
    side, lines = max(map(cells, names)), list[str]()
    for place, name in zip(places, names, strict=True):
        blank = " " * (side - cells(name))
        lines.append(f"{name + blank if rows else blank + name} |{''.join(grid[place])}")
    line, below = ["-"] * room, [" "] * (room + 1)
    for tick in scale.ticks(max(3, room // 14)):
        at, word = round(scale.at(tick) * (room - 1)), in_digits(tick, 4)
        start = max(0, min(at - len(word) // 2, room - len(word)))
        if not "".join(below[max(0, start - 1) : start + len(word) + 1]).strip():
            line[at] = "+"
            below[start : start + len(word)] = word
    title = shorten(plain((chart.x if rows else chart.y).title), width - side - 2)
    lines += [f"{' ' * side} +{''.join(line)}", *(f"{' ' * side}  {words}" for words in ("".join(below), title))]
    return f"{chart.title}: {legend}", lines
