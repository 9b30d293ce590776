"""Read many logs: what the cache has of them, by package, and the rest in as many processes as pay."""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, TypeVar

import msgspec

from mlsub.judge.log import LogTask, judge_log
from mlsub.log.report import LogReport
from mlsub.log.run import RunFold
from mlsub.rules.catalogue import finding
from mlsub.submission.find import locate
from mlsub.workspace.cache import FAILURES, Cache, content_digest, decoder, file_fingerprint, record_name
from mlsub.workspace.executors import Pool, open_pool
from mlsub.workspace.places import Settings

_ENCODER = msgspec.msgpack.Encoder()


class _Known(msgspec.Struct, frozen=True, array_like=True):
    """A log of a record: its fingerprint, and the report on it."""

    fingerprint: bytes
    report: msgspec.Raw


class _Record(msgspec.Struct, frozen=True, array_like=True):
    """What is kept of a package: the answer on all of it by its own fingerprint, and its logs by their names."""

    fingerprint: bytes = b""
    answer: msgspec.Raw = msgspec.Raw(b"\xc0")
    logs: msgspec.Raw = msgspec.Raw(b"\x80")


class PackageRecord:
    """The record of a package in the cache.

    Args:
        cache: where it lies.
        folder: of the package, or of logs that lie in none.
        task: any of its logs, for the round and rules, and what is wanted besides the verdict.
    """

    def __init__(self, cache: Cache, folder: Path, task: LogTask) -> None:
        self._cache = cache
        wanted = task.trace, task.intervals
        self._name = record_name(str(folder), "LogReport", task.usage, task.round, task.overlay, wanted)
        try:
            self._state: bytes | None = content_digest(task.overlay)
        except OSError:
            self._state = None
        self._folder = str(folder)
        self._record = _Record()
        self._logs: dict[bytes, _Known] | None = None
        self._fingerprints: dict[bytes, bytes] = {}
        if self._state is not None:
            self._record = cache.read("packages", self._name, self._state, _Record) or self._record

    def answer(self, fingerprint: bytes, type_: type[T]) -> T | None:
        """The answer on the package as a whole; None where it has none of this fingerprint."""
        if self._record.fingerprint != fingerprint:
            return None
        try:
            found: T = decoder(type_).decode(self._record.answer)
            return found
        except FAILURES:
            return None

    def log(self, task: LogTask) -> LogReport | None:
        """The report on a log that has not changed; else its fingerprint is taken, for :meth:`keep`."""
        if self._logs is None:
            self._logs = _logs_of(self._record)
        name, now = self._name_of(task), file_fingerprint(task.file)
        if now is None:
            return None
        known = self._logs.get(name)
        if known is not None and known.fingerprint == now:
            with suppress(*FAILURES):
                report: LogReport = decoder(LogReport).decode(known.report)
                return report.at(task.path)
        self._fingerprints[name] = now
        return None

    def keep(self, task: LogTask, report: LogReport) -> None:
        """Keep the report on a log, as it was when its fingerprint was taken."""
        name = self._name_of(task)
        fingerprint = self._fingerprints.get(name)
        if fingerprint is not None and self._logs is not None and report.lasting:
            with suppress(*FAILURES):  # A value that does not fit.
                self._logs[name] = _Known(fingerprint, msgspec.Raw(_ENCODER.encode(report)))

    def save(self, fingerprint: bytes = b"", answer: msgspec.Raw | None = None) -> None:
        """Write what is new: logs, without those that are gone, and the answer on the package, if there is one."""
        if self._state is None or (answer is None and not self._fingerprints):
            return
        logs, record = self._logs, self._record
        if self._fingerprints and logs is not None:
            above = os.fsencode(self._folder) + b"/"
            there = {name: one for name, one in logs.items() if os.path.lexists(above + name)}
            record = msgspec.structs.replace(record, logs=msgspec.Raw(_ENCODER.encode(there)))
        if answer is not None:
            record = msgspec.structs.replace(record, fingerprint=fingerprint, answer=answer)
        self._cache.write("packages", self._name, self._state, record)

    def _name_of(self, task: LogTask) -> bytes:
        file = task.file
        if not file.startswith(f"{self._folder}/"):
            real = os.path.realpath(file)
            # Whether a log is unpacked depends on the name that is asked for.
            file = real if real.endswith(".gz") == file.endswith(".gz") else file
        return os.fsencode(file.removeprefix(f"{self._folder}/"))


