"""A document as Markdown that GitHub reads."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence

from mlsub.io.show import plain
from mlsub.present import document as doc
from mlsub.present.findings import sections

#: What Markdown, GitHub's tables and its formulas would take for their own; ``_`` inside a word is only
#: itself, and so is ``#``.
_SPECIAL = re.compile(r"[\\`*\[\]<>|~$&]|(?<![^\W_])_|_(?![^\W_])|(?<!\S)#")
#: What would make a list or a heading of a line that begins with it.
_BEGIN = re.compile(r"^ *(?:(?=[-+=])|(\d+)(?=[.)]))")
_DEEPEST = 6
_AS_CODE = ("code", "name")


def render(document: doc.Document) -> str:
    """The document as a file, ending in one line feed."""
    lines = [f"# {escape(document.title)}", ""]
    for block in document.blocks:
        lines += _block(block, 2)
    while lines and not lines[-1]:
        lines.pop()
    return "\n".join(lines) + "\n"


def escape(text: str) -> str:
    """Text with nothing in it that Markdown would read as its own."""
    return _SPECIAL.sub(r"\\\g<0>", plain(text))


def _block(block: doc.Block, level: int) -> Iterator[str]:
    """The lines of a block, the last of them empty."""
    match block:
        case doc.Tally(words=words) | doc.Chart(words=words) | doc.Text(words):
            yield _paragraph(words)
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
            yield from (f"{'#' * min(level, _DEEPEST)} {_words(block.title)}", "")
            for inner in block.blocks:
                yield from _block(inner, level + 1)
            return
    yield ""


def _words(words: doc.Words) -> str:
    return "".join(map(_span, _joined(doc.spans(words))))


def _joined(words: Sequence[doc.Span]) -> Iterator[doc.Span]:
    """The words, code that follows code joined to it: the backticks between the two would be one run."""
    before: doc.Span | None = None
    for span in (one for one in words if one.text):
        if before is not None and _is_code(before) and _is_code(span):
            before = doc.Span(before.text + span.text, before.meaning)
            continue
        if before is not None:
            yield before
        before = span
    if before is not None:
        yield before


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
