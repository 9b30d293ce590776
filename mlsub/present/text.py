"""A document as text for a terminal of 40 to 200 columns, or for a file; and what gives way where it is too wide."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

from mlsub.io.show import breaks, cells, longest_part, plain, shorten
from mlsub.present import document as doc
from mlsub.present.findings import sections

GAP = 2
#: No column that folds or is shortened is narrower, unless it needs less.
LEAST = 8
#: Nor is a name that is shortened, so that it can still be recognised.
LEAST_NAME = 16
#: A word up to this length, and a part of a word, is not broken while columns are laid out.
_WORD, _PART_WIDTH = 20, 30
#: Into how many lines a name folds: columns are left out first for two, then for three, then for what it needs (0).
_MOST_LINES = (2, 3, 0)


class Layout(NamedTuple):
    """The columns that are shown, and how wide each is."""

    shown: tuple[int, ...]
    widths: tuple[int, ...]


def layout(columns: Sequence[doc.Column], texts: Sequence[Sequence[str]], key: int, width: int) -> Layout | None:
    """How a table fits a width; None where no way is left but to stack its rows.

    Args:
        columns: what they are.
        texts: for each column all its texts, the head among them.
        key: the column that names a row; it never goes.
        width: of the terminal.
    """
    whole = [max(map(cells, column), default=0) for column in texts]
    if sum(whole) + GAP * (len(whole) - 1) <= width:
        return Layout(tuple(range(len(columns))), tuple(whole))
    for most in _MOST_LINES:
        sizes = zip(columns, texts, whole, strict=True)
        least = [_least(column, known, natural, most) for column, known, natural in sizes]
        if shown := _with_room(columns, least, key, width):
            break
    else:
        return None
    room = width - GAP * (len(shown) - 1)
    # Text that folds loses nothing, so it gives way before text that is shortened.
    firm = [whole[at] if columns[at].when_narrow == "shorten" else least[at] for at in shown]
    widths = _shared([whole[at] for at in shown], firm if sum(firm) <= room else [least[at] for at in shown], room)
    return Layout(tuple(shown), tuple(widths))


def _with_room(columns: Sequence[doc.Column], least: Sequence[int], key: int, width: int) -> list[int]:
    """Return the columns that have room, tried by their importance; none where one that must stay has no room."""
    shown: list[int] = []
    for at in sorted(range(len(columns)), key=lambda at: columns[at].leave_out * (at != key)):
        if sum(least[one] + GAP for one in (*shown, at)) <= width + GAP:
            shown.append(at)
        elif not columns[at].leave_out or at == key:
            return []
    return sorted(shown)


def _least(column: doc.Column, texts: Sequence[str], whole: int, most: int) -> int:
    """Return how narrow a column may become.

    Texts that are shortened stay distinct; names that fold take ``most`` lines, or as many as they need where it is 0.
    """
    if column.keeps or whole <= LEAST:
        return whole
    known, shortened = set(texts), column.when_narrow == "shorten"
    part = min(max(map(longest_part, known), default=0), _PART_WIDTH)
    word = max((cells(word) for text in known for word in text.split(" ")), default=0)
    unbroken = max(LEAST, part, min(word, _WORD) if column.when_narrow == "fold" else 0)
    sizes = range(min(LEAST_NAME if shortened else unbroken, whole), whole)

    def is_enough(size: int) -> bool:
        if shortened:
            return len({shorten(text, size) for text in known}) == len(known)
        folds = most and column.when_narrow == "parts"
        return not folds or all(len(_fitted(((doc.Span(text),),), size, shortened=False)) <= most for text in known)

    return sizes.start + bisect_left(sizes, True, key=is_enough)


def _shared(whole: Sequence[int], least: Sequence[int], room: int) -> list[int]:
    """Widths that fill the room: the widest give way first, none below its least."""

    def widths(most: int) -> list[int]:
        return [min(natural, max(narrow, most)) for natural, narrow in zip(whole, least, strict=True)]

    found = widths(bisect_right(range(max(whole) + 1), room, key=lambda most: sum(widths(most))) - 1)
    spare = room - sum(found)
    for at, natural in enumerate(whole):
        more = min(spare, natural - found[at], 1)
        found[at] += more
        spare -= more
    return found


NARROWEST, WIDEST = 40, 200
#: Where output is not a terminal.
FILE_WIDTH = 120
#: Below a heading everything is set in, as long as so much room is left.
_INDENT, _LEAST_ROOM = 2, 30
#: A name wider than this part of the line stands before its value, not beside it.
_NAMES_PART = 0.55

_COLOURS: dict[doc.Meaning, str] = {"strong": "1", "good": "32", "bad": "1;31", "note": "33", "path": "36", "code": "2"}

Line = tuple[doc.Span, ...]
Paint = Callable[[Line], str]


def render(document: doc.Document, width: int = FILE_WIDTH, *, colour: bool = False) -> str:
    """The document as lines that are no longer than the width, which is taken to lie from 40 to 200."""
    paint = _coloured if colour else _text
    lines = _document(document, min(max(width, NARROWEST), WIDEST), paint)
    return "\n".join(map(str.rstrip, lines)) + "\n"


def lines(block: doc.Block | str, width: int = FILE_WIDTH, *, colour: bool = False) -> Iterator[str]:
    """The lines of one block or paragraph, where the answer is not a document."""
    paint = _coloured if colour else _text
    block = doc.Text(block) if isinstance(block, str) else block
    yield from map(str.rstrip, _block(block, min(max(width, NARROWEST), WIDEST), paint))


def _coloured(line: Line) -> str:
    return "".join(
        f"\x1b[{_COLOURS[span.meaning]}m{span.text}\x1b[0m" if span.text and span.meaning in _COLOURS else span.text
        for span in line
    )


def _document(document: doc.Document, width: int, paint: Paint) -> Iterator[str]:
    if not document.bare:
        yield from _wrapped((doc.Span(document.title, "strong"),), width, paint)
    for number, block in enumerate(document.blocks):
        if number or not document.bare:
            yield ""
        if isinstance(block, doc.Section):
            yield from _section(block, width, paint, 0 if document.bare else _INDENT)
        else:
            yield from _block(block, width, paint)


def _block(block: doc.Block, width: int, paint: Paint) -> Iterator[str]:
    match block:
        case doc.Chart(series=()) | doc.Tally() | doc.Text():
            yield from _wrapped(block.words, width, paint)
        case doc.Chart():
            from mlsub.present.charts import draw

            words, drawn = draw(block, width)
            yield from (*_wrapped(words, width, paint), *drawn)
        case doc.Items(items):
            for item in items:
                yield from _wrapped(("- ", *doc.spans(item)), width, paint, hang=2)
        case doc.Facts(facts):
            yield from _facts(facts, width, paint)
        case doc.Code(text):
            for line in text.split("\n"):
                yield from _wrapped(doc.Span(line, "code"), width, paint)
        case doc.Table():
            yield from _render_table(block, width, paint)
        case doc.Findings():
            for found in sections(block, whole=False):
                yield from _section(found, width, paint)
        case doc.Section():
            yield from _section(block, width, paint)


def _section(section: doc.Section, width: int, paint: Paint, indent: int = _INDENT) -> Iterator[str]:
    yield from _wrapped(_title(section), width, paint, hang=_INDENT)
    indent = indent if width - indent >= _LEAST_ROOM else 0
    before: doc.Block | None = None
    for block in section.blocks:
        if isinstance(block, doc.Section | doc.Chart) or isinstance(before, doc.Section | doc.Chart):
            yield ""
        before = block
        for line in _block(block, width - indent, paint):
            yield " " * indent + line if line else ""


def _title(section: doc.Section) -> doc.Words:
    """A title that says nothing of its own look shows how the section came out."""
    words = doc.spans(section.title)
    if len(words) > 1 or words[0].meaning != "plain":
        return words
    return doc.Span(words[0].text, "strong" if section.meaning == "plain" else section.meaning)


def _facts(facts: Sequence[tuple[str, doc.Cell]], width: int, paint: Paint) -> Iterator[str]:
    names = [f"{plain(name)}:" for name, _ in facts]
    side = max(map(cells, names), default=0) + GAP - 1
    for name, (_, value) in zip(names, facts, strict=True):
        if side > width * _NAMES_PART:
            for line in doc.lines_of(value):
                yield from _wrapped((doc.Span(f"{name} "), *line), width, paint, hang=_INDENT)
            continue
        begin = name + " " * (side - cells(name))
        values = doc.lines_of(value)
        hang = _INDENT if len(values) > 1 else 0
        for line in values:
            for number, part in enumerate(_lines(line, width - side, width - side - hang)):
                yield begin + " " * (hang if number else 0) + paint(part)
                begin = " " * side


def _wrapped(words: doc.Words, width: int, paint: Paint, *, hang: int = 0) -> Iterator[str]:
    begin = ""
    for line in _lines(doc.spans(words), width, width - hang):
        yield begin + paint(line)
        begin = " " * hang


def _lines(line: Line, first: int, later: int | None = None) -> list[Line]:
    """Spans wrapped to a width; ``later`` is that of all lines but the first."""
    clean = tuple(doc.Span(plain(span.text), span.meaning) for span in line)
    text = "".join(span.text for span in clean)
    return [_cut(clean, start, end) for start, end in breaks(text, first, first if later is None else later)]


def _cut(line: Line, start: int, end: int) -> Line:
    """The part of spans from one place of their text to another."""
    if len(line) == 1:
        return (doc.Span(line[0].text[start:end], line[0].meaning),)
    found = []
    for span in line:
        part = span.text[max(start, 0) : max(end, 0)]
        if part:
            found.append(doc.Span(part, span.meaning))
        start, end = start - len(span.text), end - len(span.text)
    return tuple(found)


def _render_table(table: doc.Table, width: int, paint: Paint) -> Iterator[str]:
    heads = [plain(column.name) for column in table.columns]
    rows = [[_clean(cell) for cell in row] for row in table.rows]
    texts = [[head, *(_text(line) for row in rows for line in row[number])] for number, head in enumerate(heads)]
    fits = layout(table.columns, texts, table.key, width)
    if fits is None:
        yield from _stacked(table, width, paint)
    else:
        if any(heads[at] for at in fits.shown):
            yield from _row(table, [((doc.Span(head, "strong"),),) for head in heads], fits, paint)
            yield "-" * (sum(fits.widths) + GAP * (len(fits.widths) - 1))
        for row in rows:
            yield from _row(table, row, fits, paint)
    shown = range(len(heads)) if fits is None else fits.shown
    if left_out := [head for at, head in enumerate(heads) if at not in shown]:
        yield from _wrapped(f"No room for: {', '.join(left_out)}.", width, paint)
    columns = (table.columns[at] for at in shown)
    yield from _facts([(column.name, column.note) for column in columns if column.note], width, paint)


def _clean(cell: doc.Cell) -> tuple[Line, ...]:
    if type(cell) is str:
        return ((doc.Span(plain(cell)),),)
    return tuple(tuple(doc.Span(plain(span.text), span.meaning) for span in line) for line in doc.lines_of(cell))


def _text(line: Line) -> str:
    return line[0].text if len(line) == 1 else "".join(span.text for span in line)


def _row(table: doc.Table, row: Sequence[Sequence[Line]], fits: Layout, paint: Paint) -> Iterator[str]:
    """The lines of one row."""
    blocks = [
        _fitted(row[at], width, shortened=table.columns[at].when_narrow == "shorten")
        for at, width in zip(fits.shown, fits.widths, strict=True)
    ]
    right = [table.columns[at].number for at in fits.shown]
    for number in range(max(map(len, blocks))):
        parts = []
        for block, width, to_the_right in zip(blocks, fits.widths, right, strict=True):
            line = block[number] if number < len(block) else ()
            blank = " " * (width - cells(_text(line)))
            parts.append(blank + paint(line) if to_the_right else paint(line) + blank)
        yield (" " * GAP).join(parts)


def _fitted(lines: Sequence[Line], width: int, *, shortened: bool) -> list[Line]:
    """The lines of a cell in the width of its column."""
    found: list[Line] = []
    for line in lines:
        text = _text(line)
        if cells(text) <= width:
            found.append(line)
        elif shortened:
            found.append((doc.Span(shorten(text, width), line[0].meaning),))
        else:
            hang = _INDENT if width >= max(2 * LEAST, longest_part(text) + _INDENT) else 0
            first, *rest = breaks(text, width, width - hang)
            found.append(_cut(line, *first))
            found += [(doc.Span(" " * hang), *_cut(line, *part)) for part in rest]
    return found


def _stacked(table: doc.Table, width: int, paint: Paint) -> Iterator[str]:
    """Each row as a block: its key, and below it names and values, as many on a line as fit."""
    within = width - _INDENT
    for row in table.rows:
        for line in doc.lines_of(row[table.key]):
            name = tuple(doc.Span(span.text, "strong") if span.meaning == "plain" else span for span in line)
            yield from _wrapped(name, width, paint, hang=_INDENT)
        known = [
            (plain(column.name), cell)
            for number, (column, cell) in enumerate(zip(table.columns, row, strict=True))
            if number != table.key
        ]
        for line in _packed(known, within):
            yield from (" " * _INDENT + part for part in _wrapped(line, within, paint, hang=_INDENT))


def _packed(known: Sequence[tuple[str, doc.Cell]], width: int) -> Iterator[Line]:
    """Names and values, several on a line where there is room."""
    line: Line = ()
    for name, cell in known:
        for number, value in enumerate(_clean(cell)):
            if not _text(value):
                continue
            fact = (doc.Span(f"{name}: " if name and not number else ""), *value)
            if line and cells(_text(line)) + GAP + cells(_text(fact)) > width:
                yield line
                line = ()
            line = (*line, doc.Span(" " * GAP), *fact) if line else fact
    if line:
        yield line
