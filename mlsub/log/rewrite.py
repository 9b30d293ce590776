"""Change logs in place: cut into free text and records, each put in place whole and proven to have the same records."""

from __future__ import annotations

import fcntl
import os
import shutil
import stat
from collections.abc import Callable, Container, Iterator, Sequence
from itertools import zip_longest
from pathlib import Path
from typing import BinaryIO

import msgspec

from mlsub.io import MlsubError, reason_of
from mlsub.io.look import open_regular
from mlsub.io.write import put_file, staging_beside, sync_file
from mlsub.log import reader
from mlsub.log.event import RawRecord
from mlsub.log.reader import TOKEN_MLL, TOKENS, LineCutter, chunks, foreign_encoding, open_log, read_records

MARK = b":::ML"
#: How far back a line without an end is looked through for a blank to cut it at.
_WORD = 4096

#: Free text, with ``FREE``, or a record's line, with the place in it from which on it is the record. Lines are whole,
#: line end included, unless one is longer than ``CHUNK``: then it comes in parts.
Zone = tuple[int, bytes]
FREE = -1


def zones(stream: BinaryIO) -> Iterator[Zone]:
    """Cut a log; the zones joined are the log."""
    cutter, in_record = LineCutter(), False
    for chunk in chunks(stream):
        block = cutter.lines(chunk)
        if block:
            yield from _cut(block, in_record)
            in_record = False
        rest = cutter.unfinished
        if len(rest) > reader.CHUNK:
            at = -1 if in_record else rest.find(MARK)
            if at > 0:
                yield FREE, rest[:at]
            in_record = in_record or at >= 0
            # Not a CR whose LF may follow, and neither half a mark nor half a word.
            emitted = len(rest) - rest.endswith(b"\r") if in_record else _between_words(rest)
            yield 0 if in_record else FREE, rest[max(at, 0) : emitted]
            cutter.unfinished = rest[emitted:]
    yield from _cut(cutter.unfinished, in_record)


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
    """Return where the line ends that ``start`` lies in, its end included."""
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


def check_source(file: Path) -> None:
    """Find out beforehand what keeps a file from being changed.

    Raises:
        MlsubError: it is a link, not a regular file, compressed, does not exist, or is in an encoding whose bytes are
            not those of its characters.
        OSError: it cannot be opened.
    """
    try:
        mode = file.lstat().st_mode
    except (OSError, ValueError) as error:
        raise _failure(file, "read", error) from error
    if stat.S_ISLNK(mode):
        raise MlsubError(f"{file} is a link. Name the file it leads to.")
    if not stat.S_ISREG(mode):
        raise MlsubError(f"{file} is not a regular file. Name a log.")
    with open_regular(file, follow=False) as stream:
        head = stream.read(4)
    if file.suffix == ".gz" or head.startswith(reader.GZIP):
        raise MlsubError(f"{file} is compressed with gzip. Decompress it first: {reader.UNPACK}")
    encoding = foreign_encoding(head)
    if encoding is not None:
        raise MlsubError(f"{file} is {encoding.upper()}, in which no tool finds records. Convert it to UTF-8 first.")


class FileEdit(msgspec.Struct, frozen=True, kw_only=True):
    """How a file changes: ``write`` copies it, from the first stream to the second, with its changes.

    Its records stay the same: each on its line where ``placed``; without those of the lines ``removed``, and then
    blanks behind records may go, too (None: every byte of records stays). ``read`` is the file as it was when the edit
    was planned, None where the edit fits whatever the file holds; ``hunks`` are those of a diff, where there is one.
    """

    write: Callable[[BinaryIO, BinaryIO], object]
    placed: bool = False
    removed: Container[int] | None = None
    read: os.stat_result | None = None
    hunks: bytes = b""


def rewrite(file: Path, edit: FileEdit, target: Path | None = None) -> None:
    """Write the changed file beside its place, prove its records the same, and only then let it take the place.

    Args:
        file: what is read.
        edit: what changes.
        target: where it goes; None for the place of ``file`` itself. A target that exists is never replaced.

    Raises:
        MlsubError: reading or writing fails, the records differ, or the file changed meanwhile.
    """
    check_source(file)
    place = file if target is None else target
    try:
        with open_regular(file, follow=False) as source, staging_beside(place) as staging:
            if target is None:
                _lock(source, file)
            before = _state(os.fstat(source.fileno()))
            if edit.read is not None and _state(edit.read) != before:
                raise MlsubError(f"{file} changed since it was read, and is left as it is. Try again.")
            part = staging / place.name
            with part.open("xb") as sink:
                edit.write(source, sink)
                shutil.copymode(file, part)
                sync_file(sink)
            _prove_same(file, part, edit)
            if _state(file.stat()) != before:
                raise MlsubError(
                    f"{file} changed while it was read, and is left as it is. Wait until its run has ended."
                )
            put_file(part, place, force=target is None)
    except OSError as error:
        raise _failure(place, "written", error) from error


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


def _failure(file: Path, what: str, error: Exception) -> MlsubError:
    return MlsubError(f"{file} cannot be {what}: {reason_of(error)}. Nothing was changed in it.")


def _prove_same(file: Path, part: Path, edit: FileEdit) -> None:
    """Compare the records of a log, by the tokens of all formats, with those of what is to take its place.

    Raises:
        MlsubError: they differ in more than the edit says, or a log cannot be read.
    """

    def comparable(record: RawRecord) -> RawRecord:
        line, text, hidden, too_long = record
        return line if edit.placed else 0, text if edit.removed is None else text.rstrip(b" \t"), hidden, too_long

    for token in TOKENS.values():
        before = (record for record in records_of(file, token) if edit.removed is None or record[0] not in edit.removed)
        for old, new in zip_longest(before, records_of(part, token)):
            if old is None or new is None or comparable(old) != comparable(new):
                raise MlsubError(f"{file} is left as it was: its records would not be the same. Please report it.")


def records_of(file: Path, token: bytes = TOKEN_MLL) -> Iterator[RawRecord]:
    """Yield the records of a log by a token, those of all formats if nothing is said.

    Raises:
        MlsubError: the log cannot be read.
    """
    try:
        with open_log(file) as stream:
            yield from read_records(stream, token)
    except MlsubError as error:
        raise MlsubError(f"{file} cannot be read: {error}. Name a log that can be.") from error


def find_logs(paths: Sequence[str]) -> list[Path]:
    """Return the logs that are named, and those anywhere below the folders that are, hidden files and links left out.

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
        below = _logs_below(path)
        if not below:
            raise MlsubError(f"{path} holds no log ({', '.join(ENDINGS)}). Name logs, or folders of them.")
        found.update(dict.fromkeys(below))
        if len(found) > MAX_LOGS:
            raise MlsubError(f"There are more than {MAX_LOGS} logs. Name fewer.")
    return list(found)


def common_folder(files: Sequence[Path]) -> Path:
    """Return the folder that paths of the logs are relative to."""
    return Path(os.path.commonpath([file.parent for file in files]))


def _logs_below(folder: Path) -> list[Path]:
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


def for_each(
    files: Sequence[Path],
    failed: dict[Path, MlsubError],
    work: Callable[[Path], object],
    progress: Callable[[int, int], object] | None,
) -> None:
    """Do something with each log that has not failed, and note those with which it fails."""
    for number, file in enumerate(files):
        if progress is not None:
            progress(number, len(files))
        try:
            if file not in failed:
                work(file)
        except MlsubError as error:
            failed[file] = error
        except OSError as error:
            failed[file] = MlsubError(f"{file} cannot be read: {reason_of(error)}. Make it readable, or leave it out.")
