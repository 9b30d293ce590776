"""Find ``:::MLLOG`` records in a stream of bytes: one pass, bounded memory, true line numbers.

Two notions of a line meet here. People and editors count LF; that is the line a finding names. The official parser
opens logs with universal newlines, so for it a bare CR ends a line too, and it reads only the last record of each
of *its* lines. The reader keeps both: `line` counts LF, `hidden` marks a record that another one follows on the
same official line.
"""

from __future__ import annotations

import codecs
import os
import re
import zlib
from collections.abc import Iterator
from functools import cache
from itertools import accumulate
from pathlib import Path
from stat import S_ISDIR, S_ISREG
from typing import BinaryIO, cast

from mlsub.io.errors import MlsubError
from mlsub.io.look import is_link, status_of

TOKEN = b":::MLLOG "
#: The token of v0.6. It is the beginning of the later one, whose records are thus broken ones to the v0.6 parser.
TOKEN_MLL = b":::MLL"
CHUNK = 1 << 20
#: The longest record that is kept, in bytes. Real ones are below 64 KiB; the bound keeps memory flat on hostile input.
MAX_RECORD = 1 << 24
#: So much of a longer record is kept.
_HEAD = 256
#: Where the last character of a token is no more frequent than this, looking for it is faster than for the token.
_FEW = 16

_UTF16_UTF32 = (
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)


#: The text after one token, up to the next token or the end of the official line, as (line, text, hidden, too long).
RawRecord = tuple[int, bytes, bool, bool]


class Records:
    """Records in file order: their ``lines`` and ``texts``, and of the ``odd`` ones by place whether hidden, too long.

    Columns, for there is a record for each event of every log, and hardly ever an odd one; iterating gives each record.
    ``joined`` is the texts with line feeds between if each begins and ends as an object does, and else None.
    """

    __slots__ = ("joined", "lines", "odd", "texts")

    def __init__(self) -> None:
        self.lines: list[int] = []
        self.texts: list[bytes] = []
        self.joined: bytes | None = None
        self.odd: dict[int, tuple[bool, bool]] = {}

    def __iter__(self) -> Iterator[RawRecord]:
        for place, (line, text) in enumerate(zip(self.lines, self.texts, strict=True)):
            yield line, text, *self.odd.get(place, (False, False))

    def add(self, line: int, text: bytes, hidden: bool, too_long: bool = False) -> None:
        """Add a record, of which no more than its head is kept where it is too long."""
        if len(text) > MAX_RECORD:
            text, too_long = text[:_HEAD], True
        if hidden or too_long:
            self.odd[len(self.lines)] = (hidden, too_long)
        self.lines.append(line)
        self.texts.append(text)
        self.joined = None

    def bound(self, first: int) -> None:
        """Keep no more than the heads of those that are too long, from a place on."""
        for place in range(first, len(self.texts)):
            if len(self.texts[place]) > MAX_RECORD:
                self.texts[place] = self.texts[place][:_HEAD]
                self.odd[place] = (self.odd.get(place, (False, False))[0], True)


def open_log(path: Path | str) -> BinaryIO:
    """Open a log for reading, unpacking ``.gz``.

    Raises:
        MlsubError: no such file, no permission, not a regular file (a pipe would block, a device never
            ends), or a symbolic link that leads nowhere.
    """
    try:
        # Without a Path, and unbuffered: there may be thousands of logs, and who reads takes large pieces.
        found = status_of(path)
        if found is None or not S_ISREG(found.st_mode):
            raise MlsubError(_why_no_file(path, found))
        if str(path).endswith(".gz"):
            import gzip

            return cast("BinaryIO", gzip.open(path))
        return open(path, "rb", buffering=0)  # noqa: PTH123
    except OSError as error:
        raise MlsubError(error.strerror or str(error)) from error


def _why_no_file(path: Path | str, found: os.stat_result | None) -> str:
    if found is not None:
        return "a folder" if S_ISDIR(found.st_mode) else "not a regular file"
    return "a link that leads nowhere, or in a circle" if is_link(path) else "no such file"


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


def read_records(stream: BinaryIO, encoding: str | None = None, token: bytes = TOKEN) -> Iterator[Records]:
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


@cache
def _record(token: bytes) -> re.Pattern[bytes]:
    """A record from its token to the end of its line, with its text if this begins and ends as an object does.

    One pattern takes the whole line, so that each byte is looked at once; splitting by it is faster than a loop.
    """
    return re.compile(re.escape(token) + rb"(?:(\{.*\})\r?\n|.*)")


