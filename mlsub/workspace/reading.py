"""The reading of a job: logs that are known, those that are read and judged, and the answer on all of them."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence

import msgspec

from mlsub.judge.log import judge_log
from mlsub.judge.package import judge_package, list_package
from mlsub.log.run import RunFold
from mlsub.review.fingerprints import Fingerprint, fingerprint_logs
from mlsub.rules.catalogue import finding, isolated
from mlsub.submission.model import LogReport, Package
from mlsub.submission.report import Report
from mlsub.workspace.cache import Cache, encode_lossless
from mlsub.workspace.logs import Checked, Job, KnownLogs, PackageRecord, StoredRecord, stored_records


class JobReading:
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
            self._files = tuple(str(file) for entry in self._package.entries for file in entry.results)
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
            self._of_package = KnownLogs(job.package.root, job.record)
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
    reading = JobReading(job)
    return reading.finish(judge_logs(job, reading.missing))


def judge_logs(job: Job, files: Iterable[str]) -> list[LogReport]:
    """The reports on some logs of a job; a defect of ours becomes a finding, never a traceback and never a pass."""
    request, reports = job.request, []
    for file in files:
        path = job.path_of(file)
        try:
            reports.append(judge_log(file, path, job.round, trace=request.trace, intervals=request.intervals))
        except Exception as error:
            reports.append(crashed(path, f"{type(error).__name__}: {error}"[:200]))
    return reports


def crashed(path: str, problem: str) -> LogReport:
    """The report on a log that a rule of ours failed on: never compliant."""
    message = "A rule failed to run, so the log cannot be accepted"
    return LogReport(
        path=path,
        compliant=False,
        undecodable=True,
        benchmark=None,
        division=None,
        status=None,
        minutes=None,
        run=RunFold().finish(),
        findings=(finding("rule.crashed", path, message, actual=problem),),
    )
