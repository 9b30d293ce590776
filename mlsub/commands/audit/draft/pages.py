"""From a document to its sentences: plain text, Markdown and HTML, each sentence with its line.

A heading, an item of a list and a row of a table count as sentences. Nothing here grows with the nesting of a page, and
the parser of HTML gets bare tags alone: on broken ones its time is quadratic.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from html.parser import HTMLParser
from itertools import islice
from pathlib import Path

import msgspec

from mlsub.commands.audit.draft.model import Sentence
from mlsub.commands.audit.draft.words import words
from mlsub.io.yamlfile import text_of

#: What is longer is cut, so that no sentence costs much, and so many sentences are read.
LONGEST, MOST_SENTENCES = 1500, 10_000
#: In a text without longer lines, lines were broken: one joins the next if it is nearly as long as the longest.
_WRAPPED = 120
_NEARLY = 0.6

_COMMENT, _SKIPPED = "<!--", ("script", "style", "noscript", "template", "svg", "textarea", "iframe", "object")
_TAG = re.compile(r"<(/?)([A-Za-z][A-Za-z0-9]{0,20})(?:[\s/][^<>]{0,4000})?>")
_GROUPING = "div section article header footer main aside nav figure figcaption form address details summary option"
_BLOCKS = frozenset(
    f"{_GROUPING} p ul ol li table thead tbody tr caption h1 h2 h3 h4 h5 h6 blockquote pre br hr dl dt dd title".split()
)
_CELLS = frozenset(("td", "th"))
_HEADINGS = frozenset(("h1", "h2", "h3", "h4", "h5", "h6", "title"))

_ITEM = re.compile(r"\s{0,8}(?:[-*+•]|\d{1,3}[.)])\s+")
_MARKS = re.compile(
    r"!?\[([^\[\]]{0,400})\]\([^()\s]{0,1000}(?:\s[^()]{0,200})?\)|\*{1,3}|_{2}|`+|<[^<>\s][^<>]{0,1000}>"
)
_RULE = re.compile(r"[\s|:=-]*")

_END = re.compile(r"(?<![.!?])[.!?]++[\"'”’)\]]*+\s++(?=[\"'“‘(\[]?[A-Z0-9$€£])")


class Block(msgspec.Struct, frozen=True):
    """Lines that belong together, each with its number."""

    lines: tuple[tuple[int, str], ...]
    heading: bool = False


def sentences_of(document: Path) -> tuple[Sentence, ...]:
    """The first sentences of a document, whose name's ending says whether it is HTML, Markdown or plain text.

    Raises:
        FileProblemsError: it cannot be read, is not UTF-8, or is larger than 4 MiB.
    """
    text = _printable(text_of(document).replace("\r\n", "\n").replace("\r", "\n"))
    ending = document.suffix.lower()
    if ending in (".html", ".htm", ".xhtml"):
        blocks = _of_html(text)
    else:
        blocks = _of_markdown(text) if ending in (".md", ".markdown") else _of_text(text)
    return tuple(islice(_sentences(blocks), MOST_SENTENCES))


def _printable(text: str) -> str:
    """Text with blanks for what steers a terminal, shows nothing, or has no place in YAML."""
    lines = text.split("\n")
    return "\n".join(
        line if line.isprintable() else "".join(c if c.isprintable() else " " for c in line) for line in lines
    )


def _sentences(blocks: Iterator[Block]) -> Iterator[Sentence]:
    section = 0
    for block in blocks:
        section += block.heading
        starts, text = [], ""
        for number, line in block.lines:
            starts.append((len(text), number))
            text += f"{line.strip()} "
        at = 0
        for end in (*_ends(text), len(text)):
            on = max(number for start, number in starts if start <= at)
            if (sentence := " ".join(text[at:end].split())[:LONGEST]) and any(c.isalnum() for c in sentence):
                yield Sentence(sentence, on, section, block.heading)
            at = end


def _ends(text: str) -> Iterator[int]:
    """Where sentences end."""
    for match in _END.finditer(text):
        word = re.search(r"[^\s(]*$", text[max(0, match.start() - 20) : match.start()])
        if word is None or word[0].lower() not in words().abbreviations:
            yield match.end()


def _of_text(text: str) -> Iterator[Block]:
    lines = text.split("\n")
    longest = max(map(len, lines))
    joined: list[tuple[int, str]] = []
    for number, line in enumerate(lines, 1):
        joins = joined and longest <= _WRAPPED and len(joined[-1][1]) >= _NEARLY * longest and not _ITEM.match(line)
        if joined and (not joins or not line.strip()):
            yield Block(tuple(joined), _heads(joined))
            joined = []
        if line.strip():
            joined.append((number, line))
    if joined:
        yield Block(tuple(joined), _heads(joined))


def _heads(lines: list[tuple[int, str]]) -> bool:
    """Whether lines of a plain text are a heading: one short line without an end."""
    text = lines[0][1].strip()
    return len(lines) == 1 and len(text) <= _WRAPPED // 2 and not text.endswith((".", "!", "?", ":", ","))


def _of_markdown(text: str) -> Iterator[Block]:
    lines = list(enumerate(_without(text, _COMMENT, "-->").split("\n"), 1))
    if lines[0][1].strip() == "---":
        end = next((at for at, (_, line) in enumerate(lines[1:], 1) if line.strip() in ("---", "...")), 0)
        lines = lines[end + 1 :] if end else lines
    joined: list[tuple[int, str]] = []
    heads: list[str] = []
    fenced = ""
    for number, line in lines:
        start = line.strip()
        fence = start[:3] if start[:3] in ("```", "~~~") else ""
        row = start.startswith("|") or (start.count("|") >= 2 and not fenced)
        if not row:
            heads = []
        apart = fenced or fence or row or not start or start.startswith(("#", ">")) or _ITEM.match(line)
        if joined and apart:
            yield Block(tuple(joined))
            joined = []
        if fenced or fence:
            fenced = "" if fence and fence == fenced else fenced or fence
        elif start.startswith("#"):
            yield Block(((number, _unmarked(start.strip("# "))),), heading=True)
        elif row and _RULE.fullmatch(start):
            continue
        elif row:
            cells = [_unmarked(cell).strip() for cell in start.strip("|").split("|")]
            yield Block(((number, _row(heads, cells)),))
            heads = heads or cells
        elif start:
            item = _ITEM.match(line)
            joined.append((number, _unmarked(line[item.end() if item else 0 :].lstrip("> "))))
    if joined:
        yield Block(tuple(joined))


def _unmarked(text: str) -> str:
    return _MARKS.sub(lambda match: match[1] or "", text)


def _row(heads: list[str], cells: list[str]) -> str:
    """A row of a table as a sentence: what each head names, and the cell below it."""
    named = zip((*heads, *[""] * len(cells)), cells, strict=False)
    return "; ".join(f"{head}: {cell}" if head else cell for head, cell in named if cell)


def _without(text: str, start: str, end: str) -> str:
    """A text without what stands between two marks; lines keep their numbers."""
    parts, at = [], 0
    while (found := text.find(start, at)) >= 0:
        parts.append(text[at:found])
        close = text.find(end, found + len(start))
        at = len(text) if close < 0 else close + len(end)
        parts.append("\n" * text.count("\n", found, at))
    return "".join((*parts, text[at:]))


def _of_html(text: str) -> Iterator[Block]:
    text = _without(text, _COMMENT, "-->")
    for name in _SKIPPED:
        text = _without(re.sub(rf"(?i)<(/?){name}(?=[\s/>])", rf"<\1{name}", text), f"<{name}", f"</{name}>")
    page = _Page()
    page.feed(_bare(text))
    page.close()
    page.flush()
    yield from page.blocks


def _bare(text: str) -> str:
    """A page whose tags have no attributes, and whose other brackets are text."""
    parts, at = [], 0
    for match in _TAG.finditer(text):
        parts += [text[at : match.start()].replace("<", "&lt;"), f"<{match[1]}{match[2]}>", "\n" * match[0].count("\n")]
        at = match.end()
    return "".join((*parts, text[at:].replace("<", "&lt;")))


class _Page(HTMLParser):
    """Gathers the blocks of a page. Entities are decoded by the parser."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.blocks: list[Block] = []
        self._text: list[tuple[int, str]] = []
        self._heading = False
        self._cells: list[tuple[int, str]] | None = None
        self._heads: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag == "table":
            self._heads = []
        if tag in ("tr", "table"):
            self.flush()
            self._cells = []
        elif tag in _CELLS:
            self._cell()
        elif tag in _BLOCKS and self._cells is None:
            self.flush()
            self._heading = tag in _HEADINGS

    def handle_endtag(self, tag: str) -> None:
        if tag in _CELLS:
            self._cell()
        elif tag in _BLOCKS and (self._cells is None or tag in ("tr", "table")):
            self.flush()

    def handle_data(self, data: str) -> None:
        for number, part in enumerate(_printable(data).split("\n"), self.getpos()[0]):
            if part.strip():
                self._text.append((number, part))

    def flush(self) -> None:
        """The end of a block, or of a row of a table."""
        self._cell()
        if self._cells:
            texts = [text for _, text in self._cells]
            self.blocks.append(Block(((self._cells[0][0], _row(self._heads, texts)),)))
            self._heads = self._heads or texts
        elif self._text:
            self.blocks.append(Block(tuple(self._text), self._heading))
        self._text, self._cells, self._heading = [], None, False

    def _cell(self) -> None:
        """The end of a cell."""
        if self._cells is not None and self._text:
            self._cells.append((self._text[0][0], " ".join(part.strip() for _, part in self._text)))
            self._text = []
