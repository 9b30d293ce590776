"""One schedule for all that is checked: packages by size, large ones cut into chunks of logs, answers in order."""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from contextlib import suppress
from functools import partial
from itertools import chain
from typing import TYPE_CHECKING, Any

import msgspec

from mlsub.findings import Finding
from mlsub.io.data import reduced
from mlsub.judge.package import judge_package, list_package, logs_of
from mlsub.review.cross import Print, prints_of
from mlsub.rules.catalogue import isolated
from mlsub.submission.model import LogReport, Package
from mlsub.submission.report import Report
from mlsub.workspace.cache import exactly
from mlsub.workspace.executors import AHEAD, Pool, open_pool
from mlsub.workspace.logs import Job, LogReading, cut, judge_logs, most_in_one, size_of
from mlsub.workspace.places import Progress, Settings

if TYPE_CHECKING:
    from mlsub.submission.result import Result


class Checked(msgspec.Struct, frozen=True):
    """The answer on a job, or on all of a round together.

    ``reports`` has one report; none for single logs, whose ``logs`` are always there, those of a package if wanted.
    ``prints`` are fingerprints of the logs; ``crashed`` says why there are none. ``reused`` counts the logs that the
    cache knew; ``overlay`` is the user's own rule file that all was judged by. ``code`` has the
    files of each organisation's code, by its name, where that was looked at and the logs are kept.
    """

    reports: tuple[Report, ...] = ()
    prints: tuple[Print, ...] = ()
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
    def lasting(self) -> bool:
        """Whether it rests on the files alone, and not on an error of the moment."""
        return not any(
            finding.transient for finding in chain(self.crashed, *(report.findings for report in self.reports))
        )

    def __reduce__(self) -> str | tuple[Any, ...]:
        return reduced(self) or super().__reduce__()


class _Reading:
    """A job under way: it is finished with the reports on the logs that the cache lacks.

    Raises:
        OSError: the package cannot be listed, or checked.
    """

    def __init__(self, job: Job) -> None:
        self._job = job
        self._package: Package | None = None
        files = job.logs
        if job.package is not None:
            self._package = list_package(job.package, job.root, job.round)
            files = logs_of(self._package)
        linked = bool(files) and os.path.islink(files[0])  # noqa: PTH114
        #: None for a tree of links too, such as one that is packed: what is known of a log lies where it really is.
        self._record = job.record() if not linked else None
        self.logs = LogReading(job, files, self._record)

    def finish(self, found: Iterable[LogReport]) -> Checked:
        """The answer, which is kept in the cache."""
        job, logs = self._job, tuple(self.logs.finish(found))
        reports: tuple[Report, ...] = ()
        if self._package is not None:
            by_path = {log.path: log for log in logs}
            reports = (judge_package(self._package, job.root, by_path, job.round, job.settings.convergence),)
        none: tuple[Print, ...] = ()
        prints, crashed = isolated("entry.same-log-twice", ".", lambda: prints_of(logs), none)
        checked = Checked(reports, prints, crashed)
        fingerprint = job.fingerprint() if self._record is not None and checked.lasting else None
        self.logs.save(fingerprint or b"", exactly(checked) if fingerprint is not None else None)
        package = self._package
        kept = logs if job.keep or package is None else ()
        code = {package.name: package.listing.code} if job.keep and package and package.listing else {}
        return msgspec.structs.replace(checked, logs=kept, reused=self.logs.reused, code=code)


def judge(job: Job, progress: Callable[[int], None] = lambda _: None) -> Checked:
    """Read and judge a package, or single logs, in this process.

    Raises:
        OSError: its files cannot be looked at.
    """
    reading = _Reading(job)
    return reading.finish(_counted((judge_logs(job, [file]) for file in reading.logs.missing), progress))


def read_logs(jobs: Sequence[Job], settings: Settings) -> list[tuple[LogReport, ...]]:
    """The reports on the single logs of each job, in their order."""
    return [answer.logs for answer in run(jobs, settings) if isinstance(answer, Checked)]


def run(jobs: Sequence[Job], settings: Settings) -> Generator[Checked | OSError, None, None]:
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
        begun = deque[Callable[[], Checked | OSError]]()
        for job, answer in zip(jobs, known, strict=True):
            begun.append(partial(_end, job, answer or _begin(job, pool, most, progress), progress))
            if len(begun) >= ahead:
                yield begun.popleft()()
        while begun:
            yield begun.popleft()()


def _recall(job: Job) -> Checked | None:
    """What the cache knows of a package that has not changed; without the logs, which are not part of it."""
    cache, fingerprint = job.settings.cache, job.fingerprint() if not job.keep else None
    record = job.record() if fingerprint is not None else None
    if cache is None or record is None or fingerprint is None:
        return None
    answer = record.answer(fingerprint, Checked)
    cache.asked["packages"] += 1
    cache.reused["packages"] += answer is not None
    return answer


def _begin(job: Job, pool: Pool | None, most: int, progress: _Progress) -> Callable[[], Checked]:
    """Begin a job; what this returns waits for the answer."""
    if pool is None:
        return partial(judge, job, progress.add)
    if job.tree.size > most or job.package is None:
        with suppress(OSError):  # What cannot be listed is an error of a worker too.
            reading, alone = _Reading(job), msgspec.structs.replace(job, logs=())
            chunks = cut(reading.logs.missing, list(map(size_of, reading.logs.missing)), most)
            futures = [pool.executor.submit(judge_logs, alone, chunk) for chunk in chunks]
            return lambda: reading.finish(_counted((future.result() for future in futures), progress.add))
    return pool.executor.submit(judge, job).result


def _end(job: Job, begun: Checked | Callable[[], Checked], progress: _Progress) -> Checked | OSError:
    """The answer on a job, which the cache knew or which it waits for, and what became of its logs."""
    if isinstance(begun, Checked):
        return begun
    try:
        checked = begun()
    except OSError as error:
        return error
    progress.end(job.tree.logs)
    if job.settings.cache is not None:
        job.settings.cache.asked["logs"] += sum(len(one.logs) for one in (checked.reports or (checked,)))
        job.settings.cache.reused["logs"] += checked.reused
    return checked


def _counted(chunks: Iterable[list[LogReport]], progress: Callable[[int], None]) -> Iterator[LogReport]:
    """The reports of chunks, each of which is counted."""
    for chunk in chunks:
        progress(len(chunk))
        yield from chunk


class _Progress:
    """How many logs are done, of how many; a package counts as many as its tree has, whatever is read of them."""

    def __init__(self, show: Progress | None, total: int) -> None:
        self._show, self._total = show, total
        self._done = self._ended = 0

    def add(self, logs: int) -> None:
        """Count logs that are read."""
        self._done = min(self._done + logs, self._total)
        if self._show is not None:
            self._show(self._done, self._total)

    def end(self, logs: int) -> None:
        """Count a package with so many logs as done."""
        self._ended += logs
        self.add(max(self._ended - self._done, 0))
