"""What packing found, for machines."""

from __future__ import annotations

from typing import ClassVar

import msgspec

from mlsub.commands.pack.compare import Difference
from mlsub.commands.pack.pack import Packed
from mlsub.findings import Finding
from mlsub.present.envelope import Answer
from mlsub.submission.report import Report


class EntryRuns(msgspec.Struct, frozen=True):
    """The logs of an entry in the order of their results, and how they were chosen."""

    entry: str
    how: str
    runs: tuple[str, ...]


class File(msgspec.Struct, frozen=True):
    """A file of the package: copied ``from`` a source, ``made`` anew, or a link."""

    to: str
    source: str | None = msgspec.field(name="from")
    made: str | None
    link: str | None
    executable: bool


class LeftOut(msgspec.Struct, frozen=True):
    """A source that does not go into the package."""

    path: str
    why: str


class Waived(msgspec.Struct, frozen=True):
    """A rejection that is waived, until a day or ``never``."""

    rule: str
    path: str
    reason: str
    expires: str


class Packing(Answer, frozen=True, kw_only=True):
    """A package as planned, and what came of it.

    ``difference`` is that to the folder ``out``; ``findings`` are those of packing, ``report`` is that of the check,
    null where nothing could be checked.
    """

    SCHEMA: ClassVar[int] = 2

    manifest: str
    out: str
    organisation: str
    usage: str
    round: str
    written: bool
    refused: bool
    runs: tuple[EntryRuns, ...]
    files: tuple[File, ...]
    left_out: tuple[LeftOut, ...]
    difference: Difference
    findings: tuple[Finding, ...]
    blocking: tuple[Finding, ...]
    waived: tuple[Waived, ...]
    report: Report | None


def answer_of(packed: Packed) -> Packing:
    """The answer."""
    plan, outcome = packed.plan, packed.outcome
    manifest = plan.manifest
    return Packing(
        manifest=str(manifest.file),
        out=str(packed.out),
        organisation=manifest.organisation,
        usage=manifest.round.usage,
        round=manifest.round.name,
        written=packed.written,
        refused=packed.refused,
        runs=tuple(EntryRuns(of.entry.name, of.how, tuple(map(str, of.runs))) for of in plan.runs),
        files=tuple(
            File(item.to, None if item.source is None else str(item.source), item.made, item.link, item.executable)
            for item in plan.items
        ),
        left_out=tuple(LeftOut(str(left.path), left.why) for left in plan.left_out),
        difference=packed.difference,
        findings=packed.findings,
        blocking=tuple(outcome.blocking) if outcome else (),
        waived=tuple(
            Waived(each.finding.rule, each.finding.path, each.waiver.reason, str(each.waiver.expires or "never"))
            for each in (outcome.waived if outcome else ())
        ),
        report=packed.report,
    )
