"""An audit as text or Markdown."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby

from mlsub.claims.audit import Audit
from mlsub.claims.words import (
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
from mlsub.findings import Finding
from mlsub.reference.columns import WIDTH, columns, wrapped
from mlsub.reference.markdown import escape, page, table
from mlsub.report.plain import plain

_LABEL = 12


def render(audit: Audit, format_: str, width: int = WIDTH) -> str:
    """The audit as a document that ends in a line feed; ``format_`` is text, json, markdown or html."""
    if format_ == "json":
        from mlsub.claims.render_json import render as as_json

        return as_json(audit)
    if format_ == "html":
        from mlsub.claims.render_html import render as as_html

        return as_html(audit)
    return page(_markdown(audit)) if format_ == "markdown" else page(_text(audit, width))


def _text(audit: Audit, width: int) -> Iterator[str]:
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
    for finding in audit.findings:
        yield from wrapped(_finding(finding), width, 2)
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


def _finding(finding: Finding) -> str:
    place = "" if finding.line is None else f":{finding.line}"
    fix = f" Mend: {finding.fix}" if finding.fix else ""
    return plain(f"{finding.severity.value}: {finding.path}{place}: {finding.message} [{finding.rule}]{fix}")


def _markdown(audit: Audit) -> Iterator[str]:
    yield f"# Claims of {escape(title(audit))}"
    yield ""
    yield escape(summary(audit))
    yield ""
    yield escape(basis_words(audit))
    for entry in entries(audit):
        yield ""
        yield f"## {escape(entry.id)}: {escape(entry.headline)}"
        yield ""
        yield escape(entry.text)
        yield ""
        yield from table(("", ""), [(label, escape(text)) for label, text in entry.rows])
    for heading, heads, rows in _tables(audit):
        if rows:
            yield ""
            yield f"## {heading}"
            yield ""
            yield from table(heads, [[escape(cell) for cell in row] for row in rows])
    if audit.findings:
        yield ""
        yield "## Findings"
        yield ""
        yield from (f"- {escape(_finding(finding))}" for finding in audit.findings)
