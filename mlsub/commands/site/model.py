"""What pages are made of: words, charts and tables as plain data. They know nothing of HTML."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from typing import Any, ClassVar, Generic, TypeVar

import msgspec

from mlsub.commands.site.spread import Goal, Spread, Window
from mlsub.io.show import plain, readable
from mlsub.present.chart import Chart
from mlsub.present.document import Share

T = TypeVar("T")
#: What is shown of one text from outside; notes of published systems stay below it.
MAX_TEXT = 2000


class Head(msgspec.Struct, frozen=True):
    """The head of a column; ``numeric`` columns are set right and sort by value."""

    title: str
    numeric: bool = False


class Cell(msgspec.Struct, frozen=True):
    """One cell: what it says, what it sorts by where that is something else, where it leads, and what it means.

    ``badge`` colours a word that is a verdict: ``good``, ``bad``, ``warn`` or ``calm``.
    """

    text: str
    sort: float | None = None
    href: str | None = None
    badge: str | None = None
    note: str | None = None


class Row(msgspec.Struct, frozen=True):
    """One row."""

    cells: tuple[Cell, ...]


class Table(msgspec.Struct, frozen=True, kw_only=True):
    """A table; the first cell of each row is its head.

    ``lists``: each further cell is a list of numbers with blanks between them, the first ones of all of them belong
    together, then the second ones; ``number_of`` of each. A chart that is drawn from the table names its ``key``.
    """

    caption: str
    heads: tuple[Head, ...]
    rows: tuple[Row, ...]
    lists: bool = False
    key: str = ""


class Drawn(Chart, frozen=True, kw_only=True):
    """A chart on a page, whose data stand nowhere twice.

    The first ``shared`` series are those of other pages as well. The points of the series in the style ``listed`` stand
    in a table of lists that is called ``table``, those of a line in each of its rows: ``across`` and ``up`` are its
    columns of x and y. A chart of categories, which are the heads of those rows, has all of them as one series.
    """

    kind: ClassVar[str] = "series"

    shared: int = 0
    listed: str = ""
    table: str = ""
    across: int = 0
    up: int = 0


class Runs(Drawn, frozen=True, kw_only=True):
    """A chart of the runs of an entry, whose single runs stand out on demand.

    ``spread`` are their median and the band around it, which ``band`` names; empty where each run is drawn for itself.
    ``goal`` is the target, and ``window`` the part that is drawn, all of it without.
    """

    kind: ClassVar[str] = "runs"

    spread: tuple[Spread, ...] = ()
    band: str = ""
    goal: Goal | None = None
    window: Window | None = None


class Live(msgspec.Struct, frozen=True, kw_only=True):
    """A chart that a script of its own draws, mostly from the results of the whole site (see :mod:`.dataset`).

    ``kind`` is the name of the script, ``static/KIND.js``, and of its drawing function; ``about`` says in words what
    the chart shows; ``data`` is what the function gets, anything that JSON has; ``href`` is the page that its title
    leads to.
    """

    kind: str
    key: str
    title: str
    about: str
    data: dict[str, Any] = {}
    href: str = ""


class Column(msgspec.Struct, Generic[T], frozen=True):
    """A column: its head, what it shows of a thing, and whether that is a number."""

    title: str
    cell: Callable[[T], Cell]
    numeric: bool = False


def table_of(caption: str, things: Iterable[T], columns: Sequence[Column[T]]) -> Table:
    """A table with a row for each thing."""
    rows = tuple(Row(tuple(column.cell(thing) for column in columns)) for thing in things)
    return Table(caption=caption, heads=tuple(Head(column.title, column.numeric) for column in columns), rows=rows)


def heads(*titles: str, numbers: int = 0) -> tuple[Head, ...]:
    """Heads of columns, of which the last ``numbers`` are numeric."""
    return tuple(Head(title, place >= len(titles) - numbers) for place, title in enumerate(titles))


class Quote(msgspec.Struct, frozen=True):
    """A text to copy, and what it is."""

    title: str
    text: str


class Section(msgspec.Struct, frozen=True, kw_only=True):
    """A part of a page: what there is to say, charts, tables, and texts to copy.

    ``data`` are the tables behind the charts. ``cards`` are claims (see :mod:`.cards`), ``shares`` the bar of their
    verdicts. Charts that are ``small`` stand side by side, below one ``legend``: name, colour and shape of each mark.
    """

    key: str
    title: str
    words: tuple[str, ...] = ()
    charts: tuple[Drawn | Live, ...] = ()
    shares: tuple[Share, ...] = ()
    cards: tuple[msgspec.Struct, ...] = ()
    tables: tuple[Table, ...] = ()
    data: tuple[Table, ...] = ()
    small: bool = False
    legend: tuple[tuple[str, int, str], ...] = ()
    quotes: tuple[Quote, ...] = ()


def counted(count: int, word: str) -> str:
    """How many of something: 1 run, 2 runs."""
    return f"{count:,} {word}{'s' * (count != 1)}"


def text_of(value: str, limit: int = MAX_TEXT) -> str:
    """Text from outside as a page may show it: no control characters, and not without end."""
    shown = plain(readable(value[: limit + 1]))
    return shown if len(shown) <= limit else shown[: limit - 1] + "…"


def number_of(value: float | None, digits: int = 6) -> str:
    """A number for people, to some significant digits, with a dash for none."""
    if value is None or not math.isfinite(value):
        return "–"
    size = abs(value)
    if size >= 1e15 or 0 < size < 1e-4:
        return f"{value:.{digits}g}"
    decimals = 0 if float(value).is_integer() else max(0, digits - 1 - math.floor(math.log10(size)))
    shown = f"{value:,.{decimals}f}"
    return shown.rstrip("0").rstrip(".") if decimals else shown


def cell_of(value: float | None, shown: str | None = None) -> Cell:
    """A number as a cell that sorts by its value."""
    finite = value is not None and math.isfinite(value)
    return Cell(number_of(value) if shown is None else shown, value if finite else None)


def minutes_of(value: float | None) -> Cell:
    """Minutes as the tables of mlsub print them, to the sixth decimal."""
    return cell_of(value, "–" if value is None or not math.isfinite(value) else f"{value:.6f}")
