"""Loose runs: logs of one benchmark that need not lie in a submission."""

from __future__ import annotations

import os
from collections.abc import Sequence
from fnmatch import filter as matching
from pathlib import Path

from mlsub.findings import Finding
from mlsub.io import MlsubError, look
from mlsub.rounds import Round
from mlsub.rounds.benchmarks import suggest_benchmark
from mlsub.submission.file_tree import ItemKind, read_file_tree
from mlsub.submission.find import find
from mlsub.submission.model import LogReport
from mlsub.workspace.logs import logs_job
from mlsub.workspace.places import Context, Request, in_one_line, known_round
from mlsub.workspace.schedule import read_logs

#: How runs are called, beginning with the name that they are submitted by.
_FORMS = ("result_*.txt", "*.txt", "*[0-9].log", "*[0-9].out", "*.txt.gz", "*[0-9].log.gz")
#: Folders of runs hold tens of logs.
MAX_RUNS = 10_000


def find_runs(paths: Sequence[str], *, any_name: bool = False) -> list[Path]:
    """The logs that are named, and those in the folders that are: of the first of these forms that one there has.

    Args:
        paths: of logs, and of folders.
        any_name: whether all files count, also those of folders further down.

    Raises:
        MlsubError: there is none, a path does not exist, or a folder cannot be read to its end.
        OSError: a path cannot be looked at.
    """
    found: dict[Path, None] = {}
    for name in paths:
        path = Path(os.path.abspath(name))  # noqa: PTH100  (links keep the names people gave them)
        if look.is_folder(path) and any_name:
            file_tree = read_file_tree(path)
            files = [path / item.path for item in file_tree.items if item.kind in (ItemKind.FILE, ItemKind.LINK)]
            if file_tree.closed or file_tree.cut or not files:
                raise MlsubError(f"{path} has no files, or some that cannot be listed. Name the folder of the logs.")
            found.update(dict.fromkeys(files))
        elif look.is_folder(path):
            names = look.names_in(path)
            results = sorted(path / name for name in next(filter(None, (matching(names, form) for form in _FORMS)), ()))
            if not results:
                raise MlsubError(f"{path} has no result_*.txt. Name the folder of the logs, or the logs.")
            found.update(dict.fromkeys(results))
        elif look.status_of(path) is not None:
            found[path] = None
        else:
            raise MlsubError(f"There is no {path}. Name logs, or folders of them.")
    if len(found) > MAX_RUNS:
        raise MlsubError(f"{len(found)} logs are more than the {MAX_RUNS} that are read at once. Name fewer.")
    return list(found)


def round_of(paths: Sequence[Path], request: Request, what: str = "runs") -> Round:
    """Return the round whose rules hold for runs, or for ``what`` else the paths are.

    Raises:
        MlsubError: it is not known, or not the same for all.
    """
    usage, name = request.usage, request.round
    if name is None:
        inferred = {(found.usage, found.round) for path in paths if (found := find(path)).round}
        if len(inferred) > 1:
            raise MlsubError(f"The {what} lie in {len(inferred)} rounds. Name those of one, or say --round.")
        if not inferred:
            raise MlsubError(f"No folder above the {what} is named like a round. Say --round, such as --round 5.1.")
        usage, name = inferred.pop() if usage is None else (usage, inferred.pop()[1])
    round_ = known_round(usage or "training", name, request.overlay, ".")
    if isinstance(round_, Finding):
        raise MlsubError(in_one_line(round_))
    return round_


def read_runs(paths: Sequence[Path], round_: Round, context: Context) -> tuple[LogReport, ...]:
    """Each log read once and judged; their paths are relative to the folder that they have in common."""
    root = Path(os.path.commonpath([path.parent for path in paths]))
    return read_logs([logs_job(paths, root, round_, context.request)], context)[0]


def one_benchmark(logs: Sequence[LogReport], round_: Round) -> str:
    """The benchmark that all runs are of.

    Raises:
        MlsubError: they name several, none, or one the round does not have.
    """
    named = sorted({str(log.benchmark) for log in logs if log.benchmark})
    if not named:
        raise MlsubError("No log states its submission_benchmark. Are these result logs?")
    if len(named) > 1:
        raise MlsubError(f"The runs are of {len(named)} benchmarks ({', '.join(named[:5])}). Name those of one.")
    if named[0] not in round_.benchmarks:
        raise MlsubError(f"{named[0]} is not a benchmark of {round_.title}. {suggest_benchmark(named[0], round_)}")
    return named[0]
