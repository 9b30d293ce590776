"""A document: what a command says, apart from how it looks.

Text is whatever it is: each renderer escapes it for its format, and shows control characters harmlessly.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Literal, NamedTuple, TypeAlias

import msgspec

from mlsub.findings import Finding

#: ``name`` is that of a key, a benchmark or a rule; ``soft`` is of less weight than the text around it.
Meaning = Literal["plain", "strong", "good", "bad", "note", "number", "path", "code", "name", "soft"]


#: An address that no format takes for anything else: a page, an anchor of the document, or a file and a line of it.
_ADDRESS = re.compile(r"(?:https://|#|\.{1,2}/)[\w./~%-]+(?:#L\d+)?", re.ASCII)


class Span(NamedTuple):
    """Text with one meaning, which decides its look; ``link`` is where it leads in Markdown and HTML.

    That is a page, ``#`` and the anchor of a section, or a file beside the document as ``./`` or ``../`` and its path.

    Pages of a site sort a column by ``value``, and show ``note`` beside the text or as its tooltip.
    """

    text: str
    meaning: Meaning = "plain"
    link: str = ""
    value: float | None = None
    note: str = ""

    @property
    def address(self) -> str:
        """The link, unless it has anything in it that a format could take for its own."""
        return self.link if _ADDRESS.fullmatch(self.link) else ""


Words: TypeAlias = "str | Span | tuple[str | Span, ...]"


class Lines(msgspec.Struct, frozen=True):
    """Several lines in one cell or under one name."""

    lines: tuple[Words, ...]


Cell: TypeAlias = "str | Span | tuple[str | Span, ...] | Lines"


class Text(msgspec.Struct, frozen=True):
    """A paragraph."""

    words: Words


class Items(msgspec.Struct, frozen=True):
    """A list of things that stand on their own."""

    items: tuple[Words, ...]


class Facts(msgspec.Struct, frozen=True):
    """Names, each with a value."""

    facts: tuple[tuple[str, Cell], ...]


class Code(msgspec.Struct, frozen=True):
    """Lines to be taken as they are: commands, parts of a file."""

    text: str


class Column(msgspec.Struct, frozen=True):
    """A column, and what becomes of it where the table is too wide.

    ``number`` columns are aligned to the right and never change. ``when_narrow``: its text folds into several lines
    (``parts``: also behind the hyphens and the like of its names), is shortened in the middle as far as texts stay
    distinct, or stays as it is. ``leave_out`` above 0: the column may go, rather one with a higher number. ``note``
    says what it holds where its name does not: as text it stands below a table that shows the column.
    """

    name: str
    number: bool = False
    when_narrow: Literal["fold", "parts", "shorten", "keep"] = "fold"
    leave_out: int = 0
    note: Cell = ""

    @property
    def keeps(self) -> bool:
        """Whether its width never changes."""
        return self.number or self.when_narrow == "keep"


class Table(msgspec.Struct, frozen=True):
    """Rows of cells; the column number ``key`` names a row.

    Where not even narrow columns fit, each row becomes a small block of names and values below its key.

    A page of a site has the ``caption``, and ``anchor`` as the name by which a chart is drawn from the table; it hides
    a ``folded`` table until it is asked for. ``lists``: each cell after the first is a list of numbers with blanks
    between them; the first ones of all lists of a row belong together, then the second ones. ``upright``: on a page the
    heads of its numbers stand upright, because they are long and the numbers short.
    """

    columns: tuple[Column, ...]
    rows: tuple[tuple[Cell, ...], ...]
    key: int = 0
    caption: str = ""
    anchor: str = ""
    folded: bool = False
    lists: bool = False
    upright: bool = False


def table_of(columns: Iterable[tuple[Column, Sequence[Cell]]], key: str = "") -> Table:
    """Return a table of columns, each with its cells; ``key`` is the one that names a row, by default the first."""
    heads, cells = zip(*columns, strict=True)
    at = next((number for number, head in enumerate(heads) if head.name == key), 0)
    return Table(heads, tuple(zip(*cells, strict=True)), at)


class Findings(msgspec.Struct, frozen=True):
    """Defects, each shown once with all its places.

    ``label`` stands in the place of kind and severity; ``forgiven`` says that defects which reject do not here, because
    the whole is accepted. ``folded`` are findings that others of these explain: they are counted below those, and not
    shown.
    """

    findings: tuple[Finding, ...]
    label: str | None = None
    forgiven: bool = False
    folded: tuple[Finding, ...] = ()


class Share(NamedTuple):
    """The sections of one kind: its name, how many they are, and which of the eight colours it has."""

    kind: str
    number: int
    colour: int


class Tally(msgspec.Struct, frozen=True):
    """How many sections of each kind there are: a line of words, on a page a bar by which one kind alone is shown."""

    words: str
    shares: tuple[Share, ...]


class Series(msgspec.Struct, frozen=True):
    """Data of a chart that belong together: x and y of each point.

    ``style``: ``marks``, ``large``, ``hollow`` or ``ticks`` are points, ``line``, ``dashed``, ``rule`` and
    ``curve`` lines, the last with its points.
    ``spans`` lie in rows: from, to and row; ``whiskers`` stand on an axis: x, low and high. ``colour`` is a number in
    a palette.
    """

    name: str
    style: str
    colour: int
    points: tuple[tuple[float, ...], ...]


class Axis(msgspec.Struct, frozen=True):
    """An axis: what it shows, with the unit; ``names`` are those of the rows 0, 1, 2 ... of an axis without numbers.

    ``ticks`` are the numbers that the x axis marks, as far as they have room; without any they are round ones.
    """

    title: str
    log: bool = False
    names: tuple[str, ...] = ()
    ticks: tuple[float, ...] = ()


class Chart(msgspec.Struct, frozen=True, kw_only=True):
    """A chart: series over two axes, or over rows where the y axis has names.

    SVG and HTML draw it, and so does text where the places along it are few and it has the room; Markdown leaves it to
    the tables around it. ``about`` says in words what it shows.

    Pages of a site draw it by the function of their scripts that ``kind`` names; ``data`` is what else that function
    gets, anything that JSON has. What has no series is drawn from a table of its page or from the results of the site,
    to which its data refer; other formats say its title and what it shows. ``link`` is the page that its title leads
    to; ``key`` names it on its page where its title has figures in it or is that of another.
    """

    title: str
    about: str = ""
    x: Axis = Axis("")
    y: Axis = Axis("")
    series: tuple[Series, ...] = ()
    kind: str = "series"
    data: Mapping[str, Any] = {}
    link: str = ""
    key: str = ""

    @property
    def anchor(self) -> str:
        """What links to it name: its key, or what its title says, the same whatever the figures are."""
        return "chart-" + re.sub(r"[^a-z0-9.]+", "-", (self.key or self.title).lower()).strip("-")

    @property
    def words(self) -> str:
        """Its title, and what it shows."""
        return f"{self.title}. {self.about}".rstrip(" .") + "."


class Section(msgspec.Struct, frozen=True):
    """Blocks under a heading; ``meaning`` says how it came out, ``anchor`` is a name to link to.

    ``kind`` is the one that a :class:`Tally` of the document counts it as. A page hides what is ``folded`` below its
    title until it is asked for.
    """

    title: Words
    blocks: tuple[Block, ...] = ()
    meaning: Meaning = "plain"
    anchor: str | None = None
    kind: str = ""
    folded: bool = False


Block: TypeAlias = "Text | Items | Facts | Table | Section | Findings | Code | Tally | Chart"


class Document(msgspec.Struct, frozen=True):
    """Everything a command says.

    ``bare``: as text it has no title, and its sections begin at the margin: an answer whose end people look at.
    """

    title: str
    blocks: tuple[Block, ...]
    bare: bool = False


def document(title: str, *blocks: Block | None) -> Document:
    """A document of the blocks that have something to say."""
    return Document(title, tuple(said(blocks)))


def section(
    title: Words, *blocks: Block | None, meaning: Meaning = "plain", anchor: str | None = None
) -> Section | None:
    """A section of the blocks that have something to say; None where none has."""
    kept = tuple(said(blocks))
    return Section(title, kept, meaning, anchor) if kept else None


def said(blocks: Iterable[Block | None]) -> Iterator[Block]:
    """The blocks that have something to say."""
    return (block for block in blocks if block is not None and not _is_empty(block))


def _is_empty(block: Block) -> bool:
    match block:
        case Items(items=content) | Facts(facts=content) | Table(rows=content) | Findings(findings=content):
            return not content
    return False


def spans(words: Words) -> tuple[Span, ...]:
    """Words as spans."""
    if isinstance(words, Span):
        return (words,)
    if isinstance(words, str):
        return (Span(words),)
    return tuple(word if isinstance(word, Span) else Span(word) for word in words)


def lines_of(cell: Cell) -> tuple[tuple[Span, ...], ...]:
    """The lines of a cell."""
    return tuple(map(spans, cell.lines)) if isinstance(cell, Lines) else (spans(cell),)


def text_of(words: Words) -> str:
    """The text alone."""
    return "".join(span.text for span in spans(words))
