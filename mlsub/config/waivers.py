"""What waivers and ignores by path do to reports: they mark and hide findings, and never change a verdict."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from datetime import UTC, date, datetime

import msgspec

from mlsub.config import covers, fixed_part, relative_path
from mlsub.config.load import Loaded
from mlsub.config.model import WrittenWaiver
from mlsub.findings import Effect, Finding, Suppression, Verdict
from mlsub.rules.catalogue import finding, has_effect
from mlsub.submission.report import Report, hide

#: Rules of other commands than check.
_ELSEWHERE = ("borrow.", "claim.", "inspect.", "merge.", "package.", "resubmit.", "seal.")


#: Waivers that are in force, each with its position in the file.
_Waivers = list[tuple[int, WrittenWaiver]]


def apply_waivers(
    reports: Sequence[Report], loaded: Loaded, paths: Sequence[str], today: date | None = None
) -> list[Report]:
    """Mark what waivers cover, add what is wrong with waivers, and hide what is ignored by path.

    Args:
        reports: what was checked.
        loaded: the settings.
        paths: what was asked for; a waiver is unused only if all that it could cover was checked.
        today: a waiver holds until the end of its day; None for the day of the call.
    """
    today = today or _today()
    valid = _valid(loaded, today)
    used: set[int] = set()
    done = [_mark(report, loaded, valid, used) for report in reports]
    notes = list(_waiver_notes(loaded, today))
    if all(report.official is not Verdict.NOT_CHECKED for report in reports):
        notes += _unused_notes([waiver for number, waiver in valid if number not in used], loaded, paths)
    if done and notes:
        at = next((at for at, one in enumerate(done) if one.official is not Verdict.NOT_CHECKED), 0)
        file = os.path.relpath(loaded.file, done[at].root)
        placed = tuple(msgspec.structs.replace(note, path=file) for note in notes)
        done[at] = msgspec.structs.replace(done[at], findings=(*done[at].findings, *placed))
    return [_without_ignored(report, loaded) for report in done]


def apply_waivers_to_findings(findings: Sequence[Finding], root: str, loaded: Loaded) -> tuple[Finding, ...]:
    """Findings with what waivers cover marked, without what is ignored by path.

    Args:
        findings: of a command that does not check all that there is, so it says nothing of the waivers themselves.
        root: the folder that their paths are relative to.
        loaded: the settings.
    """
    report = Report(usage=None, round=None, root=root, official=Verdict.ACCEPTED, findings=tuple(findings))
    return _without_ignored(_mark(report, loaded, _valid(loaded, _today()), set()), loaded).findings


def _today() -> date:
    return datetime.now(UTC).date()


def _valid(loaded: Loaded, today: date) -> _Waivers:
    waivers = enumerate(loaded.written.waivers)
    return [(number, waiver) for number, waiver in waivers if _reason(waiver) and _is_in_force(waiver, today)]


def _reason(waiver: WrittenWaiver) -> str:
    return (waiver.reason or "").strip()


def _is_in_force(waiver: WrittenWaiver, today: date) -> bool:
    return waiver.until is None or waiver.until >= today


def _mark(report: Report, loaded: Loaded, waivers: _Waivers, used: set[int]) -> Report:
    """The report with what is waived marked as such; ``used`` gets the waivers that cover something."""

    def marked(found: Finding) -> Finding:
        for number, waiver in waivers:
            if found.rule == waiver.rule and covers(waiver.path, _place_of(loaded, report, found)):
                used.add(number)
                until = None if waiver.until is None else waiver.until.isoformat()
                reason, source = _reason(waiver), loaded.waiver(number)
                by = Suppression(by="waiver", reason=reason, source=source, until=until)
                return msgspec.structs.replace(found, suppressed=by)
        return found

    return msgspec.structs.replace(report, findings=tuple(map(marked, report.findings))) if waivers else report


def _place_of(loaded: Loaded, report: Report, found: Finding) -> str:
    return relative_path(str(loaded.folder), report.root, found.path)


def _waiver_notes(loaded: Loaded, today: date) -> Iterator[Finding]:
    """What is wrong with waivers, whatever was found."""
    for waiver in loaded.written.waivers:
        if not _reason(waiver):
            message = f"The waiver of {waiver.rule} for {waiver.path} gives no reason, so it covers nothing"
            yield _note("waiver.no-reason", loaded, message)
        elif not _is_in_force(waiver, today):
            message = f"The waiver of {waiver.rule} for {waiver.path} has expired"
            yield _note("waiver.expired", loaded, message, actual=str(waiver.until))


def _unused_notes(waivers: Sequence[WrittenWaiver], loaded: Loaded, paths: Sequence[str]) -> Iterator[Finding]:
    checked = [os.path.abspath(path) for path in paths]  # noqa: PTH100
    for waiver in waivers:
        if waiver.rule.startswith(_ELSEWHERE):
            continue
        place = os.path.normpath(loaded.folder / fixed_part(waiver.path))
        if any(place == path or place.startswith(path.rstrip(os.sep) + os.sep) for path in checked):
            message = f"There is no finding of {waiver.rule} in {waiver.path} to waive"
            yield _note("waiver.unused", loaded, message)


def _note(rule: str, loaded: Loaded, message: str, actual: str | None = None) -> Finding:
    return finding(rule, loaded.shown, message, actual=actual)


def _without_ignored(report: Report, loaded: Loaded) -> Report:
    ignores = loaded.written.per_path_ignores
    if not ignores:
        return report

    def by(found: Finding) -> str | None:
        if has_effect(found, Effect.UNWAIVABLE):
            return None
        place = _place_of(loaded, report, found)
        unwanted = any(found.rule.startswith(rules) and covers(pattern, place) for pattern, rules in ignores.items())
        return "per-path-ignores" if unwanted else None

    return hide(report, by)
