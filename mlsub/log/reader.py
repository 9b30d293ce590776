"""Find ``:::MLLOG`` records in a stream of bytes: one pass, bounded memory, true line numbers; and ``:::SYSJSON``.

Two notions of a line meet here. People and editors count LF; that is the line a finding names. The official parser
opens logs with universal newlines, so for it a bare CR ends a line too, and it reads only the last record of each
of *its* lines. The reader keeps both: `line` counts LF, `hidden` marks a record that another one follows on the
same official line.
"""

from __future__ import annotations

import codecs
import json
import os
import re
import zlib
from collections.abc import Iterator
from functools import cache
from io import FileIO
from itertools import accumulate
from pathlib import Path
from stat import S_ISDIR, S_ISREG
from typing import Any, BinaryIO, cast

import msgspec

from mlsub.io import MlsubError, reason_of
from mlsub.io.look import is_link, open_regular, status_of
from mlsub.log.event import RawRecord, RecordBatch

TOKEN = b":::MLLOG "
#: The token of v0.6. It is the beginning of the later one, whose records are thus broken ones to the v0.6 parser.
TOKEN_MLL = b":::MLL"
#: By the format of a log; see :class:`mlsub.rounds.Round`.
TOKENS = {"mllog": TOKEN, "mll": TOKEN_MLL}
CHUNK = 1 << 20
#: The longest record that is kept, in bytes. Real ones are below 64 KiB; the bound keeps memory flat on hostile input.
MAX_RECORD = 1 << 24
#: Where a letter of the token is no more frequent than this, looking for it is faster than for the token.
_FEW = 16
#: So much of a longer record is kept.
_HEAD = 256

#: How a file begins that gzip has compressed.
GZIP = b"\x1f\x8b"
UNPACK = "gunzip -c < FILE > NEW, and put NEW in its place: results are submitted uncompressed."
_UTF16_UTF32 = (
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)


def open_log(path: Path | str) -> BinaryIO:
    """Open a log for reading, unpacking ``.gz``.

    Raises:
        MlsubError: no such file, no permission, not a regular file whose content is stored (a pipe would block, a
            device or a file of /proc never ends), or a symbolic link that leads nowhere.
    """
    try:
        # Without a Path, and unbuffered: there may be thousands of logs, and who reads takes large pieces.
        found = status_of(path)
        if found is None or not S_ISREG(found.st_mode):
            raise MlsubError(_why_no_file(path, found))
        if not str(path).endswith(".gz"):
            return open_regular(path, buffering=0)
        from gzip import GzipFile

        stream = open_regular(path)
        unpacked = GzipFile(fileobj=stream, mode="rb")
        unpacked.myfileobj = cast("FileIO", stream)  # It is closed with the other one.
        return cast("BinaryIO", unpacked)
    except OSError as error:
        raise MlsubError(reason_of(error)) from error


def _why_no_file(path: Path | str, found: os.stat_result | None) -> str:
    if found is not None:
        return "a folder" if S_ISDIR(found.st_mode) else "not a regular file"
    return "a link that leads nowhere, or in a circle" if is_link(path) else "no such file"


def foreign_encoding(head: bytes) -> str | None:
    """Return the wide encoding a byte order mark announces; the official parser finds no record in such a file."""
    return next((name for bom, name in _UTF16_UTF32 if head.startswith(bom)), None)


def chunks(stream: BinaryIO) -> Iterator[bytes]:
    """Yield the bytes of an open log, a chunk at a time.

    Raises:
        MlsubError: reading fails on the way (a damaged archive, a disk error).
    """
    try:
        while chunk := stream.read(CHUNK):
            yield chunk
    except (OSError, EOFError, zlib.error) as error:
        raise MlsubError(f"reading failed on the way: {error}") from error


def read_records(stream: BinaryIO, token: bytes = TOKEN) -> Iterator[RawRecord]:
    """Yield the records of a log in file order.

    Raises:
        MlsubError: reading fails on the way.
    """
    cutter = RecordCutter(token)
    for chunk in chunks(stream):
        yield from cutter.feed(chunk)
    yield from cutter.close()


class LineCutter:
    """Cuts bytes that come in pieces of any size into blocks that end where a line does for the official parser.

    ``unfinished`` is the line that has not ended.
    """

    def __init__(self) -> None:
        #: What of that line was looked through, and what came since without a line end.
        self._rest = b""
        self._since = bytearray()

    @property
    def unfinished(self) -> bytes:
        """The line that has not ended; assign what is left of it, nothing where it was taken away."""
        return b"".join((self._rest, self._since)) if self._since else self._rest

    @unfinished.setter
    def unfinished(self, rest: bytes) -> None:
        self._rest = rest
        self._since.clear()

    def lines(self, piece: bytes) -> bytes:
        """Return the lines that the next bytes end: behind a CR at the very end an LF may follow."""
        ended = b"\n" in piece or b"\r" in piece or self._rest.endswith(b"\r")
        if not ended and len(self._since) + len(piece) < CHUNK:
            # Small pieces of a very long line are put together first: each look goes through all of it.
            self._since += piece
            return b""
        buffer = b"".join((self._rest, self._since, piece)) if self._rest or self._since else piece
        cut = unfinished_from(buffer)
        self.unfinished = buffer[cut:]
        return buffer[:cut]


