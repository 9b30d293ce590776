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
from typing import BinaryIO, NamedTuple, cast

TOKEN = b":::MLLOG "
CHUNK = 1 << 20
#: The longest record that is kept, in bytes. Real ones are below 64 KiB; the bound keeps memory flat on hostile input.
MAX_RECORD = 1 << 24

_UTF16_UTF32 = (
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)


class RawRecord(NamedTuple):
    """The text after one token, up to the next token or the end of the official line."""

    line: int
    text: bytes
    hidden: bool
    too_long: bool


class UnreadableLogError(Exception):
    """The file cannot be opened or read to its end; the text says why, in words for the person who asked."""


def open_log(path: Path) -> BinaryIO:
    """Open a log for reading, unpacking ``.gz``.

    Raises:
        UnreadableLogError: no such file, no permission, not a regular file (a pipe would block, a device never
            ends), or a symbolic link that leads nowhere.
    """
    try:
        if not path.is_file():
            reason = "a folder" if path.is_dir() else "a dangling link" if path.is_symlink() else "not a regular file"
            if not path.is_symlink() and not path.exists():
                reason = "no such file"
            raise UnreadableLogError(reason)
        return cast("BinaryIO", gzip.open(path)) if path.suffix == ".gz" else path.open("rb")
    except OSError as error:
        raise UnreadableLogError(error.strerror or str(error)) from error


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


def read_records(stream: BinaryIO, encoding: str | None = None) -> Iterator[RawRecord]:
    """Yield every record of a log in file order.

    Raises:
        UnreadableLogError: reading fails on the way (a damaged archive, a disk error).
    """
    source = _Recoded(stream, encoding) if encoding else stream
    scanner = _Scanner()
    try:
        while chunk := source.read(CHUNK):
            yield from scanner.feed(chunk)
    except (OSError, EOFError, zlib.error) as error:
        raise UnreadableLogError(f"reading failed on the way: {error}") from error
    yield from scanner.finish()


class _Scanner:
    """Cuts a byte stream into records; holds one chunk and at most one unfinished record."""

    def __init__(self) -> None:
        self._rest = b""
        self._line = 1
        self._overlong: RawRecord | None = None

    def feed(self, chunk: bytes) -> Iterator[RawRecord]:
        buffer = self._rest + chunk if self._rest else chunk
        cut = max(buffer.rfind(b"\n"), buffer.rfind(b"\r")) + 1
        if cut == len(buffer) and buffer.endswith(b"\r"):
            # The LF of a CR LF may come with the next chunk.
            cut = max(buffer.rfind(b"\n", 0, cut - 1), buffer.rfind(b"\r", 0, cut - 1)) + 1
        if cut:
            yield from self._lines(buffer[:cut])
        self._rest = buffer[cut:]
        yield from self._shorten()

    def finish(self) -> Iterator[RawRecord]:
        rest, self._rest = self._rest, b""
        yield from self._lines(rest)

    def _shorten(self) -> Iterator[RawRecord]:
        """Forget the part of an unfinished line that cannot matter any more."""
        rest = self._rest
        if len(rest) <= CHUNK and self._overlong is None:
            return
        first = rest.find(TOKEN)
        if first < 0:
            # Free text of any length: only a token cut in half by the chunk can matter.
            self._rest = b"\r" if rest.endswith(b"\r") else rest[-(len(TOKEN) - 1) :]
        elif len(rest) - first <= MAX_RECORD:
            self._rest = rest[first:]
        else:
            yield from self._release_overlong(hidden=True)
            head = rest[first + len(TOKEN) : first + len(TOKEN) + 256]
            self._overlong = RawRecord(self._line, head, hidden=False, too_long=True)
            self._rest = rest[-(len(TOKEN) - 1) :]

    def _release_overlong(self, hidden: bool) -> Iterator[RawRecord]:
        if self._overlong is not None:
            yield self._overlong._replace(hidden=hidden)
            self._overlong = None

    def _lines(self, block: bytes) -> Iterator[RawRecord]:
        """Records of a block that ends where an official line ends."""
        token, width = TOKEN, len(TOKEN)
        bare_returns = b"\r" in block
        counted, line = 0, self._line
        start = block.find(token)
        if self._overlong is not None:
            first_end = min(i for i in (block.find(b"\n"), block.find(b"\r"), len(block)) if i >= 0)
            yield from self._release_overlong(hidden=0 <= start < first_end)
        while start >= 0:
            end = block.find(b"\n", start)
            if end < 0:
                end = len(block)
            if bare_returns:
                carriage = block.find(b"\r", start, end)
                if carriage >= 0:
                    end = carriage
            line += block.count(b"\n", counted, start)
            counted = start
            following = block.find(token, start + width, end)
            while following >= 0:
                yield RawRecord(line, block[start + width : following], hidden=True, too_long=False)
                start = following
                following = block.find(token, start + width, end)
            yield RawRecord(line, block[start + width : end], hidden=False, too_long=False)
            start = block.find(token, end)
        self._line = line + block.count(b"\n", counted)
