"""What waivers and ignores by path do to reports: they mark and hide findings, and never change a verdict."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from datetime import UTC, date, datetime

import msgspec

from mlsub.config.find import covers, fixed, seen_from
from mlsub.config.load import UNWAIVABLE, Loaded
from mlsub.config.model import WrittenWaiver
from mlsub.findings import Finding, Suppression, Verdict
from mlsub.rules.catalogue import finding
from mlsub.submission.report import Report, hide

#: Rules of other commands than check.
_ELSEWHERE = ("borrow.", "claim.", "inspect.", "merge.", "package.", "resubmit.", "seal.")


class _Waiver(msgspec.Struct, frozen=True):
    """A waiver that is in force, and what a finding says that it covers."""

    written: WrittenWaiver
    number: int
    says: Suppression


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
    done = [_marked(report, loaded, valid, used) for report in reports]
    notes = list(_notes(loaded, today))
    if all(report.official is not Verdict.NOT_CHECKED for report in reports):
        notes += _unused([waiver for waiver in valid if waiver.number not in used], loaded, paths)
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
    return _without_ignored(_marked(report, loaded, _valid(loaded, _today()), set()), loaded).findings


def _today() -> date:
    return datetime.now(UTC).date()


def _valid(loaded: Loaded, today: date) -> list[_Waiver]:
    waivers = [_in_force(loaded, number, waiver) for number, waiver in enumerate(loaded.written.waivers)]
    return [waiver for waiver in waivers if waiver is not None and _holds(waiver.written, today)]


def _in_force(loaded: Loaded, number: int, waiver: WrittenWaiver) -> _Waiver | None:
    if not _reason(waiver):
        return None
    until = None if waiver.until is None else waiver.until.isoformat()
    source = loaded.waiver(number)
    return _Waiver(waiver, number, Suppression(by="waiver", reason=_reason(waiver), source=source, until=until))


def _reason(waiver: WrittenWaiver) -> str:
    return (waiver.reason or "").strip()


def _holds(waiver: WrittenWaiver, today: date) -> bool:
    return waiver.until is None or waiver.until >= today


def _marked(report: Report, loaded: Loaded, waivers: Sequence[_Waiver], used: set[int]) -> Report:
    """The report with what is waived marked as such; ``used`` gets the waivers that cover something."""
    by_rule: dict[str, list[_Waiver]] = {}
    for waiver in waivers:
        by_rule.setdefault(waiver.written.rule, []).append(waiver)

    def marked(found: Finding) -> Finding:
        for waiver in by_rule.get(found.rule, ()):
            if covers(waiver.written.path, seen_from(str(loaded.folder), report.root, found.path)):
                used.add(waiver.number)
                return msgspec.structs.replace(found, suppressed=waiver.says)
        return found

    return msgspec.structs.replace(report, findings=tuple(map(marked, report.findings))) if by_rule else report


def _notes(loaded: Loaded, today: date) -> Iterator[Finding]:
    """What is wrong with waivers, whatever was found."""
    for waiver in loaded.written.waivers:
        if not _reason(waiver):
            message = f"The waiver of {waiver.rule} for {waiver.path} gives no reason, so it covers nothing"
            yield _note("waiver.no-reason", loaded, message)
        elif not _holds(waiver, today):
            message = f"The waiver of {waiver.rule} for {waiver.path} has expired"
            yield _note("waiver.expired", loaded, message, actual=str(waiver.until))


def _unused(waivers: Sequence[_Waiver], loaded: Loaded, paths: Sequence[str]) -> Iterator[Finding]:
    checked = [os.path.abspath(path) for path in paths]  # noqa: PTH100
    for waiver in waivers:
        if waiver.written.rule.startswith(_ELSEWHERE):
            continue
        place = os.path.normpath(loaded.folder / fixed(waiver.written.path))
        if any(place == path or place.startswith(path.rstrip(os.sep) + os.sep) for path in checked):
            message = f"There is no finding of {waiver.written.rule} in {waiver.written.path} to waive"
            yield _note("waiver.unused", loaded, message)


def _note(rule: str, loaded: Loaded, message: str, actual: str | None = None) -> Finding:
    return finding(rule, loaded.shown, message, actual=actual)


def _without_ignored(report: Report, loaded: Loaded) -> Report:
    ignores = loaded.written.per_path_ignores
    if not ignores:
        return report

    def by(found: Finding) -> str | None:
        if found.rule.startswith(UNWAIVABLE):
            return None
        place = seen_from(str(loaded.folder), report.root, found.path)
        unwanted = any(found.rule.startswith(rules) and covers(pattern, place) for pattern, rules in ignores.items())
        return "per-path-ignores" if unwanted else None

    return hide(report, by)
