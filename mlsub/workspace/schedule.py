"""One schedule for all that is checked: packages by size, large ones cut into chunks of logs, answers in order."""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from contextlib import suppress
from functools import partial
from itertools import chain
from pathlib import Path
from typing import Any

import msgspec

from mlsub.divisions import DIVISIONS
from mlsub.findings import Finding
from mlsub.io.data import reduced
from mlsub.judge.log import LogTask
from mlsub.judge.package import judge_package, list_package, single_log, tasks_of
from mlsub.log.report import LogReport
from mlsub.review.cross import Print, prints_of
from mlsub.rounds import get_round
from mlsub.rules.catalogue import isolated
from mlsub.submission.find import Place, Target
from mlsub.submission.model import Package
from mlsub.submission.report import Report
from mlsub.workspace.cache import Tree, content_digest, digest_of, exactly, scan_tree
from mlsub.workspace.executors import Pool, open_pool
from mlsub.workspace.logs import AHEAD, LogReading, PackageRecord, cut, judge_all, judge_safely, most_in_one, size_of
from mlsub.workspace.places import Progress, Settings


class Job(msgspec.Struct, frozen=True):
    """A package, or the single logs of a round, and how they are judged; ``keep`` asks for what was read of the logs.

    ``root`` is the folder that paths are relative to; ``tree`` is what lay in the package before anything was read.
    """

    source: Place | tuple[LogTask, ...]
    root: Path
    usage: str
    round: str
    settings: Settings
    keep: bool
    tree: Tree

    def record(self) -> PackageRecord | None:
        """The record of the package in the cache; None without one, and for single logs, which may be of several."""
        cache, source, rules = self.settings.cache, self.source, (self.usage, self.round, self.settings.overlay)
        if cache is None or not isinstance(source, Place):
            return None
        task = LogTask("", "", *rules, self.settings.trace, self.settings.intervals)
        return PackageRecord(cache, source.organisation or source.path, task)

    def fingerprint(self) -> bytes | None:
        """The digest of all that the answer on a package rests on; None where that is more than is known."""
        if self.tree.fingerprint is None or not isinstance(self.source, Place) or not stands_alone(self.source):
            return None
        options = self.settings.convergence
        try:
            return digest_of(self.tree.fingerprint, self.source, self.root, options, content_digest(options.reference))
        except OSError:
            return None


def package_job(package: Place, root: Path, usage: str, round_: str, settings: Settings, *, keep: bool) -> Job:
    """The job of a package."""
    return Job(package, root, usage, round_, sendable(settings), keep, scan_tree(package.path))


def logs_job(logs: Iterable[Path], root: Path, usage: str, round_: str, settings: Settings, *, keep: bool) -> Job:
    """The job of single logs."""
    paths = [(str(log), log.relative_to(root).as_posix()) for log in logs]
    tasks = tuple(LogTask(*path, usage, round_, settings.overlay, settings.trace, settings.intervals) for path in paths)
    tree = Tree(None, sum(size_of(task.file) for task in tasks), len(tasks))
    return Job(tasks, root, usage, round_, sendable(settings), keep, tree)


def sendable(settings: Settings) -> Settings:
    """Settings that can be sent to another process."""
    return msgspec.structs.replace(settings, progress=None)


def stands_alone(package: Place) -> bool:
    """Whether what is said of a package depends on no file beside those below its folder."""
    folder = package.path
    if package.listed:
        # The remedy of one that lies too deep depends on what lies around it.
        return not package.deep
    # What lies beside one in a folder of its name, or in one of a division, is said of it too.
    inside = folder.parent.name.lower() in {folder.name.lower(), *DIVISIONS}
    return package.target is Target.ORGANISATION and package.organisation == folder and not inside


class Judged(msgspec.Struct, frozen=True):
    """What a package, or the single logs of a round, add to a report.

    ``prints`` are fingerprints of the logs; ``crashed`` says why there are none. ``logs`` are there if wanted;
    ``reused`` counts those that the cache knew.
    """

    parts: tuple[Report, ...]
    prints: tuple[Print, ...]
    crashed: tuple[Finding, ...]
    logs: tuple[LogReport, ...] = ()
    reused: int = 0

    @property
    def lasting(self) -> bool:
        """Whether it rests on the files alone, and not on an error of the moment."""
        return not any(finding.transient for finding in chain(self.crashed, *(part.findings for part in self.parts)))

    def __reduce__(self) -> str | tuple[Any, ...]:
        return reduced(self) or super().__reduce__()


