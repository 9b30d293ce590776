"""From paths to reports: locate, read, judge, and put the verdicts together."""

from __future__ import annotations

import os
from collections.abc import Generator, Iterator, Sequence
from contextlib import closing
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from mlsub.findings import Finding, Verdict
from mlsub.judge.entry import COPIED
from mlsub.log.report import LogReport
from mlsub.review.cross import audit_same_prints
from mlsub.rounds import get_round, normalise_round
from mlsub.rules.catalogue import finding, reviewed
from mlsub.submission.find import Place, Target, packages
from mlsub.submission.report import Report
from mlsub.workspace.places import AS_FOUND, Settings, find_places
from mlsub.workspace.schedule import Judged, logs_job, package_job, run

if TYPE_CHECKING:
    from mlsub.judge.result import Result


class Checked(msgspec.Struct, frozen=True):
    """A report and the logs it rests on, for those who ask more of a run than a verdict."""

    report: Report
    logs: tuple[LogReport, ...] = ()

    @property
    def results(self) -> tuple[Result, ...]:
        """The results of the entries, with their logs."""
        from mlsub.judge.result import results_of

        return results_of(self.report, self.logs)


def results(paths: Sequence[str | os.PathLike[str]], settings: Settings = AS_FOUND) -> Iterator[Result]:
    """Check paths and yield the result of each entry, without its logs."""
    from mlsub.judge.result import results_of

    _, reports = check_each(paths, settings)
    for report in reports:
        yield from results_of(report)


def check_path(
    path: str | os.PathLike[str], round: str | None = None, usage: str | None = None, jobs: int | None = None
) -> Report:
    """Check one path; see :func:`mlsub.check`."""
    return check_paths([path], Settings(round, usage, jobs))[0]


def check_paths(paths: Sequence[str | os.PathLike[str]], settings: Settings) -> list[Report]:
    """Check paths: one report for all paths of a round, in the order in which the rounds first appear."""
    _, reports = check_each(paths, settings)
    return list(reports)


def check_each(
    paths: Sequence[str | os.PathLike[str]], settings: Settings
) -> tuple[int, Generator[Report, None, None]]:
    """The same one after the other: how many reports there are, and each as soon as it and those before are ready."""
    count, found = _check(paths, settings, keep=False)
    return count, (checked.report for checked in found)


def check_with_logs(paths: Sequence[str | os.PathLike[str]], settings: Settings) -> list[Checked]:
    """The same with what was read of the logs."""
    _, found = _check(paths, settings, keep=True)
    return list(found)


def check_apart(places: Sequence[Place], settings: Settings) -> Iterator[Checked]:
    """A report on each place by itself, with what was read of its logs, in their order."""
    return _checked([_Round([place], settings, keep=True) for place in places], settings)


def _check(paths: Sequence[str | os.PathLike[str]], settings: Settings, *, keep: bool) -> tuple[int, Iterator[Checked]]:
    places, failed = find_places(paths, settings)
    by_round: dict[tuple[str, str], list[Place]] = {}
    for place in places:
        by_round.setdefault((place.usage, place.round), []).append(place)
    rounds = [_Round(same, settings, keep=keep) for same in by_round.values()]
    unchecked = (Checked(not_checked(str(one.root), [one.problem], settings)) for one in failed if one.problem)
    return len(rounds) + len(failed), chain(_checked(rounds, settings), unchecked)


def _checked(rounds: Sequence[_Round], settings: Settings) -> Iterator[Checked]:
    """The report on each round in their order, as soon as it is ready; of each the largest packages are read first."""
    ordered = [sorted(one.jobs, key=lambda job: -job.tree.size) for one in rounds]
    with closing(run([job for jobs in ordered for job in jobs], settings)) as answers:
        for one, jobs in zip(rounds, ordered, strict=True):
            judged = {id(job): next(answers) for job in jobs}
            yield one.checked([judged[id(job)] for job in one.jobs])


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


class _Round:
    """Places of one round, to be reported together: ``jobs`` are what there is to read.

    A tree that goes away or shuts while it is read is an answer too.
    """

    def __init__(self, places: Sequence[Place], settings: Settings, *, keep: bool) -> None:
        self._places = places
        self._settings = settings
        self._round = get_round(places[0].usage, places[0].round, settings.overlay)
        self._root = _common_root(places)
        self._failed: OSError | None = None
        self._singles = tuple(place.path for place in places if place.target is Target.LOG)
        about = self._root, self._round.usage, self._round.name, settings
        try:
            inside = [one for place in places if place.target is not Target.LOG for one in packages(place)]
        except OSError as error:
            self._failed, inside = error, []
        self.jobs = [package_job(package, *about, keep=keep) for package in inside]
        if self._singles:
            self.jobs.append(logs_job(self._singles, *about, keep=keep))

    def checked(self, answers: Sequence[Judged | OSError]) -> Checked:
        """The report on all of it, from the answers on its jobs."""
        failed = self._failed or next((one for one in answers if isinstance(one, OSError)), None)
        if failed is not None:
            reason = f"Reading failed: {failed.strerror or failed}"
            problem = finding("tree.unreadable", ".", reason, actual=failed.filename)
            return Checked(not_checked(str(self._root), [problem], self._settings))
        judged = [one for one in answers if isinstance(one, Judged)]
        parts = [part for one in judged for part in one.parts]
        logs = tuple(log for one in judged for log in one.logs)
        if self._singles and len(judged) > 1:
            # Those that lie in a package which was asked for too are judged there.
            parts = parts[: len(judged) - 1]
            inside = {log.path for part in parts for log in part.logs}
            parts += [part for part in judged[-1].parts if part.logs[0].path not in inside]
            logs = tuple({log.path: log for log in logs}.values())
        findings = [f for part in parts for f in part.findings]
        copies = {f.path for f in findings if f.message == COPIED}
        prints = [print_ for one in judged for print_ in one.prints]
        findings += [f for one in judged for f in one.crashed]
        findings += reviewed("entry.same-log-twice", ".", lambda: audit_same_prints(prints, copies))
        official = _official([part.official for part in parts])
        if official is Verdict.NOT_CHECKED and not any(f.rejects for f in findings):
            findings.append(_nothing_there(self._places))
        round_ = self._round
        report = Report(
            usage=round_.usage,
            round=round_.name,
            root=str(self._root),
            official=official,
            logs=tuple(log for part in parts for log in part.logs),
            entries=tuple(entry for part in parts for entry in part.entries),
            systems=tuple(dict.fromkeys(system for part in parts for system in part.systems)),
            without_logs=tuple(one for part in parts for one in part.without_logs),
            findings=tuple(dict.fromkeys(findings)),
            judged_by="package-checker" if round_.package_checker else "log-checker",
            round_from=self._places[0].round_from,
        )
        return Checked(report, logs)


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
