"""The file a run is logged to: one writer, a write a record, nothing held back; and the seeds of those beside it."""

from __future__ import annotations

import contextlib
import errno
import fcntl
import logging
import os
import socket
import stat
import sys
from collections.abc import Iterator
from itertools import islice
from pathlib import Path

from mlsub.emit.errors import EmitError, LogInUseError
from mlsub.io.errors import MlsubError
from mlsub.io.show import plain
from mlsub.io.write import CANNOT_SYNC, sync_folder, warn_removed
from mlsub.log.event import Event, decode
from mlsub.log.reader import open_log, read_records

#: What a lock says of its holder.
_MAX_HOLDER = 200
#: Far above what a first record has.
_MAX_TORN = 1 << 20
_TOKEN = b":::MLLOG "
#: The same within a text of JSON.
_ESCAPED = b"\\u003a::MLLOG "


class LogFile(logging.Handler):
    """A log open for this process alone.

    Each record is one write of a whole line at the end of the file. A process killed at any moment leaves whole
    records and at most one more, the last, that is torn: the system may end a write at any page of memory. A write that
    fails is taken back, so that the next record does not follow half of one. A lock beside the file keeps every other
    process from writing it, one that is forked from this one too. Neither may be a link.

    Args:
        path: the log; it must not hold an earlier run. A torn first record alone is not a run, and is removed.
        overwrite: start over where it does.

    Raises:
        LogInUseError: another process writes it.
        EmitError: there is an earlier run, or the file cannot be opened.
    """

    def __init__(self, path: Path, *, overwrite: bool = False) -> None:
        self.path = path
        self.lines = 0
        self._bytes = 0
        self.failed: str | None = None
        self._owner = os.getpid()
        self._shown = plain(str(path))
        self._lock_path = path.with_name(f".{path.name}.lock")
        self._lock = self._take_lock()
        try:
            self._file = self._open(overwrite=overwrite)
        except EmitError:
            self._release(self._lock)
            raise
        # Only now: the logging module closes at exit whatever it knows, whether it is made or not.
        super().__init__(logging.NOTSET)

    def _take_lock(self) -> int:
        """The lock of the log, open; it says who has it.

        Raises:
            LogInUseError: another process has it.
            EmitError: it cannot be opened or written.
        """
        me = f"process {os.getpid()} on {socket.gethostname()} ({Path(sys.argv[0] or 'python').name})"
        try:
            if not self.path.parent.is_dir():
                folder = plain(str(self.path.parent))
                raise EmitError(f"{self._shown} cannot be opened: there is no folder {folder}. Make it first.")
            left = self._lock_path.exists()
            while not self._has_name(lock := self._locked(me)):
                # Whoever had it has removed it meanwhile, and the next process would make another.
                os.close(lock)
                left = False
        except (OSError, ValueError) as error:
            raise self._no_lock(error) from None
        if left:
            warn_removed(self._lock_path)
        try:
            os.ftruncate(lock, 0)
            os.pwrite(lock, me.encode("utf-8", "replace")[:_MAX_HOLDER], 0)
        except OSError as error:
            self._release(lock)
            raise self._no_lock(error) from None
        return lock

    def _no_lock(self, error: OSError | ValueError) -> EmitError:
        return EmitError(f"{plain(str(self._lock_path))} cannot be opened: {_reason(error)}")

    def _locked(self, me: str) -> int:
        lock = _opened(self._lock_path, os.O_RDWR)
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            holder = os.pread(lock, _MAX_HOLDER, 0).decode("utf-8", "replace").strip() or "another process"
            os.close(lock)
            raise LogInUseError(
                f"{self._shown} is being written by {holder}, and {me} wants to write it too. "
                "Give each run a log of its own, and let one process of a run write it."
            ) from None
        return lock

    def _has_name(self, lock: int) -> bool:
        try:
            return os.path.samestat(os.fstat(lock), self._lock_path.lstat())
        except FileNotFoundError:
            return False

    def _open(self, *, overwrite: bool) -> int:
        try:
            file = _opened(self.path, os.O_WRONLY | os.O_APPEND)
        except (OSError, ValueError) as error:
            raise EmitError(f"{self._shown} cannot be opened: {_reason(error)}") from None
        if os.fstat(file).st_size and not overwrite and not self._is_torn_start():
            os.close(file)
            raise EmitError(
                f"{self._shown} holds a run already, and one file is one run. Name another, or say overwrite=True."
            )
        try:
            if os.fstat(file).st_size:  # A device or a pipe has no size.
                os.ftruncate(file, 0)
            sync_folder(self.path.parent)
        except OSError as error:
            os.close(file)
            raise EmitError(f"{self._shown} cannot be brought to the disk: {_reason(error)}") from None
        return file

    def _is_torn_start(self) -> bool:
        """Whether all there is in the file is the first record of a recorder that was killed, or a part of it."""
        try:
            with self.path.open("rb") as stream:
                content = stream.read(_MAX_TORN + 1)
        except OSError:
            return False
        return len(content) <= _MAX_TORN and content.startswith(_TOKEN) and b"\n" not in content

    def emit(self, record: logging.LogRecord) -> None:
        """Write one record as a line."""
        if record.levelno > logging.INFO:
            # The official logger reports so that it could not encode a record, and would go on.
            self.failed = self.failed or record.getMessage().strip()
            return
        try:
            self.write(record.getMessage())
        except EmitError as error:
            # The official logger would take it for its own defect.
            self.failed = str(error)

    def write(self, text: str) -> None:
        """Write one line.

        Raises:
            EmitError: the disk is full, the file has gone bad, or another process has opened it.
        """
        if self._owner != os.getpid():
            raise EmitError(
                f"{self._shown} belongs to process {self._owner}, from which this one, {os.getpid()}, was forked: "
                "make the recorder in the process that writes"
            )
        if self._file < 0:
            raise EmitError(f"{self._shown} is closed: the recorder that wrote it has ended")
        line = _alone(text.encode("utf-8", "backslashreplace")) + b"\n"
        before = os.fstat(self._file).st_size
        try:
            written = os.write(self._file, line)
            while written < len(line):
                written += os.write(self._file, line[written:])
        except BaseException as error:
            self._take_back(before, line)
            if isinstance(error, OSError):
                raise EmitError(f"{self._shown} cannot be written: {_reason(error)}") from None
            raise
        self.lines += 1
        self._bytes += len(line)

    def _take_back(self, before: int, line: bytes) -> None:
        """Cut a record off that was not written whole, unless something else follows it by now."""
        with contextlib.suppress(OSError):
            torn = os.fstat(self._file).st_size - before
            if 0 < torn < len(line):
                with self.path.open("rb") as stream:
                    stream.seek(before)
                    if stream.read(torn + 1) == line[:torn]:
                        os.ftruncate(self._file, before)

    def close(self, *, discard: bool = False) -> None:
        """Put everything on the disk and let the file go; a process that did not open it changes nothing.

        Args:
            discard: take the file away, if it holds nothing but what was written here.

        Raises:
            EmitError: the disk refuses; what was written may be lost.
        """
        super().close()
        if self._file >= 0 and self._owner == os.getpid():
            if discard:
                self._discard()
            try:
                os.fsync(self._file)
            except OSError as error:
                if error.errno not in CANNOT_SYNC:
                    raise EmitError(f"{self._shown} cannot be brought to the disk: {_reason(error)}") from None
            finally:
                os.close(self._file)
                self._file = -1
                self._release(self._lock)

    def _discard(self) -> None:
        with contextlib.suppress(OSError):
            found = os.fstat(self._file)
            if stat.S_ISREG(found.st_mode) and found.st_size == self._bytes:
                os.ftruncate(self._file, 0)
                if os.path.samestat(found, self.path.lstat()):
                    self.path.unlink()

    def _release(self, lock: int) -> None:
        with contextlib.suppress(OSError):
            self._lock_path.unlink(missing_ok=True)
        os.close(lock)


