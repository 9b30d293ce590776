"""Jobs, and the reading of their logs: what the cache has of them, by package, and which are left to read."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import TypeVar

import msgspec

from mlsub.divisions import DIVISIONS
from mlsub.judge.log import judge_log
from mlsub.log.run import RunFold
from mlsub.rounds import Round
from mlsub.rules.catalogue import finding
from mlsub.submission.find import Place, Target, below, locate
from mlsub.submission.model import LogReport
from mlsub.workspace.cache import (
    FAILURES,
    Cache,
    Tree,
    content_digest,
    decoder,
    digest_of,
    file_fingerprint,
    record_name,
    scan_tree,
)
from mlsub.workspace.executors import Pool
from mlsub.workspace.places import Settings

T = TypeVar("T")
_ENCODER = msgspec.msgpack.Encoder()


class Job(msgspec.Struct, frozen=True, kw_only=True):
    """A package, or single ``logs``, to be read, and by which rules: what the schedule orders and sends.

    ``root`` is the folder that paths are relative to; ``tree`` is what lay there before anything was read; ``keep``
    asks for what was read of the logs of a package.
    """

    root: Path
    round: Round
    settings: Settings
    tree: Tree
    package: Place | None = None
    logs: tuple[str, ...] = ()
    keep: bool = False

    def path_of(self, log: str) -> str:
        """What the report calls a log."""
        return below(self.root, Path(log))

    def record(self) -> PackageRecord | None:
        """The record of the package in the cache; None without one, and for single logs, which may be of several."""
        package, cache = self.package, self.settings.cache
        if cache is None or package is None:
            return None
        return PackageRecord(cache, package.organisation or package.path, self)

    def fingerprint(self) -> bytes | None:
        """The digest of all that the answer on a package rests on; None where that is more than is known."""
        if self.tree.fingerprint is None or self.package is None or not stands_alone(self.package):
            return None
        options = self.settings.convergence
        try:
            return digest_of(self.tree.fingerprint, self.package, self.root, options, content_digest(options.reference))
        except OSError:
            return None


def package_job(package: Place, root: Path, round_: Round, settings: Settings, *, keep: bool) -> Job:
    """The job of a package."""
    settings, tree = msgspec.structs.replace(settings, progress=None), scan_tree(package.path)
    return Job(root=root, round=round_, settings=settings, tree=tree, package=package, keep=keep)


def logs_job(logs: Iterable[str | Path], root: Path, round_: Round, settings: Settings) -> Job:
    """The job of single logs."""
    files = tuple(map(str, logs))
    settings, tree = msgspec.structs.replace(settings, progress=None), Tree(None, sum(map(size_of, files)), len(files))
    return Job(root=root, round=round_, settings=settings, tree=tree, logs=files)


def stands_alone(package: Place) -> bool:
    """Whether what is said of a package depends on no file beside those below its folder."""
    folder = package.path
    if package.listed:
        # The remedy of one that lies too deep depends on what lies around it.
        return not package.deep
    # What lies beside one in a folder of its name, or in one of a division, is said of it too.
    inside = folder.parent.name.lower() in {folder.name.lower(), *DIVISIONS}
    return package.target is Target.ORGANISATION and package.organisation == folder and not inside


class _Known(msgspec.Struct, frozen=True, array_like=True):
    """A log of a record: its fingerprint, and the report on it."""

    fingerprint: bytes
    report: msgspec.Raw


class _Record(msgspec.Struct, frozen=True, array_like=True):
    """What is kept of a package: the answer on all of it by its own fingerprint, and its logs by their names."""

    fingerprint: bytes = b""
    answer: msgspec.Raw = msgspec.Raw(b"\xc0")
    logs: dict[bytes, _Known] = {}


class PackageRecord:
    """The record of a package in the cache.

    Args:
        cache: where it lies.
        folder: of the package, or of logs that lie in none.
        job: says by which rules its logs are judged, and what is wanted besides the verdict.
    """

    def __init__(self, cache: Cache, folder: Path, job: Job) -> None:
        self._cache = cache
        settings = job.settings
        wanted = settings.overlay, settings.trace, settings.intervals
        self._name = record_name(str(folder), "LogReport", job.round.usage, job.round.name, *wanted)
        try:
            self._state: bytes | None = content_digest(settings.overlay)
        except OSError:
            self._state = None
        self._folder = str(folder)
        self._record = _Record()
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

    def log(self, file: str, path: str) -> LogReport | None:
        """The report on a log that has not changed, as ``path``; else its fingerprint is taken, for :meth:`keep`."""
        name, now = self._name_of(file), file_fingerprint(file)
        if now is None:
            return None
        known = self._record.logs.get(name)
        if known is not None and known.fingerprint == now:
            with suppress(*FAILURES):
                report: LogReport = decoder(LogReport).decode(known.report)
                return report.at(path)
        self._fingerprints[name] = now
        return None

    def keep(self, file: str, report: LogReport) -> None:
        """Keep the report on a log, as it was when its fingerprint was taken."""
        name = self._name_of(file)
        fingerprint = self._fingerprints.get(name)
        if fingerprint is not None and report.lasting:
            with suppress(*FAILURES):  # A value that does not fit.
                self._record.logs[name] = _Known(fingerprint, msgspec.Raw(_ENCODER.encode(report)))

    def save(self, fingerprint: bytes = b"", answer: msgspec.Raw | None = None) -> None:
        """Write what is new: logs, without those that are gone, and the answer on the package, if there is one."""
        if self._state is None or (answer is None and not self._fingerprints):
            return
        record = self._record
        if self._fingerprints:
            above = os.fsencode(self._folder) + b"/"
            there = {name: one for name, one in record.logs.items() if os.path.lexists(above + name)}
            record = msgspec.structs.replace(record, logs=there)
        if answer is not None:
            record = msgspec.structs.replace(record, fingerprint=fingerprint, answer=answer)
        self._cache.write("packages", self._name, self._state, record)

    def _name_of(self, file: str) -> bytes:
        if not file.startswith(f"{self._folder}/"):
            real = os.path.realpath(file)
            # Whether a log is unpacked depends on the name that is asked for.
            file = real if real.endswith(".gz") == file.endswith(".gz") else file
        return os.fsencode(file.removeprefix(f"{self._folder}/"))


#: What a log costs whatever its size, in bytes that take as long to read.
_COST_OF_A_LOG = 16 << 10
#: A chunk is a part of all there is, so that all processes end together, but never less or more than so many bytes.
_LEAST, _MOST = 1 << 20, 64 << 20
_PARTS = 4


class LogReading:
    """Logs of a job: first what the cache knows of them, then :meth:`finish` with the reports on the ``missing``.

    Args:
        job: how they are judged.
        files: the logs, of any packages.
        record: of the package that all of them lie in; without one each is looked for in the cache.
    """

    def __init__(self, job: Job, files: Sequence[str], record: PackageRecord | None = None) -> None:
        self.files, cache = files, job.settings.cache
        self._record_of: list[PackageRecord | None] = [record] * len(files)
        if cache is not None and record is None:
            self._record_of = list(_records_of(job, files, cache))
        pairs = zip(files, self._record_of, strict=True)
        self._known = [own.log(file, job.path_of(file)) if own is not None else None for file, own in pairs]
        self.missing = [file for file, answer in zip(files, self._known, strict=True) if answer is None]

    @property
    def reused(self) -> int:
        """How many the cache knew."""
        return len(self.files) - len(self.missing)

    def finish(self, found: Iterable[LogReport]) -> list[LogReport]:
        """The reports on all logs, with those on the missing ones."""
        reports, coming = [], iter(found)
        for file, known, record in zip(self.files, self._known, self._record_of, strict=True):
            report = next(coming) if known is None else known
            if known is None and record is not None:
                record.keep(file, report)
            reports.append(report)
        return reports

    def save(self, fingerprint: bytes = b"", answer: msgspec.Raw | None = None) -> None:
        """Keep what is new in the cache, and the answer on their package, if there is one."""
        for record in set(self._record_of):
            if record is not None:
                record.save(fingerprint, answer)


def _records_of(job: Job, files: Iterable[str], cache: Cache) -> Iterator[PackageRecord]:
    """The record of the package that each log lies in: that of its organisation, of a loose log that of its folder."""
    folders: dict[Path, Path] = {}
    records: dict[Path, PackageRecord] = {}
    for file in files:
        above = Path(file).parent
        if above not in folders:
            with suppress(OSError):
                real = Path(os.path.realpath(file))
                folders[above] = locate(real).organisation or real.parent
        folder = folders.setdefault(above, above)
        if folder not in records:
            records[folder] = PackageRecord(cache, folder, job)
        yield records[folder]


def size_of(file: str | os.PathLike[str]) -> int:
    """The bytes of a log, and what a log costs whatever its size."""
    try:
        return os.stat(file).st_size + _COST_OF_A_LOG  # noqa: PTH116  (of tens of thousands)
    except (OSError, ValueError):
        return _COST_OF_A_LOG


def most_in_one(size: int, pool: Pool | None) -> int:
    """How many bytes one process may have at once, so that all end together; one log in this process."""
    return min(max(size // (_PARTS * pool.processes), _LEAST), _MOST) if pool is not None else 0


def cut(files: Sequence[str], sizes: Sequence[int], most: int) -> list[list[str]]:
    """Logs in chunks of about so many bytes, in their order."""
    chunks: list[list[str]] = []
    left = 0
    for file, size in zip(files, sizes, strict=True):
        if left <= 0:
            chunks.append([])
            left = most
        chunks[-1].append(file)
        left -= size
    return chunks


def judge_logs(job: Job, files: Iterable[str]) -> list[LogReport]:
    """The reports on some logs of a job; a defect of ours becomes a finding, never a traceback and never a pass."""
    settings, reports = job.settings, []
    for file in files:
        path = job.path_of(file)
        try:
            reports.append(judge_log(file, path, job.round, trace=settings.trace, intervals=settings.intervals))
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