def _logs_of(record: _Record) -> dict[bytes, _Known]:
    try:
        return dict(decoder(dict[bytes, _Known]).decode(record.logs))
    except FAILURES:
        return {}


#: What a log costs whatever its size, in bytes that take as long to read.
_COST_OF_A_LOG = 16 << 10
#: A chunk is a part of all there is, so that all processes end together, but never less or more than so many bytes.
_LEAST, _MOST = 1 << 20, 64 << 20
_PARTS = 4
#: Tasks that are begun at a time, for each process: what is done and not yet asked for is memory.
AHEAD = 4


T = TypeVar("T")


class LogReading:
    """Logs that are read: first what the cache knows of them, then :meth:`finish` with the reports on the ``missing``.

    Args:
        tasks: the logs, of any packages.
        cache: None for none.
        record: of the package that all of them lie in; otherwise each is looked for in the cache.
    """

    def __init__(self, tasks: Sequence[LogTask], cache: Cache | None, record: PackageRecord | None = None) -> None:
        self.tasks = tasks
        self._record_of: list[PackageRecord | None] = [record] * len(tasks)
        self._records = {record}
        if cache is not None and record is None:
            self._record_of = list(_records_of(tasks, cache))
            self._records = set(self._record_of)
        pairs = zip(tasks, self._record_of, strict=True)
        self._known = [own.log(task) if own is not None else None for task, own in pairs]
        self.missing = [task for task, answer in zip(tasks, self._known, strict=True) if answer is None]
        self.reused = len(tasks) - len(self.missing)

    def finish(self, found: Iterable[LogReport]) -> list[LogReport]:
        """The reports on all logs, with those on the missing ones."""
        reports, coming = [], iter(found)
        for task, known, record in zip(self.tasks, self._known, self._record_of, strict=True):
            report = next(coming) if known is None else known
            if known is None and record is not None:
                record.keep(task, report)
            reports.append(report)
        return reports

    def save(self, fingerprint: bytes = b"", answer: msgspec.Raw | None = None) -> None:
        """Keep what is new in the cache, and the answer on their package, if there is one."""
        for record in self._records:
            if record is not None:
                record.save(fingerprint, answer)


def _records_of(tasks: Iterable[LogTask], cache: Cache) -> Iterator[PackageRecord]:
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
            records[key] = PackageRecord(cache, key[0], task)
        yield records[key]


def read_logs(tasks: Sequence[LogTask], settings: Settings) -> list[LogReport]:
    """The reports on logs, in their order."""
    reading = LogReading(tasks, settings.cache)
    sizes = [size_of(task.file) for task in reading.missing]
    found: list[LogReport] = []
    with open_pool(settings.executor, settings.jobs, sum(sizes)) as pool:
        for chunk in run_in(pool, judge_all, cut(reading.missing, sizes, most_in_one(sum(sizes), pool))):
            found += chunk
            if settings.progress is not None:
                settings.progress(reading.reused + len(found), len(tasks))
    if settings.cache is not None:
        settings.cache.asked["logs"] += len(tasks)
        settings.cache.reused["logs"] += reading.reused
    reports = reading.finish(found)
    reading.save()
    return reports


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


def judge_all(tasks: Sequence[LogTask]) -> list[LogReport]:
    """The reports on some logs."""
    return list(map(judge_safely, tasks))


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
