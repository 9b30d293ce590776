"""What another round would ask of a submission: its logs checked by both rounds, and the difference."""

from __future__ import annotations

from collections.abc import Iterable
from typing import ClassVar

import msgspec

from mlsub.commands.rules.diff import RoundDiff, round_diff
from mlsub.findings import Finding, Verdict
from mlsub.io.errors import MlsubError
from mlsub.present.envelope import Answer
from mlsub.present.terminal import Progress, part_of
from mlsub.rounds import Round
from mlsub.submission.report import Report

#: What only follows from defects of single logs, which are reported themselves.
_CONSEQUENCES = frozenset(("entry.noncompliant-runs", "entry.forgiven-runs"))


class Unmet(msgspec.Struct, frozen=True, kw_only=True):
    """A demand that is not met: by how many logs, or in how many other places (entries, descriptions)."""

    rule: str
    message: str
    expected: str | None
    fix: str | None
    benchmarks: tuple[str, ...]
    logs: int
    places: int
    example: str


class SubmissionDiff(Answer, frozen=True, kw_only=True):
    """What must be changed before a submission meets another round.

    ``logs`` are those that were compared. ``gone`` are benchmarks that the new round no longer has; their logs are not
    compared. ``unmet`` is what is not met in the new round but was in the old one, ``unmet_before`` what was met in
    neither, ``met_now`` how many demands fail in the old round only. ``accepted`` is whether the new round would accept
    what was compared, runs that it forgives included.
    """

    SCHEMA: ClassVar[int] = 2

    root: str
    logs: int
    logs_gone: int
    gone: tuple[str, ...]
    unmet: tuple[Unmet, ...]
    unmet_before: tuple[Unmet, ...]
    met_now: int
    accepted: bool
    rules: RoundDiff

    @property
    def must_change(self) -> bool:
        """Whether the new round asks for anything that is not there."""
        return bool(self.gone or self.unmet or not self.accepted)


def submission_diff(
    path: str,
    old: Round,
    new: Round,
    benchmarks: tuple[str, ...] | None,
    divisions: tuple[str, ...],
    progress: Progress | None = None,
) -> SubmissionDiff:
    """Judge a submission by both rounds.

    Args:
        path: a log, a benchmark's folder, an organisation or a folder of organisations.
        old: the round it was made for.
        new: the round it is to be moved to.
        benchmarks: look only at these; None for all it holds.
        divisions: look only at these.
        progress: called while logs are read.

    Raises:
        MlsubError: there is no such path, no log, or none of a benchmark of these rounds.
    """
    before = _judged(path, old, part_of(progress, 0, 2))
    after = _judged(path, new, part_of(progress, 1, 2))
    if not before.logs:
        raise MlsubError(_reason(before, path))
    names = {log.path: _benchmark_of(log.path, log.benchmark) for log in before.logs}
    divided = {log.path for log in before.logs if log.division in divisions or log.division not in ("closed", "open")}
    wanted = {p: name for p, name in names.items() if p in divided and (benchmarks is None or name in benchmarks)}
    found = tuple(sorted({name for name in wanted.values() if name}))
    known = tuple(name for name in found if name in old.benchmarks or name in new.benchmarks)
    if not known:
        there = ", ".join(sorted(filter(None, set(names.values())))) or "none"
        raise MlsubError(f"no log of a benchmark and division to compare in {path}; its benchmarks are {there}")
    gone = tuple(name for name in known if name not in new.benchmarks)
    kept = {p: name for p, name in wanted.items() if name not in gone}
    if kept and not after.logs:
        raise MlsubError(_reason(after, path))
    left_out = [p for p in names if p not in kept]
    old_findings, new_findings = (_rejecting(report, left_out, kept) for report in (before, after))
    failed_before = {(f.path, f.rule) for f in old_findings}
    failed_now = {(f.path, f.rule) for f in new_findings}
    used = {log.division for log in before.logs if log.path in wanted}
    unmet_before = _grouped((f for f in new_findings if (f.path, f.rule) in failed_before), kept)
    return SubmissionDiff(
        root=before.root,
        logs=len(kept),
        logs_gone=len(wanted) - len(kept),
        gone=gone,
        unmet=_grouped((f for f in new_findings if (f.path, f.rule) not in failed_before), kept),
        unmet_before=unmet_before,
        met_now=len({rule for _, rule in failed_before - failed_now}),
        accepted=_accepted(after, kept) and not any(unmet.places for unmet in unmet_before),
        rules=round_diff(old, new, known, tuple(of for of in divisions if of in used) or divisions),
    )


def _judged(path: str, round_: Round, progress: Progress | None) -> Report:
    from mlsub.workspace import Settings, check_paths

    [report] = check_paths([path], Settings(round_.name, round_.usage, progress=progress, overlay=round_.overlay))
    return report


def _reason(report: Report, path: str) -> str:
    """Why a report has no logs, in one line."""
    first = next((f for f in report.findings if f.rejects), None)
    said = [part.rstrip(".") for part in (first.message, first.fix) if part] if first else []
    return ". ".join(said) or f"there is no log in {path}"


def _benchmark_of(path: str, logged: str | None) -> str | None:
    """The benchmark a log names; one that names none is of its folder."""
    return logged or (path.split("/")[-2] if path.count("/") else None)


def _accepted(report: Report, kept: dict[str, str | None]) -> bool:
    """Whether the entries of the logs that are compared are accepted, and logs without an entry compliant."""
    folders = {path.rpartition("/")[0] for path in kept}
    entries = {entry.path: entry.official for entry in report.entries if entry.path in folders}
    alone = [log for log in report.logs if log.path in kept and log.path.rpartition("/")[0] not in entries]
    return all(v is Verdict.ACCEPTED for v in entries.values()) and all(log.official == "compliant" for log in alone)


def _rejecting(report: Report, left_out: Iterable[str], kept: dict[str, str | None]) -> list[Finding]:
    """The findings that count, without those on logs and folders of what is not compared."""
    logs = set(left_out)
    folders = {path.rpartition("/")[0] for path in logs} - {path.rpartition("/")[0] for path in kept}
    return [
        f
        for f in report.findings
        if f.rejects and f.rule not in _CONSEQUENCES and f.path not in logs and f.path not in folders
    ]


def _grouped(findings: Iterable[Finding], names: dict[str, str | None]) -> tuple[Unmet, ...]:
    """One line a demand, those that most logs fail first."""
    groups: dict[tuple[str, str, str | None], list[Finding]] = {}
    for f in findings:
        groups.setdefault((f.rule, f.message, f.expected), []).append(f)
    found = []
    for (rule, message, expected), some in groups.items():
        paths = {f.path for f in some}
        logs = paths & names.keys()
        found.append(
            Unmet(
                rule=rule,
                message=message,
                expected=expected,
                fix=some[0].fix,
                benchmarks=tuple(sorted({name for path in logs if (name := names[path])})),
                logs=len(logs),
                places=len(paths - logs),
                example=some[0].path,
            )
        )
    return tuple(sorted(found, key=lambda unmet: -unmet.logs))
