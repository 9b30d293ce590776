"""Records in a folder of the user's own: each a file that is written whole or not at all, and is believed only whole.

A record is found by its kind and name. It begins with a state: what it was made of, and by which code. One of another
state is as good as none, and is replaced. The folder may be lost, full, closed or shared between processes at any time:
then something is read once more, and nothing else happens.
"""

from __future__ import annotations

import os
import re
import stat
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

from mlsub.io.data import blake2b
from mlsub.io.write import replace_whole

#: What every record begins with; the number counts versions of the layout.
_MAGIC = b"mlsub-1\n"
_STATE, _SUM = 16, 16
_HEAD = len(_MAGIC) + _STATE + _SUM
#: No record is larger, so that a file that is none costs no memory.
MAX_RECORD = 64 << 20
#: The kinds that there are: folders below that of the store.
KINDS = ("logs", "packages", "answers", "fingerprints")
#: Those who make backups pass over a folder with this file. https://bford.info/cachedir/
_TAG, _TAG_TEXT = "CACHEDIR.TAG", b"Signature: 8a477f597d28d172789f06886806bc55\n# Made by mlsub; it may be deleted.\n"
_NAME = re.compile(r"[0-9a-f]{32}")
_PART = re.compile(r"\.mlsub-[0-9a-f]{16}\.part")
#: A part that is so old (s) belongs to no process that still writes.
_ABANDONED_S = 3600
#: A record's time of use is written anew where it is older (s).
_USED_S = 3600


class Kept(NamedTuple):
    """A record as a file: its kind, bytes, and when it was last of use (s since the Unix epoch)."""

    kind: str
    path: Path
    bytes: int
    used: float


class Store:
    """Records below a folder.

    Args:
        folder: made when first needed, for its owner alone.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        #: Whether records can be written; False from the first that could not be.
        self.writable = True

    def read(self, kind: str, name: str, state: bytes) -> bytes | None:
        """What a record holds; None without one of this state. One that is damaged is removed."""
        path = os.path.join(self.folder, kind, name)  # noqa: PTH118  (hundreds of records: path objects cost as much)
        try:
            descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
        except OSError:
            return None
        try:
            with open(descriptor, "rb", buffering=0) as stream:  # noqa: PTH123  (a descriptor)
                found = os.fstat(descriptor)
                if not _ours(found) or not stat.S_ISREG(found.st_mode) or not _HEAD <= found.st_size <= MAX_RECORD:
                    return None
                content = stream.read(found.st_size)
        except OSError:
            return None
        start = len(_MAGIC)
        if content[:start] == _MAGIC and content[start : start + _STATE] != state:
            return None
        payload = content[_HEAD:]
        if content[:start] != _MAGIC or content[start + _STATE : _HEAD] != _sum(name, state, payload):
            self.drop(kind, name)
            return None
        if time.time() - found.st_mtime > _USED_S:
            _touch(path)
        return payload

    def write(self, kind: str, name: str, state: bytes, payload: bytes) -> None:
        """Put a record in place of the one that is there, if any."""
        if not self.writable or len(payload) > MAX_RECORD - _HEAD:
            return
        folder = self.folder / kind
        try:
            if not self._ready(folder):
                self.writable = False
                return
            # What a crash of the machine leaves of it is found out by its sum.
            content = b"".join((_MAGIC, state, _sum(name, state, payload), payload))
            replace_whole(folder / name, content, 0o600)
        except OSError:
            self.writable = False

    def drop(self, kind: str, name: str) -> None:
        """Remove a record, if it is there and can be removed."""
        try:
            (self.folder / kind / name).unlink(missing_ok=True)
        except OSError:
            self.writable = False

    def kept(self) -> Iterator[Kept]:
        """Every record there is, and what writers have left behind."""
        for kind in KINDS:
            try:
                with os.scandir(self.folder / kind) as entries:
                    for entry in entries:
                        found = entry.stat(follow_symlinks=False)
                        if _ours(found) and (_NAME.fullmatch(entry.name) or _PART.fullmatch(entry.name)):
                            yield Kept(kind, Path(entry.path), found.st_size, found.st_mtime)
            except OSError:
                continue

    def shrink(self, limit: int) -> int:
        """Remove those records that were longest of no use until the rest fits (bytes); how many were removed."""
        records = sorted(self.kept(), key=lambda one: one.used)
        left, removed, now = sum(one.bytes for one in records), 0, time.time()
        for one in records:
            # Either way: a clock that was turned back must not keep it.
            abandoned = one.path.suffix == ".part" and abs(now - one.used) > _ABANDONED_S
            if left <= limit and not abandoned:
                continue
            try:
                one.path.unlink(missing_ok=True)
            except OSError:
                continue
            left -= one.bytes
            removed += 1
        return removed

    def clear(self) -> None:
        """Remove every record, and the folders that are empty then; what else lies there stays."""
        for one in self.kept():
            with suppress(OSError):
                one.path.unlink(missing_ok=True)
        tag = self.folder / _TAG
        with suppress(OSError):
            if tag.read_bytes() == _TAG_TEXT:
                tag.unlink()
        for place in (*(self.folder / kind for kind in KINDS), self.folder):
            with suppress(OSError):
                place.rmdir()

    def _ready(self, folder: Path) -> bool:
        """Whether records can be put into a folder, which is made if need be: it is the user's and nobody else's."""
        try:
            found = folder.stat()
        except FileNotFoundError:
            folder.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            folder.mkdir(mode=0o700, exist_ok=True)
            self._tag()
            found = folder.stat()
        return _ours(found) and stat.S_ISDIR(found.st_mode)

    def _tag(self) -> None:
        tag = self.folder / _TAG
        # An empty one is of a process that was killed as it made it.
        if not tag.exists() or not tag.stat().st_size:
            tag.write_bytes(_TAG_TEXT)


def _ours(found: os.stat_result) -> bool:
    """Whether a file is the user's, and nobody else can write to it."""
    return found.st_uid == os.geteuid() and not found.st_mode & 0o022


def _sum(name: str, state: bytes, payload: bytes) -> bytes:
    """A sum over all of a record and its name, so that not even a whole one is believed in another place."""
    return blake2b(payload, digest_size=_SUM, key=state + name.encode()).digest()


def _touch(path: str) -> None:
    with suppress(OSError):
        os.utime(path)
