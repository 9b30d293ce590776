"""One schedule for all that is checked: packages by size, large ones cut into chunks of logs, answers in order."""

from __future__ import annotations

from collections.abc import Generator, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

import msgspec

from mlsub.submission.model import LogReport
from mlsub.workspace.cache import Cache
from mlsub.workspace.logs import (
    Checked,
    Job,
    PackageRecord,
    StoredRecord,
    cut,
    known_answer,
    most_in_one,
    size_of,
)
from mlsub.workspace.places import Context, Progress

if TYPE_CHECKING:
    from concurrent.futures import Future

    from mlsub.workspace.executors import Pool


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
    # Futures, and what judges, take longer to import than a small package to recall.
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
        stored = StoredRecord(cache, job.package.root, job)
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
        from mlsub.workspace.reading import JobReading, judge, judge_logs

        job, answer = self.job, self.answer
        if answer is not None:
            return LazyFuture(lambda: answer)
        if job.package is not None and self._cache is not None:
            self._stored = self._stored or StoredRecord(self._cache, job.package.root, job)
            job = msgspec.structs.replace(job, record=self._stored.record)
        # Logs that are links may be known by the record of another package, which the worker cannot read.
        if job.package is not None and job.tree.size <= most and not job.tree.linked:
            whole = pool.executor.submit(judge, job)
            return LazyFuture(lambda: self._end(*whole.result(), progress))
        try:
            reading = JobReading(job, self._cache)
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
