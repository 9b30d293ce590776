"""Paths to reports: found, read and judged once, the same in every command; all that a command needs of this room."""

from __future__ import annotations

import os
from collections.abc import Generator, Iterator, Sequence
from contextlib import closing
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING

from mlsub.findings import Finding, Verdict
from mlsub.io import MlsubError
from mlsub.io.data import group_by_key
from mlsub.io.show import display_path
from mlsub.review.fingerprints import audit_same_runs
from mlsub.rounds import Round, get_round, normalise_round
from mlsub.rules.catalogue import finding, reviewed
from mlsub.submission.find import PathKind, Place, packages
from mlsub.submission.report import Report
from mlsub.workspace.cache import content_digest, digest_of
from mlsub.workspace.logs import Checked, Job, logs_job, package_job
from mlsub.workspace.places import ANY, AS_FOUND, Context, Request, find_places, in_one_line, known_round
from mlsub.workspace.schedule import run

if TYPE_CHECKING:
    from mlsub.submission.result import Result

__all__ = [
    "ANY",
    "AS_FOUND",
    "Checked",
    "Context",
    "Request",
    "check_apart",
    "check_each",
    "check_paths",
    "check_places",
    "check_with_logs",
    "each_result",
    "find_places",
    "fingerprint_places",
    "in_one_line",
    "known_round",
    "not_checked",
]


def each_result(
    paths: Sequence[str | os.PathLike[str]],
    round: str | None = None,
    usage: str | None = None,
    jobs: int | None = None,
) -> Iterator[Result]:
    """Yield the result of each entry; see :func:`mlsub.results`."""
    _, found = _check(paths, Context(Request(round, usage), jobs=jobs), keep=False)
    for checked in found:
        if checked.report.official is Verdict.NOT_CHECKED:
            raise MlsubError(*(f"{checked.report.root}: {f.message}" for f in checked.report.findings if f.rejects))
        yield from checked.results


def check_paths(paths: Sequence[str | os.PathLike[str]], context: Context) -> list[Report]:
    """Check paths: one report for all paths of a round, in the order in which the rounds first appear."""
    _, reports = check_each(paths, context)
    return list(reports)


def check_each(paths: Sequence[str | os.PathLike[str]], context: Context) -> tuple[int, Generator[Report, None, None]]:
    """The same one after the other: how many reports there are, and each as soon as it and those before are ready."""
    count, found = _check(paths, context, keep=False)
    return count, (checked.report for checked in found)


def check_with_logs(paths: Sequence[str | os.PathLike[str]], context: Context) -> list[Checked]:
    """The same with what was read of the logs."""
    _, found = _check(paths, context, keep=True)
    return list(found)


def check_apart(places: Sequence[Place], context: Context) -> Iterator[Checked]:
    """A report on each place by itself, with what was read of its logs, in their order."""
    return _checked([[place] for place in places], context, keep=True)


def check_places(places: Sequence[Place], context: Context) -> list[Checked]:
    """A report on all places of each round, with what was read of the logs."""
    return list(_checked(_by_round(places), context, keep=True))


def _check(paths: Sequence[str | os.PathLike[str]], context: Context, *, keep: bool) -> tuple[int, Iterator[Checked]]:
    places, failed = find_places(paths, context.request)
    rounds = _by_round(places)
    unchecked = (_unchecked(str(one.root), one.problem, context.request) for one in failed if one.problem)
    return len(rounds) + len(failed), chain(_checked(rounds, context, keep=keep), unchecked)


def _by_round(places: Sequence[Place]) -> list[list[Place]]:
    return [*group_by_key(((place.usage, place.round), place) for place in places).values()]


def _checked(rounds: Sequence[Sequence[Place]], context: Context, *, keep: bool) -> Iterator[Checked]:
    """The answer on the places of each round in their order, as soon as it is ready.

    Of each the largest packages are read first. A tree that goes away or shuts while it is read is an answer too.
    """
    jobs = [_jobs(places, context.request, keep=keep) for places in rounds]
    ordered = [sorted(found, key=lambda job: -job.tree.size) if isinstance(found, list) else [] for found in jobs]
    with closing(run([job for found in ordered for job in found], context)) as answers:
        for places, found, largest_first in zip(rounds, jobs, ordered, strict=True):
            by_job = {id(job): next(answers) for job in largest_first}
            judged = [found] if isinstance(found, OSError) else [by_job[id(job)] for job in found]
            failed = next((one for one in judged if isinstance(one, OSError)), None)
            if failed is not None:
                reason = f"Reading failed: {failed.strerror or failed}"
                problem = finding("tree.unreadable", ".", reason, actual=failed.filename)
                yield _unchecked(str(_common_root(places)), problem, context.request)
            else:
                yield _round_report(places, [one for one in judged if isinstance(one, Checked)], context.request)


