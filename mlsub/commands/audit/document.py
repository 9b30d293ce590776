"""An audit of claims as a document."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby

from mlsub.commands.audit.audit import Audit
from mlsub.commands.audit.kinds import BASES
from mlsub.commands.audit.messaging.sections import footnotes, quoted
from mlsub.commands.audit.verdict import AGAINST, ClaimVerdict
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
from mlsub.present.document import Column, Document, Facts, Lines, Meaning, Section, Table, Text, document, section

_NUMBERS = (*BASES, "value", "+/-")


def document_of(audit: Audit, *, with_footnotes: bool = False) -> Document:
    """The document; ``with_footnotes`` adds the footnote of each claim."""
    return document(
        f"Claims of {title(audit)}",
        *map(_claim, entries(audit)),
        section("Results, in minutes", _table(RESULT_HEADS, result_rows(audit))),
        section("Inputs", _table(INPUT_HEADS, input_rows(audit))),
        quoted(audit.messaging),
        footnotes(audit.messaging) if with_footnotes else None,
        Text(basis_words(audit)),
        Text(summary(audit)),
    )


def _claim(entry: Entry) -> Section:
    meaning: Meaning = "bad" if entry.verdict in AGAINST else "good" if entry.verdict is ClaimVerdict.HOLDS else "note"
    facts = tuple(
        (label, Lines(tuple(text for _, text in group))) for label, group in groupby(entry.rows, key=lambda row: row[0])
    )
    blocks = (Text(entry.text), Facts(facts))
    return Section(f"{entry.id}: {entry.headline}", blocks, meaning=meaning, anchor=entry.id)


def _table(heads: Sequence[str], rows: Sequence[tuple[str, ...]]) -> Table:
    return Table(tuple(Column(head, number=head in _NUMBERS) for head in heads), tuple(rows))