def unfinished_from(buffer: bytes) -> int:
    """Return where the line begins that has not ended for certain."""
    size = len(buffer) - buffer.endswith(b"\r")
    return max(buffer.rfind(b"\n", 0, size), buffer.rfind(b"\r", 0, size)) + 1


@cache
def _record(token: bytes) -> re.Pattern[bytes]:
    """A record from its token to the end of its line, with its text if this begins and ends as an object does.

    One pattern takes the whole line, so that each byte is looked at once; splitting by it is faster than a loop.
    """
    return re.compile(re.escape(token) + rb"(?:(\{.*\})\r?\n|.*)")


def holds(text: bytes, token: bytes) -> bool:
    """Return whether a text has the token: most have few of its last letter, and a byte is found faster than a word."""
    letter = token.rstrip()[-1:]
    ahead, place = token.index(letter), -1
    for _ in range(_FEW):
        place = text.find(letter, place + 1)
        if place < 0 or text.startswith(token, max(place - ahead, 0)):
            return place >= 0
    return token in text


class RecordCutter(LineCutter):
    """Cuts bytes that come in pieces of any size into records; holds one chunk and at most one unfinished record.

    The records depend on the bytes alone, never on where one piece ends and the next begins.
    ``line_count`` is the number of lines of the log, once it is closed. ``block`` is what was cut last, ``block_line``
    the line that it begins in, and ``free`` the block with records left out of its lines, as far as these are plain,
    until it is taken; it is empty where nothing else is in it.

    Args:
        token: what a record begins with.
        encoding: a wide encoding to read the bytes in, see :func:`foreign_encoding`; None for plain bytes.
    """

    def __init__(self, token: bytes = TOKEN, encoding: str | None = None) -> None:
        super().__init__()
        self._token = token
        self._decoder = codecs.getincrementaldecoder(encoding)(errors="replace") if encoding else None
        self._line = self.block_line = 1
        self.line_count = 0
        self.block = self.free = b""
        self._overlong: tuple[int, bytes] | None = None

    def feed(self, piece: bytes) -> RecordBatch:
        """Return the records that the next bytes complete."""
        block = self.lines(self._plain(piece))
        found = self._cut(block) if block else RecordBatch()
        if not self._since and (len(self._rest) > CHUNK or self._overlong is not None):
            self._shorten(found)
        return found

    def close(self) -> RecordBatch:
        """Return the records that the end of the log completes."""
        rest, self.unfinished = self.unfinished + self._plain(b"", final=True), b""
        self.line_count = self._line if rest else self._line - 1
        return self._cut(rest)

    def _plain(self, piece: bytes, *, final: bool = False) -> bytes:
        return piece if self._decoder is None else self._decoder.decode(piece, final).encode("utf-8", "replace")

    def _shorten(self, found: RecordBatch) -> None:
        """Let go of what an unfinished line has said for good: free text, and records another one follows."""
        rest, token = self._rest, self._token
        width = len(token)
        last = rest.rfind(token)
        if last < 0:
            # Free text of any length: only a token cut in half by the piece can matter.
            self._rest = b"\r" if rest.endswith(b"\r") else rest[-(width - 1) :]
            return
        self._release_overlong(found, hidden=True)
        for text in rest[:last].split(token)[1:]:
            self._add(found, self._line, text, hidden=True)
        # What looks like text may be the beginning of the next token.
        if len(rest) - last - 2 * width <= MAX_RECORD:
            self._rest = rest[last:]
        else:
            self._overlong = (self._line, rest[last + width : last + width + _HEAD])
            self._rest = rest[-(width - 1) :]

    def _add(self, found: RecordBatch, line: int, text: bytes, *, hidden: bool) -> None:
        """Add a record, of which no more than its head is kept where it is too long."""
        too_long = len(text) > MAX_RECORD
        found.add(line, text[:_HEAD] if too_long else text, hidden, too_long)

    def _release_overlong(self, found: RecordBatch, *, hidden: bool) -> None:
        if self._overlong is not None:
            found.add(*self._overlong, hidden, too_long=True)
            self._overlong = None

    def _cut(self, block: bytes) -> RecordBatch:
        """The records of a block that ends where an official line ends, or the log does."""
        self.block, self.free, self.block_line = block, block, self._line
        plain = self._token is TOKEN and block.endswith(b"\n") and len(block) <= MAX_RECORD
        found = self._plain_records(block) if plain and self._overlong is None else None
        return found if found is not None else self._any_records(block)

    def _plain_records(self, block: bytes) -> RecordBatch | None:
        """Where each record is an object to the end of its line; None where that is not certain."""
        parts = _record(self._token).split(block)
        texts, free = parts[1::2], parts[::2]
        try:
            joined, around = b"\n".join(texts), b"".join(free) and b"\n".join(free)
        except TypeError:  # None is among them: a text that is not an object.
            return None
        if b"\r" in joined or holds(joined, self._token):
            return None
        self.free = around
        if b"\n" in around:
            steps = [1 + part.count(b"\n") if part else 1 for part in free]
            steps[0] += self._line - 1
            lines = list(accumulate(steps))
            self._line = lines.pop()
        else:
            lines = list(range(self._line, self._line + len(texts)))
            self._line += len(texts)
        return RecordBatch(lines, texts, joined)

    def _any_records(self, block: bytes) -> RecordBatch:
        """Whatever the block has in it."""
        found = RecordBatch()
        free, *parts = block.split(self._token)
        self._release_overlong(found, hidden=bool(parts) and b"\n" not in free and b"\r" not in free)
        line = self._line + free.count(b"\n")
        for number, part in enumerate(parts, start=1):
            text, feed, _ = part.partition(b"\n")
            text, carriage, _ = text.partition(b"\r")
            # Not another record ends the last one, but the log.
            self._add(found, line, text, hidden=not feed and not carriage and number < len(parts))
            line += part.count(b"\n")
        self._line = line
        return found


