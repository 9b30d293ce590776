"""The verdict as a document: what was checked, its entries, what to fix, what else was found, and the verdict."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from mlsub.findings import Verdict
from mlsub.present.document import Block, Document, Items, Section, Span, Text, Words, said, spans
from mlsub.present.entries import (
    counts_of_bert,
    entries_table,
    logs_table,
    organisations_table,
    partly_checked,
    round_line,
)
from mlsub.present.findings import View, answer
from mlsub.present.suppressed import suppressed_lines
from mlsub.present.verdict import MEANINGS, organisations_of, verdict_line
from mlsub.submission.report import Report, choose

#: Entries of several organisations up to which all are listed.
MANY = 20


def document_of(reports: Sequence[Report], view: View, *, verdict_last: bool, settings: str | None = None) -> Document:
    """The document of reports with all their findings.

    Args:
        reports: the reports.
        view: what is shown of them.
        verdict_last: as on a screen, where people look at the end; on a page it comes first.
        settings: the file they are from, and what it sets.
    """
    alone = len(reports) == 1
    partly = partly_checked(reports)
    if view.detail == "quiet":
        lines = [_verdict(report, view, alone=alone) for report in reports]
        named: list[Words] = [
            (Span(r.root, "path"), ": ", *spans(line.words)) for r, line in zip(reports, lines, strict=True)
        ]
        return Document("Official verdict", (lines[0] if alone else Items(tuple(named)),), bare=True)
    sections = [_section(report, view, alone=alone, verdict_last=verdict_last) for report in reports]
    first = [Text(f"settings: {settings}")] if settings else []
    return Document("Official verdict", (*first, *sections, *([Text(partly)] if partly else [])), bare=True)


def _section(report: Report, view: View, *, alone: bool, verdict_last: bool) -> Section:
    full, counts = answer(report, view)
    verdict = _verdict(report, view, alone=alone)
    rules = round_line(report.usage, report.round, report.round_from)
    found = (*_things(report, view), *full, Items(tuple(suppressed_lines(choose(report, view.choice)))))
    blocks = (rules, *found, counts, verdict) if verdict_last else (rules, verdict, counts, *found)
    return Section(Span(report.root, "path"), tuple(said(blocks)), meaning=MEANINGS[report.official])


def _verdict(report: Report, view: View, *, alone: bool) -> Text:
    return verdict_line(report, alone=alone, counting=choose(report, view.choice), strict=view.strict)


def _things(report: Report, view: View) -> Iterator[Block | None]:
    """What was judged: entries, or organisations and the entries that are rejected; and logs that are part of none."""
    if report.usage == "rehearsal":
        yield Text(Span("A rehearsal: real training, but not an MLPerf result.", "note"))
    entries = report.entries
    several = bool(organisations_of(report))
    if several and view.detail == "usual" and len(entries) > MANY:
        yield organisations_table(report)
        entries = tuple(entry for entry in entries if entry.official is Verdict.REJECTED)
        hidden = len(report.entries) - len(entries)
        yield Text(f"{hidden} accepted entries are not listed here (--summary lists them).")
    yield entries_table(entries, organisations=several)
    yield Text(note) if (note := counts_of_bert(entries)) else None
    yield logs_table(report)
