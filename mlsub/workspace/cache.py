"""The cache: what was found out before, for as long as no file that it rests on has changed.

It is a folder of records, each a file that is replaced as a whole. A record names the state that it belongs to: the
fingerprint of its files, and the rules and code that were used. One of another state, or one that does not decode, is
not used and is replaced.
"""

from __future__ import annotations

import os
import stat
import sys
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

import msgspec

from mlsub.io import VERSION, MlsubError
from mlsub.io.data import FAILURES, blake2b, decoder, encode
from mlsub.io.look import AnyPath, open_regular
from mlsub.io.write import is_temporary_name, replace_whole
from mlsub.submission.listing import Listing, file_status

T = TypeVar("T")

#: Bytes of all records together, unless the settings say otherwise.
LIMIT = 500 << 20
#: The folder of the records, below that of the cache.
_RECORDS = "packages"
#: A larger record is not written.
MAX_RECORD = 64 << 20
#: A file may change once more within the resolution of the clock, and keep its times: younger ones have no fingerprint.
#: Two seconds are the coarsest resolution there is (FAT).
SETTLED_NS = 2_000_000_000
#: A tree with more names has no fingerprint; the largest published package has 2,300.
MAX_NAMES = 200_000
#: What the names of logs begin with.
_LOG = "result_"
#: Those who make backups pass over a folder with this file. https://bford.info/cachedir/
_TAG, _TAG_TEXT = "CACHEDIR.TAG", b"Signature: 8a477f597d28d172789f06886806bc55\n# Made by mlsub; it may be deleted.\n"
#: A part that is so old (s) belongs to no process that still writes; a time of use that is so old is written anew.
_HOUR_S = 3600


class RecordFile(NamedTuple):
    """A record as a file: its bytes, and when it was last of use (s since the Unix epoch)."""

    path: Path
    bytes: int
    used: float


class _Stored(msgspec.Struct, frozen=True, array_like=True):
    state: bytes
    value: msgspec.Raw


class Cache:
    """The records of one user. Nothing here raises for what lies in the folder.

    Args:
        folder: where they lie; it is made when there is something to keep.
        limit: bytes that they may have together.
    """

    def __init__(self, folder: Path, limit: int = LIMIT) -> None:
        self.folder = folder
        self.limit = limit
        #: How many packages and logs were asked for, and how many of them were reused.
        self.asked: Counter[str] = Counter()
        self.reused: Counter[str] = Counter()

    def read(self, name: str, state: bytes, type_: type[T]) -> T | None:
        """The value of a record; None without one of this state. A record that does not decode is removed."""
        path = os.path.join(self.folder, _RECORDS, name)  # noqa: PTH118  (hundreds of records: path objects cost as much)
        try:
            with open(path, "rb", buffering=0) as stream:  # noqa: PTH123
                content = stream.read()
                used = os.fstat(stream.fileno()).st_mtime
            stored = decoder(_Stored).decode(content)
            if stored.state != state + code_digest():
                return None
            if time.time() - used > _HOUR_S:
                os.utime(path)
            return decoder(type_).decode(stored.value)
        except OSError:
            return None
        except FAILURES:
            with suppress(OSError):
                os.unlink(path)  # noqa: PTH108
            return None

    def write(self, name: str, state: bytes, value: Any) -> None:
        """Put a record in place of the one that is there; where that is not possible, nothing happens."""
        folder = self.folder / _RECORDS
        try:
            content = encode((state + code_digest(), value))
            if len(content) > MAX_RECORD:
                return
            if not folder.is_dir():
                self.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
                (self.folder / _TAG).write_bytes(_TAG_TEXT)
                folder.mkdir(mode=0o700, exist_ok=True)
            replace_whole(folder / name, content, 0o600)
        except (OSError, *FAILURES):
            return

    def records(self) -> Iterator[RecordFile]:
        """Every record there is, and what writers have left behind."""
        with suppress(OSError), os.scandir(self.folder / _RECORDS) as entries:
            for entry in entries:
                found = entry.stat(follow_symlinks=False)
                if stat.S_ISREG(found.st_mode) and (_is_name(entry.name) or is_temporary_name(entry.name)):
                    yield RecordFile(Path(entry.path), found.st_size, found.st_mtime)

    def close(self) -> None:
        """Remove those records that were longest of no use until the rest is within the limit."""
        records = sorted(self.records(), key=lambda one: one.used)
        left = sum(one.bytes for one in records)
        for one in records:
            abandoned = is_temporary_name(one.path.name) and abs(time.time() - one.used) > _HOUR_S
            if left > self.limit or abandoned:
                with suppress(OSError):
                    one.path.unlink(missing_ok=True)
                    left -= one.bytes

    def clear(self) -> None:
        """Remove every record, and the folders that are empty then; what else lies there stays."""
        for file in (*(one.path for one in self.records()), self.folder / _TAG):
            with suppress(OSError):
                file.unlink()
        for folder in (self.folder / _RECORDS, self.folder):
            with suppress(OSError):
                folder.rmdir()


