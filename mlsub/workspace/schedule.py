"""One schedule for all that is checked: packages by size, large ones cut into chunks of logs, answers in order."""

from __future__ import annotations

import os
from collections.abc import Generator, Iterable, Iterator, Sequence
from itertools import chain
from typing import TYPE_CHECKING, Any

import msgspec

from mlsub.findings import Effect, Finding
from mlsub.io.data import to_pickle
from mlsub.judge.package import judge_package, list_package, logs_of
from mlsub.review.cross import Fingerprint, fingerprint_logs
from mlsub.rules.catalogue import has_effect, isolated
from mlsub.submission.model import LogReport, Package
from mlsub.submission.report import Report
from mlsub.workspace.cache import Cache, encode_lossless
from mlsub.workspace.logs import (
    Job,
    KnownLogs,
    PackageRecord,
    StoredRecord,
    cut,
    judge_logs,
    known_answer,
    most_in_one,
    record_folder,
    size_of,
    stored_records,
)
from mlsub.workspace.places import Context, Progress

if TYPE_CHECKING:
    from concurrent.futures import Future

    from mlsub.submission.result import Result
    from mlsub.workspace.executors import Pool


class Checked(msgspec.Struct, frozen=True):
    """The answer on a job, or on all of a round together.

    ``reports`` has one report; none for single logs, whose ``logs`` are always there, those of a package if wanted.
    ``fingerprints`` are those of the logs; ``crashed`` says why there are none. ``reused`` counts the logs that the
    cache knew; ``overlay`` is the user's own rule file that all was judged by. ``code`` has the
    files of each organisation's code, by its name, where that was looked at and the logs are kept.
    """

    reports: tuple[Report, ...] = ()
    fingerprints: tuple[Fingerprint, ...] = ()
    crashed: tuple[Finding, ...] = ()
    logs: tuple[LogReport, ...] = ()
    reused: int = 0
    overlay: str | None = None
    code: dict[str, tuple[str, ...]] = {}

    @property
    def report(self) -> Report:
        """The report on a package or a round."""
        [report] = self.reports
        return report

    @property
    def results(self) -> tuple[Result, ...]:
        """The results of the entries, with their logs."""
        from mlsub.submission.result import results_of

        return results_of(self.report, self.logs, self.overlay)

    def at(self, above: str) -> Checked:
        """Return the report and its logs with paths relative to a folder above its root."""
        report = self.report.at(above)
        return msgspec.structs.replace(
            self, reports=(report,), logs=tuple(log.at(self.report.path_below(above, log.path)) for log in self.logs)
        )

    @property
    def cacheable(self) -> bool:
        """Whether it rests on the files alone, and not on an error of the moment."""
        return not any(
            has_effect(finding, Effect.TRANSIENT)
            for finding in chain(self.crashed, *(report.findings for report in self.reports))
        )

    def __reduce__(self) -> str | tuple[Any, ...]:
        return to_pickle(self) or super().__reduce__()


class _Reading:
    """A job under way: ``missing`` are the logs to be read; :meth:`finish` takes the reports on them.

    Args:
        job: what is read.
        cache: for logs of other packages, or of none; without it nothing is known of these.

    Raises:
        OSError: the package cannot be listed, or checked.
    """

    def __init__(self, job: Job, cache: Cache | None = None) -> None:
        self._job = job
        self._package: Package | None = None
        self._files = job.logs
        if job.package is not None:
            self._package = list_package(job.package, job.root, job.round)
            self._files = logs_of(self._package)
        self._of_package: KnownLogs | None = None
        self._stored: list[StoredRecord] = []
        #: What is known of the package that each log lies in.
        self._known: Sequence[KnownLogs | None] = [None] * len(self._files)
        # Of a tree of links too, such as one that is packed, what is known of a log lies where it really is.
        if self._files and (job.package is None or os.path.islink(self._files[0])):  # noqa: PTH114
            if cache is not None:
                self._stored = stored_records(job, self._files, cache)
                self._known = [stored.logs for stored in self._stored]
        elif job.package is not None and job.record is not None:
            self._of_package = KnownLogs(record_folder(job.package), job.record)
            self._known = [self._of_package] * len(self._files)
        pairs = zip(self._files, self._known, strict=True)
        self._found = [of.find(file, job.path_of(file)) if of is not None else None for file, of in pairs]
        self.missing = [file for file, report in zip(self._files, self._found, strict=True) if report is None]

    def finish(self, read: Iterable[LogReport]) -> tuple[Checked, PackageRecord | None]:
        """The answer, and the record of the package where something is new in it."""
        job, package, logs = self._job, self._package, tuple(self._with_known(read))
        for stored in dict.fromkeys(self._stored):
            stored.replace(stored.logs.renewed() if stored.logs is not None else None)
        reports: tuple[Report, ...] = ()
        copies: frozenset[str] = frozenset()
        if package is not None:
            by_path = {log.path: log for log in logs}
            report, copies = judge_package(package, job.root, by_path, job.round, job.request.convergence)
            reports = (report,)
        none: tuple[Fingerprint, ...] = ()
        fingerprints, crashed = isolated("entry.same-log-twice", ".", lambda: fingerprint_logs(logs, copies), none)
        checked, record = Checked(reports, fingerprints, crashed), None
        if self._of_package is not None:
            fingerprint = job.fingerprint() if checked.cacheable else None
            answer = encode_lossless(checked) if fingerprint is not None else None
            record = self._of_package.renewed(fingerprint or b"", answer)
        kept = logs if job.keep or package is None else ()
        code = {package.name: package.file_tree.code} if job.keep and package and package.file_tree else {}
        reused = len(self._files) - len(self.missing)
        return msgspec.structs.replace(checked, logs=kept, reused=reused, code=code), record

    def _with_known(self, read: Iterable[LogReport]) -> Iterator[LogReport]:
        """The reports on all logs: known ones, and those that were read, which are known from now on."""
        coming = iter(read)
        for file, found, known in zip(self._files, self._found, self._known, strict=True):
            report = next(coming) if found is None else found
            if found is None and known is not None:
                known.add(file, report)
            yield report


