"""A comparison as text, Markdown or JSON."""

from __future__ import annotations

import json
from collections.abc import Iterator

import msgspec

import mlsub
from mlsub.commands.compare.packages.lines import Section, heading, sections
from mlsub.commands.compare.packages.model import PackageDiff
from mlsub.commands.rules.markdown import escape, page, table
from mlsub.present.columns import GAP, WIDTH, columns, wrapped

#: Raised where a field is renamed or goes; a field that comes does not raise it.
SCHEMA = 2
_LEAST, _LEAST_LAST = 12, 24
_NO_DIFFERENCE = "No difference."


def render(diff: PackageDiff, format_: str, width: int = WIDTH) -> str:
    """The comparison as a document that ends in a line feed."""
    if format_ == "json":
        head = {"schema": SCHEMA, "mlsub": mlsub.__version__, "kind": "package-diff", "different": diff.different}
        return json.dumps({**head, **msgspec.to_builtins(diff)}, indent=2, allow_nan=False) + "\n"
    return page(_markdown(diff)) if format_ == "markdown" else page(_text(diff, width))


def _text(diff: PackageDiff, width: int) -> Iterator[str]:
    for name, side in heading(diff):
        yield f"{name}: {side}"
    if not diff.different:
        yield _NO_DIFFERENCE
        return
    for section in sections(diff):
        yield ""
        yield from text_section(section, width)


def text_section(section: Section, width: int) -> Iterator[str]:
    """A section as lines of text."""
    yield from wrapped(section.title, width)
    yield from _table(section, width)
    for note in section.notes:
        yield from (f"  {line}" for line in wrapped(note, width - 2, 2))


def _table(section: Section, width: int) -> list[str]:
    heads = section.heads if any(section.heads) else None
    caps = _caps(section, width - 2)
    return columns(section.rows, heads, width=width, caps=caps, indent=2)


def _caps(section: Section, width: int) -> list[int]:
    """How wide each column may be, so that the last has room: the widest give way first, down to a word."""
    every = [section.heads, *section.rows]
    *caps, last = (
        max(len(line) for row in every for line in row[number].split("\n")) for number in range(len(every[0]))
    )
    left = width - min(last, _LEAST_LAST) - GAP * len(caps)
    while sum(caps) > left and max(caps) > _LEAST:
        caps[caps.index(max(caps))] -= 1
    return caps


def _markdown(diff: PackageDiff) -> Iterator[str]:
    for name, side in heading(diff):
        yield f"- {name}: {escape(side)}"
    yield ""
    if not diff.different:
        yield _NO_DIFFERENCE
        return
    for section in sections(diff):
        yield from markdown_section(section)


def markdown_section(section: Section, level: str = "##") -> Iterator[str]:
    """A section as lines of Markdown."""
    yield from (f"{level} {escape(section.title)}", "")
    if section.rows:
        yield from table(section.heads, ([_cell(cell) for cell in row] for row in section.rows))
        yield ""
    yield from (f"- {escape(note)}" for note in section.notes)
    yield ""


def _cell(text: str) -> str:
    return "<br>".join(escape(line) for line in text.split("\n"))
