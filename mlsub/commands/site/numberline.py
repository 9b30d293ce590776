"""A number line: the interval that a wording accepts, and the figure on each basis. SVG that needs no script."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from html import escape

import msgspec

#: Width of the picture, what is kept free at both ends, and heights: of a row's name, of labels, and of the line.
_WIDTH, _EDGE = 400.0, 14.0
_NAME, _LANE, _LINE = 16.0, 14.0, 16.0
#: Room for the ends of the interval below, and how wide a letter is at most.
_BELOW, _LETTER = 19.0, 6.7
#: The domain goes so far beyond what is shown.
_PAD = 0.12


class Mark(msgspec.Struct, frozen=True):
    """One figure: on which basis, as words (``9.39 published``), and whether it decides."""

    basis: str
    value: float
    words: str
    decides: bool = True


class Reading(msgspec.Struct, frozen=True):
    """The figures of one reading, with its name, and the ends that the uncertainty of inputs allows."""

    name: str
    marks: tuple[Mark, ...]
    spread: tuple[float, float] | None = None


class NumberLine(msgspec.Struct, frozen=True, kw_only=True):
    """What a claim accepts, an end of None for none, and what it comes to; ``ends`` are the ends in words.

    ``cut`` is how far figures go that are accepted because their digits were cut off.
    """

    about: str
    low: float | None
    high: float | None
    ends: tuple[str, str]
    cut: float | None = None
    readings: tuple[Reading, ...]

    @property
    def domain(self) -> tuple[float, float]:
        """From where to where the line goes."""
        marks = [mark.value for one in self.readings for mark in one.marks]
        spreads = [end for one in self.readings for end in one.spread or ()]
        known = [*marks, *spreads, *(end for end in (self.low, self.high, self.cut) if end is not None)]
        low, high = min(known), max(known)
        room = (high - low or abs(high) or 1.0) * _PAD
        return low - room, high + room

    def place(self, value: float) -> float:
        """Where a value lies, from the left."""
        low, high = self.domain
        return _EDGE + (value - low) / (high - low) * (_WIDTH - 2 * _EDGE)


def svg(line: NumberLine) -> str:
    """Return the picture; the script of the page finds the scale in its attributes, and rows by their lines."""
    top, rows = 2.0, list[str]()
    for reading in line.readings:
        lanes = list(_lanes(line, reading.marks))
        labels = (max((lane for _, lane in lanes), default=0) + 1) * _LANE
        at = top + (_NAME if reading.name else 0) + labels + _LINE / 2
        rows.extend(_row(line, reading, lanes, top, at))
        top = at + _LINE / 2 + 4
    low, high = line.domain
    return (
        f'<svg class="number-line" viewBox="0 0 {_WIDTH:g} {top + _BELOW:g}" role="img"'
        f' aria-label="{escape(line.about)}"'
        f' data-low="{low:.9g}" data-high="{high:.9g}" data-from="{_EDGE:g}" data-to="{_WIDTH - _EDGE:g}">'
        f"{''.join(_interval(line, top))}{''.join(rows)}</svg>"
    )


def _lanes(line: NumberLine, marks: Sequence[Mark]) -> Iterator[tuple[Mark, int]]:
    """Each mark with the height at which its words have room."""
    ends: list[float] = []
    for mark in sorted(marks, key=lambda one: one.value):
        left, right = _span(line, mark)
        lane = next((lane for lane, end in enumerate(ends) if end < left), len(ends))
        ends[lane : lane + 1] = [right + _LETTER]
        yield mark, lane


def _span(line: NumberLine, mark: Mark) -> tuple[float, float]:
    """From where to where the words of a mark go: above it, as far as the picture has room there."""
    width = len(mark.words) * _LETTER
    left = min(max(line.place(mark.value) - width / 2, 1.0), _WIDTH - width - 1)
    return left, left + width


def _interval(line: NumberLine, height: float) -> Iterator[str]:
    left = 0.0 if line.low is None else line.place(line.low)
    right = _WIDTH if line.high is None else line.place(line.high)
    yield f'<rect class="accepts" x="{left:.1f}" y="0" width="{max(right - left, 1):.1f}" height="{height:.1f}"/>'
    if line.cut is not None:
        beyond = line.place(line.cut) - right
        yield f'<rect class="accepts cut" x="{right:.1f}" y="0" width="{beyond:.1f}" height="{height:.1f}"/>'
    for at, end, words in ((left, line.low, line.ends[0]), (right, line.high, line.ends[1])):
        if end is not None:
            yield f'<path class="end" d="M{at:.1f} 0V{height:.1f}"/>'
            side = "end" if at == left and right - left < 9 * _LETTER and line.high is not None else "middle"
            side = "start" if at == right and right - left < 9 * _LETTER and line.low is not None else side
            at = min(max(at, 3.5 * _LETTER), _WIDTH - 3.5 * _LETTER)
            yield f'<text class="tick" x="{at:.1f}" y="{height + 13:.1f}" text-anchor="{side}">{escape(words)}</text>'


def _row(line: NumberLine, reading: Reading, lanes: Sequence[tuple[Mark, int]], top: float, at: float) -> Iterator[str]:
    if reading.name:
        yield f'<text class="reading" x="1" y="{top + 11:.1f}">{escape(reading.name)}</text>'
    yield f'<path class="axis" data-y="{at:.1f}" d="M0 {at:.1f}H{_WIDTH:g}"/>'
    if reading.spread is not None:
        ends = [line.place(end) for end in reading.spread]
        yield f'<path class="spread" d="M{ends[0]:.1f} {at:.1f}H{ends[1]:.1f}"/>'
    for mark, lane in lanes:
        x, side = line.place(mark.value), "" if mark.decides else " beside"
        left, _ = _span(line, mark)
        above = at - _LINE / 2 - lane * _LANE
        yield f'<path class="mark basis-{mark.basis}{side}" d="{_shape(mark.basis, x, at)}"/>'
        yield f'<text class="value{side}" x="{left:.1f}" y="{above:.1f}">{escape(mark.words)}</text>'


def _shape(basis: str, x: float, y: float) -> str:
    """A disc, a diamond, a triangle or a square, so that no basis is told by its colour alone."""
    if basis == "published":
        return f"M{x - 5:.1f} {y:.1f}a5 5 0 1 0 10 0a5 5 0 1 0 -10 0Z"
    if basis == "unscaled":
        return f"M{x:.1f} {y - 6:.1f}l6 6l-6 6l-6 -6Z"
    if basis == "expected":
        return f"M{x:.1f} {y - 6:.1f}l6 11h-12Z"
    return f"M{x - 4.5:.1f} {y - 4.5:.1f}h9v9h-9Z"
