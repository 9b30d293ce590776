"""Change logs in place: cut into free text and records, each put in place whole and proven to have the same records."""

from __future__ import annotations

import fcntl
import hashlib
import os
import shutil
import stat
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import BinaryIO

import msgspec

from mlsub.io.errors import MlsubError
from mlsub.io.write import put_file, staging_beside, sync_file
from mlsub.log.reader import CHUNK, TOKEN, TOKEN_MLL, ended_lines, foreign_encoding, open_log, read_records

MARK = b":::ML"
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
        cut = ended_lines(buffer)
        if cut:
            yield from _cut(buffer[:cut], in_record)
            in_record = False
        rest = buffer[cut:]
        if len(rest) > CHUNK:
            at = -1 if in_record else rest.find(MARK)
            if at > 0:
                yield FREE, rest[:at]
            in_record = in_record or at >= 0
            # Not a CR whose LF may follow, and neither half a mark nor half a word.
            emitted = len(rest) - rest.endswith(b"\r") if in_record else _between_words(rest)
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


def _between_words(rest: bytes) -> int:
    """How much of unfinished free text can go: neither half a mark nor half a word."""
    at = rest.rfind(b" ", len(rest) - _WORD)
    return at + 1 if at >= 0 else len(rest) - len(MARK)


#: What a log is called in a folder that is named as a whole.
ENDINGS = (".txt", ".log", ".out")
MAX_LOGS = 100_000

Writer = Callable[[BinaryIO, BinaryIO], None]


def check_source(file: Path) -> None:
    """Find out beforehand what keeps a file from being changed.

    Raises:
        MlsubError: it is a link, not a regular file, compressed, or does not exist.
    """
    try:
        mode = file.lstat().st_mode
    except (OSError, ValueError) as error:
        raise _cannot(file, "read", error) from error
    if stat.S_ISLNK(mode):
        raise MlsubError(f"{file} is a link. Name the file it leads to.")
    if not stat.S_ISREG(mode):
        raise MlsubError(f"{file} is not a regular file. Name a log.")
    if file.suffix == ".gz":
        raise MlsubError(f"{file} is compressed, and results are submitted uncompressed. Decompress it first.")


def rewrite(file: Path, write: Writer, prove: Callable[[Path], None], target: Path | None = None) -> None:
    """Write the changed file beside its place, prove it, and only then let it take the place.

    Args:
        file: what is read.
        write: copies from the first stream to the second, with its changes.
        prove: raises :class:`MlsubError` where the written file is not what it must be.
        target: where it goes; None for the place of ``file`` itself. A target that exists is never replaced.

    Raises:
        MlsubError: reading or writing fails, the proof does, or the file changed meanwhile.
    """
    check_source(file)
    place = file if target is None else target
    try:
        with file.open("rb") as source, staging_beside(place) as staging:
            if target is None:
                _lock(source, file)
            before = _state(os.fstat(source.fileno()))
            part = staging / place.name
            with part.open("xb") as sink:
                write(source, sink)
                shutil.copymode(file, part)
                sync_file(sink)
            prove(part)
            if _state(file.stat()) != before:
                raise MlsubError(
                    f"{file} changed while it was read, and is left as it is. Wait until its run has ended."
                )
            put_file(part, place, force=target is None)
    except OSError as error:
        raise _cannot(place, "written", error) from error


def _lock(source: BinaryIO, file: Path) -> None:
    """Keep other processes of mlsub from changing a file, where the file system knows locks.

    Raises:
        MlsubError: another one is changing it.
    """
    try:
        fcntl.flock(source, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        raise MlsubError(f"{file} is being changed by another process, and is left as it is. Try again.") from None
    except OSError:
        return


def _state(found: os.stat_result) -> tuple[int, int, int]:
    return found.st_ino, found.st_size, found.st_mtime_ns


def _cannot(file: Path, what: str, error: Exception) -> MlsubError:
    reason = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
    return MlsubError(f"{file} cannot be {what}: {reason}. Nothing was changed in it.")


class Fingerprint(msgspec.Struct, frozen=True):
    """The records of a log: how many, and a digest of the bytes of each and of their order.

    ``placed`` is the digest with the line of each record, for changes that keep every line where it was.
    """

    records: int
    digest: str
    placed: str


def fingerprint(file: Path) -> Fingerprint:
    """Read all records of a log, by the tokens of all formats.

    Raises:
        MlsubError: the log cannot be read, or is in an encoding whose bytes are not those of its characters.
    """
    count, digest, placed = 0, hashlib.sha256(), hashlib.sha256()
    try:
        with open_log(file) as stream:
            encoding = foreign_encoding(stream.read(4))
        if encoding is not None:
            raise MlsubError(
                f"{file} is {encoding.upper()}, in which no tool finds records. Convert it to UTF-8 first."
            )
        for token in (TOKEN, TOKEN_MLL):
            with open_log(file) as stream:
                for batch in read_records(stream, token=token):
                    for line, text, hidden, too_long in batch:
                        count += token is TOKEN_MLL
                        part = b"%d %d %d:%b\n" % (hidden, too_long, len(text), text)
                        digest.update(part)
                        placed.update(b"%d " % line)
                        placed.update(part)
    except MlsubError as error:
        raise MlsubError(f"{file} cannot be read: {error}. Name a log that can be.") from error
    return Fingerprint(count, digest.hexdigest(), placed.hexdigest())


def prove_same(before: Fingerprint, after: Fingerprint, file: Path, *, placed: bool) -> None:
    """Compare the records of a log before and after.

    Args:
        before: of the log as it is.
        after: of the log as it would be.
        file: what the message calls it.
        placed: whether each record must be on its line still.

    Raises:
        MlsubError: they differ in anything.
    """
    same = before == after if placed else (before.records, before.digest) == (after.records, after.digest)
    if not same:
        counts = f"{before.records} before, {after.records} after"
        raise MlsubError(f"{file} is left as it was: its records would not be the same ({counts}). Please report it.")


def find_logs(paths: Sequence[str]) -> list[Path]:
    """The logs that are named, and those anywhere below the folders that are; hidden files and links are passed over.

    Raises:
        MlsubError: a path does not exist or is empty of logs, or a folder cannot be read.
    """
    found: dict[Path, None] = {}
    for name in paths:
        path = Path(os.path.abspath(name)) if "\0" not in name else None  # noqa: PTH100  (links keep their names)
        if path is None or not os.path.lexists(path):
            raise MlsubError(f"There is no {name}. Name logs, or folders of them.")
        if not path.is_dir():
            found[path] = None
            continue
        below = _below(path)
        if not below:
            raise MlsubError(f"{path} holds no log ({', '.join(ENDINGS)}). Name logs, or folders of them.")
        found.update(dict.fromkeys(below))
        if len(found) > MAX_LOGS:
            raise MlsubError(f"There are more than {MAX_LOGS} logs. Name fewer.")
    return list(found)


def root_of(files: Sequence[Path]) -> Path:
    """The folder that paths of the logs are relative to."""
    return Path(os.path.commonpath([file.parent for file in files]))


def _below(folder: Path) -> list[Path]:
    found = []

    def fail(error: OSError) -> None:
        raise MlsubError(f"{error.filename} cannot be read: {error.strerror}. Make it readable, or name the logs.")

    for parent, folders, files in os.walk(folder, onerror=fail):
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        for name in sorted(files):
            file = Path(parent, name)
            if not name.startswith(".") and name.endswith(ENDINGS) and file.is_file() and not file.is_symlink():
                found.append(file)
    return found
