"""Markdown as GitHub reads it."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence

_SPECIAL = re.compile(r"([\\|*<>\[\]])")
#: A word that Markdown might take for emphasis, or that is a name to be copied: set as code.
_NAME = re.compile(r"(?<![\w.\"])[A-Za-z][A-Za-z0-9]*(?:_[A-Za-z0-9]+)+(?![\w.\"])")


def escape(text: str) -> str:
    """Text with nothing in it that Markdown would read as its own."""
    return _SPECIAL.sub(r"\\\1", text)


def prose(text: str) -> str:
    """Text with names of keys and benchmarks set as code."""
    return _NAME.sub(lambda match: f"`{match[0]}`", escape(text))


def code(text: str) -> str:
    """A name as code."""
    return f"`{text}`"


def link(text: str, target: str) -> str:
    """A link; the text is a name."""
    return f"[{text}]({target})"


def table(heads: Sequence[str], rows: Iterable[Sequence[str]]) -> Iterator[str]:
    """A table; cells are Markdown already, several lines in one are parted by ``<br>``."""
    yield _line(heads)
    yield _line(["---"] * len(heads))
    for row in rows:
        yield _line(row)


def cell(lines: Iterable[str]) -> str:
    """Several lines of text as one cell."""
    return "<br>".join(map(prose, lines))


def page(lines: Iterable[str]) -> str:
    """Lines as a file: no two empty ones in a row, one line feed at the end."""
    kept: list[str] = []
    for line in lines:
        if line or (kept and kept[-1]):
            kept.append(line)
    while kept and not kept[-1]:
        kept.pop()
    return "\n".join(kept) + "\n"


def _line(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cells)} |"
