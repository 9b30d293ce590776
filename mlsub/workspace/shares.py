"""How work is shared among processes: what it weighs, whether processes pay, and what is done first."""

from __future__ import annotations

import os
from collections.abc import Sequence
from itertools import chain
from pathlib import Path

import msgspec

from mlsub.submission.locate import is_folder
from mlsub.workspace.executors import executor_of
from mlsub.workspace.executors.base import Executor
from mlsub.workspace.memory.states import State, size_of
from mlsub.workspace.places import Settings

#: What a log costs whatever its size, in bytes that take as long to read.
_WEIGHT_OF_A_LOG = 16 << 10
#: Below this weight starting processes, each of which loads the rules, costs more than it saves (measured: 7 to 12 MB).
PAYS_FROM = 16 << 20
#: The weight above which a package is not left to one process, however much there is besides.
_MOST_AT_ONCE = 128 << 20
#: A share is such a part of what is left for each process, so that the last ones are small and all end together.
_PARTS = 4
#: Folders between an organisation's results and its logs, at most: system, scaling and benchmark.
_DEPTH = 3
#: What the names of logs begin with.
_LOG = "result_"


def executor_for(settings: Settings, weight: int) -> Executor:
    """The executor that was asked for; without any, processes of this machine where they pay.

    Raises:
        MlsubError: see :func:`mlsub.workspace.executors.executor_of`.
    """
    if settings.executor is None and settings.jobs is None and weight < PAYS_FROM:
        return executor_of(None, 1)
    return executor_of(settings.executor, settings.jobs)


def executor_here(settings: Settings, weight: int) -> Executor:
    """The same for work that is done on this machine, wherever logs are read."""
    words = settings.executor if settings.executor and settings.executor.startswith("local:") else None
    return executor_for(msgspec.structs.replace(settings, executor=words), weight)


def weight_of(file: str | os.PathLike[str]) -> int:
    """What a log weighs: its bytes, and what a log costs whatever its size."""
    try:
        return os.stat(file).st_size + _WEIGHT_OF_A_LOG  # noqa: PTH116  (of tens of thousands)
    except (OSError, ValueError):
        return _WEIGHT_OF_A_LOG


def weight_below(folder: Path) -> tuple[int, int]:
    """About what the logs of a package weigh, and how many they are, without listing it: for the order of work only."""
    results = folder / "results"
    return _below(results if is_folder(results) else folder, _DEPTH)


def weight_in(tree: State) -> tuple[int, int]:
    """The same of a package whose state was taken, which names its files."""
    files = chain(tree.files.items(), tree.links.items())
    logs = [facts for path, facts in files if os.path.basename(path).startswith(_LOG)]  # noqa: PTH119
    return sum(map(size_of, logs)) + len(logs) * _WEIGHT_OF_A_LOG, len(logs)


def _below(folder: str | os.PathLike[str], depth: int) -> tuple[int, int]:
    weight = count = 0
    try:
        with os.scandir(folder) as found:
            for entry in found:
                if entry.name.startswith(_LOG):
                    weight += entry.stat().st_size + _WEIGHT_OF_A_LOG
                    count += 1
                elif depth and entry.is_dir(follow_symlinks=False):
                    inner, logs = _below(entry.path, depth - 1)
                    weight, count = weight + inner, count + logs
    except OSError:
        pass
    return weight, count


def shares(weights: Sequence[int], processes: int) -> list[list[int]]:
    """Indices of tasks in shares, the heaviest tasks and shares first; for one process each by itself, in order."""
    if processes == 1:
        return [[index] for index in range(len(weights))]
    found: list[list[int]] = []
    left = sum(weights)
    wanted = 0
    for index in sorted(range(len(weights)), key=lambda index: -weights[index]):
        if wanted <= 0:
            wanted = min(left // (_PARTS * processes), _MOST_AT_ONCE)
            found.append([])
        found[-1].append(index)
        wanted -= weights[index]
        left -= weights[index]
    return found


def most_in_one(weight: int, processes: int) -> int:
    """What one process may have at once of a weight: more would keep it busy when the others have ended."""
    return min(weight // (2 * processes), _MOST_AT_ONCE)


def balanced(weights: Sequence[int], processes: int) -> list[int]:
    """The order in which tasks are done: as they come, but what would outlast all that follows it goes first."""
    slack, after = sum(weights) // (32 * processes), 0
    first: list[int] = []
    for index in reversed(range(len(weights)) if processes > 1 else ()):
        if weights[index] > slack + after // (processes - 1):
            first.append(index)
        after += weights[index]
    rest = set(range(len(weights))).difference(first)
    return [*sorted(first, key=lambda index: -weights[index]), *sorted(rest)]
