"""From paths to entries: every round, organisation, system and benchmark below them, each log read once."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

import msgspec

from mlsub.io.errors import MlsubError
from mlsub.judge.log import LogTask
from mlsub.judge.package import Package, list_packages
from mlsub.judge.pool import Progress, map_logs
from mlsub.log.run import RunFold
from mlsub.review.runs.model import Entry
from mlsub.review.runs.trace import Trace, read_trace
from mlsub.rounds import Round, get_round, known_rounds, normalise_round
from mlsub.submission.locate import Place, Target, infer_round, locate, names_round


class Asked(msgspec.Struct, frozen=True):
    """What the caller says of the paths, None to read it off the folders."""

    round: str | None = None
    usage: str | None = None
    jobs: int | None = None
    progress: Progress | None = None


class _Part(msgspec.Struct, frozen=True):
    """An organisation's files, and the round they are of."""

    package: Package
    round: Round


def gather(paths: Sequence[str], asked: Asked, beside: Sequence[str] = ()) -> tuple[list[Entry], list[Entry]]:
    """The entries below some paths, and those below some others, their logs read.

    Paths of entries and logs are relative to the folder that all have in common.

    Args:
        paths: organisations, folders of them, systems, benchmark folders, or a folder of rounds.
        asked: what the caller knows better than the folders; its round is that of ``paths``.
        beside: the others.

    Raises:
        MlsubError: a path does not exist, is a single log, has no known round, or no log is below it.
    """
    places = _distinct([place for path in paths for place in _places(path)])
    others = _distinct([place for path in beside for place in _places(path)])
    root = Path(os.path.commonpath([place.root for place in (*places, *others)]))
    parts = [part for place in places for part in _parts(place, root, asked)]
    parts_beside = [part for place in others for part in _parts(place, root, Asked(usage=asked.usage))]
    for names, of in ((paths, parts), (beside, parts_beside)):
        if names and not any(part.package.tasks for part in of):
            shown = ", ".join(names[:3])
            raise MlsubError(f"There is no result log below {shown}. Name an organisation's tree.")
    tasks = [task for part in (*parts, *parts_beside) for task in part.package.tasks]
    traces = dict(zip(tasks, map_logs(_safe_trace, tasks, asked.jobs, asked.progress), strict=True))
    return (
        [entry for part in parts for entry in _entries(part, traces)],
        [entry for part in parts_beside for entry in _entries(part, traces)],
    )


def _parts(place: Place, root: Path, asked: Asked) -> list[_Part]:
    round_ = _round(place, asked)
    return [_Part(package, round_) for package in _packages(place, root, round_)]


def _places(path: str) -> list[Place]:
    """What a path is; a folder of rounds is all of them."""
    try:
        folder = Path(os.path.abspath(path))  # noqa: PTH100  (links keep the names people gave them)
        if not folder.exists():
            raise MlsubError(f"There is no {path}. Name an organisation's tree, or a folder of rounds.")
        place = locate(folder)
        if place.target is Target.LOG:
            raise MlsubError(f"{path} is a single file. Name its folder: runs are inspected side by side.")
        if place.target is not Target.NOTHING:
            return [place]
        inside = [locate(child) for child in sorted(folder.iterdir()) if names_round(child.name) and child.is_dir()]
    except (OSError, ValueError) as error:
        if isinstance(error, MlsubError):
            raise
        reason = error.strerror if isinstance(error, OSError) else error
        raise MlsubError(f"{path} cannot be read: {reason}. Check its name and your rights.") from error
    found = [place for place in inside if place.target is not Target.NOTHING]
    if not found:
        raise MlsubError(f"There is neither a result log nor an organisation in {path}. Name an organisation's tree.")
    return found


def _distinct(places: Sequence[Place]) -> list[Place]:
    """Places without those that lie in another one."""
    once = list(dict.fromkeys(places))
    return [p for p in once if not any(other is not p and other.path in p.path.parents for other in once)]


def _round(place: Place, asked: Asked) -> Round:
    found = infer_round(place)
    usage = asked.usage or (found.usage if found else "training")
    name = normalise_round(asked.round) or asked.round if asked.round else found.round if found else None
    known = known_rounds(usage)
    if not known:
        raise MlsubError(f"There is no usage {usage[:40]}. Say training, hpc or rehearsal.")
    if name is None:
        raise MlsubError(f"No folder above {place.path} is named like a round. Say --round, such as --round 5.1.")
    try:
        return get_round(usage, name)
    except MlsubError as error:
        raise MlsubError(f"There are no rules for {usage} round {name[:40]}. Known are {', '.join(known)}.") from error


def _packages(place: Place, root: Path, round_: Round) -> list[Package]:
    try:
        return list_packages(place, root, round_)
    except OSError as error:
        raise MlsubError(f"{place.path} cannot be read: {error.strerror}. Check your rights.") from error


def _safe_trace(task: LogTask) -> Trace:
    """Read a log; a defect of ours becomes a log that could not be read, never a traceback."""
    try:
        return read_trace(task)
    except Exception as error:
        return Trace(path=task.path, run=RunFold().finish(), unreadable=f"{type(error).__name__}: {error}"[:200])


def _entries(part: _Part, traces: dict[LogTask, Trace]) -> list[Entry]:
    by_folder: dict[Path, list[Trace]] = {}
    for task in part.package.tasks:
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
        for files in part.package.files.entries
        if (of := by_folder.get(files.folder))
    ]
