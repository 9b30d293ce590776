"""From paths to reports: locate, read, judge, and put the verdicts together."""

from __future__ import annotations

import os
from collections.abc import Sequence
from difflib import get_close_matches
from pathlib import Path

import msgspec

from mlsub.convergence.entry import USUAL, Options
from mlsub.findings import Finding, Verdict
from mlsub.io.errors import MlsubError
from mlsub.io.version import VERSION
from mlsub.judge.log import LogTask
from mlsub.judge.package import Package, judge_package, list_packages
from mlsub.judge.pool import Progress, judge_logs
from mlsub.judge.single import single_log
from mlsub.log.report import LogReport
from mlsub.review.cross import audit_same_runs
from mlsub.rounds import Round, get_round, known_rounds, normalise_round, usages
from mlsub.rules.catalogue import finding
from mlsub.rules.isolate import reviewed
from mlsub.submission.locate import Place, Target, infer_round, locate, names_round
from mlsub.submission.report import Report


class Settings(msgspec.Struct, frozen=True):
    """What the caller asked for: a round and usage (None to infer them), and how many processes may read.

    ``overlay`` is a file of the caller's own rules, checked before; ``convergence`` what the convergence test is to do.
    """

    round: str | None = None
    usage: str | None = None
    jobs: int | None = None
    progress: Progress | None = None
    overlay: str | None = None
    convergence: Options = USUAL


_AS_FOUND = Settings()


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
    failed: list[Checked] = []
    for place in _distinct([locate(Path(path)) for path in paths]):
        outcome = _round_of(place, settings)
        if isinstance(outcome, Finding):
            failed.append(Checked(not_checked(str(place.root), [outcome], settings)))
            continue
        round_, inferred_from = outcome
        key = (round_.usage, round_.name)
        known = jobs.get(key)
        places = (*known.places, place) if known else (place,)
        jobs[key] = _Job(round_, places, known.inferred_from if known else inferred_from)
    return [*(_run_safely(job, settings) for job in jobs.values()), *failed]


def _distinct(places: Sequence[Place]) -> list[Place]:
    """Places without those that lie in another one: what is named twice is checked once."""
    kept: list[Place] = []
    for place in dict.fromkeys(places):
        within = [
            other
            for other in places
            if other is not place and other.target is not Target.LOG and other.path in place.path.parents
        ]
        if not within or place.target in (Target.LOG, Target.NOTHING):
            kept.append(place)
    return kept


def _round_of(place: Place, settings: Settings) -> tuple[Round, str | None] | Finding:
    """The round of a place and the folder it was read from, or the finding that says why there is none."""
    name = place.path.name
    if not _exists(place.path):
        return _no_such_path(place.path)
    if place.target is Target.NOTHING:
        return _nothing_in(place)
    inferred = infer_round(place)
    usage = settings.usage or (inferred.usage if inferred else "training")
    known = known_rounds(usage, settings.overlay)
    if not known:
        close = get_close_matches(usage, usages(), n=1)
        hint = f"Did you mean {close[0]}?" if close else None
        return finding(
            "check.unknown-round",
            name,
            f"There is no usage {usage}",
            expected=", ".join(usages()),
            actual=usage,
            fix=hint,
        )
    if settings.round is not None:
        asked, inferred_from = normalise_round(settings.round), None
        shown = settings.round
    elif inferred is not None:
        asked = shown = inferred.round
        inferred_from = inferred.folder
    elif len(known) == 1 and settings.usage:
        asked = shown = known[0]
        inferred_from = None
    else:
        return finding(
            "check.no-round",
            name,
            "No round was given, and no folder above is named like one",
            expected=f"--round with one of {', '.join(known)}",
            actual="no folder named vX.Y, X.Y or training_results_vX.Y",
        )
    try:
        return get_round(usage, asked or shown, settings.overlay), inferred_from
    except MlsubError:
        close = get_close_matches(shown, known, n=1)
        return finding(
            "check.unknown-round",
            name,
            f"There are no rules for {usage} round {shown[:40]}",
            expected=f"one of {', '.join(known)}",
            actual=shown[:40],
            fix=f"Did you mean {close[0]}?" if close else None,
        )


def _nothing_in(place: Place) -> Finding:
    inside = [name for name in _names(place.path) if names_round(name)]
    return finding(
        "check.no-logs",
        ".",
        f"There is neither a result log nor an organisation in {place.path.name}",
        expected="results/<system>/<benchmark>/result_*.txt",
        actual="none",
        fix=f"It holds rounds; check one or more of them: {', '.join(inside)}." if inside else None,
    )


def _exists(path: Path) -> bool:
    try:
        return os.path.lexists(path)
    except ValueError:
        return False


def _names(folder: Path) -> list[str]:
    try:
        return sorted(child.name for child in folder.iterdir())
    except (OSError, ValueError):
        return []


def _no_such_path(path: Path) -> Finding:
    close = get_close_matches(path.name, _names(path.parent), n=1)
    hint = f"Did you mean {path.parent / close[0]}?" if close else None
    return finding("check.no-such-path", path.name, f"There is no {path}", fix=hint)


def not_checked(root: str, findings: Sequence[Finding], settings: Settings = _AS_FOUND) -> Report:
    """A report that says why nothing could be checked."""
    asked = normalise_round(settings.round) if settings.round else None
    return Report(
        mlsub=VERSION,
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
    reports = judge_logs(tasks, settings.jobs, settings.progress)
    by_path = {report.path: report for report in reports}
    parts = [judge_package(package, by_path, job.round, settings.convergence) for package in packages]
    parts += [single_log(path, by_path[path.relative_to(root).as_posix()]) for path in singles]
    findings = [f for part in parts for f in part.findings]
    findings += reviewed("entry.same-log-twice", ".", lambda: audit_same_runs(reports))
    official = _official([part.official for part in parts])
    if official is Verdict.NOT_CHECKED and not any(f.rejects for f in findings):
        findings.append(_nothing_there(job.places))
    report = Report(
        mlsub=VERSION,
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
    return finding(
        "check.no-logs",
        ".",
        f"No result log anywhere in {names}",
        expected="results/<system>/<benchmark>/result_*.txt",
        actual="none",
    )


def _common_root(places: Sequence[Place]) -> Path:
    roots = list(dict.fromkeys(place.root for place in places))
    return roots[0] if len(roots) == 1 else Path(os.path.commonpath(roots))