def open_cache(folder: str | None, limit: int | None = None, paths: Sequence[str] = ()) -> Cache | None:
    """The cache of a user.

    Args:
        folder: where it is to lie; None for ``mlsub`` in ``$XDG_CACHE_HOME``, or ``~/.cache``.
        limit: bytes that it may have; None for the usual number.
        paths: what is going to be read. Nothing is ever written into it.

    Returns:
        None where there can be none: no home, or a system that does not say when a file has changed.

    Raises:
        MlsubError: ``folder`` lies in what is read, or is not a folder.
    """
    if os.name != "posix":
        return None
    try:
        base = os.environ.get("XDG_CACHE_HOME", "")
        usual = Path(base) if Path(base).is_absolute() else Path.home() / ".cache"
        place = (Path(folder) if folder is not None else usual / "mlsub").resolve()
        inside = next((path for path in paths if place.is_relative_to(Path(path).resolve())), None)
        if folder is not None and place.exists() and not place.is_dir():
            raise MlsubError(f"{folder} is not a folder. Name another with --cache-dir.")
    except (OSError, ValueError, RuntimeError):
        return None
    if inside is None:
        return Cache(place, LIMIT if limit is None else limit)
    if folder is None:
        return None
    raise MlsubError(f"The cache folder {folder} lies in {inside}, which is only read. Name a folder outside of it.")


def record_name(*words: object) -> str:
    """The name of a record, made of what it is about."""
    return digest_of(*words).hex()


def digest_of(*words: object) -> bytes:
    """16 bytes that differ where words differ."""
    return blake2b(repr(words).encode("utf-8", "surrogateescape"), digest_size=16).digest()


def _is_name(name: str) -> bool:
    """Whether a file is a record by its name: the digits of a digest of 16 bytes."""
    return len(name) == 32 and name.isalnum()


def content_digest(file: str | None) -> bytes:
    """The digest of a file's content, empty without a file.

    Raises:
        OSError: it cannot be read.
    """
    if file is None:
        return b""
    with open_regular(file) as stream:
        return digest_of(stream.read())


@cache
def code_digest() -> bytes:
    """The digest of this program: its reader, rules and data.

    Files count by size and time of change: reading all of them would take longer than what is saved.
    """
    found, waiting = [], [str(Path(__file__).parents[1])]
    with suppress(OSError):
        while waiting:
            with os.scandir(waiting.pop()) as entries:
                for entry in entries:
                    if entry.is_dir():
                        waiting += [entry.path] if entry.name != "__pycache__" else []
                    else:
                        status = entry.stat()
                        found.append((entry.path, status.st_size, status.st_mtime_ns, status.st_ctime_ns))
    return digest_of(VERSION, msgspec.__version__, sys.version, sorted(found))


def encode_lossless(value: Any) -> msgspec.Raw | None:
    """A value as MessagePack; None where it would come back as another one.

    Integers of more than 64 bits, half of a surrogate pair and integers in the place of floats do not survive.
    """
    try:
        text = encode(value)
        return msgspec.Raw(text) if encode(decoder(type(value)).decode(text)) == text else None
    except FAILURES:
        return None


class TreeState(NamedTuple):
    """What lies below a folder: its fingerprint (None where it has none), and the bytes and number of its logs.

    ``linked`` says that some of the logs are links.
    """

    fingerprint: bytes | None = None
    size: int = 0
    logs: int = 0
    linked: bool = False


def file_fingerprint(path: str | os.PathLike[str]) -> bytes | None:
    """Size, inode and times of change of a regular file, links followed.

    Returns:
        None where there is none, it cannot be looked at, or it changed in the last two seconds.
    """
    try:
        found = file_status(os.stat(path))  # noqa: PTH116  (of thousands: a path object costs as much as the call)
    except (OSError, ValueError):
        return None
    return _to_bytes(found) if stat.S_ISREG(found.mode) and _is_old_enough(max(found.modified, found.changed)) else None


def scan_tree(folder: AnyPath, listing: Listing | None = None) -> TreeState:
    """What lies below a folder, links followed; no file is opened.

    It has no fingerprint where part of it cannot be looked at, it is too large, or changed in the last two seconds.
    """
    listing = listing or Listing()
    rows: list[object] = []
    names = changed = size = logs = 0
    linked = False
    waiting, seen = [os.fspath(folder)], set()
    try:
        rows.append(file_status(os.lstat(folder)))
        while waiting:
            own = os.stat(place := waiting.pop())  # noqa: PTH116
            if (own.st_dev, own.st_ino) in seen:
                continue
            seen.add((own.st_dev, own.st_ino))
            changed = max(changed, own.st_mtime_ns, own.st_ctime_ns)
            items = listing.items_in(place)
            rows.append(items)
            for name, found in items.items():
                if found.problem is not None:
                    return TreeState(None, size, logs, linked)
                changed = max(changed, found.modified, found.changed)
                if found.target is not None:
                    with suppress(OSError):  # It leads nowhere, or in a circle.
                        found = listing.status_of(f"{place}/{name}") or found
                    rows.append(found)
                    changed = max(changed, found.modified, found.changed)
                if found.is_folder:
                    waiting.append(f"{place}/{name}")
                elif name.startswith(_LOG):
                    size, logs = size + found.size, logs + 1
                    linked = linked or items[name].target is not None
            names += len(items)
            if names > MAX_NAMES:
                return TreeState(None, size, logs, linked)
    except (OSError, ValueError):
        return TreeState(None, size, logs, linked)
    fingerprint = blake2b(_to_bytes(rows), digest_size=16).digest() if _is_old_enough(changed) else None
    return TreeState(fingerprint, size, logs, linked)


def _to_bytes(value: object) -> bytes:
    """Statuses as bytes that differ where these do."""
    try:
        return encode(value)
    except FAILURES:  # Names of other encodings, and times of no calendar.
        return repr(value).encode("utf-8", "surrogateescape")


def _is_old_enough(changed_ns: int) -> bool:
    return time.time_ns() - changed_ns > SETTLED_NS
