"""The page of claims: what was said of the results, and whether the logs bear it out."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

from mlsub.commands.audit.verdict import AGAINST, Audit, ClaimVerdict
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
from mlsub.commands.site.facts import section_of_findings
from mlsub.commands.site.model import Cell, Head, Row, Section, Table, text_of
from mlsub.commands.site.pages import Page

_HEADS = (Head("claim"), Head("verdict"), Head("what is said"), Head("how it comes out"))
_SCOPE = (
    "A verdict says whether the figures of the logs bear a sentence out as it is worded; it says nothing on why it was "
    "written so. Findings are about the rules on wording, and never change a verdict."
)


def claims_page(audits: Sequence[Audit]) -> Page:
    """The page of some audits, one after the other."""
    sections = [section for place, audit in enumerate(audits) for section in _sections(audit, place)]
    verdicts = sorted({entry.verdict.value for audit in audits for entry in entries(audit)})
    return Page(
        path="claims.html",
        title="Claims",
        lead=(_SCOPE,),
        sections=tuple(sections),
        filters=(("verdict", tuple(verdicts)),),
    )


def _sections(audit: Audit, place: int) -> Iterator[Section]:
    name = text_of(title(audit), 200)
    table = Table(caption=f"Claims of {name}", heads=_HEADS, rows=tuple(map(_row, entries(audit))))
    words = (text_of(f"{summary(audit)}."), basis_words(audit))
    yield Section(key=f"claims-{place}", title=name, words=words, tables=(table,))
    below = (
        (f"results-{place}", "Results, in minutes", RESULT_HEADS, result_rows(audit)),
        (f"inputs-{place}", "What no log can tell", INPUT_HEADS, input_rows(audit)),
    )
    for key, heading, heads, rows in below:
        if rows:
            yield Section(key=key, title=heading, tables=(_plain(f"{heading}: {name}", heads, rows),))
    if audit.findings:
        (found,) = section_of_findings(audit.findings, forgiven=False).tables
        yield Section(key=f"wording-{place}", title="Findings on the wording", tables=(found,))


def _row(entry: Entry) -> Row:
    badge = "bad" if entry.verdict in AGAINST else "good" if entry.verdict is ClaimVerdict.HOLDS else "warn"
    told = "\n".join(text_of(f"{label}: {text}", 600) for label, text in entry.rows)
    cells = (
        Cell(text_of(entry.id, 100)),
        Cell(text_of(entry.headline, 300), badge=badge),
        Cell(text_of(entry.text)),
        Cell(told),
    )
    return Row(cells, {"verdict": entry.verdict.value})


def _plain(caption: str, heads: Sequence[str], rows: Sequence[Sequence[str]]) -> Table:
    """A table of words, its numbers to sort by their value."""
    numeric = [any(map(_number, column)) for column in zip(*rows, strict=True)]
    return Table(
        caption=caption,
        heads=tuple(Head(head, is_number) for head, is_number in zip(heads, numeric, strict=True)),
        rows=tuple(Row(tuple(Cell(text_of(cell), _sort(cell)) for cell in row)) for row in rows),
    )


def _number(cell: str) -> bool:
    return _sort(cell) is not None


def _sort(cell: str) -> float | None:
    """The number that a cell is, where it is one; a date is none."""
    if not (cell.isascii() and cell.removeprefix("-")[:1].isdigit()):
        return None
    try:
        number = float(cell.replace(",", ""))
    except ValueError:
        return None
    return number if math.isfinite(number) else None
