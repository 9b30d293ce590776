"""Records cut out of bytes: the reader with small bounds, beside one that has the whole log in memory and no bounds."""

from __future__ import annotations

import random
import re
from collections.abc import Iterator
from io import BytesIO
from typing import NamedTuple
from unittest.mock import patch

from mlsub.log import reader
from mlsub.log import rewrite as zoning
from mlsub.log.reader import TOKEN, TOKEN_MLL, RecordCutter, Records
from tests.campaigns.fuzz.harness import BrokenError, Harness
from tests.campaigns.fuzz.judging import cut

#: The bounds of the reader in bytes, far below those in force, so that short inputs reach them.
_CHUNK, _MAX_RECORD, _HEAD = 48, 90, 8
_END = re.compile(rb"\r\n|\n|\r")


class Record(NamedTuple):
    """A record as the reader gives it; the text only as far as it is kept."""

    line: int
    text: bytes
    hidden: bool
    too_long: bool


def _read(data: bytes) -> None:
    token = TOKEN_MLL if data[:1] == b"v" else TOKEN
    log = data[1:]
    # The tokens are looked for by identity too, as the reader does.
    expected = list(_expected(log, token))
    bounds = patch.multiple(reader, CHUNK=_CHUNK, MAX_RECORD=_MAX_RECORD, _HEAD=_HEAD)
    with bounds:
        for pieces in ([log], cut(log), [log[at : at + 17] for at in range(0, len(log), 17)]):
            found = [record for batch in _batches(token, pieces) for record in _records(batch)]
            if found != expected:
                raise BrokenError(f"{len(pieces)} pieces: {found} in place of {expected}")
    with patch.multiple(zoning, CHUNK=_CHUNK, _WORD=16):
        _zones(log)


def _batches(token: bytes, pieces: list[bytes]) -> Iterator[Records]:
    cutter = RecordCutter(token)
    for piece in pieces:
        yield cutter.feed(piece)
        if len(cutter._rest) + len(cutter._since) > 4 * (_CHUNK + _MAX_RECORD) + len(piece):
            raise BrokenError(f"{len(cutter._rest)} and {len(cutter._since)} bytes are held")
    yield cutter.close()


def _records(batch: Records) -> Iterator[Record]:
    if batch.joined is not None and batch.joined != b"\n".join(batch.texts):
        raise BrokenError("the texts joined are not the texts")
    yield from (Record(*one) for one in batch)


def _expected(log: bytes, token: bytes) -> Iterator[Record]:
    """The records by their definition: what is behind each token, up to the next one or the end of the line."""
    line = 1
    for text, end in _lines(log):
        _, *parts = text.split(token)
        for place, part in enumerate(parts):
            too_long = len(part) > _MAX_RECORD
            yield Record(line, part[:_HEAD] if too_long else part, place < len(parts) - 1, too_long)
        line += end.endswith(b"\n")


def _lines(log: bytes) -> Iterator[tuple[bytes, bytes]]:
    """The lines that the official parser reads, each with its end."""
    at = 0
    for end in _END.finditer(log):
        yield log[at : end.start()], end[0]
        at = end.end()
    yield log[at:], b""


def _zones(log: bytes) -> None:
    """The zones are the whole log, and no mark of a record stands in free text."""
    found = list(zoning.zones(BytesIO(log)))
    if b"".join(text for _, text in found) != log:
        raise BrokenError("the zones are not the log")
    for mark, text in found:
        if mark == zoning.FREE and zoning.MARK in text:
            raise BrokenError(f"free text has a record in it: {text!r}")


_PARTS = (
    *(b":::MLLOG ", b":::MLL", b":::MLLOG", b":::ML", b":", b" ", b"\r", b"\n", b"\r\n", b"{", b"}", b'{"a": 1}'),
    *(b"x" * 20, b"y" * 90, b"z" * 200, b":::MLLOG {}", b":::MLLOG {}\n", b":::MLL 1.0 k: {}\n", b"0: ", b"\0", b"G "),
)


def _drawn(rng: random.Random) -> bytes:
    return rng.choice((b"v", b"m")) + b"".join(rng.choices(_PARTS, k=rng.randrange(1, 40)))


def _seeds() -> Iterator[bytes]:
    rng = random.Random("records")
    return (_drawn(rng) for _ in range(20))


HARNESSES = (Harness("logs-records", "records cut out of logs", _read, _seeds, _PARTS, _drawn, longest=3_000),)
