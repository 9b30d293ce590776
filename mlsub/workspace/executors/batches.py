"""Tasks in batches for workers of a cluster, with what the caller knows of the files that they read."""

from __future__ import annotations

import pickle
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any

from mlsub.judge.log import LogTask
from mlsub.workspace.executors.base import Tree
from mlsub.workspace.executors.looks import first_file, look, look_at
from mlsub.workspace.executors.on_worker import Batch

#: A batch is such a part of what is left for each thread of a cluster, so that the last ones are small.
_PARTS = 2
#: Bytes and logs of a batch: more would wait for one worker, fewer cost more to send than to read.
_LEAST_BYTES, _MOST_BYTES, _MOST_LOGS = 2 << 20, 32 << 20, 256
#: Files that every worker looks at before it gets work.
_MOST_PROBES = 16


class Work:
    """A function, its tasks, and how this machine sees their files."""

    def __init__(self, function: Callable[[Any], Any], tasks: Sequence[Any]) -> None:
        self._function = function
        self.tasks = tasks
        self._looks = [look_at(task) if isinstance(task, (LogTask, Tree)) else None for task in tasks]

    def packed(self, indexes: Sequence[int]) -> bytes:
        """A pickled batch of tasks."""
        tasks = tuple(self.tasks[index] for index in indexes)
        looks = tuple(self._looks[index] for index in indexes)
        overlays = {own: self._overlays[own] for task in tasks if (own := _overlay(task)) is not None}
        return pickle.dumps(Batch(self._function, tasks, looks, overlays), pickle.HIGHEST_PROTOCOL)

    def logs(self, indexes: Iterable[int]) -> int:
        """How many logs are read for tasks."""
        return sum(task.logs if isinstance(task := self.tasks[index], Tree) else 1 for index in indexes)

    def size(self, indexes: Iterable[int]) -> int:
        """The bytes of the files of tasks."""
        return sum(seen.size for index in indexes if (seen := self._looks[index]) is not None)

    def cut(self, threads: int) -> Iterator[tuple[int, ...]]:
        """The indexes of each batch, in the order of the tasks.

        A task that reads no log, and a log that this machine cannot open or that is not a regular file, is in none: no
        other machine shall decide what it is.
        """
        left = self.size(range(len(self.tasks)))
        most, held = 0, 0
        begun: list[int] = []
        for index, seen in enumerate(self._looks):
            if seen is None:
                continue
            if begun and (held + seen.size > most or self.logs(begun) >= _MOST_LOGS):
                yield tuple(begun)
                begun, left, held = [], left - held, 0
            if not begun:
                most = min(max(left // (_PARTS * max(threads, 1)), _LEAST_BYTES), _MOST_BYTES)
            begun.append(index)
            held += seen.size
        if begun:
            yield tuple(begun)

    def probes(self) -> list[tuple[str, int, int, str]]:
        """Files for every worker to look at: the first, the middle and the last one, and one below each root."""
        there = [index for index, seen in enumerate(self._looks) if seen is not None]
        if not there:
            return []
        roots = {_root(self.tasks[index]): index for index in reversed(there)}
        chosen = dict.fromkeys((there[0], there[len(there) // 2], there[-1], *roots.values()))
        files = [_file(self.tasks[index]) for index in list(chosen)[:_MOST_PROBES]]
        seen = [(file, look(file, head=True)) for file in files if file is not None]
        return [(file, one.size, one.changed, one.head) for file, one in seen if one is not None]

    @cached_property
    def _overlays(self) -> dict[str, bytes]:
        """The rule files of the user, which go with the tasks: they need not lie where the workers see them."""
        named = {_overlay(task) for task, seen in zip(self.tasks, self._looks, strict=True) if seen is not None}
        return {overlay: Path(overlay).read_bytes() for overlay in named if overlay is not None}


def _overlay(task: LogTask | Tree) -> str | None:
    return task.overlay if isinstance(task, LogTask) else None


def _root(task: LogTask | Tree) -> str:
    """The folder that was named, as far as it matters which one that was."""
    return str(Path(task.folder).parent) if isinstance(task, Tree) else task.file.removesuffix(task.path)


def _file(task: LogTask | Tree) -> str | None:
    """One file of a task."""
    return first_file(task.folder) if isinstance(task, Tree) else task.file
