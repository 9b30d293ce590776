"""Which rejections keep a package from being written, and which of them somebody has waived.

A waiver changes nothing about the verdict: it says who knew of the rejection, and why the package is wanted all the
same, for a resubmission, an appeal, or a record of what was once published.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date

import msgspec

from mlsub.commands.pack.manifest import Manifest, Waiver
from mlsub.findings import Finding, Kind, Verdict
from mlsub.log.report import DECIDING
from mlsub.submission.find import SCALING_FOLDERS
from mlsub.submission.report import EntryResult, Report


class Waived(msgspec.Struct, frozen=True):
    """A rejection that is waived, until a day or ``never``."""

    rule: str
    path: str
    reason: str
    expires: str


class Outcome(msgspec.Struct, frozen=True):
    """The rejections that stand in the way, those that are waived, and what is wrong with the waivers themselves."""

    blocking: tuple[Finding, ...]
    waived: tuple[Waived, ...]
    notes: tuple[Finding, ...]


#: What no official tool checks, and no package is written with unless somebody says why.
_GRAVE = ("entry.same-log-twice",)


def apply_waivers(
    report: Report, manifest: Manifest, more: Sequence[Waiver], today: date, strict: Sequence[Finding] | None = None
) -> Outcome:
    """Check the rejections of a report against the waivers.

    Args:
        report: of the package's check.
        manifest: has waivers.
        more: those of the command line.
        today: an expired waiver covers nothing.
        strict: None, or findings besides which count like all of review.
    """
    waivers = (*manifest.waivers, *more)
    valid = [waiver for waiver in waivers if waiver.expires == "never" or waiver.expires >= today.isoformat()]
    blocking, waived, used = [], [], set()
    stopping = [*deciding(report), *(found for found in report.findings if found.rule in _GRAVE)]
    if strict is not None:
        stopping += [*strict, *(found for found in report.findings if found.kind is Kind.REVIEW)]
    for found in dict.fromkeys(stopping):
        covering = next((number for number, waiver in enumerate(valid) if _covers(waiver, found)), None)
        if covering is None:
            blocking.append(found)
        else:
            used.add(covering)
            waived.append(Waived(found.rule, found.path, valid[covering].reason, valid[covering].expires))
    notes = []
    for waiver in (waiver for waiver in waivers if waiver not in valid):
        message = f"The waiver of {waiver.rule} for {waiver.entry or 'the whole package'} has expired"
        notes.append(manifest.finding("package.waiver-expired", message, waiver, actual=waiver.expires))
    for waiver in (waiver for number, waiver in enumerate(valid) if number not in used):
        message = f"There is no {waiver.rule} to waive for {waiver.entry or 'the package'}"
        notes.append(manifest.finding("package.waiver-unused", message, waiver))
    return Outcome(tuple(blocking), tuple(waived), tuple(notes))


def deciding(report: Report) -> list[Finding]:
    """The findings for which the package is rejected; those of single runs that an entry may hold are not."""
    logs = {log.path for log in report.logs}
    rejected = [entry for entry in report.entries if entry.official is Verdict.REJECTED]
    found = [f for f in report.findings if f.rejects and f.path not in logs]
    for entry in rejected:
        found += [f for f in report.findings if f.path in logs and _decides(f, entry)]
    if report.official is Verdict.NOT_CHECKED or (report.official is Verdict.REJECTED and not found):
        # Whatever is not accepted has a reason; none may pass because it is of a kind nobody thought of here.
        found += [f for f in report.findings if f.rejects]
    return list(dict.fromkeys(found))


def _decides(found: Finding, entry: EntryResult) -> bool:
    """Whether a finding on a run decides of its entry: on seeds, which bind all runs together, or on no run at all."""
    inside = found.rejects and found.path.startswith(f"{entry.path}/")
    return inside and (found.rule.startswith("seed.") or found.rule in DECIDING)


def _covers(waiver: Waiver, found: Finding) -> bool:
    return waiver.rule == found.rule and (waiver.entry is None or waiver.entry in _names(found.path))


def _names(path: str) -> tuple[str, ...]:
    """The names by which a waiver may mean a place: its entry and its system."""
    parts = path.split("/")
    if parts[0] == "systems" and len(parts) > 1:
        return (parts[1].removesuffix(".json"),)
    if parts[0] != "results" or len(parts) < 3:
        return (parts[1],) if parts[0] == "results" and len(parts) == 2 else ()
    depth = 4 if parts[2] in SCALING_FOLDERS else 3
    return parts[1], "/".join(parts[1:depth])
