"""Documents as terminal text and Markdown: nothing steers a terminal, and text stays text."""

from __future__ import annotations

import unicodedata

from markdown_it import MarkdownIt
from markdown_it.token import Token
from rich.cells import cell_len

from mlsub.io.show import plain
from mlsub.present import markdown, text
from mlsub.present.document import Code, Document, Items, Text, spans, text_of
from mlsub.present.width import cells
from tests.campaigns.fuzz.documents import Harmless, Maker
from tests.campaigns.fuzz.harness import BrokenError, Harness
from tests.campaigns.fuzz.pagecheck import squeezed
from tests.campaigns.fuzz.seeds import DOCUMENTS, MARKUP

_PARSER = MarkdownIt("commonmark").enable("table")
#: Controls, formats (which turn and hide text), halves of surrogate pairs, private and unassigned characters, and line
#: and paragraph separators.
_STEERING = frozenset({"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"})
_CODES = ("0", "1", "2", "32", "33", "36", "1;31")


def check_harmless(shown: str, what: str) -> None:
    """No character in what is shown steers a terminal.

    Raises:
        BrokenError: one does.
    """
    if shown.isascii() and shown.replace("\n", "").isprintable():
        return
    for at, character in enumerate(shown):
        if character != "\n" and unicodedata.category(character) in _STEERING:
            raise BrokenError(f"{what}: {character!r} in {shown[max(0, at - 60) : at + 60]!r}")


def _terminal(data: bytes) -> None:
    document = Maker(data[1:]).document()
    width = 40 + (data[0] if data else 0) % 161
    shown = text.render(document, width)
    check_harmless(shown, "text")
    widest = max(max(cell_len(line), cells(line)) for line in shown.split("\n"))
    if widest > width:
        raise BrokenError(f"a line of {widest} cells in a terminal of {width}")
    coloured = text.render(document, width, colour=True)
    for code in _CODES:
        coloured = coloured.replace(f"\x1b[{code}m", "")
    if [line.rstrip() for line in coloured.split("\n")] != shown.split("\n"):
        raise BrokenError("colours change the text")
    _complete(document, squeezed(shown))


def _complete(document: Document, shown: str) -> None:
    """What stands in paragraphs, lists and code is there, to the letter."""
    for block in document.blocks:
        match block:
            case Text(words):
                said = [text_of(words)]
            case Items(items):
                said = [text_of(words) for words in items]
            case Code(code):
                said = code.split("\n")
            case _:
                said = []
        for one in said:
            if squeezed(plain(one)) not in shown:
                raise BrokenError(f"{one!r} is not shown")


def _markdown(data: bytes) -> None:
    document = Maker(data).document()
    shown = markdown.render(document)
    check_harmless(shown, "Markdown")
    tokens, quiet = _parsed(shown), _parsed(markdown.render(Maker(data, Harmless()).document()))
    if (ours := _shape(tokens)) != (theirs := _shape(quiet)):
        at = next((at for at, (one, two) in enumerate(zip(ours, theirs, strict=False)) if one != two), -1)
        raise BrokenError(f"part {at} is {ours[at - 1 : at + 2]}, with harmless text {theirs[at - 1 : at + 2]}")
    words = squeezed("".join(_words(tokens)))
    for block in document.blocks:
        if isinstance(block, Text):
            said = "".join(plain(span.text) for span in spans(block.words))
            if squeezed(said) not in words:
                raise BrokenError(f"{said!r} is not what a reader of Markdown sees")


def _parsed(shown: str) -> list[Token]:
    return [token for token in _PARSER.parse(shown) if token.type != "paragraph_open" or not token.hidden]


def _shape(tokens: list[Token]) -> list[str]:
    """The blocks, and what of each inline text is more than text: code, links, markup."""
    found = []
    for token in tokens:
        found.append(token.type)
        for inner in token.children or ():
            if inner.type == "html_inline" and inner.content != "<br>":
                raise BrokenError(f"markup: {inner.content!r}")
            if inner.type == "link_open" and not str(inner.attrs["href"]).startswith("https://"):
                raise BrokenError(f"a link: {inner.attrs}")
            if inner.type in ("html_inline", "link_open", "link_close", "image", "em_open", "strong_open"):
                found.append(f"- {inner.type}")
        if token.type == "html_block":
            raise BrokenError(f"markup: {token.content!r}")
    return found


def _words(tokens: list[Token]) -> list[str]:
    return [inner.content for token in tokens for inner in token.children or () if inner.type != "html_inline"]


HARNESSES = (
    Harness(
        "terminal-text",
        "text for terminals",
        _terminal,
        lambda: [b"\0" + one for one in DOCUMENTS],
        MARKUP,
        longest=3_000,
    ),
    Harness("terminal-markdown", "documents as Markdown", _markdown, lambda: DOCUMENTS, MARKUP, longest=3_000),
)
