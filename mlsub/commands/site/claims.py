"""The page of claims: what was said of the results, and whether the logs bear it out."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

from mlsub.commands.audit.document import (
    INPUT_HEADS,
    RESULT_HEADS,
    basis_words,
    input_rows,
    result_rows,
    shares,
    summary,
    title,
)
from mlsub.commands.audit.evaluate import World
from mlsub.commands.audit.verdict import Audit
from mlsub.commands.site.cards import cards_of
from mlsub.commands.site.facts import section_of_findings
from mlsub.commands.site.model import Cell, Head, Row, Section, Table, text_of
from mlsub.commands.site.pages import Page

_SCOPE = (
    "A verdict says whether the figures of the logs bear a sentence out as it is worded; it says nothing on why it was "
    "written so. Findings are about the rules on wording, and never change a verdict."
)
_LINES = (
    "On a number line the band is what the wording accepts. A disc is the figure on the published score, a diamond on "
    "the unscaled one, a triangle on the expected one, a square at the RCP mean; hollow ones are shown for comparison, "
    "and the thick part is what the uncertainty of inputs allows. A slider tries another value of an input."
)


def claims_page(audits: Sequence[tuple[Audit, World]]) -> Page:
    """The page of some audits, one after the other, each with what was audited."""
    sections = [section for place, (audit, world) in enumerate(audits) for section in _sections(audit, world, place)]
    return Page(
        path="claims.html", title="Claims", lead=(_SCOPE, _LINES), sections=tuple(sections), scripts=("claims",)
    )


def _sections(audit: Audit, world: World, place: int) -> Iterator[Section]:
    name = text_of(title(audit), 200)
    words = (text_of(f"{summary(audit)}."), basis_words(audit))
    cards = cards_of(audit, world, place)
    yield Section(key=f"claims-{place}", title=name, words=words, shares=shares(audit), cards=cards)
    below = (
        (f"results-{place}", "Results, in minutes", RESULT_HEADS, result_rows(audit)),
        (f"inputs-{place}", "Inputs", INPUT_HEADS, input_rows(audit)),
    )
    for key, heading, heads, rows in below:
        if rows:
            yield Section(key=key, title=heading, tables=(_plain(f"{heading}: {name}", heads, rows),))
    if audit.findings:
        (found,) = section_of_findings(audit.findings, forgiven=False).tables
        yield Section(key=f"wording-{place}", title="Findings on the wording", tables=(found,))


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
