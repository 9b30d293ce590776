"""An inspection as a document: the entry with most to ask about first, and once a rule what would explain it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from mlsub.commands.inspect.run import Inspected, Inspection, Rates
from mlsub.findings import Finding, Verdict
from mlsub.present.document import Column, Document, Facts, Findings, Section, Span, Table, Text, document, section
from mlsub.present.findings import tally
from mlsub.rules.catalogue import catalogue, finding
from mlsub.submission.report import Detail

if TYPE_CHECKING:
    from mlsub.present.ci import CiReport


def document_of(inspection: Inspection, detail: Detail | None = None) -> Document:
    """Return what was found of each entry and what would explain it; or how many findings; or the last line alone."""
    found = {o.finding.rule for entry in inspection.entries for o in entry.observations}
    logs = sum(entry.runs for entry in inspection.entries)
    result = Text(f"{_size(len(inspection.entries), logs)}: {_result(inspection)}")
    if detail == "quiet":
        return Document("Review of runs side by side", (result,), bare=True)
    entries = [entry for entry in inspection.entries if entry.observations]
    if detail == "summary":
        return document("Review of runs side by side", _counts(entries), result)
    explained = Facts(tuple((rule, info.fix) for rule, info in catalogue().items() if rule in found))
    return document(
        "Review of runs side by side",
        *map(_entry, entries),
        section("What would explain it", explained) if found else None,
        result,
        Text("mlsub check judges each run by itself. More on a rule: mlsub explain RULE"),
    )


def _counts(entries: Iterable[Inspected]) -> Table:
    """One row an entry: how many findings it has of each rule."""
    rows = ((Span(entry.path, "path"), tally([o.finding for o in entry.observations])) for entry in entries)
    return Table((Column("entry", when_narrow="shorten"), Column("findings")), tuple(rows))


def _entry(entry: Inspected) -> Section:
    """The findings, their logs named within the entry; explanations follow once for all entries."""
    about = f"v{entry.round}, {entry.division or 'no division'}, {_many(entry.runs, 'run', 'runs')}"
    findings = tuple(_within(o.finding, entry.path) for o in entry.observations)
    return Section(f"{entry.path} ({about})", (Findings(findings),), "strong")


def _within(found: Finding, entry: str) -> Finding:
    return msgspec.structs.replace(found, path=found.path.removeprefix(f"{entry}/"), fix=None)


def _result(inspection: Inspection) -> str:
    findings = [o.finding for entry in inspection.entries for o in entry.observations]
    if not findings:
        return "nothing that a careful reviewer would ask about."
    rules = _many(len({found.rule for found in findings}), "rule", "rules")
    entries = _many(sum(bool(entry.observations) for entry in inspection.entries), "entry", "entries")
    return (
        f"{_many(len(findings), 'finding', 'findings')} of {rules} in {entries}. "
        "None is an accusation, and none is part of a verdict."
    )


def rates_document(rates: Rates) -> Document:
    """Return how often each rule applies, as a table."""
    columns = [Column(name, number=True) for name in ("entries", "share", "findings")]
    rows = tuple(
        (one.rule, str(one.entries), f"{one.entries / one.of:.1%}" if one.of else "-", str(one.findings))
        for one in rates.rates
    )
    return document(
        "How often each rule applies",
        Text(_size(rates.entries, rates.logs)),
        Table((Column("rule", when_narrow="keep"), *columns), rows),
    )


def _size(entries: int, logs: int) -> str:
    return f"{_many(entries, 'entry', 'entries')}, {_many(logs, 'log', 'logs')}"


def _many(count: int, one: str, more: str) -> str:
    return f"{count:,} {one if count == 1 else more}"


def results_of(inspection: Inspection, root: Path, skipped: Sequence[str]) -> CiReport:
    """Return an inspection as results for CI: a part for each entry, whose findings count.

    Args:
        inspection: what was found.
        root: the folder that its paths are relative to.
        skipped: what is wrong with places that could not be inspected.
    """
    from mlsub.present.ci import CiReport, Outcome, part

    parts = [
        part(
            f"{entry.path} (v{entry.round})",
            [one.finding for one in entry.observations],
            lambda _: Outcome.COUNTS,
            root=str(root),
        )
        for entry in inspection.entries
    ]
    if skipped:
        lost = [finding("check.failed", ".", line) for line in skipped]
        parts.append(part("not inspected", lost, lambda _: Outcome.NOT_CHECKED, verdict=Verdict.NOT_CHECKED))
    return CiReport("inspect", tuple(parts))