def _alone(line: bytes) -> bytes:
    """A line in which no text looks like a record of its own: the official parser reads the last one of a line."""
    before, token, record = line.partition(_TOKEN)
    return before + token + record.replace(_TOKEN, _ESCAPED)


def _opened(path: Path, flags: int) -> int:
    """A file, made if it is not there.

    Raises:
        OSError: it cannot be opened, or is a link: what is written would go into another file.
    """
    file = os.open(path, flags | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o644)
    if os.fstat(file).st_nlink > 1:
        os.close(file)
        raise OSError(errno.ELOOP, "")
    return file


def _reason(error: OSError | ValueError) -> str:
    if isinstance(error, OSError) and error.errno == errno.ELOOP:
        return "it is a link"
    return (error.strerror if isinstance(error, OSError) else None) or str(error)


#: Seeds stand at the beginning of a log; siblings beyond so many are not looked at.
_HEAD_LINES = 4000
_MAX_SIBLINGS = 200


def earlier_seeds(log: Path) -> dict[int, str]:
    """Return the seeds of the other results in a log's folder, with the name of the file that has each."""
    found: dict[int, str] = {}
    try:
        siblings = sorted(file for file in log.parent.glob("result_*.txt") if file.name != log.name)
    except OSError:
        return found
    for file in siblings[:_MAX_SIBLINGS]:
        for seed in _seeds_of(file):
            found.setdefault(seed, file.name)
    return found


def _seeds_of(file: Path) -> Iterator[int]:
    try:
        with open_log(file) as stream:
            for line, text, hidden, too_long in islice(read_records(stream), _HEAD_LINES):
                if hidden or too_long or b'"seed"' not in text:
                    continue
                event = decode(line, text)
                if isinstance(event, Event) and event.key == "seed" and type(event.value) is int:
                    yield event.value
    except (MlsubError, OSError):
        return
