"""Tasks in batches for workers of a cluster, with what the caller knows of the files that they read."""

from __future__ import annotations

import pickle
from collections.abc import Callable, Iterator, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any

from mlsub.judge.log import LogTask
from mlsub.workspace.executors.on_worker import Batch, Look, look

#: Batches for each thread of a cluster: enough that all end at about the same time.
_SHARES = 16
#: Bytes and logs of a batch: more would wait for one worker, fewer cost more to send than to read.
_LEAST_BYTES, _MOST_BYTES, _MOST_LOGS = 1 << 20, 16 << 20, 64
#: Files that every worker looks at before it gets work.
_MOST_PROBES = 16


class Work:
    """A function, its tasks, and how this machine sees their files."""

    def __init__(self, function: Callable[[Any], Any], tasks: Sequence[Any]) -> None:
        self._function = function
        self.tasks = tasks
        self.files = [task.file if isinstance(task, LogTask) else None for task in tasks]
        self._looks = [look(file) if file is not None else None for file in self.files]

    def packed(self, indexes: Sequence[int]) -> bytes:
        """A pickled batch of tasks."""
        tasks = tuple(self.tasks[index] for index in indexes)
        files, looks = (tuple(every[index] for index in indexes) for every in (self.files, self._looks))
        overlays = {path: self._overlays[path] for path in map(_overlay, tasks) if path in self._overlays}
        return pickle.dumps(Batch(self._function, tasks, files, looks, overlays), pickle.HIGHEST_PROTOCOL)

    def cut(self, threads: int) -> Iterator[tuple[int, ...]]:
        """The indexes of each batch, in the order of the tasks.

        A file that this machine cannot open, or that is not a regular one, is in none: no other machine shall decide
        what it is.
        """
        sizes = [seen.size if seen is not None else 0 for seen in self._looks]
        most = min(max(sum(sizes) // (_SHARES * max(threads, 1)), _LEAST_BYTES), _MOST_BYTES)
        begun: list[int] = []
        held = 0
        for index, size in enumerate(sizes):
            if self.files[index] is not None and self._looks[index] is None:
                continue
            if begun and (held + size > most or len(begun) == _MOST_LOGS):
                yield tuple(begun)
                begun, held = [], 0
            begun.append(index)
            held += size
        if begun:
            yield tuple(begun)

    def probes(self) -> list[tuple[str, int, int, str]]:
        """Files for every worker to look at: the first, the middle and the last one, and one below each root."""
        there = [index for index, seen in enumerate(self._looks) if seen is not None]
        if not there:
            return []
        roots = {self.tasks[index].file.removesuffix(self.tasks[index].path): index for index in reversed(there)}
        chosen = dict.fromkeys((there[0], there[len(there) // 2], there[-1], *roots.values()))
        files = [self.tasks[index].file for index in list(chosen)[:_MOST_PROBES]]
        seen = [(file, look(file, head=True)) for file in files]
        return [(file, one.size, one.changed, one.head) for file, one in seen if one is not None]

    @cached_property
    def _overlays(self) -> dict[str | None, bytes]:
        """The rule files of the user, which go with the tasks: they need not lie where the workers see them."""
        named = {overlay for task in self.tasks if (overlay := _overlay(task)) is not None}
        return {overlay: Path(overlay).read_bytes() for overlay in named}


def _overlay(task: Any) -> str | None:
    return task.overlay if isinstance(task, LogTask) else None
