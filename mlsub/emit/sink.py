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
from itertools import islice
from pathlib import Path

from mlsub.emit.errors import EmitError, LogInUseError
from mlsub.io import MlsubError, reason_of
from mlsub.io.show import plain
from mlsub.io.write import CANNOT_SYNC, sync_folder
from mlsub.log.events import read_events

#: Far above what a first record has.
_MAX_TORN = 1 << 20
_TOKEN = b":::MLLOG "
#: The same within a text of JSON.
_ESCAPED = b"\\u003a::MLLOG "


class LogFile(logging.Handler):
    """A log open for this process alone.

    Each record is one write of a whole line at the end of the file. A process killed at any moment leaves whole
    records and at most one more, the last, that is torn: the system may end a write at any page of memory. A write that
    fails is taken back, so that the next record does not follow half of one. The file is locked, which keeps every
    other process from writing it, one that is forked from this one too. It may not be a link.

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
        self._file = self._open_locked()
        try:
            self._start_empty(overwrite=overwrite)
        except EmitError:
            os.close(self._file)
            raise
        # Only now: the logging module closes at exit whatever it knows, whether it is made or not.
        super().__init__(logging.NOTSET)

    def _open_locked(self) -> int:
        """The log, made if it is not there, and locked.

        Raises:
            LogInUseError: another process has it.
            EmitError: it cannot be opened, or is a link: what is written would go into another file.
        """
        try:
            if not self.path.parent.is_dir():
                folder = plain(str(self.path.parent))
                raise EmitError(f"{self._shown} cannot be opened: there is no folder {folder}. Make it first.")
            file = os.open(self.path, os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o644)
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
                links = os.fstat(file).st_nlink
                if links > 1:
                    raise OSError(errno.ELOOP, "")
                if links == 0:  # Whoever had it has removed it meanwhile; what is written would be lost.
                    raise BlockingIOError
            except OSError:
                os.close(file)
                raise
        except BlockingIOError:
            me = f"process {os.getpid()} on {socket.gethostname()} ({Path(sys.argv[0] or 'python').name})"
            raise LogInUseError(
                f"{self._shown} is being written by another process, and {me} wants to write it too. "
                "Give each run a log of its own, and let one process of a run write it."
            ) from None
        except (OSError, ValueError) as error:
            raise EmitError(f"{self._shown} cannot be opened: {_reason(error)}") from None
        return file

    def _start_empty(self, *, overwrite: bool) -> None:
        """Start with an empty file, whose name is on the disk."""
        filled = os.fstat(self._file).st_size  # A device or a pipe has no size.
        if filled and not overwrite and not self._is_torn_start():
            raise EmitError(
                f"{self._shown} holds a run already, and one file is one run. Name another, or say overwrite=True."
            )
        try:
            if filled:
                os.ftruncate(self._file, 0)
            sync_folder(self.path.parent)
        except OSError as error:
            raise EmitError(f"{self._shown} cannot be brought to the disk: {_reason(error)}") from None

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
        line = _escape_inner_records(text.encode("utf-8", "backslashreplace")) + b"\n"
        before = os.fstat(self._file).st_size
        try:
            written = os.write(self._file, line)
            while written < len(line):
                written += os.write(self._file, line[written:])
        except BaseException as error:
            # Cut off what was not written whole.
            with contextlib.suppress(OSError):
                os.ftruncate(self._file, before)
            if isinstance(error, OSError):
                raise EmitError(f"{self._shown} cannot be written: {_reason(error)}") from None
            raise
        self.lines += 1
        self._bytes += len(line)

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

    def _discard(self) -> None:
        with contextlib.suppress(OSError):
            found = os.fstat(self._file)
            if stat.S_ISREG(found.st_mode) and found.st_size == self._bytes:
                os.ftruncate(self._file, 0)
                if os.path.samestat(found, self.path.lstat()):
                    self.path.unlink()


def _escape_inner_records(line: bytes) -> bytes:
    """A line in which no text looks like a record of its own: the official parser reads the last one of a line."""
    before, token, record = line.partition(_TOKEN)
    return before + token + record.replace(_TOKEN, _ESCAPED)


def _reason(error: OSError | ValueError) -> str:
    if isinstance(error, OSError) and error.errno == errno.ELOOP:
        return "it is a link"
    return reason_of(error)


#: Seeds stand at the beginning of a log; siblings beyond so many are not looked at.
_HEAD_RECORDS = 4000
_MAX_SIBLINGS = 200


def earlier_seeds(log: Path) -> dict[int, str]:
    """Return the seeds of the other results in a log's folder, with the name of the file that has each."""
    found: dict[int, str] = {}
    try:
        siblings = sorted(file for file in log.parent.glob("result_*.txt") if file.name != log.name)
    except OSError:
        return found
    for file in siblings[:_MAX_SIBLINGS]:
        with contextlib.suppress(MlsubError, OSError):
            for event in islice(read_events(file), _HEAD_RECORDS):
                if event.key == "seed" and type(event.value) is int:
                    found.setdefault(event.value, file.name)
    return found
