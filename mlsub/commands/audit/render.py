"""An audit as text or Markdown."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby

from mlsub.commands.audit.audit import Audit
from mlsub.commands.audit.messaging.sections import (
    FOOTNOTES,
    HEADING,
    HEADS,
    closing_lines,
    finding_rows,
    footnote_rows,
)
from mlsub.commands.audit.words import (
    INPUT_HEADS,
    RESULT_HEADS,
    Entry,
    basis_words,
    entries,
    input_rows,
    result_rows,
    summary,
    title,
)
from mlsub.commands.rules.markdown import escape, page, table
from mlsub.present.columns import WIDTH, columns, wrapped

_LABEL = 12


def render(audit: Audit, format_: str, width: int = WIDTH, *, footnotes: bool = False) -> str:
    """The audit as a document that ends in a line feed; ``format_`` is text, json, markdown or html.

    ``footnotes`` adds the footnote of each claim; JSON always has them.
    """
    if format_ == "json":
        from mlsub.commands.audit.render_json import render as as_json

        return as_json(audit)
    if format_ == "html":
        from mlsub.commands.audit.render_html import render as as_html

        return as_html(audit, footnotes=footnotes)
    if format_ == "markdown":
        return page(_markdown(audit, footnotes))
    return page(_text(audit, width, footnotes))


def _text(audit: Audit, width: int, footnotes: bool) -> Iterator[str]:
    yield from wrapped(f"Claims of {title(audit)}", width)
    yield ""
    for entry in entries(audit):
        yield from _claim(entry, width)
        yield ""
    for heading, heads, rows in _tables(audit):
        if rows:
            yield f"{heading}:"
            yield from _stacked(heads, rows, width)
            yield ""
    yield from _quoted(audit, width)
    if footnotes and audit.messaging.footnotes:
        yield from _footnotes(audit, width)
    yield from wrapped(basis_words(audit), width)
    yield from wrapped(summary(audit), width)


def _claim(entry: Entry, width: int) -> Iterator[str]:
    yield from wrapped(f"{entry.id}  {entry.headline}", width, 2)
    yield from (f"  {line}" for line in wrapped(entry.text, width - 2))
    rows = []
    for label, group in groupby(entry.rows, key=lambda row: row[0]):
        rows.append((label, "\n".join(text for _, text in group)))
    yield from columns(rows, width=width, caps=(_LABEL,), indent=2)


def _stacked(heads: Sequence[str], rows: Sequence[Sequence[str]], width: int) -> Iterator[str]:
    """A table where it fits the width, else each row as a list: figures are never cut in two."""
    lengths = [max(len(row[number]) for row in (heads, *rows)) for number in range(len(heads))]
    if sum(lengths[:-1]) + 2 * len(heads) + min(lengths[-1], 30) <= width:
        yield from columns(rows, heads, width=width, indent=2)
        return
    for row in rows:
        yield f"  {row[0]}"
        cells = [f"{head} {cell}" for head, cell in zip(heads[1:], row[1:], strict=True) if cell not in ("", "-")]
        yield from (f"    {line}" for line in wrapped(", ".join(cells), width - 4))


def _tables(audit: Audit) -> list[tuple[str, tuple[str, ...], list[tuple[str, ...]]]]:
    return [("Results, in minutes", RESULT_HEADS, result_rows(audit)), ("Inputs", INPUT_HEADS, input_rows(audit))]


def _quoted(audit: Audit, width: int) -> Iterator[str]:
    """The findings on how results are quoted: a list of their own, beside the verdicts."""
    rows = finding_rows(audit.messaging)
    lines = list(closing_lines(audit.messaging)) if rows or audit.messaging.footnotes else []
    if not lines:
        return
    yield f"{HEADING}: {len(rows)} finding{'' if len(rows) == 1 else 's'}"
    for where, group in groupby(rows, key=lambda row: row[0]):
        yield from (f"  {line}" for line in wrapped(where, width - 2))
        yield from columns([(rule, what) for _, rule, what in group], width=width, indent=4)
    for line in lines:
        yield from wrapped(line, width, 2)
    yield ""


def _footnotes(audit: Audit, width: int) -> Iterator[str]:
    yield from wrapped(f"{FOOTNOTES}, with what is missing in [brackets]:", width)
    for claim, footnote, missing in footnote_rows(audit.messaging):
        yield f"  {claim}"
        yield from (f"    {line}" for line in wrapped(footnote, width - 4))
        yield from (f"    {line}" for line in wrapped(f"missing: {missing}", width - 4))
    yield ""


def _markdown(audit: Audit, footnotes: bool) -> Iterator[str]:
    yield f"# Claims of {escape(title(audit))}"
    yield ""
    yield escape(summary(audit))
    yield ""
    yield escape(basis_words(audit))
    for entry in entries(audit):
        yield ""
        yield f"## {escape(entry.id)}: {escape(entry.headline)}"
        yield ""
        yield from table(("claim", escape(entry.text)), [(label, escape(text)) for label, text in entry.rows])
    for heading, heads, rows in _tables(audit):
        if rows:
            yield ""
            yield f"## {heading}"
            yield ""
            yield from table(heads, [[escape(cell) for cell in row] for row in rows])
    found = finding_rows(audit.messaging)
    lines = list(closing_lines(audit.messaging)) if found or audit.messaging.footnotes else []
    if lines:
        yield ""
        yield f"## {HEADING}"
        yield ""
        if found:
            yield from table(HEADS, [[escape(cell) for cell in row] for row in found])
            yield ""
        yield from (f"- {escape(line)}" for line in lines)
    if footnotes and audit.messaging.footnotes:
        yield ""
        yield f"## {FOOTNOTES}"
        for claim, footnote, missing in footnote_rows(audit.messaging):
            yield ""
            yield f"- **{escape(claim)}**: {escape(footnote)} *Missing: {escape(missing)}.*"
