"""Find ``:::MLLOG`` records in a stream of bytes: one pass, bounded memory, true line numbers.

Two notions of a line meet here. People and editors count LF; that is the line a finding names. The official parser
opens logs with universal newlines, so for it a bare CR ends a line too, and it reads only the last record of each
of *its* lines. The reader keeps both: `line` counts LF, `hidden` marks a record that another one follows on the
same official line.
"""

from __future__ import annotations

import codecs
import gzip
import io
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


class _Recoded(io.RawIOBase):
    """A wide-character stream as UTF-8, so that its records can be read all the same."""

    def __init__(self, stream: BinaryIO, encoding: str) -> None:
        self._stream = stream
        self._decoder = codecs.getincrementaldecoder(encoding)(errors="replace")

    def read(self, size: int = -1) -> bytes:
        while True:
            raw = self._stream.read(size)
            text = self._decoder.decode(raw, final=not raw)
            if text or not raw:
                return text.encode("utf-8", "replace")


def read_records(stream: BinaryIO, encoding: str | None = None, token: bytes = TOKEN) -> Iterator[list[RawRecord]]:
    """Yield the records of a log in file order, those of about one chunk at a time.

    Args:
        stream: the open log.
        encoding: a wide encoding to read it in, see :func:`foreign_encoding`; None for plain bytes.
        token: what a record begins with.

    Raises:
        MlsubError: reading fails on the way (a damaged archive, a disk error).
    """
    source = _Recoded(stream, encoding) if encoding else stream
    scanner = _Scanner(token)
    try:
        while chunk := source.read(CHUNK):
            yield scanner.feed(chunk)
    except (OSError, EOFError, zlib.error) as error:
        raise MlsubError(f"reading failed on the way: {error}") from error
    yield scanner.finish()


class _Scanner:
    """Cuts a byte stream into records; holds one chunk and at most one unfinished record."""

    def __init__(self, token: bytes) -> None:
        self._token = token
        self._rest = b""
        self._line = 1
        self._overlong: RawRecord | None = None

    def feed(self, chunk: bytes) -> list[RawRecord]:
        found: list[RawRecord] = []
        buffer = self._rest + chunk if self._rest else chunk
        cut = max(buffer.rfind(b"\n"), buffer.rfind(b"\r")) + 1
        if cut == len(buffer) and buffer.endswith(b"\r"):
            # The LF of a CR LF may come with the next chunk.
            cut = max(buffer.rfind(b"\n", 0, cut - 1), buffer.rfind(b"\r", 0, cut - 1)) + 1
        if cut:
            self._lines(buffer[:cut], found)
        self._rest = buffer[cut:]
        self._shorten(found)
        return found

    def finish(self) -> list[RawRecord]:
        found: list[RawRecord] = []
        rest, self._rest = self._rest, b""
        self._lines(rest, found)
        return found

    def _shorten(self, found: list[RawRecord]) -> None:
        """Let go of what an unfinished line has said for good: free text, and records another one follows."""
        rest, token = self._rest, self._token
        width = len(token)
        if len(rest) <= CHUNK and self._overlong is None:
            return
        last = rest.rfind(token)
        if last < 0:
            # Free text of any length: only a token cut in half by the chunk can matter.
            self._rest = b"\r" if rest.endswith(b"\r") else rest[-(width - 1) :]
            return
        self._release_overlong(True, found)
        start = rest.find(token)
        while start < last:
            following = rest.find(token, start + width)
            found.append((self._line, rest[start + width : following], True, False))
            start = following
        if len(rest) - last <= MAX_RECORD:
            self._rest = rest[last:]
        else:
            self._overlong = (self._line, rest[last + width : last + width + 256], False, True)
            self._rest = rest[-(width - 1) :]

    def _release_overlong(self, hidden: bool, found: list[RawRecord]) -> None:
        if self._overlong is not None:
            line, text, _, too_long = self._overlong
            found.append((line, text, hidden, too_long))
            self._overlong = None

    def _lines(self, block: bytes, found: list[RawRecord]) -> None:
        """Records of a block that ends where an official line ends."""
        token, find, add = self._token, block.find, found.append
        width = len(token)
        bare_returns = b"\r" in block
        counted, line = 0, self._line
        start = find(token)
        if self._overlong is not None:
            first_end = min(i for i in (find(b"\n"), find(b"\r"), len(block)) if i >= 0)
            self._release_overlong(0 <= start < first_end, found)
        while start >= 0:
            end = find(b"\n", start)
            if end < 0:
                end = len(block)
            if bare_returns:
                carriage = find(b"\r", start, end)
                if carriage >= 0:
                    end = carriage
            line += block.count(b"\n", counted, start)
            counted = start
            following = find(token, start + width)
            while 0 <= following < end:
                add((line, block[start + width : following], True, False))
                start = following
                following = find(token, start + width)
            add((line, block[start + width : end], False, False))
            start = following
        self._line = line + block.count(b"\n", counted)
