"""What pages are made of: words, charts and tables as plain data. They know nothing of HTML."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, Generic, TypeVar

import msgspec

from mlsub.io.show import first_few, plain, readable, shortened

T = TypeVar("T")
#: What is shown of one text from outside, and of a name; texts of published systems stay below it.
MAX_TEXT, MAX_NAME = 2000, 120
#: What the word means on every page.
MINUTES = (
    "Minutes are the published score: the olympic mean of the times to train, times the factor of scaling.json, and "
    "results are ranked by it whatever their verdict. Expected minutes have the factor that the convergence test gives."
)
#: The script with all results, which pages load as a file may load no data.
RESULTS_SCRIPT = "data/results.js"
#: What stands above a page that is not the first.
OVERVIEW = (("Overview", "index.html"),)
REHEARSAL = "A rehearsal: real training, but not an MLPerf result."


class Cell(msgspec.Struct, frozen=True):
    """One cell: what it says, what it sorts by where that is something else, where it leads, and what it means.

    ``badge`` colours a word that is a verdict: ``good``, ``bad``, ``warn`` or ``calm``.
    """

    text: str
    sort: float | None = None
    href: str | None = None
    badge: str | None = None
    note: str | None = None


class Table(msgspec.Struct, frozen=True, kw_only=True):
    """A table; the first cell of each row is its head.

    ``lists``: each further cell is a list of numbers with blanks between them, the first ones of all of them belong
    together, then the second ones; ``number_text`` of each. A chart that is drawn from the table names its ``key``.
    """

    caption: str
    heads: tuple[str, ...]
    rows: tuple[tuple[Cell, ...], ...]
    lists: bool = False
    key: str = ""


class Chart(msgspec.Struct, frozen=True, kw_only=True):
    """A chart that a script draws.

    ``kind`` is the name of its drawing function and of the script that has it; ``about`` says in words what the chart
    shows, unless the script does; ``data`` is what the function gets, anything that JSON has; ``script`` is what it is
    drawn with that several pages share, a script of the site; ``href`` is the page that its title leads to; ``key``
    names it on its page where its title has figures in it or is that of another.
    """

    kind: str
    title: str
    about: str = ""
    data: dict[str, Any]
    script: str = ""
    href: str = ""
    key: str = ""

    @property
    def id(self) -> str:
        """What links to it name: its key, or what its title says, the same whatever the figures are."""
        return "chart-" + re.sub(r"[^a-z0-9.]+", "-", (self.key or self.title).lower()).strip("-")


class Series(msgspec.Struct, frozen=True):
    """Data of a chart that belong together: x and y of each point.

    ``style`` is how ``static/series.js`` draws them; ``colour`` is a number in the palette.
    """

    name: str
    style: str
    colour: int
    points: tuple[tuple[float, ...], ...]


class Quote(msgspec.Struct, frozen=True):
    """A text to copy, and what it is."""

    title: str
    text: str


class Section(msgspec.Struct, frozen=True, kw_only=True):
    """A part of a page: what there is to say, charts, tables, and texts to copy.

    ``data`` are the tables behind the charts. Charts that are ``small`` stand side by side.
    """

    key: str
    title: str
    words: tuple[str, ...] = ()
    charts: tuple[Chart, ...] = ()
    tables: tuple[Table, ...] = ()
    data: tuple[Table, ...] = ()
    small: bool = False
    quotes: tuple[Quote, ...] = ()


class Bar(msgspec.Struct, frozen=True):
    """A bar of a picture: whose it is, in few words and in more, its minutes, and its colour in the style sheet.

    ``hollow`` where folders of its benchmark and round have no logs.
    """

    label: str
    note: str
    minutes: float
    colour: str
    hollow: bool = False


class Picture(msgspec.Struct, frozen=True):
    """What a picture of a page shows: its title, what the bars are, one figure, and the bars."""

    title: str
    about: str
    headline: str
    bars: tuple[Bar, ...]


class Preview(msgspec.Struct, frozen=True):
    """What a page says of itself to browsers, search engines and where a link to it is shared."""

    title: str
    about: str
    picture: Picture | None = None


class Page(msgspec.Struct, frozen=True, kw_only=True):
    """One page.

    ``path`` is where it lies in the site; ``crumbs`` are the pages above it, as title and path; ``scripts`` are data
    that it is made of, from the root of the site. ``score`` is the figure that a page is about, its note says what it
    is.
    """

    path: str
    title: str
    lead: tuple[str, ...] = ()
    crumbs: tuple[tuple[str, str], ...] = ()
    score: Cell | None = None
    facts: tuple[tuple[str, Cell], ...] = ()
    sections: tuple[Section, ...] = ()
    scripts: tuple[str, ...] = ()
    preview: Preview

    @property
    def picture_path(self) -> str:
        """Where its picture lies in the site, where it has one."""
        return f"{self.path.removesuffix('.html')}.png"

    def charts(self) -> Iterator[Chart]:
        """Yield the charts of its sections."""
        for section in self.sections:
            yield from section.charts


#: What a cell can be made of: a text, a number, which sorts by its value, or nothing.
Value = Cell | str | float | None


class Column(msgspec.Struct, Generic[T], frozen=True):
    """A column: its head, and what it shows of a thing."""

    title: str
    value: Callable[[T], Value]


def build_table(caption: str, things: Iterable[T], columns: Sequence[Column[T]], key: str = "") -> Table:
    """Return a table with a row for each thing."""
    rows = ([column.value(thing) for column in columns] for thing in things)
    return plain_table(caption, [column.title for column in columns], rows, key=key)


def plain_table(
    caption: str, heads: Sequence[str], rows: Iterable[Iterable[Value]], *, lists: bool = False, key: str = ""
) -> Table:
    """Return a table of values; see :class:`Table` for ``lists`` and ``key``."""
    cells = tuple(tuple(map(cell_of, row)) for row in rows)
    return Table(caption=caption, heads=tuple(heads), rows=cells, lists=lists, key=key)


def cell_of(value: Value) -> Cell:
    """Return a value as a cell, a dash for none."""
    if isinstance(value, Cell):
        return value
    return Cell(value or "–") if isinstance(value, str) else number_cell(value)


def count_text(count: int, word: str) -> str:
    """Return how many of something: 1 run, 2 runs."""
    return f"{count:,} {word}{'s' * (count != 1)}"


def clean(value: str, limit: int = MAX_TEXT) -> str:
    """Return text from outside as a page may show it: no control characters, and not without end."""
    return shortened(plain(readable(value[: limit + 1])), limit)


def number_text(value: float | None, digits: int = 6) -> str:
    """Return a number for people, to some significant digits, with a dash for none."""
    if value is None or not math.isfinite(value):
        return "–"
    size = abs(value)
    # What can neither round up to a number with a comma nor get an exponent is what most numbers are.
    if 1e-4 <= size < min(999, 10 ** (digits - 1)):
        return f"{value:.{digits}g}"
    if size >= 1e15 or 0 < size < 1e-4:
        return f"{value:.{digits}g}"
    decimals = 0 if float(value).is_integer() else max(0, digits - 1 - math.floor(math.log10(size)))
    shown = f"{value:,.{decimals}f}"
    return shown.rstrip("0").rstrip(".") if decimals else shown


def number_cell(value: float | None, shown: str | None = None, href: str | None = None) -> Cell:
    """Return a number as a cell that sorts by its value."""
    finite = value is not None and math.isfinite(value)
    return Cell(number_text(value) if shown is None else shown, value if finite else None, href)


def minutes_cell(value: float | None) -> Cell:
    """Return minutes as the tables of mlsub print them, to the sixth decimal."""
    return number_cell(value, "–" if value is None or not math.isfinite(value) else f"{value:.6f}")


def names_cell(names: Iterable[str], most: int = 8) -> Cell:
    """Return names once each, the first of them, and how many more there are."""
    found = dict.fromkeys(names)
    return Cell(first_few(found, most) or "–", float(len(found)))