def _jobs(places: Sequence[Place], request: Request, *, keep: bool) -> list[Job] | OSError:
    """What there is to read in the places of one round, single logs last."""
    about = _common_root(places), _round_of(places, request), request
    singles = _singles(places)
    try:
        inside = [one for place in places if place.kind is not PathKind.LOG for one in packages(place)]
    except OSError as error:
        return error
    jobs = [package_job(package, *about, keep=keep) for package in inside]
    return [*jobs, logs_job(singles, *about)] if singles else jobs


def fingerprint_places(places: Sequence[Place], request: Request) -> bytes | None:
    """The digest of all that reports on some places rest on; None where that is not known, as of single logs."""
    found: list[bytes | None] = []
    for place in places:
        jobs = _jobs([place], request, keep=True)
        found += [None] if isinstance(jobs, OSError) else [job.fingerprint() for job in jobs]
    try:
        return digest_of(found, content_digest(request.overlay)) if None not in found else None
    except OSError:
        return None


def _round_report(places: Sequence[Place], judged: Sequence[Checked], request: Request) -> Checked:
    """The answer on all places of one round, from those on its jobs."""
    round_, root = _round_of(places, request), _common_root(places)
    parts = [part for one in judged for part in one.reports]
    logs = {log.path: log for one in judged for log in one.logs}
    if _singles(places):
        from mlsub.judge.package import single_log

        # Those that lie in a package which was asked for too are judged there.
        inside = {log.path for part in parts for log in part.logs}
        parts += [single_log(root, log, round_) for log in judged[-1].logs if log.path not in inside]
    findings = [f for part in parts for f in part.findings]
    fingerprints = [log for one in judged for log in one.fingerprints]
    findings += [f for one in judged for f in one.crashed]
    findings += reviewed("entry.same-log-twice", ".", lambda: audit_same_runs(fingerprints))
    official = _official([part.official for part in parts])
    if official is Verdict.NOT_CHECKED and not any(f.rejects for f in findings):
        findings.append(_nothing_there(places))
    entries = tuple(entry for part in parts for entry in part.entries)
    report = Report(
        usage=round_.usage,
        round=round_.name,
        root=str(root),
        official=official,
        logs=tuple(log for part in parts for log in part.logs),
        entries=entries,
        systems=tuple(dict.fromkeys(system for part in parts for system in part.systems)),
        without_logs=tuple(one for part in parts for one in part.without_logs),
        findings=tuple(dict.fromkeys(findings)),
        judged_by="package-checker" if round_.package_checker else "log-checker",
        round_from=places[0].round_from,
        rcp_file=request.convergence.reference if any(e.rcp.reference_points == "own" for e in entries) else None,
        rules_file=display_path(request.overlay) if request.overlay else None,
    )
    code = {name: files for one in judged for name, files in one.code.items()}
    return Checked((report,), logs=tuple(logs.values()), overlay=request.overlay, code=code)


def _round_of(places: Sequence[Place], request: Request) -> Round:
    return get_round(places[0].usage, places[0].round, request.overlay)


def _singles(places: Sequence[Place]) -> tuple[Path, ...]:
    return tuple(place.path for place in places if place.kind is PathKind.LOG)


def _unchecked(root: str, problem: Finding, request: Request) -> Checked:
    return Checked((not_checked(root, [problem], request),))


def not_checked(root: str, findings: Sequence[Finding], request: Request = ANY) -> Report:
    """A report that says why nothing could be checked."""
    asked = normalise_round(request.round) if request.round else None
    return Report(
        usage=request.usage,
        round=asked,
        root=root,
        official=Verdict.NOT_CHECKED,
        findings=tuple(findings),
    )


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
