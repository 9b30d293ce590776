"""Find ``:::MLLOG`` records in a stream of bytes: one pass, bounded memory, true line numbers.

Two notions of a line meet here. People and editors count LF; that is the line a finding names. The official parser
opens logs with universal newlines, so for it a bare CR ends a line too, and it reads only the last record of each
of *its* lines. The reader keeps both: `line` counts LF, `hidden` marks a record that another one follows on the
same official line.
"""

from __future__ import annotations

import codecs
import gzip
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO, cast

from mlsub.io.errors import MlsubError

TOKEN = b":::MLLOG "
#: The token of v0.6. It is the beginning of the later one, whose records are thus broken ones to the v0.6 parser.
TOKEN_MLL = b":::MLL"
CHUNK = 1 << 20
#: The longest record that is kept, in bytes. Real ones are below 64 KiB; the bound keeps memory flat on hostile input.
MAX_RECORD = 1 << 24
#: So much of a longer record is kept.
_HEAD = 256

_UTF16_UTF32 = (
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)


#: The text after one token, up to the next token or the end of the official line, as (line, text, hidden, too long). A
#: plain tuple, for there is one for each record of every log.
RawRecord = tuple[int, bytes, bool, bool]


def open_log(path: Path) -> BinaryIO:
    """Open a log for reading, unpacking ``.gz``.

    Raises:
        MlsubError: no such file, no permission, not a regular file (a pipe would block, a device never
            ends), or a symbolic link that leads nowhere.
    """
    try:
        if not path.is_file():
            raise MlsubError(_why_no_file(path))
        return cast("BinaryIO", gzip.open(path)) if path.suffix == ".gz" else path.open("rb")
    except OSError as error:
        raise MlsubError(error.strerror or str(error)) from error


def _why_no_file(path: Path) -> str:
    if path.is_dir():
        return "a folder"
    if path.exists():
        return "not a regular file"
    return "a link that leads nowhere, or in a circle" if path.is_symlink() else "no such file"


def foreign_encoding(head: bytes) -> str | None:
    """The wide encoding a byte order mark announces; the official parser finds no record in such a file."""
    return next((name for bom, name in _UTF16_UTF32 if head.startswith(bom)), None)


def chunks(stream: BinaryIO) -> Iterator[bytes]:
    """The bytes of an open log, a chunk at a time.

    Raises:
        MlsubError: reading fails on the way (a damaged archive, a disk error).
    """
    try:
        while chunk := stream.read(CHUNK):
            yield chunk
    except (OSError, EOFError, zlib.error) as error:
        raise MlsubError(f"reading failed on the way: {error}") from error


def read_records(stream: BinaryIO, encoding: str | None = None, token: bytes = TOKEN) -> Iterator[list[RawRecord]]:
    """Yield the records of a log in file order, those of about one chunk at a time.

    Args:
        stream: the open log.
        encoding: see :class:`RecordCutter`.
        token: what a record begins with.

    Raises:
        MlsubError: reading fails on the way.
    """
    cutter = RecordCutter(token, encoding)
    for chunk in chunks(stream):
        yield cutter.feed(chunk)
    yield cutter.close()


