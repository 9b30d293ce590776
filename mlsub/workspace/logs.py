"""Read many logs, each by a pure function: what the cache has of them, and the rest in as many processes as pay."""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, Generic, TypeVar

import msgspec

from mlsub.judge.log import LogTask, judge_log
from mlsub.log.report import LogReport
from mlsub.log.run import RunFold
from mlsub.rules.catalogue import finding
from mlsub.submission.find import locate
from mlsub.workspace.cache import Cache
from mlsub.workspace.executors import Pool, open_pool
from mlsub.workspace.places import Settings
from mlsub.workspace.record import LogAnswer, PackageRecord

#: What a log costs whatever its size, in bytes that take as long to read.
_COST_OF_A_LOG = 16 << 10
#: A chunk is a part of all there is, so that all processes end together, but never less or more than so many bytes.
_LEAST, _MOST = 1 << 20, 64 << 20
_PARTS = 4
#: Tasks that are begun at a time, for each process: what is done and not yet asked for is memory.
AHEAD = 4


T = TypeVar("T")
Answer = TypeVar("Answer", bound=LogAnswer)


class LogReading(Generic[Answer]):
    """Logs that are read: first what the cache knows of them, then :meth:`finish` with the answers on the ``missing``.

    Args:
        tasks: the logs, of any packages.
        cache: None for none.
        type_: of what is found out of each.
        record: of the package that all of them lie in; otherwise each is looked for in the cache.
    """

    def __init__(
        self, tasks: Sequence[LogTask], cache: Cache | None, type_: type[Answer], record: PackageRecord | None = None
    ) -> None:
        self.tasks = tasks
        self._record_of: list[PackageRecord | None] = [record] * len(tasks)
        self._records = {record}
        if cache is not None and record is None:
            self._record_of = list(_records_of(tasks, cache, type_))
            self._records = set(self._record_of)
        pairs = zip(tasks, self._record_of, strict=True)
        self._answers = [own.log(task) if own is not None else None for task, own in pairs]
        self.missing = [task for task, answer in zip(tasks, self._answers, strict=True) if answer is None]
        self.reused = len(tasks) - len(self.missing)

    def finish(self, found: Iterable[Answer]) -> list[Answer]:
        """The answers on all logs, with those on the missing ones."""
        answers, coming = [], iter(found)
        for task, known, record in zip(self.tasks, self._answers, self._record_of, strict=True):
            answer = next(coming) if known is None else known
            if known is None and record is not None:
                record.keep(task, answer)
            answers.append(answer)
        return answers

    def save(self, fingerprint: bytes = b"", answer: msgspec.Raw | None = None) -> None:
        """Keep what is new in the cache, and the answer on their package, if there is one."""
        for record in self._records:
            if record is not None:
                record.save(fingerprint, answer)


def _records_of(tasks: Iterable[LogTask], cache: Cache, type_: type[LogAnswer]) -> Iterator[PackageRecord]:
    """The record of the package that each log lies in: that of its organisation, of a loose log that of its folder."""
    folders: dict[Path, Path] = {}
    records: dict[object, PackageRecord] = {}
    for task in tasks:
        above = Path(task.file).parent
        if above not in folders:
            with suppress(OSError):
                real = Path(os.path.realpath(task.file))
                folders[above] = locate(real).organisation or real.parent
        key = folders.setdefault(above, above), task.usage, task.round, task.overlay
        if key not in records:
            records[key] = PackageRecord(cache, key[0], task, type_)
        yield records[key]


def read_logs(tasks: Sequence[LogTask], settings: Settings) -> list[LogReport]:
    """The reports on logs, in their order."""
    return map_logs(judge_safely, tasks, settings, LogReport)


