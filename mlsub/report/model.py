"""The report: what was checked, what came of it, and why. Its fields are those of the JSON document."""

from __future__ import annotations

import msgspec

from mlsub.findings import Finding, Kind, Severity, Verdict


class LogResult(msgspec.Struct, frozen=True, kw_only=True):
    """One log. ``minutes`` is run_stop minus run_start, unrounded; ``path`` is relative to the report's root."""

    path: str
    organisation: str
    official: str
    benchmark: str | None
    division: str | None
    status: str | None
    minutes: float | None


class EntryResult(msgspec.Struct, frozen=True, kw_only=True):
    """One system and benchmark. ``runs`` counts result files, ``minutes`` is the olympic mean of their times."""

    path: str
    organisation: str
    system: str
    benchmark: str
    scaling_type: str | None
    division: str | None
    official: Verdict
    runs: int
    compliant: int
    converged: int
    minutes: float | None


class SystemResult(msgspec.Struct, frozen=True, kw_only=True):
    """One system description."""

    path: str
    organisation: str
    official: Verdict


class Report(msgspec.Struct, frozen=True, kw_only=True):
    """Everything one check found.

    ``root`` is the folder that all paths are relative to. ``official`` is the verdict of the official checker of
    the round's day on the whole; audit findings and filters never change it.
    """

    mlsub: str
    usage: str | None
    round: str | None
    root: str
    official: Verdict
    logs: tuple[LogResult, ...] = ()
    entries: tuple[EntryResult, ...] = ()
    systems: tuple[SystemResult, ...] = ()
    findings: tuple[Finding, ...] = ()
    round_from: str | None = None

    def exit_status(self, *, strict: bool = False) -> int:
        """0 accepted, 1 rejected or against the user's own rules (or, if strict, any audit finding), 2 not checked."""
        if self.official is Verdict.NOT_CHECKED:
            return 2
        if self.official is Verdict.REJECTED:
            return 1
        if any(f.kind is Kind.HOUSE and f.severity is Severity.ERROR for f in self.findings):
            return 1
        return int(strict and any(f.kind is Kind.AUDIT for f in self.findings))


def select(report: Report, select: tuple[str, ...], ignore: tuple[str, ...]) -> Report:
    """The report with only the findings asked for; the verdict stays what it is.

    A rule id or the start of one selects: ``key``, ``key.seed``, ``run.event-type``.
    """

    def wanted(rule: str) -> bool:
        if rule.startswith("check."):
            return True  # Why nothing was checked is never hidden.
        return (not select or rule.startswith(select)) and not rule.startswith(ignore)

    return msgspec.structs.replace(report, findings=tuple(f for f in report.findings if wanted(f.rule)))
