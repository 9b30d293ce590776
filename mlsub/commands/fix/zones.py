"""A log cut into what is free text and what is a record's line: one pass, bounded memory, no byte left out.

A line ends here where it ends for the official parser: at LF, CR LF or a bare CR. Whatever looks like the beginning of
a record of any format (``:::MLLOG``, ``:::MLL`` of v0.6, ``:::MLP`` of v0.5) counts as one, even if it is broken.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import BinaryIO

MARK = b":::ML"
CHUNK = 1 << 20
#: How far back a line without an end is looked through for a blank to cut it at.
_WORD = 4096

#: Free text, with ``FREE``, or a record's line, with the place in it from which on it is the record. Lines are whole,
#: line end included, unless one is longer than ``CHUNK``: then it comes in parts.
Zone = tuple[int, bytes]
FREE = -1


def zones(stream: BinaryIO) -> Iterator[Zone]:
    """Cut a log; the zones joined are the log."""
    rest, in_record = b"", False
    while chunk := stream.read(CHUNK):
        buffer = rest + chunk
        cut = _last_end(buffer)
        if cut:
            yield from _cut(buffer[:cut], in_record)
            in_record = False
        rest = buffer[cut:]
        if len(rest) > CHUNK:
            at = -1 if in_record else rest.find(MARK)
            if at > 0:
                yield FREE, rest[:at]
            in_record = in_record or at >= 0
            emitted = _safe(rest) if in_record else _between_words(rest)
            yield 0 if in_record else FREE, rest[max(at, 0) : emitted]
            rest = rest[emitted:]
    yield from _cut(rest, in_record)


def _cut(block: bytes, in_record: bool) -> Iterator[Zone]:
    """The zones of a block that ends where a line does; ``in_record``: it begins within a record."""
    done = 0
    if in_record:
        done = line_end(block, 0)
        yield 0, block[:done]
    while (at := block.find(MARK, done)) >= 0:
        start = max(block.rfind(b"\n", done, at) + 1, block.rfind(b"\r", done, at) + 1, done)
        end = line_end(block, at)
        if start > done:
            yield FREE, block[done:start]
        yield at - start, block[start:end]
        done = end
    if done < len(block):
        yield FREE, block[done:]


def line_end(block: bytes, start: int) -> int:
    """Where the line ends that ``start`` lies in, its end included."""
    feed = block.find(b"\n", start)
    stop = len(block) if feed < 0 else feed
    carriage = block.find(b"\r", start, stop)
    if carriage >= 0:
        return carriage + (2 if carriage + 1 == feed else 1)
    return len(block) if feed < 0 else feed + 1


def _last_end(buffer: bytes) -> int:
    """Where the last line ends that ends for certain: behind a CR at the very end an LF may follow."""
    size = len(buffer) - buffer.endswith(b"\r")
    return max(buffer.rfind(b"\n", 0, size), buffer.rfind(b"\r", 0, size)) + 1


def _safe(rest: bytes) -> int:
    """How much of an unfinished line can go: not a CR whose LF may follow."""
    return len(rest) - rest.endswith(b"\r")


def _between_words(rest: bytes) -> int:
    """How much of unfinished free text can go: neither half a mark nor half a word."""
    at = rest.rfind(b" ", len(rest) - _WORD)
    return at + 1 if at >= 0 else len(rest) - len(MARK)
