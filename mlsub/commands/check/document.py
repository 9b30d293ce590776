"""Reports as text: as one document, or each as soon as it is ready."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

from mlsub.commands.ending import COULD_NOT
from mlsub.commands.options import checking
from mlsub.commands.output import Target, write_answer
from mlsub.findings import Verdict
from mlsub.present import document as doc
from mlsub.present.entries import (
    COMPLIANT,
    MEANINGS,
    logs_table,
    notes_on_rcp,
    organisations_of,
    partly_checked,
    rehearsal_note,
    results_table,
    round_line,
    single_logs,
    verdict_line,
    verdict_span,
    without_contents,
)
from mlsub.present.findings import answer
from mlsub.submission.report import Choice, EntryResult, LogResult, Report, SystemResult, choose

if TYPE_CHECKING:
    from mlsub.workspace.places import Request

#: Entries of several organisations, and single logs, up to which all are listed; entries of one, and what is bad.
MANY, MOST_LISTED = 20, 200


def document_of(reports: Sequence[Report], choice: Choice, *, verdict_last: bool, settings: str = "") -> doc.Document:
    """The document of reports with all their findings.

    Args:
        reports: the reports.
        choice: what is shown of them.
        verdict_last: as on a screen, where people look at the end; on a page it comes first.
        settings: the file they are from, and what it sets.
    """
    alone = len(reports) == 1
    if choice.detail == "quiet":
        lines = [_verdict(report, choice, alone=alone) for report in reports]
        named: list[doc.Words] = [
            (doc.Span(r.root, "path"), ": ", *doc.spans(line.words)) for r, line in zip(reports, lines, strict=True)
        ]
        return doc.Document("Official verdict", (lines[0] if alone else doc.Items(tuple(named)),), bare=True)
    blocks = blocks_of(reports, choice, alone=alone, verdict_last=verdict_last, settings=settings)
    return doc.Document("Official verdict", tuple(blocks), bare=True)


def blocks_of(
    reports: Iterable[Report], choice: Choice, *, alone: bool, verdict_last: bool, settings: str = ""
) -> Iterator[doc.Block]:
    """The blocks of the same document, each as soon as there is a report to make it of; no report is kept.

    Args:
        reports: the reports.
        choice: what is shown of them; not only the verdict.
        alone: whether there is one report.
        verdict_last: see :func:`document_of`.
        settings: see there.
    """
    if settings:
        yield doc.Text(f"settings: {settings}")
    outcomes: list[Report] = []
    for report in reports:
        yield _section(report, choice, alone=alone, verdict_last=verdict_last)
        outcomes.append(without_contents(report))
    if partly := partly_checked(outcomes):
        yield doc.Text(partly)


def _section(report: Report, choice: Choice, *, alone: bool, verdict_last: bool) -> doc.Section:
    full, counts = answer(report, choice)
    verdict = _verdict(report, choice, alone=alone)
    rules = round_line(report.usage, report.round, report.round_from, report.judged_by)
    found = (*_things(report, choice), *full)
    blocks = (rules, *found, counts, verdict) if verdict_last else (rules, verdict, counts, *found)
    return doc.Section(doc.Span(report.root, "path"), tuple(doc.said(blocks)), meaning=MEANINGS[report.official])


def _verdict(report: Report, choice: Choice, *, alone: bool) -> doc.Text:
    return verdict_line(report, alone=alone, counting=choose(report, choice), fail_on=choice.fail_on)


def _things(report: Report, choice: Choice) -> Iterator[doc.Block | None]:
    """What was judged: entries, or organisations and the entries that are rejected; and logs that are part of none."""
    yield rehearsal_note(report.usage)
    entries, logs = report.entries, tuple(single_logs(report))
    several = bool(organisations_of(report))
    if choice.detail == "usual" and len(entries) > (MANY if several else MOST_LISTED):
        yield _organisations_table(report) if several else None
        bad = [entry for entry in entries if entry.official is Verdict.REJECTED]
        yield _left_out(len(entries) - len(bad), "accepted entry", "accepted entries")
        yield _left_out(len(bad) - MOST_LISTED, "rejected entry", "rejected entries")
        entries = tuple(bad[:MOST_LISTED])
    yield results_table(entries, organisations=several)
    yield from notes_on_rcp(entries)
    if choice.detail == "usual" and len(logs) > MANY:
        noncompliant = [log for log in logs if log.official != COMPLIANT]
        yield _left_out(len(logs) - len(noncompliant), "compliant log", "compliant logs")
        yield _left_out(len(noncompliant) - MOST_LISTED, "noncompliant log", "noncompliant logs")
        logs = tuple(noncompliant[:MOST_LISTED])
    yield logs_table(logs)


def _left_out(count: int, thing: str, things: str) -> doc.Text | None:
    said = f"1 {thing} is" if count == 1 else f"{count} {things} are"
    return doc.Text(f"{said} not listed here (--summary lists them).") if count > 0 else None


def write_each(asked: Request, target: Target, choice: Choice, settings: str) -> int:
    """Check the paths, print the text that the document of all reports would be, and return the exit status.

    Args:
        asked: what is checked; its settings have nothing that depends on all reports.
        target: standard output, as text.
        choice: what is shown of the reports.
        settings: the file they are from, and what it sets.
    """
    statuses: list[int] = []

    def counted(reports: Iterator[Report]) -> Iterator[Report]:
        for report in reports:
            statuses.append(choose(report, choice).exit_status(fail_on=choice.fail_on))
            yield report

    with checking(asked) as (count, reports):
        blocks = blocks_of(counted(reports), choice, alone=count == 1, verdict_last=True, settings=settings)
        for number, block in enumerate(blocks):
            text = target.rendered(doc.Document("Official verdict", (block,), bare=True))
            write_answer(f"\n{text}" if number else text)
            sys.stdout.flush()
    return max(statuses, default=COULD_NOT)


def _organisations_table(report: Report) -> doc.Table:
    """Return one row an organisation: how many of its entries, logs and system descriptions are accepted."""
    rejected = organisations_of(report)

    def accepted(things: Iterable[EntryResult | LogResult | SystemResult]) -> Iterator[str]:
        good: dict[str, list[bool]] = {name: [] for name in rejected}
        for thing in things:
            good[thing.organisation].append(MEANINGS[thing.official] == "good")
        return (f"{sum(each)} of {len(each)}" if each else "-" for each in good.values())

    verdicts = [verdict_span(Verdict.REJECTED if bad else Verdict.ACCEPTED) for bad in rejected.values()]
    return doc.table_of(
        (
            (doc.Column("organisation", when_narrow="shorten"), tuple(rejected)),
            (doc.Column("entries", number=True), tuple(accepted(report.entries))),
            (doc.Column("logs", number=True, leave_out=2), tuple(accepted(report.logs))),
            (doc.Column("system descriptions", number=True, leave_out=1), tuple(accepted(report.systems))),
            (doc.Column("verdict", when_narrow="keep"), verdicts),
        )
    )
