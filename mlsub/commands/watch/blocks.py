"""Bytes that come in pieces of any size, cut as the reader of a file would cut them.

What the reader makes of a record of 16 MiB and more depends on where its chunks end: the bound on memory is looked at
between two of them. So that a log from a pipe is judged like the same bytes in a file, the end of a very long line
waits for the end of its chunk; everything else is handed on at once.
"""

from __future__ import annotations

from collections.abc import Iterator

from mlsub.log.reader import CHUNK

#: Unfinished lines up to this length are handed on at once, in bytes: well below where the reader begins to let go.
_SHORT = CHUNK // 2


class Blocks:
    """Cuts a stream; holds less than one chunk."""

    def __init__(self) -> None:
        self._held = bytearray()
        self._room = CHUNK
        self._unfinished = 0

    def cut(self, data: bytes) -> Iterator[bytes]:
        """The pieces that can be read now: none crosses the end of a chunk."""
        start = 0
        while start < len(data):
            part = data[start : start + self._room]
            start += len(part)
            self._room -= len(part)
            self._measure(part)
            self._held += part
            if not self._room or self._unfinished <= _SHORT:
                yield self._release()
            if not self._room:
                self._room = CHUNK

    def rest(self) -> bytes:
        """What is still held when the stream ends."""
        return self._release()

    def _measure(self, part: bytes) -> None:
        """How long the line is that has not ended; a CR at the end may be half of a line end."""
        end = max(part.rfind(b"\n"), part.rfind(b"\r", 0, len(part) - 1))
        self._unfinished = len(part) - end - 1 if end >= 0 else self._unfinished + len(part)

    def _release(self) -> bytes:
        piece = bytes(self._held)
        self._held.clear()
        return piece
