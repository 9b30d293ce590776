"""From paths to entries: every round, organisation, system and benchmark below them, each log read once."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import NamedTuple

import msgspec

from mlsub.io.errors import MlsubError
from mlsub.judge.log import LogTask
from mlsub.judge.package import list_package, tasks_of
from mlsub.log.report import LogReport
from mlsub.log.run import RunFold
from mlsub.log.trace import Trace, Traced, trace_of
from mlsub.review.runs.model import Entry
from mlsub.rounds import Round, get_round
from mlsub.submission.find import Place, Target, packages
from mlsub.submission.model import Package
from mlsub.workspace import Settings, find_places, in_one_line
from mlsub.workspace.cache import content_digest, digest_of, file_fingerprint, scan_tree
from mlsub.workspace.logs import read_logs


class Gathered(NamedTuple):
    """Entries to report on, those to compare them with, and the folder that their paths are relative to.

    ``lasts`` says whether all of it could be looked at, so that it would be the same another time.
    """

    entries: list[Entry]
    beside: list[Entry]
    root: Path
    lasts: bool


class _Part(msgspec.Struct, frozen=True):
    """An organisation's files, the logs among them, and the round they are of."""

    package: Package
    tasks: tuple[LogTask, ...]
    round: Round


class Sides(NamedTuple):
    """Places to report on, those to compare them with, the folder that all have in common, and how both were named."""

    found: tuple[Place, ...]
    beside: tuple[Place, ...]
    overlay: str | None
    root: Path
    names: tuple[Sequence[str], Sequence[str]]

    def fingerprint(self) -> bytes | None:
        """The digest of all that an inspection of these places rests on; None where it cannot be known."""
        both = (*self.found, *self.beside)
        try:
            words = [(one.usage, one.round, content_digest(self.overlay)) for one in both]
        except OSError:
            return None
        trees = [
            file_fingerprint(place.path)
            if place.target is Target.LOG
            else scan_tree(place.organisation or place.path).fingerprint
            for place in both
        ]
        return None if None in trees else digest_of(words, trees)


def sides_of(
    paths: Sequence[str],
    settings: Settings,
    beside: Sequence[str] = (),
    skip: Callable[[str], None] | None = None,
) -> Sides:
    """What lies at some paths, and at some others.

    Args:
        paths: what :mod:`mlsub.workspace.places` takes for a path.
        settings: what the caller knows better than the folders; its round is that of ``paths``.
        beside: the others.
        skip: takes what is wrong with each place that cannot be looked at, where others can; without it, that is an
            error.

    Raises:
        MlsubError: a path does not exist, or has no known round.
    """
    found = _found(paths, settings, skip)
    others = _found(beside, msgspec.structs.replace(settings, round=None), skip)
    root = Path(os.path.commonpath([place.root for place in (*found, *others)]))
    return Sides(tuple(found), tuple(others), settings.overlay, root, (paths, beside))


def read_sides(sides: Sides, settings: Settings) -> Gathered:
    """The entries of some places, their logs read; paths are relative to the folder that all have in common.

    Raises:
        MlsubError: no log is below a path.
    """
    root = sides.root
    parts, parts_beside = _parts(sides.found, sides), _parts(sides.beside, sides)
    for names, of in zip(sides.names, (parts, parts_beside), strict=True):
        if names and not any(part.tasks for part in of):
            raise MlsubError(f"There is no result log below {', '.join(names[:3])}. Name an organisation's tree.")
    tasks = list(dict.fromkeys(task for part in (*parts, *parts_beside) for task in part.tasks))
    traces = dict(zip(tasks, map(_trace, read_logs(tasks, settings)), strict=True))
    return Gathered(
        [entry for part in parts for entry in _entries(part, traces)],
        [entry for part in parts_beside for entry in _entries(part, traces)],
        root,
        not any(finding.transient for part in (*parts, *parts_beside) for finding in part.package.findings)
        and all(trace.unreadable is None for trace in traces.values()),
    )


def _found(paths: Sequence[str], settings: Settings, skip: Callable[[str], None] | None) -> list[Place]:
    found, failed = find_places(paths, settings)
    lines = dict.fromkeys(in_one_line(place.problem) for place in failed if place.problem)
    if not lines:
        return found
    if skip is None or not found:
        raise MlsubError(*lines)
    for line in lines:
        skip(line)
    return found


def _parts(places: Sequence[Place], sides: Sides) -> list[_Part]:
    parts: list[_Part] = []
    for place in places:
        round_ = get_round(place.usage, place.round, sides.overlay)
        try:
            listed = [list_package(one, sides.root, round_) for one in packages(place)]
            parts += [_Part(package, tasks_of(package, round_, trace=True), round_) for package in listed]
        except OSError as error:
            reason = error.strerror or error
            raise MlsubError(f"{place.path} cannot be read: {reason}. Check your permissions.") from error
    whole = {task for part in parts if part.package.in_tree for task in part.tasks}
    return [part for part in parts if part.package.in_tree or not whole.issuperset(part.tasks)]


def _trace(log: LogReport) -> Trace:
    """What forensics reads of a log; of one that cannot be read, why."""
    for found in log.findings:
        if found.rule in ("log.unreadable", "rule.crashed"):
            why = found.actual or found.message.removeprefix("The log cannot be read: ")
            return Trace(path=log.path, run=RunFold().finish(), unreadable=why)
    return trace_of(log.path, log.run, log.trace or Traced())


def _entries(part: _Part, traces: dict[LogTask, Trace]) -> list[Entry]:
    by_folder: dict[Path, list[Trace]] = {}
    for task in part.tasks:
        by_folder.setdefault(Path(task.file).parent, []).append(traces[task])
    return [
        Entry(
            path=of[0].path.rpartition("/")[0] or ".",
            round=part.round,
            organisation=files.organisation,
            system=files.system,
            benchmark=files.benchmark,
            scaling_type=files.scaling_type,
            traces=tuple(of),
        )
        for files in part.package.entries
        if (of := by_folder.get(files.folder))
    ]