def judge(job: Job) -> tuple[Checked, PackageRecord | None]:
    """Read and judge a package in a worker; return the answer, and the package's record where something is new in it.

    Raises:
        OSError: its files cannot be looked at.
    """
    reading = _Reading(job)
    return reading.finish(judge_logs(job, reading.missing))


def read_logs(jobs: Sequence[Job], context: Context) -> list[tuple[LogReport, ...]]:
    """The reports on the single logs of each job, in their order."""
    return [answer.logs for answer in run(jobs, context) if isinstance(answer, Checked)]


def run(jobs: Sequence[Job], context: Context) -> Generator[Checked | OSError, None, None]:
    """The answer on each job in their order, each as soon as it and those before it are ready.

    An answer is an error where the files cannot be looked at.

    Raises:
        MlsubError: it cannot be done where the context says.
    """
    tasks = [_Task(job, context.cache) for job in jobs]
    left = [task.job.tree for task in tasks if task.answer is None]
    if not left and context.executor is None:  # One that does not exist is refused whatever is known.
        yield from (task.answer for task in tasks if task.answer is not None)
        return
    # Futures take longer to import than a small package to recall.
    from mlsub.workspace.executors import in_order, open_pool

    size, progress = sum(tree.size for tree in left), _Progress(context.progress, sum(tree.logs for tree in left))
    with open_pool(context, size) as pool:
        most = most_in_one(size, pool.processes)
        for future in in_order((task.begin(pool, most, progress) for task in tasks), pool.most_begun):
            answer: Checked | OSError
            try:
                answer = future.result()
            except OSError as error:
                answer = error
            yield answer


class _Task:
    """A job in this process: the answer on it where the cache has that, and else the future of one."""

    def __init__(self, job: Job, cache: Cache | None) -> None:
        self.job, self._cache = job, cache
        self._stored: StoredRecord | None = None
        self.answer: Checked | None = None
        # The logs are not part of what is kept.
        fingerprint = job.fingerprint() if cache is not None and not job.keep else None
        if cache is None or job.package is None or fingerprint is None:
            return
        stored = StoredRecord(cache, record_folder(job.package), job)
        if stored.record is not None:
            self.answer = known_answer(stored.record, fingerprint, Checked)
            cache.asked["packages"] += 1
            cache.reused["packages"] += self.answer is not None
        if self.answer is None:
            self._stored = stored

    def begin(self, pool: Pool, most: int, progress: _Progress) -> Future[Checked]:
        """Begin to read, and return the future of the answer, which is kept in the cache."""
        from concurrent.futures import Future

        from mlsub.workspace.executors import LazyFuture

        job, answer = self.job, self.answer
        if answer is not None:
            return LazyFuture(lambda: answer)
        if job.package is not None and self._cache is not None:
            self._stored = self._stored or StoredRecord(self._cache, record_folder(job.package), job)
            job = msgspec.structs.replace(job, record=self._stored.record)
        # Logs that are links may be known by the record of another package, which the worker cannot read.
        if job.package is not None and job.tree.size <= most and not job.tree.linked:
            whole = pool.executor.submit(judge, job)
            return LazyFuture(lambda: self._end(*whole.result(), progress))
        try:
            reading = _Reading(job, self._cache)
        except OSError as error:
            failed = Future[Checked]()
            failed.set_exception(error)
            return failed
        # What a worker needs to know of the job to read some of its logs.
        brief = msgspec.structs.replace(job, package=None, logs=(), record=None)
        chunks = cut(reading.missing, list(map(size_of, reading.missing)), most)
        futures = [pool.executor.submit(judge_logs, brief, chunk) for chunk in chunks]
        return LazyFuture(lambda: self._end(*reading.finish(progress.counted(futures)), progress))

    def _end(self, checked: Checked, record: PackageRecord | None, progress: _Progress) -> Checked:
        """Keep a record, and count what was read; return the answer."""
        if self._stored is not None:
            self._stored.replace(record)
        if self._cache is not None:
            self._cache.asked["logs"] += sum(len(one.logs) for one in (checked.reports or (checked,)))
            self._cache.reused["logs"] += checked.reused
        progress.end(self.job.tree.logs)
        return checked


class _Progress:
    """How many logs are done, of how many; a package counts as many as its tree has, whatever is read of them."""

    def __init__(self, show: Progress | None, total: int) -> None:
        self._show, self._total = show, total
        self._done = self._ended = 0

    def counted(self, chunks: Iterable[Future[list[LogReport]]]) -> Iterator[LogReport]:
        """The reports of chunks, each of which is counted."""
        for chunk in chunks:
            reports = chunk.result()
            self.add(len(reports))
            yield from reports

    def add(self, logs: int) -> None:
        """Count logs that are read."""
        self._done = min(self._done + logs, self._total)
        if self._show is not None:
            self._show(self._done, self._total)

    def end(self, logs: int) -> None:
        """Count a package with so many logs as done."""
        self._ended += logs
        self.add(max(self._ended - self._done, 0))
