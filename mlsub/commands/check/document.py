"""The verdict as a document: what was checked, its entries, each defect once with all its places, and counts."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import chain

from mlsub.findings import Verdict
from mlsub.present.document import Block, Document, Findings, Items, Section, Span, Text, said
from mlsub.present.entries import MEANINGS, counts_of_bert, entries_table, partly_checked, round_line, summary
from mlsub.present.suppressed import suppressed_lines, without_suppressed
from mlsub.submission.report import Report


def document_of(reports: Sequence[Report], *, verdict_last: bool, settings: str | None = None) -> Document:
    """The document; on a screen the verdict comes last, where people look, and on a page first.

    ``settings`` says which file they are from.
    """
    sections = [_section(report, alone=len(reports) == 1, verdict_last=verdict_last) for report in reports]
    partly = partly_checked(reports)
    first = [Text(f"settings: {settings}")] if settings else []
    return Document("Official verdict", (*first, *sections, *([Text(partly)] if partly else [])), bare=True)


def _section(report: Report, *, alone: bool, verdict_last: bool) -> Section:
    parts = [tuple(summary(report, alone=alone)), tuple(_answer(report))]
    blocks = reversed(parts) if verdict_last else parts
    rules = round_line(report.usage, report.round, report.round_from)
    kept = tuple(said((rules, *chain.from_iterable(blocks))))
    return Section(Span(report.root, "path"), kept, meaning=MEANINGS[report.official])


def _answer(report: Report) -> Iterator[Block | None]:
    if report.usage == "rehearsal":
        yield Text(Span("A rehearsal: real training, but not an MLPerf result.", "note"))
    yield entries_table(report.entries)
    yield Text(note) if (note := counts_of_bert(report.entries)) else None
    yield Findings(without_suppressed(report).findings, forgiven=report.official is Verdict.ACCEPTED)
    yield Items(tuple(suppressed_lines(report)))
