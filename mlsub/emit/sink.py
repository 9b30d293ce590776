"""The file a run is logged to: one writer, whole lines, nothing held back."""

from __future__ import annotations

import contextlib
import fcntl
import logging
import os
import socket
import sys
from pathlib import Path

from mlsub.emit.errors import EmitError, LogInUseError

#: What a lock says of its holder.
_MAX_HOLDER = 200


class LogFile(logging.Handler):
    """A log open for this process alone.

    Each record is one write of a whole line at the end of the file, so that a process killed at any moment leaves
    whole lines; a lock beside the file keeps every other process from writing it.

    Args:
        path: the log; it must not hold an earlier run.
        overwrite: start over where it does.

    Raises:
        LogInUseError: another process writes it.
        EmitError: there is an earlier run, or the file cannot be opened.
    """

    def __init__(self, path: Path, *, overwrite: bool = False) -> None:
        super().__init__(logging.NOTSET)
        self.path = path
        self.lines = 0
        self.failed: str | None = None
        self._lock_path = path.with_name(f".{path.name}.lock")
        self._lock = self._take_lock()
        try:
            self._file = self._open(overwrite=overwrite)
        except EmitError:
            self._release()
            raise

    def _take_lock(self) -> int:
        me = f"process {os.getpid()} on {socket.gethostname()} ({Path(sys.argv[0] or 'python').name})"
        try:
            lock = os.open(self._lock_path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
        except OSError as error:
            raise EmitError(f"{self._lock_path} cannot be opened: {error.strerror or error}") from error
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            holder = os.pread(lock, _MAX_HOLDER, 0).decode("utf-8", "replace").strip() or "another process"
            os.close(lock)
            raise LogInUseError(
                f"{self.path} is being written by {holder}, and {me} wants to write it too. "
                "Give each run a log of its own, and let one process of a run write it."
            ) from error
        os.ftruncate(lock, 0)
        os.pwrite(lock, me.encode("utf-8", "replace")[:_MAX_HOLDER], 0)
        return lock

    def _open(self, *, overwrite: bool) -> int:
        flags = os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC | (os.O_TRUNC if overwrite else 0)
        try:
            file = os.open(self.path, flags, 0o644)
        except OSError as error:
            raise EmitError(f"{self.path} cannot be opened: {error.strerror or error}") from error
        if os.fstat(file).st_size:
            os.close(file)
            raise EmitError(
                f"{self.path} holds a run already, and one file is one run. Name another, or say overwrite=True."
            )
        return file

    def emit(self, record: logging.LogRecord) -> None:
        """Write one record as a line."""
        if record.levelno > logging.INFO:
            # The official logger tells so that it could not encode a record, and would go on.
            self.failed = record.getMessage().strip()
            return
        self.write(record.getMessage())

    def write(self, text: str) -> None:
        """Write one line.

        Raises:
            EmitError: the disk is full, or the file has gone bad.
        """
        line = text.encode("utf-8", "backslashreplace") + b"\n"
        try:
            written = os.write(self._file, line)
            while written < len(line):
                written += os.write(self._file, line[written:])
        except OSError as error:
            raise EmitError(f"{self.path} cannot be written: {error.strerror or error}") from error
        self.lines += 1

    def close(self) -> None:
        """Put everything on the disk and let the file go."""
        super().close()
        if self._file >= 0:
            # Not every file can be synchronised (a pipe, a device), and the lines are written all the same.
            with contextlib.suppress(OSError):
                os.fsync(self._file)
            os.close(self._file)
            self._file = -1
            self._release()

    def _release(self) -> None:
        self._lock_path.unlink(missing_ok=True)
        os.close(self._lock)