def map_logs(
    work: Callable[[LogTask], Answer], tasks: Sequence[LogTask], settings: Settings, type_: type[Answer]
) -> list[Answer]:
    """What a function finds out about each log, in their order.

    Args:
        work: a function of a module that never raises, and whose results can be sent between processes.
        tasks: the logs.
        settings: in how many processes, with which cache, and who is called with the number of logs done and of all.
        type_: of the results.
    """
    reading = LogReading(tasks, settings.cache, type_)
    done = reading.reused
    sizes = [size_of(task.file) for task in reading.missing]
    found: list[Answer] = []
    with open_pool(settings.executor, settings.jobs, sum(sizes)) as pool:
        chunks = cut(reading.missing, sizes, most_in_one(sum(sizes), pool))
        for chunk in run_in(pool, read_chunk, [(work, chunk) for chunk in chunks]):
            found += chunk
            if settings.progress is not None:
                settings.progress(done + len(found), len(tasks))
    if settings.cache is not None:
        settings.cache.asked["logs"] += len(tasks)
        settings.cache.reused["logs"] += reading.reused
    answers = reading.finish(found)
    reading.save()
    return answers


def run_here(work: Callable[[Any], T], tasks: Sequence[Any], settings: Settings, size: int) -> Iterator[T]:
    """The results of a function in processes of this machine, in the order of the tasks.

    Args:
        work: a function of a module.
        tasks: what to call it with.
        settings: in how many processes.
        size: bytes of logs that take as long to read as the work takes.
    """
    words = settings.executor if settings.executor and settings.executor.startswith("local:") else None
    with open_pool(words, settings.jobs, size) as pool:
        yield from run_in(pool, work, tasks)


def run_in(pool: Pool | None, work: Callable[[Any], T], tasks: Iterable[Any]) -> Iterator[T]:
    """The results of a function in the order of the tasks, each as soon as it and those before it are ready."""
    if pool is None:
        yield from map(work, tasks)
        return
    begun = deque[Any]()
    for task in tasks:
        begun.append(pool.executor.submit(work, task))
        if len(begun) >= AHEAD * pool.processes:
            yield begun.popleft().result()
    while begun:
        yield begun.popleft().result()


def size_of(file: str | os.PathLike[str]) -> int:
    """The bytes of a log, and what a log costs whatever its size."""
    try:
        return os.stat(file).st_size + _COST_OF_A_LOG  # noqa: PTH116  (of tens of thousands)
    except (OSError, ValueError):
        return _COST_OF_A_LOG


def most_in_one(size: int, pool: Pool | None) -> int:
    """How many bytes one process may have at once, so that all end together; one log in this process."""
    return min(max(size // (_PARTS * pool.processes), _LEAST), _MOST) if pool is not None else 0


def cut(tasks: Sequence[LogTask], sizes: Sequence[int], most: int) -> list[list[LogTask]]:
    """Logs in chunks of about so many bytes, in their order."""
    chunks: list[list[LogTask]] = []
    left = 0
    for task, size in zip(tasks, sizes, strict=True):
        if left <= 0:
            chunks.append([])
            left = most
        chunks[-1].append(task)
        left -= size
    return chunks


def read_chunk(chunk: tuple[Callable[[LogTask], Answer], Sequence[LogTask]]) -> list[Answer]:
    """The answers of a function on some logs."""
    work, tasks = chunk
    return list(map(work, tasks))


def judge_safely(task: LogTask) -> LogReport:
    """Judge a log; a defect of ours becomes a finding, never a traceback and never a pass."""
    try:
        return judge_log(task)
    except Exception as error:
        return crashed(task, f"{type(error).__name__}: {error}"[:200])


def crashed(task: LogTask, problem: str) -> LogReport:
    """The report on a log that a rule of ours failed on: never compliant."""
    message = "A rule failed to run, so the log cannot be accepted"
    return LogReport(
        path=task.path,
        compliant=False,
        undecodable=True,
        benchmark=None,
        division=None,
        status=None,
        minutes=None,
        run=RunFold().finish(),
        findings=(finding("rule.crashed", task.path, message, actual=problem),),
    )