class RecordCutter:
    """Cuts bytes that come in pieces of any size into records; holds one chunk and at most one unfinished record.

    The records depend on the bytes alone, never on where one piece ends and the next begins.

    Args:
        token: what a record begins with.
        encoding: a wide encoding to read the bytes in, see :func:`foreign_encoding`; None for plain bytes.
    """

    def __init__(self, token: bytes = TOKEN, encoding: str | None = None) -> None:
        self._token = token
        self._decoder = codecs.getincrementaldecoder(encoding)(errors="replace") if encoding else None
        #: The line that has not ended: what was looked through, and what came since without a line end.
        self._rest = b""
        self._since = bytearray()
        self._line = 1
        self._overlong: RawRecord | None = None

    def feed(self, piece: bytes) -> list[RawRecord]:
        """The records that the next bytes complete."""
        if self._decoder is not None:
            piece = self._decoder.decode(piece).encode("utf-8", "replace")
        return self._take(piece)

    def close(self) -> list[RawRecord]:
        """The records that the end of the log completes."""
        found = []
        if self._decoder is not None:
            found = self._take(self._decoder.decode(b"", final=True).encode("utf-8", "replace"))
        rest, self._rest = self._rest + self._since, b""
        self._since.clear()
        self._lines(rest, found)
        return found

    def _take(self, piece: bytes) -> list[RawRecord]:
        found: list[RawRecord] = []
        ended = b"\n" in piece or b"\r" in piece or self._rest.endswith(b"\r")
        if not ended and len(self._since) + len(piece) < CHUNK:
            # Small pieces of a very long line are put together first: each look goes through all of it.
            self._since += piece
            return found
        buffer = b"".join((self._rest, self._since, piece)) if self._rest or self._since else piece
        self._since.clear()
        cut = max(buffer.rfind(b"\n"), buffer.rfind(b"\r")) + 1
        if cut == len(buffer) and buffer.endswith(b"\r"):
            # The LF of a CR LF may come with the next piece.
            cut = max(buffer.rfind(b"\n", 0, cut - 1), buffer.rfind(b"\r", 0, cut - 1)) + 1
        if cut:
            self._lines(buffer[:cut], found)
        self._rest = buffer[cut:]
        self._shorten(found)
        return found

    def _shorten(self, found: list[RawRecord]) -> None:
        """Let go of what an unfinished line has said for good: free text, and records another one follows."""
        rest, token = self._rest, self._token
        width = len(token)
        if len(rest) <= CHUNK and self._overlong is None:
            return
        last = rest.rfind(token)
        if last < 0:
            # Free text of any length: only a token cut in half by the piece can matter.
            self._rest = b"\r" if rest.endswith(b"\r") else rest[-(width - 1) :]
            return
        self._release_overlong(True, found)
        found += [_bounded(self._line, text, True) for text in rest[:last].split(token)[1:]]
        # What looks like text may be the beginning of the next token.
        if len(rest) - last - 2 * width <= MAX_RECORD:
            self._rest = rest[last:]
        else:
            self._overlong = (self._line, rest[last + width : last + width + _HEAD], False, True)
            self._rest = rest[-(width - 1) :]

    def _release_overlong(self, hidden: bool, found: list[RawRecord]) -> None:
        if self._overlong is not None:
            line, text, _, too_long = self._overlong
            found.append((line, text, hidden, too_long))
            self._overlong = None

    def _lines(self, block: bytes, found: list[RawRecord]) -> None:
        """Records of a block that ends where an official line ends, or the log does."""
        free, *parts = block.split(self._token)
        self._release_overlong(bool(parts) and b"\n" not in free and b"\r" not in free, found)
        line = self._line + free.count(b"\n")
        add, before = found.append, len(found)
        bare_returns = b"\r" in block
        for part in parts:
            size = len(part)
            feed = stop = part.find(b"\n")
            if feed < 0:
                stop = size
            if bare_returns:
                carriage = part.find(b"\r", 0, stop)
                if carriage >= 0:
                    stop = carriage
            add((line, part[:stop], stop == size, False))
            if feed >= 0:
                line += 1 if feed == size - 1 else part.count(b"\n", feed)
        self._line = line
        if parts and found[-1][2]:
            # Not another record ends the last one, but the log.
            found[-1] = (*found[-1][:2], False, False)
        if len(block) > MAX_RECORD:
            found[before:] = [_bounded(line, text, hidden) for line, text, hidden, _ in found[before:]]


def _bounded(line: int, text: bytes, hidden: bool) -> RawRecord:
    too_long = len(text) > MAX_RECORD
    return line, text[:_HEAD] if too_long else text, hidden, too_long
