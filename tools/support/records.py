"""Records as the reader cuts them, by name, and streams that hand out given pieces."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple

from mlsub.log.reader import RecordCutter, chunks, read_records

MIB = 1 << 20
RECORD = b'{"time_ms": 1, "key": "a", "value": null, "metadata": {}}'


class RawRecord(NamedTuple):
    """The parts of a record, by name."""

    line: int
    text: bytes
    hidden: bool
    too_long: bool


def records(stream: Any, encoding: str | None = None) -> list[RawRecord]:
    """Return the records of a stream."""
    if encoding is None:
        return [RawRecord(*record) for record in read_records(stream)]
    cutter = RecordCutter(encoding=encoding)
    return [RawRecord(*record) for batch in (*map(cutter.feed, chunks(stream)), cutter.close()) for record in batch]


class Chunks:
    """A stream that hands out given chunks, whatever size is asked for; a pipe or an archive does so too."""

    def __init__(self, pieces: Iterable[bytes]) -> None:
        self._chunks = iter(pieces)

    def read(self, _size: int = -1) -> bytes:
        return next(self._chunks, b"")
