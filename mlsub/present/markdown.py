"""A document as Markdown that GitHub reads."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby
from pathlib import PurePath
from urllib.parse import quote

from msgspec.structs import replace

from mlsub.io.show import plain
from mlsub.present import document as doc
from mlsub.present.findings import sections

#: What Markdown, GitHub's tables and its formulas would take for their own; ``_`` inside a word is only
#: itself, and so is ``#``.
_SPECIAL = re.compile(r"[\\`*\[\]<>|~$&]|(?<![^\W_])_|_(?![^\W_])|(?<!\S)#")
#: What would make a list or a heading of a line that begins with it.
_BEGIN = re.compile(r"^ *(?:(?=[-+=])|(\d+)(?=[.)]))")
_DEEPEST = 6
_ANCHOR = re.compile(r"[A-Za-z][\w.:-]*", re.ASCII)
#: Where an anchor is, and what leads to one: no text that is escaped looks like it.
_NAME, _TO = re.compile(r'<a name="([\w.:-]+)"></a>', re.ASCII), re.compile(r"\]\(#([\w.:-]+)\)", re.ASCII)
#: The most characters of a file that is pasted into an issue, of which GitHub takes 65,536.
MOST = 60_000
#: What a block that can be split is made of.
_MADE_OF = {doc.Table: "rows", doc.Items: "items", doc.Facts: "facts", doc.Findings: "findings"}
_AS_CODE = ("code", "name")


def render(document: doc.Document) -> str:
    """The document as a file, ending in one line feed."""
    lines = [f"# {escape(document.title)}", ""]
    for block in document.blocks:
        lines += _block(block, 2)
    while lines and not lines[-1]:
        lines.pop()
    return "\n".join(lines) + "\n"


def render_parts(document: doc.Document, name: str, most: int = MOST) -> dict[str, str]:
    """The document as files by their names; where one is not enough, the first says what is in the others.

    Args:
        document: what is split between its sections, blocks, rows and lines, in this order.
        name: of the first; the others have a number before its ending.
        most: the characters of each.
    """
    whole, file = render(document), PurePath(name)
    if len(whole) <= most:
        return {name: whole}
    pages = list(_pages(document.blocks, 2, most - most // 10, len(quote(name)) + 6))
    names = [name, *(f"{file.stem}-{number}{file.suffix}" for number in range(1, len(pages)))]
    links = [f"./{quote(one)}" for one in names]
    texts: list[str] = []
    parts: list[doc.Words] = []
    for number in range(len(pages) - 1, -1, -1):
        title = f"{document.title}, part {number} of {len(pages) - 1}" if number else document.title
        top = doc.Text(doc.Span("all parts", link=links[0])) if number else doc.Items(tuple(parts[: most // 2500]))
        texts.insert(0, render(doc.Document(title, (top, *pages[number]))))
        begins = next((doc.text_of(block.title) for block in pages[number] if isinstance(block, doc.Section)), "")
        parts.insert(0, (doc.Span(names[number], link=links[number]), f": {begins[:80]} ..."))
    where = {anchor: link for link, text in zip(links, texts, strict=True) for anchor in _NAME.findall(text)}
    for number, own in enumerate(links):
        for anchor in {one for one in _TO.findall(texts[number]) if where.get(one, own) != own}:
            texts[number] = texts[number].replace(f"](#{anchor})", f"]({where[anchor]}#{anchor})")
    return dict(zip(names, texts, strict=True))


def _size(block: doc.Block, level: int, link: int) -> int:
    """The characters of a block, each link to an anchor longer by the name of a file."""
    text = "\n".join(_block(block, level))
    return len(text) + 1 + text.count("](#") * link


def _pages(blocks: Iterable[doc.Block], level: int, room: int, link: int) -> Iterator[list[doc.Block]]:
    """Blocks in their order, at a time those that have room together."""
    page: list[doc.Block] = []
    left = room
    for piece in (piece for block in blocks for piece in _pieces(block, level, room, link)):
        size = _size(piece, level, link)
        if page and size > left:
            yield page
            page, left = [], room
        page.append(piece)
        left -= size
    yield page


def _pieces(block: doc.Block, level: int, room: int, link: int) -> Iterator[doc.Block]:
    """A block, or what it is made of where it has no room, down to single lines."""
    if _size(block, level, link) <= room:
        yield block
        return
    if isinstance(block, doc.Section):
        again: doc.Words = (*doc.spans(block.title), " (continued)")
        rest = room - _size(doc.Section(again, anchor=block.anchor), level, link)
        for number, inner in enumerate(_pages(block.blocks, level + 1, rest, link)):
            title, anchor = (again, None) if number else (block.title, block.anchor)
            yield replace(block, title=title, blocks=tuple(inner), anchor=anchor)
        return
    if isinstance(block, doc.Facts) and isinstance(lines := block.facts[0][1], doc.Lines) and len(block.facts) == 1:
        block = doc.Facts(tuple((block.facts[0][0], line) for line in lines.lines))
    name = _MADE_OF.get(type(block), "")
    parts = getattr(block, name, ())
    if len(parts) < 2:
        yield doc.Text("One line is too long for this part: HTML and JSON have it.")
        return
    for half in (parts[: len(parts) // 2], parts[len(parts) // 2 :]):
        yield from _pieces(replace(block, **{name: half}), level, room, link)


def escape(text: str) -> str:
    """Text with nothing in it that Markdown would read as its own."""
    return _SPECIAL.sub(r"\\\g<0>", plain(text))


def _block(block: doc.Block, level: int) -> Iterator[str]:
    """The lines of a block, the last of them empty."""
    match block:
        case doc.Chart(series=()) | doc.Tally() | doc.Text():
            yield _paragraph(block.words)
        case doc.Chart():
            return
        case doc.Items(items):
            yield from (f"- {_paragraph(item)}" for item in items)
        case doc.Facts(facts):
            for name, value in facts:
                yield from _fact(name, value)
        case doc.Code(text):
            yield from _code(text)
        case doc.Table():
            yield from _render_table(block)
        case doc.Findings():
            yield from (f"- {line}" if new else f"  {line}" for new, line in _findings(block))
        case doc.Section():
            name = f'<a name="{block.anchor}"></a>' if block.anchor and _ANCHOR.fullmatch(block.anchor) else ""
            yield from (f"{'#' * min(level, _DEEPEST)} {name}{_words(block.title)}", "")
            for inner in block.blocks:
                yield from _block(inner, level + 1)
            return
    yield ""


def _words(words: doc.Words) -> str:
    return "".join(map(_span, _joined(doc.spans(words))))


def _joined(words: Sequence[doc.Span]) -> Iterator[doc.Span]:
    """The words, code that follows code joined to it: the backticks between the two would be one run."""
    for is_code, some in groupby((one for one in words if one.text), _is_code):
        spans = list(some)
        yield from [doc.Span("".join(one.text for one in spans), spans[0].meaning)] if is_code else spans


def _is_code(span: doc.Span) -> bool:
    return span.meaning in _AS_CODE and bool(span.text.strip())


def _span(span: doc.Span) -> str:
    if _is_code(span):
        return _code_span(plain(span.text))
    return f"[{escape(span.text)}]({span.address})" if span.address else escape(span.text)


def _code_span(text: str) -> str:
    """Code between more backticks than any in it; in a table its bar is escaped all the same."""
    fence = "`" * (max((len(run) for run in re.findall("`+", text)), default=0) + 1)
    blank = " " if text.startswith("`") or text.endswith("`") else ""
    return f"{fence}{blank}{text}{blank}{fence}"


def _paragraph(words: doc.Words) -> str:
    return _begin(_words(words))


def _begin(text: str) -> str:
    """The text of a line, which is nothing but text."""
    return _BEGIN.sub(lambda found: f"{found[1] or ''}\\", text.lstrip(" "), count=1)


def _fact(name: str, value: doc.Cell) -> Iterator[str]:
    """A name and its value in one line; several lines are a list of their own below the name."""
    first, *more = lines = doc.lines_of(value)
    if not more:
        yield f"- {_begin(f'{escape(name)}: {_words(first)}')}"
        return
    yield f"- {_begin(f'{escape(name)}:')}"
    yield from (f"  - {_paragraph(line)}" for line in lines)


def _findings(block: doc.Findings) -> Iterator[tuple[bool, str]]:
    for found in sections(block):
        yield True, _paragraph(found.title)
        for inner in found.blocks:
            yield from ((False, line) for line in _block(inner, _DEEPEST) if line)


def _code(text: str) -> Iterator[str]:
    lines = [plain(line) for line in text.split("\n")]
    fence = "`" * max(3, *(len(run) + 1 for run in re.findall("`+", text)), 3)
    yield from (fence, *lines, fence)


def _render_table(table: doc.Table) -> Iterator[str]:
    yield _row([escape(column.name) for column in table.columns])
    yield _row(["---:" if column.number else "---" for column in table.columns])
    for row in table.rows:
        yield _row(["<br>".join(map(_in_table, doc.lines_of(cell))) for cell in row])


def _in_table(words: Sequence[doc.Span]) -> str:
    """Words of a cell; a bar in code would end it."""
    parts = ((span, _span(span)) for span in _joined(words))
    return "".join(part.replace("|", "\\|") if span.meaning in _AS_CODE else part for span, part in parts)


def _row(cells: Iterable[str]) -> str:
    return f"| {' | '.join(cells)} |"
