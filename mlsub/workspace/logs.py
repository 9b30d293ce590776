"""Jobs, what the cache knows of their logs, by package, and chunks of those that are left to read."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from contextlib import suppress
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

import msgspec

from mlsub.divisions import DIVISIONS
from mlsub.findings import Effect, Finding
from mlsub.io.data import FAILURES, decoder, encode, reduce_struct
from mlsub.review.fingerprints import Fingerprint
from mlsub.rounds import Round
from mlsub.rules.catalogue import has_effect
from mlsub.submission.find import PathKind, Place, locate
from mlsub.submission.listing import below
from mlsub.submission.model import LogReport
from mlsub.submission.report import Report
from mlsub.workspace.cache import (
    Cache,
    TreeState,
    content_digest,
    digest_of,
    file_fingerprint,
    record_name,
    scan_tree,
)
from mlsub.workspace.places import Request

if TYPE_CHECKING:
    from mlsub.submission.result import Result

T = TypeVar("T")


class KnownLog(msgspec.Struct, frozen=True, array_like=True):
    """A log of a record: its fingerprint, and the report on it."""

    fingerprint: bytes
    report: msgspec.Raw


class PackageRecord(msgspec.Struct, frozen=True, array_like=True):
    """What is known of a package: the answer on all of it by its own fingerprint, and its logs by their names."""

    fingerprint: bytes = b""
    answer: msgspec.Raw = msgspec.Raw(b"\xc0")
    logs: dict[bytes, KnownLog] = {}

    __reduce__ = reduce_struct


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

    __reduce__ = reduce_struct

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


class Job(msgspec.Struct, frozen=True, kw_only=True):
    """A package, or single ``logs``, to be read, and by which rules: what the schedule orders and sends.

    ``root`` is the folder that paths are relative to; ``tree`` is what lay there before anything was read; ``keep``
    asks for what was read of the logs of a package. ``record`` is what the cache knows of the package; None without a
    cache.
    """

    root: Path
    round: Round
    request: Request
    tree: TreeState
    package: Place | None = None
    logs: tuple[str, ...] = ()
    keep: bool = False
    record: PackageRecord | None = None

    def path_of(self, log: str) -> str:
        """What the report calls a log."""
        return below(self.root, Path(log))

    def fingerprint(self) -> bytes | None:
        """The digest of all that the answer on a package rests on; None where that is more than is known."""
        if self.tree.fingerprint is None or self.package is None or not stands_alone(self.package):
            return None
        options = self.request.convergence
        try:
            return digest_of(self.tree.fingerprint, self.package, self.root, options, content_digest(options.reference))
        except OSError:
            return None


def package_job(package: Place, root: Path, round_: Round, request: Request, *, keep: bool) -> Job:
    """The job of a package."""
    tree = scan_tree(package.path, package.listing)
    return Job(root=root, round=round_, request=request, tree=tree, package=package, keep=keep)


def logs_job(logs: Iterable[str | Path], root: Path, round_: Round, request: Request) -> Job:
    """The job of single logs."""
    files = tuple(map(str, logs))
    tree = TreeState(None, sum(map(size_of, files)), len(files))
    return Job(root=root, round=round_, request=request, tree=tree, logs=files)


def stands_alone(package: Place) -> bool:
    """Whether what is said of a package depends on no file beside those below its folder."""
    folder = package.path
    if package.listed:
        # The remedy of one that lies too deep depends on what lies around it.
        return not package.deep
    # What lies beside one in a folder of its name, or in one of a division, is said of it too.
    inside = folder.parent.name.lower() in {folder.name.lower(), *DIVISIONS}
    return package.kind is PathKind.ORGANISATION and package.organisation == folder and not inside


class StoredRecord:
    """The record of a package in the cache; it is read when this is made.

    Args:
        cache: where it lies.
        folder: of the package, or of logs that lie in none.
        job: says by which rules its logs are judged, and what is wanted besides the verdict.
    """

    def __init__(self, cache: Cache, folder: Path, job: Job) -> None:
        self._cache = cache
        request = job.request
        wanted = request.overlay, request.trace, request.intervals
        self._name = record_name(str(folder), "LogReport", job.round.usage, job.round.name, *wanted)
        #: What it holds; None where nothing can be kept, since a rule file of the user cannot be read.
        self.record: PackageRecord | None = None
        with suppress(OSError):
            self._state = content_digest(request.overlay)
            self.record = cache.read(self._name, self._state, PackageRecord) or PackageRecord()
        #: The logs that it knows.
        self.logs = KnownLogs(folder, self.record) if self.record is not None else None

    def replace(self, record: PackageRecord | None) -> None:
        """Put a record in its place, if there is a new one."""
        if record is not None:
            self._cache.write(self._name, self._state, record)


class KnownLogs:
    """The logs that a record knows, and those that are added to it.

    Args:
        folder: of the package that the record is about.
        record: what is known of it.
    """

    def __init__(self, folder: Path, record: PackageRecord) -> None:
        self._folder = str(folder)
        self._record = record
        self._added: dict[bytes, KnownLog] = {}
        self._fingerprints: dict[bytes, bytes] = {}

    def find(self, file: str, path: str) -> LogReport | None:
        """The report on a log that has not changed, as ``path``; else its fingerprint is taken, for :meth:`add`."""
        name, now = self._name_of(file), file_fingerprint(file)
        if now is None:
            return None
        known = self._record.logs.get(name)
        if known is not None and known.fingerprint == now:
            with suppress(*FAILURES):
                return decoder(LogReport).decode(known.report).at(path)
        self._fingerprints[name] = now
        return None

    def add(self, file: str, report: LogReport) -> None:
        """Add the report on a log, as it was when its fingerprint was taken."""
        name = self._name_of(file)
        fingerprint = self._fingerprints.get(name)
        if fingerprint is not None and report.cacheable:
            with suppress(*FAILURES):  # A value that does not fit.
                self._added[name] = KnownLog(fingerprint, msgspec.Raw(encode(report)))

    def renewed(self, fingerprint: bytes = b"", answer: msgspec.Raw | None = None) -> PackageRecord | None:
        """The record with what is new, without logs that are gone; None where nothing is new.

        Args:
            fingerprint: of the package.
            answer: on it, if it is to be kept.
        """
        record = self._record
        if self._fingerprints:
            above = os.fsencode(self._folder) + b"/"
            logs = {name: one for name, one in (record.logs | self._added).items() if os.path.lexists(above + name)}
            record = msgspec.structs.replace(record, logs=logs)
        if answer is not None:
            record = msgspec.structs.replace(record, fingerprint=fingerprint, answer=answer)
        return record if record is not self._record else None

    def _name_of(self, file: str) -> bytes:
        if not file.startswith(f"{self._folder}/"):
            real = os.path.realpath(file)
            # Whether a log is unpacked depends on the name that is asked for.
            file = real if real.endswith(".gz") == file.endswith(".gz") else file
        return os.fsencode(file.removeprefix(f"{self._folder}/"))


def known_answer(record: PackageRecord, fingerprint: bytes, type_: type[T]) -> T | None:
    """The answer on a package as a whole; None where its record has none of this fingerprint."""
    if record.fingerprint != fingerprint:
        return None
    try:
        return decoder(type_).decode(record.answer)
    except FAILURES:
        return None


#: What a log costs whatever its size, in bytes that take as long to read.
_COST_OF_A_LOG = 16 << 10
#: A chunk is a part of all there is, so that all processes end together, but never less or more than so many bytes.
_LEAST, _MOST = 1 << 20, 64 << 20
_PARTS = 4


def stored_records(job: Job, files: Iterable[str], cache: Cache) -> list[StoredRecord]:
    """The record of the package that each log lies in: that of its organisation, of a loose log that of its folder."""
    folders: dict[Path, Path] = {}
    records: dict[Path, StoredRecord] = {}
    found = []
    for file in files:
        above = Path(file).parent
        if above not in folders:
            with suppress(OSError):
                real = Path(os.path.realpath(file))
                folders[above] = locate(real).organisation or real.parent
        folder = folders.setdefault(above, above)
        if folder not in records:
            records[folder] = StoredRecord(cache, folder, job)
        found.append(records[folder])
    return found


def size_of(file: str | os.PathLike[str]) -> int:
    """The bytes of a log, and what a log costs whatever its size."""
    try:
        return os.stat(file).st_size + _COST_OF_A_LOG  # noqa: PTH116  (of tens of thousands)
    except (OSError, ValueError):
        return _COST_OF_A_LOG


def most_in_one(size: int, processes: int) -> int:
    """How many bytes each of so many processes may have at once, so that all end together; 0 for one log in this."""
    return min(max(size // (_PARTS * processes), _LEAST), _MOST) if processes else 0


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
