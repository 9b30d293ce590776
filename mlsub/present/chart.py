"""Charts as plain data: what the results page draws in a browser and ``mlsub rcp plot`` as a picture."""

from __future__ import annotations

from typing import Literal

import msgspec

_UNITS = ((1e9, 1e9, "billion"), (1e6, 1e6, "million"), (1e4, 1e3, "thousand"))


class Axis(msgspec.Struct, frozen=True, omit_defaults=True):
    """An axis, its title with the unit.

    ``ends`` are those of a picture, where they are not those of the data; ``named`` are values worth a number on the
    axis, the most important first; ``unknown`` says from which value on there is nothing to compare with, and why.
    """

    title: str
    log: bool = False
    ends: tuple[float, float] | None = None
    named: tuple[float, ...] = ()
    unknown: tuple[float, str] | None = None

    def unit(self) -> tuple[float, str]:
        """What an axis of large numbers is labelled in: 1e6 and ``million``."""
        top = self.ends[1] if self.ends else 0.0
        return next(((factor, words) for least, factor, words in _UNITS if top >= least), (1.0, ""))

    def beyond(self, value: float) -> int:
        """1 for a value above the ends, -1 for one below, else 0."""
        return 0 if self.ends is None else (value > self.ends[1]) - (value < self.ends[0])

    def within(self, value: float, inset: float = 0.012) -> float:
        """A value, or a place just inside the end that it lies beyond; ``inset`` is a share of the length."""
        if self.ends is None:
            return value
        low, high = self.ends
        edge = inset * (high - low)
        return min(max(value, low + edge), high - edge)


class Series(msgspec.Struct, frozen=True, kw_only=True):
    """Data that belong together.

    ``points`` are x and y; in a chart of spans x from and to, and the number of the category. ``colour`` is a number in
    the palette. ``line`` and ``dashed`` join their points; a ``rule`` is a line that nothing was measured on, what lies
    below it is not accepted, and ``ticks`` are its values at single points. ``marks``, ``hollow`` and ``large`` stand
    alone; ``spans`` are what they are called.

    A picture also shows the standard deviations of the points (``spread``), a ``label`` beside a mark, and what the
    mark stands for (``note``); ``key`` names the series in the file.
    """

    name: str
    style: Literal["line", "dashed", "rule", "ticks", "marks", "hollow", "large", "spans"]
    points: tuple[tuple[float, ...], ...]
    colour: int = 0
    key: str = ""
    spread: tuple[float, ...] = ()
    label: str = ""
    note: str = ""


class Chart(msgspec.Struct, frozen=True, kw_only=True):
    """A chart; ``about`` says in words what it shows, ``source`` where its data are from."""

    key: str
    title: str
    about: str
    x: Axis
    y: Axis
    series: tuple[Series, ...]
    categories: tuple[str, ...] = ()
    source: str = ""
