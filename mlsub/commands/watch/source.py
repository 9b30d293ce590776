"""Where the bytes of a growing log come from: a file that may be replaced or cut, or a pipe."""

from __future__ import annotations

import errno
import os
import select
from typing import Literal

import msgspec

from mlsub.io import reason_of
from mlsub.io.look import open_regular
from mlsub.log.reader import unfinished_from

#: The most that one look reads, so that many logs take turns and memory stays flat.
LIMIT = 4 << 20
#: Bytes at both ends of what was read that are compared, to notice another log. Times are in both.
_MARK = 1024
#: Bytes up to which a line that has not ended is held back, as it may be taken back.
UNFINISHED = 1 << 16
_PIPE_CHUNK = 1 << 16

State = Literal["there", "absent", "unreadable", "closed"]
#: Why what was read before counts no longer.
Restart = Literal["truncated", "replaced", "rewritten"]


class NewBytes(msgspec.Struct, frozen=True):
    """What one look at a source gave.

    ``data`` are the bytes that are new, of a new log where ``restart`` says so; ``unfinished`` are those of a last line
    that has not ended and is held back, as a recorder takes a torn record away; ``more`` says whether there are further
    bytes already; ``modified`` when the file was last written, in seconds since the Unix epoch; ``problem`` why it
    cannot be read.
    """

    state: State
    data: bytes = b""
    unfinished: bytes = b""
    restart: Restart | None = None
    more: bool = False
    modified: float | None = None
    problem: str | None = None


class FileSource:
    """A file by its name, whether or not it is there yet.

    It is opened at each look, so that on a network file system too what others wrote is seen.
    """

    descriptors: tuple[int, ...] = ()

    def __init__(self, path: str) -> None:
        self.path = path
        self._position = 0
        self._identity: tuple[int, int] | None = None
        self._written: tuple[int, int] | None = None
        self._head = b""
        self._tail = b""

    def look(self) -> NewBytes:
        """Return what is new since the last look."""
        try:
            with open_regular(self.path, buffering=0) as opened:
                return self._read(opened.fileno())
        except OSError as error:
            return _cannot(error)

    def _read(self, opened: int) -> NewBytes:
        found = os.fstat(opened)
        restart = self._restart(opened, found)
        if restart is not None:
            self._position, self._head, self._tail = 0, b"", b""
        self._identity = (found.st_dev, found.st_ino)
        self._written = (found.st_size, found.st_mtime_ns)
        data = os.pread(opened, LIMIT, self._position)
        read = self._position + len(data)
        more = bool(data) and read < found.st_size
        ends = unfinished_from(data)
        unfinished = data[ends:] if len(data) - ends <= UNFINISHED else b""
        data = data[: len(data) - len(unfinished)]
        self._position = read - len(unfinished)
        self._head = (self._head + data[:_MARK])[:_MARK]
        self._tail = (self._tail + data)[-_MARK:]
        return NewBytes("there", data, unfinished, restart, more, found.st_mtime)

    def _restart(self, opened: int, found: os.stat_result) -> Restart | None:
        """Why what was read counts no longer, going by both ends of it; None where it does."""
        same_file = self._identity == (found.st_dev, found.st_ino)
        if same_file and self._written == (found.st_size, found.st_mtime_ns):
            return None
        ends = (os.pread(opened, len(self._head), 0), os.pread(opened, _MARK, max(self._position - _MARK, 0)))
        # Another file may hold the same log: that is how copies of a remote one come.
        if found.st_size >= self._position and (ends[0], ends[1][: len(self._tail)]) == (self._head, self._tail):
            return None
        if not same_file:
            return "replaced"
        return "truncated" if found.st_size < self._position else "rewritten"


def _cannot(error: OSError | ValueError) -> NewBytes:
    if isinstance(error, OSError) and error.errno in (errno.ENOENT, errno.ENOTDIR):
        return NewBytes(state="absent")
    problem = "a folder" if isinstance(error, IsADirectoryError) else reason_of(error)
    return NewBytes(state="unreadable", problem=problem)


class PipeSource:
    """A pipe, or whatever else a file descriptor gives until it ends."""

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor
        self._closed = False

    @property
    def descriptors(self) -> tuple[int, ...]:
        """The pipe, as long as it is open."""
        return () if self._closed else (self._descriptor,)

    def look(self) -> NewBytes:
        """Return what came since the last look."""
        data, problem = bytearray(), None
        try:
            while not self._closed and len(data) < LIMIT and select.select([self._descriptor], [], [], 0)[0]:
                part = os.read(self._descriptor, _PIPE_CHUNK)
                self._closed = not part
                data += part
        except (OSError, ValueError) as error:
            # A terminal that hangs up, a descriptor that is none: there will be no more.
            self._closed, problem = True, _cannot(error).problem
        state: State = "closed" if self._closed else "there"
        return NewBytes(state=state, data=bytes(data), more=len(data) >= LIMIT, problem=problem)


#: Gives the bytes of one log as they come; ``look`` never waits, ``descriptors`` can be waited for.
Source = FileSource | PipeSource