class _Reading:
    """A package, or single logs, under way: it is finished with the reports on the logs that the cache lacks.

    Raises:
        OSError: the package cannot be listed, or judged.
    """

    def __init__(self, job: Job) -> None:
        self._job = job
        self._round = get_round(job.usage, job.round, job.settings.overlay)
        self._package: Package | None = None
        tasks = job.source
        if isinstance(tasks, Place):
            self._package = list_package(tasks, job.root, self._round)
            tasks = tasks_of(self._package, self._round, trace=job.settings.trace, intervals=job.settings.intervals)
        linked = bool(tasks) and os.path.islink(tasks[0].file)  # noqa: PTH114
        #: None for a tree of links too, such as one that is packed: what is known of a log lies where it really is.
        self._record = job.record() if not linked else None
        self.logs = LogReading(tasks, job.settings.cache, self._record)

    def finish(self, found: Iterable[LogReport]) -> Judged:
        """The answer, which is kept in the cache."""
        job = self._job
        logs = self.logs.finish(found)
        if self._package is not None:
            reports = {log.path: log for log in logs}
            options = job.settings.convergence
            parts: tuple[Report, ...] = (judge_package(self._package, job.root, reports, self._round, options),)
        else:
            read = zip(self.logs.tasks, logs, strict=True)
            parts = tuple(single_log(Path(task.file), job.root, log, self._round) for task, log in read)
        none: tuple[Print, ...] = ()
        prints, crashed = isolated("entry.same-log-twice", ".", lambda: prints_of(logs), none)
        judged = Judged(parts, prints, crashed)
        fingerprint = job.fingerprint() if self._record is not None and judged.lasting else None
        self.logs.save(fingerprint or b"", exactly(judged) if fingerprint is not None else None)
        return msgspec.structs.replace(judged, logs=tuple(logs) if job.keep else (), reused=self.logs.reused)


def judge(job: Job, progress: Callable[[int], None] = lambda _: None) -> Judged:
    """Read and judge a package, or single logs, in this process.

    Raises:
        OSError: its files cannot be looked at.
    """
    reading = _Reading(job)
    return reading.finish(_counted(([judge_safely(task)] for task in reading.logs.missing), progress))


def run(jobs: Sequence[Job], settings: Settings) -> Generator[Judged | OSError, None, None]:
    """The answer on each job in their order, each as soon as it and those before it are ready.

    An answer is an error where the files cannot be looked at.

    Raises:
        MlsubError: it cannot be done where the settings ask for it.
    """
    known = [_recall(job) for job in jobs]
    left = [job.tree for job, answer in zip(jobs, known, strict=True) if answer is None]
    progress = _Progress(settings.progress, sum(tree.logs for tree in left))
    size = sum(tree.size for tree in left)
    with open_pool(settings.executor, settings.jobs, size) as pool:
        most, ahead = most_in_one(size, pool), AHEAD * pool.processes if pool is not None else 1
        begun = deque[Callable[[], Judged | OSError]]()
        for job, answer in zip(jobs, known, strict=True):
            if answer is not None:
                begun.append(partial(_same, answer))
            else:
                begun.append(partial(_end, job, _begin(job, pool, most, progress), progress))
            if len(begun) >= ahead:
                yield begun.popleft()()
        while begun:
            yield begun.popleft()()


def _recall(job: Job) -> Judged | None:
    """What the cache knows of a package that has not changed; without the logs, which are not part of it."""
    cache, fingerprint = job.settings.cache, job.fingerprint() if not job.keep else None
    record = job.record() if fingerprint is not None else None
    if cache is None or record is None or fingerprint is None:
        return None
    answer = record.answer(fingerprint, Judged)
    cache.asked["packages"] += 1
    cache.reused["packages"] += answer is not None
    return answer


def _begin(job: Job, pool: Pool | None, most: int, progress: _Progress) -> Callable[[], Judged]:
    """Begin a job; what this returns waits for the answer."""
    if pool is None:
        return partial(judge, job, progress.add)
    if job.tree.size > most or not isinstance(job.source, Place):
        with suppress(OSError):  # What cannot be listed is an error of a worker too.
            reading = _Reading(job)
            sizes = [size_of(task.file) for task in reading.logs.missing]
            chunks = cut(reading.logs.missing, sizes, most)
            futures = [pool.executor.submit(judge_all, chunk) for chunk in chunks]
            return lambda: reading.finish(_counted((future.result() for future in futures), progress.add))
    return pool.executor.submit(judge, job).result


def _end(job: Job, finish: Callable[[], Judged], progress: _Progress) -> Judged | OSError:
    """The answer on a job, and what became of its logs."""
    try:
        judged = finish()
    except OSError as error:
        return error
    progress.end(job.tree.logs)
    if job.settings.cache is not None:
        job.settings.cache.asked["logs"] += sum(len(part.logs) for part in judged.parts)
        job.settings.cache.reused["logs"] += judged.reused
    return judged


def _same(answer: Judged) -> Judged:
    return answer


def _counted(chunks: Iterable[list[LogReport]], progress: Callable[[int], None]) -> Iterator[LogReport]:
    """The reports of chunks, each of which is counted."""
    for chunk in chunks:
        progress(len(chunk))
        yield from chunk


class _Progress:
    """How many logs are done, of how many; a package counts as many as its tree has, whatever is read of them."""

    def __init__(self, told: Progress | None, total: int) -> None:
        self._told, self._total = told, total
        self._done = self._ended = 0

    def add(self, logs: int) -> None:
        """Count logs that are read."""
        self._done = min(self._done + logs, self._total)
        if self._told is not None:
            self._told(self._done, self._total)

    def end(self, logs: int) -> None:
        """Count a package with so many logs as done."""
        self._ended += logs
        self.add(max(self._ended - self._done, 0))