#: So many bytes of a log are looked through; of all published ones the system is in the first 25 KiB.
_MOST = 1 << 18
#: The longest description that is read, in bytes; real ones have 2 KiB.
_LONGEST, _LONGEST_VALUE = 1 << 16, 200
#: Descriptions that are tried: a shell that shows its commands has each twice.
_TRIES = 4
#: With and without what is frequent in a log, see :func:`holds`.
_TOKEN, _RARE = b":::SYSJSON ", b":::SYSJ"
#: A record behind the number of the process that logged it, as launchers write it.
_AFTER_RANK = b": " + TOKEN
#: Bytes of a line that is the number of a process, and the end of the line before it.
_LONGEST_RANK = 12
#: The fields of a system that say how large it is, as descriptions and logs name them; these are kept.
SCALE = ("number_of_nodes", "accelerators_per_node")
#: Those that name what it is made of, kept from ``:::SYSJSON`` too.
NAMED = ("accelerator_model_name", "host_processor_model_name", "framework")
_decoder = json.JSONDecoder()


class LoggedSystem(msgspec.Struct, frozen=True, array_like=True):
    """What a log says of its system: some fields of the first ``:::SYSJSON`` that can be read.

    ``ranks`` is the number of processes that log records, where all from 0 on have their number before one; else 0.
    ``line`` is where the fields stand; 0 where there are none.
    """

    fields: dict[str, str] = {}
    ranks: int = 0
    line: int = 0


class SystemReader:
    """Takes the first bytes of a log, in pieces of any size; :meth:`finish` gives what they say."""

    def __init__(self) -> None:
        self._head = b""
        #: What was found, and in how many bytes: a run is asked for several times.
        self._found: tuple[int, LoggedSystem] = (0, LoggedSystem())

    def feed(self, piece: bytes) -> None:
        """Take the next bytes."""
        if len(self._head) < _MOST:
            self._head += piece[: _MOST - len(self._head)]

    def finish(self) -> LoggedSystem:
        """Return what was said so far."""
        if self._found[0] != len(self._head):
            self._found = (len(self._head), _read_system(self._head))
        return self._found[1]


def _read_system(head: bytes) -> LoggedSystem:
    before, *texts = head.split(_TOKEN, _TRIES) if holds(head, _RARE) else [b""]
    line = 1 + before.count(b"\n")
    for text in texts:
        if (fields := _fields(text[:_LONGEST].decode("latin-1"))) is not None:
            return LoggedSystem(fields, _count_processes(head), line)
        line += text.count(b"\n")
    return LoggedSystem({}, _count_processes(head))


def _count_processes(head: bytes) -> int:
    """Return how many processes log records, where each from 0 on has its number before one; else 0."""
    # Most logs name none: where the last record has no number before it, the others are not looked at.
    if not head.startswith(_AFTER_RANK, max(head.rfind(TOKEN) - 2, 0)):
        return 0
    # An expression over all of it would be a tenth of a cold check.
    *before, _ = (b"\n" + head).split(_AFTER_RANK)
    ends = {text[-_LONGEST_RANK:].replace(b"\r", b"\n").rpartition(b"\n")[1:] for text in before}
    ranks = {int(rank) for begins, text in ends if begins and (rank := text.strip(b" ")).isdigit()}
    return len(ranks) if ranks == set(range(len(ranks))) else 0


def _fields(text: str) -> dict[str, str] | None:
    """The fields of a description that text begins with, whatever follows it; None where there is none."""
    try:
        content: Any = _decoder.raw_decode(text)[0]
    except (ValueError, RecursionError):
        return None
    if not isinstance(content, dict):
        return None
    kept = (name for name in (*SCALE, *NAMED) if isinstance(content.get(name), int | str))
    return {name: str(content[name])[:_LONGEST_VALUE] for name in kept}
