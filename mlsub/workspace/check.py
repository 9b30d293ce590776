"""From paths to reports: locate, read, judge, and put the verdicts together."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

import msgspec

from mlsub.findings import Finding, Verdict
from mlsub.judge.entry import COPIED
from mlsub.judge.log import LogTask
from mlsub.judge.package import Package, judge_package, list_packages, single_log
from mlsub.judge.pool import judge_logs
from mlsub.log.report import LogReport
from mlsub.review.cross import audit_same_runs
from mlsub.rounds import Round, normalise_round
from mlsub.rules.catalogue import finding
from mlsub.rules.isolate import reviewed
from mlsub.submission.locate import Place, Target
from mlsub.submission.report import Report
from mlsub.workspace.places import AS_FOUND, Settings, find


class Checked(msgspec.Struct, frozen=True):
    """A report and the logs it rests on, for those who ask more of a run than a verdict."""

    report: Report
    logs: tuple[LogReport, ...] = ()


class _Job(msgspec.Struct, frozen=True):
    """Places of one round, to be reported together."""

    round: Round
    places: tuple[Place, ...]
    inferred_from: str | None


def check_path(
    path: str | os.PathLike[str], round: str | None = None, usage: str | None = None, jobs: int | None = None
) -> Report:
    """Check one path; see :func:`mlsub.check`."""
    return check_paths([path], Settings(round, usage, jobs))[0]


def check_paths(paths: Sequence[str | os.PathLike[str]], settings: Settings) -> list[Report]:
    """Check paths: one report for all paths of a round, in the order in which the rounds first appear."""
    return [checked.report for checked in check_with_logs(paths, settings)]


def check_with_logs(paths: Sequence[str | os.PathLike[str]], settings: Settings) -> list[Checked]:
    """The same with what was read of the logs."""
    jobs: dict[tuple[str, str], _Job] = {}
    places, problems = find(paths, settings)
    for found in places:
        key = (found.round.usage, found.round.name)
        known = jobs.get(key, _Job(found.round, (), found.inferred_from))
        jobs[key] = msgspec.structs.replace(known, places=(*known.places, found.place))
    failed = [Checked(not_checked(str(one.place.root), [one.finding], settings)) for one in problems]
    return [*(_run_safely(job, settings) for job in jobs.values()), *failed]


def not_checked(root: str, findings: Sequence[Finding], settings: Settings = AS_FOUND) -> Report:
    """A report that says why nothing could be checked."""
    asked = normalise_round(settings.round) if settings.round else None
    return Report(
        usage=settings.usage,
        round=asked,
        root=root,
        official=Verdict.NOT_CHECKED,
        findings=tuple(findings),
    )


def _run_safely(job: _Job, settings: Settings) -> Checked:
    """Check a job; a tree that goes away or shuts while it is read is an answer too."""
    try:
        return _run(job, settings)
    except OSError as error:
        problem = finding("tree.unreadable", ".", f"Reading failed: {error.strerror or error}", actual=error.filename)
        return Checked(not_checked(str(_common_root(job.places)), [problem], settings))


def _run(job: _Job, settings: Settings) -> Checked:
    """Check all places of one round and merge what comes out."""
    root = _common_root(job.places)
    packages: list[Package] = []
    singles: list[Path] = []
    for place in job.places:
        if place.target is Target.LOG:
            singles.append(place.path)
        else:
            packages.extend(list_packages(place, root, job.round))
    tasks = [task for package in packages for task in package.tasks]
    known = {task.file for task in tasks}
    singles = [path for path in singles if str(path) not in known]
    tasks += [
        LogTask(str(path), path.relative_to(root).as_posix(), job.round.usage, job.round.name, job.round.overlay)
        for path in singles
    ]
    if settings.folds:
        tasks = [msgspec.structs.replace(task, folds=settings.folds) for task in tasks]
    reports = judge_logs(tasks, settings.jobs, settings.progress)
    by_path = {report.path: report for report in reports}
    parts = [judge_package(package, by_path, job.round, settings.convergence) for package in packages]
    parts += [single_log(path, by_path[path.relative_to(root).as_posix()]) for path in singles]
    findings = [f for part in parts for f in part.findings]
    copies = {f.path for f in findings if f.message == COPIED}
    findings += reviewed("entry.same-log-twice", ".", lambda: audit_same_runs(reports, copies))
    official = _official([part.official for part in parts])
    if official is Verdict.NOT_CHECKED and not any(f.rejects for f in findings):
        findings.append(_nothing_there(job.places))
    report = Report(
        usage=job.round.usage,
        round=job.round.name,
        root=str(root),
        official=official,
        logs=tuple(log for part in parts for log in part.logs),
        entries=tuple(entry for part in parts for entry in part.entries),
        systems=tuple(dict.fromkeys(system for part in parts for system in part.systems)),
        findings=tuple(dict.fromkeys(findings)),
        round_from=job.inferred_from,
    )
    return Checked(report, tuple(reports))


def _official(verdicts: Sequence[Verdict]) -> Verdict:
    """All of it must be accepted; where no part was checked, nothing was. A part without logs beside others rejects."""
    if all(verdict is Verdict.NOT_CHECKED for verdict in verdicts):
        return Verdict.NOT_CHECKED
    return Verdict.ACCEPTED if all(v is Verdict.ACCEPTED for v in verdicts) else Verdict.REJECTED


def _nothing_there(places: Sequence[Place]) -> Finding:
    names = ", ".join(place.path.name for place in places)
    return finding("check.no-logs", ".", f"No result log anywhere in {names}", actual="none")


def _common_root(places: Sequence[Place]) -> Path:
    roots = list(dict.fromkeys(place.root for place in places))
    return roots[0] if len(roots) == 1 else Path(os.path.commonpath(roots))