def _holds(text: bytes, token: bytes) -> bool:
    """Whether the token is in a text: most have few of its last letter, and a byte is found faster than a word."""
    letter = token.rstrip()[-1:]
    ahead, place = token.index(letter), -1
    for _ in range(_FEW):
        place = text.find(letter, place + 1)
        if place < 0:
            return False
        if text.startswith(token, max(place - ahead, 0)):
            return True
    return token in text


def ended_lines(buffer: bytes) -> int:
    """Return where the last line ends that ends for certain: behind a CR at the very end an LF may follow."""
    size = len(buffer) - buffer.endswith(b"\r")
    return max(buffer.rfind(b"\n", 0, size), buffer.rfind(b"\r", 0, size)) + 1


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
        self._overlong: tuple[int, bytes] | None = None

    def feed(self, piece: bytes) -> Records:
        """The records that the next bytes complete."""
        if self._decoder is not None:
            piece = self._decoder.decode(piece).encode("utf-8", "replace")
        return self._take(piece)

    def close(self) -> Records:
        """The records that the end of the log completes."""
        found = Records()
        if self._decoder is not None:
            found = self._take(self._decoder.decode(b"", final=True).encode("utf-8", "replace"))
        rest, self._rest = self._rest + self._since, b""
        self._since.clear()
        self._lines(rest, found)
        return found

    def _take(self, piece: bytes) -> Records:
        found = Records()
        ended = b"\n" in piece or b"\r" in piece or self._rest.endswith(b"\r")
        if not ended and len(self._since) + len(piece) < CHUNK:
            # Small pieces of a very long line are put together first: each look goes through all of it.
            self._since += piece
            return found
        buffer = b"".join((self._rest, self._since, piece)) if self._rest or self._since else piece
        self._since.clear()
        cut = ended_lines(buffer)
        if cut:
            self._lines(buffer[:cut], found)
        self._rest = buffer[cut:]
        self._shorten(found)
        return found

    def _shorten(self, found: Records) -> None:
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
        for text in rest[:last].split(token)[1:]:
            found.add(self._line, text, True)
        # What looks like text may be the beginning of the next token.
        if len(rest) - last - 2 * width <= MAX_RECORD:
            self._rest = rest[last:]
        else:
            self._overlong = (self._line, rest[last + width : last + width + _HEAD])
            self._rest = rest[-(width - 1) :]

    def _release_overlong(self, hidden: bool, found: Records) -> None:
        if self._overlong is not None:
            found.add(*self._overlong, hidden, too_long=True)
            self._overlong = None

    def _lines(self, block: bytes, found: Records) -> None:
        """Records of a block that ends where an official line ends, or the log does."""
        plain = self._token is TOKEN and block.endswith(b"\n") and len(block) <= MAX_RECORD
        if not (plain and self._overlong is None and not found.texts and self._plain_lines(block, found)):
            self._any_lines(block, found)

    def _plain_lines(self, block: bytes, found: Records) -> bool:
        """Do so where each record is an object to the end of its line; False where that is not certain."""
        parts = _record(self._token).split(block)
        texts, free = parts[1::2], parts[::2]
        try:
            joined, around = b"\n".join(texts), b"".join(free)
        except TypeError:  # None is among them: a text that is not an object.
            return False
        if b"\r" in joined or _holds(joined, self._token):
            return False
        if b"\n" in around:
            steps = [1 + part.count(b"\n") if part else 1 for part in free]
            steps[0] += self._line - 1
            lines = list(accumulate(steps))
            self._line = lines.pop()
        else:
            lines = list(range(self._line, self._line + len(texts)))
            self._line += len(texts)
        found.lines, found.texts, found.joined = lines, texts, joined
        return True

    def _any_lines(self, block: bytes, found: Records) -> None:
        """Do so whatever the block has in it."""
        free, *parts = block.split(self._token)
        self._release_overlong(bool(parts) and b"\n" not in free and b"\r" not in free, found)
        line = self._line + free.count(b"\n")
        first, bare_returns, carriage = len(found.texts), b"\r" in block, b""
        add_line, add_text = found.lines.append, found.texts.append
        for part in parts:
            text, feed, rest = part.partition(b"\n")
            if bare_returns:
                text, carriage, _ = text.partition(b"\r")
            add_line(line)
            add_text(text)
            if feed:
                # Counting is slower: it looks at each byte.
                line += len(rest.split(b"\n")) if rest else 1
            elif not carriage:
                found.odd[len(found.texts) - 1] = (True, False)
        self._line = line
        if parts:
            # Not another record ends the last one, but the log.
            found.odd.pop(len(found.texts) - 1, None)
        if len(block) > MAX_RECORD:
            found.bound(first)
