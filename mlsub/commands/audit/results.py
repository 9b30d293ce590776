"""An audit as results for CI: each claim that does not simply hold is a finding, and so is how results are quoted."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import msgspec

from mlsub.commands.audit.document import Entry, entries
from mlsub.commands.audit.quoting import Remark
from mlsub.commands.audit.verdict import AGAINST, Audit, ClaimVerdict
from mlsub.findings import Finding, Severity
from mlsub.present.ci import CiPart, CiReport, Outcome, part
from mlsub.rules.catalogue import finding


def results_of(audit: Audit, *, strict: bool = False) -> CiReport:
    """A part for each claim, then one for each document; ``strict`` says that doubtful claims and remarks count."""
    return CiReport("audit", tuple(_parts(audit, strict=strict)))


def _parts(audit: Audit, *, strict: bool) -> Iterator[CiPart]:
    def outcome(found: Finding) -> Outcome:
        if found.rule == f"claim.{ClaimVerdict.NOT_CHECKED}":
            return Outcome.NOT_CHECKED
        against = found.rule in {f"claim.{verdict}" for verdict in AGAINST}
        return Outcome.COUNTS if against or (strict and found.severity is not Severity.INFO) else Outcome.BESIDE

    claims = {one.claim.id: one.claim for one in audit.claims}
    for entry in entries(audit):
        remarks = [one for one in audit.messaging.findings if one.claim == entry.id]
        found = [*_claim(entry, audit.file, claims[entry.id].line), *remarks]
        # What is only proposed counts in a strict audit alone.
        beside = claims[entry.id].proposed and not strict
        yield part(f"{entry.id}: {entry.text}", found, (lambda _: Outcome.BESIDE) if beside else outcome)
    documents: dict[str, list[Finding]] = {}
    for one in audit.messaging.findings:
        if one.claim is None:
            documents.setdefault(one.document, []).append(_of_document(one, audit.file))
    yield from (part(name, found, outcome) for name, found in documents.items())


def _claim(entry: Entry, file: str, line: int) -> Iterator[Finding]:
    """The verdict on a claim as a finding, unless it holds."""
    if entry.verdict is ClaimVerdict.HOLDS:
        return
    rows: dict[str, list[str]] = {}
    for label, text in entry.rows:
        rows.setdefault(label, []).append(text)
    found = [text for label in ("why", "differs", "computed", "said") for text in rows.get(label, ())]
    hold = f". What would hold: {'; '.join(rows['what would hold'])}" if "what would hold" in rows else ""
    yield finding(
        f"claim.{entry.verdict}",
        file,
        f"{entry.id} {entry.headline}: {entry.text}{hold}",
        line=line,
        expected="; ".join(rows.get("stated", ())) or None,
        actual="; ".join(found) or None,
        source="; ".join(rows["source"]),
    )


def _of_document(remark: Remark, file: str) -> Finding:
    """A remark on a document at its place: in its file where that lies beside the claims, else in the claims file."""
    beside = Path(file).parent / remark.path
    if "\0" not in remark.path and beside.is_file():
        return msgspec.structs.replace(remark, path=str(beside))
    return msgspec.structs.replace(remark, path=file, line=None, message=f"{remark.document}: {remark.message}")
