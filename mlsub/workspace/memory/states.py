"""The state of a file or a tree as the file system tells it: whoever changes anything in it changes its state.

A state is taken without opening a file. It rests on device, inode, size and both times of change: a program can set
back the time of the content (mtime), but not that of the inode (ctime).
"""

from __future__ import annotations

import os
import stat
import struct
import time
from collections.abc import Iterable
from typing import NamedTuple

from mlsub.io.digest import blake2b

#: A file may change once more within the resolution of the clock, and keep its times: what is younger is not believed.
#: Two seconds are the coarsest resolution there is (FAT).
SETTLED_NS = 2_000_000_000
#: A tree with more names is not remembered; the largest published package has 2,300.
MAX_NAMES = 200_000
#: Bytes of the state of a tree.
_SIZE = 16
_LOTS = 1 << 32
#: Times before 1970 and after 2262 fit as well.
_WORD = (1 << 64) - 1
_pack = struct.Struct("=IQQQQQI").pack


class State(NamedTuple):
    """A state, as bytes to compare, and the latest time of change in it (ns since the Unix epoch).

    ``file`` is one of the files, the same one for the same state.
    """

    digest: bytes
    changed_ns: int
    file: str | None = None

    @property
    def settled(self) -> bool:
        """Whether a change from now on would show: the last one lies long enough in the past."""
        return time.time_ns() - self.changed_ns > SETTLED_NS


def file_state(path: str | os.PathLike[str]) -> State | None:
    """The state of a regular file, links followed; None where there is none or it cannot be looked at."""
    try:
        found = os.stat(path)  # noqa: PTH116  (of thousands of files: a path object costs as much as the call)
    except (OSError, ValueError):
        return None
    if not stat.S_ISREG(found.st_mode):
        return None
    return State(_facts(found), _changed(found), os.fspath(path))


def together(states: Iterable[State | None]) -> State | None:
    """The state of several files and trees; None where one has none, or there are none."""
    found = []
    for state in states:
        if state is None:
            return None
        found.append(state)
    if not found:
        return None
    digest = blake2b(b"".join(state.digest for state in found), digest_size=_SIZE).digest()
    return State(digest, max(state.changed_ns for state in found), found[digest[0] % len(found)].file)


def tree_state(folder: str | os.PathLike[str]) -> State | None:
    """The state of all files and folders below a folder; None where part of it cannot be looked at, or it is too large.

    Links count with where they lead and with what is there: a file, all of a folder, or nothing.
    """
    digest = blake2b(digest_size=_SIZE)
    changed = names = 0
    chosen: tuple[int, str] | None = None
    waiting, seen = [os.fspath(folder)], set()
    try:
        digest.update(_facts(os.lstat(folder)))
        while waiting:
            place = waiting.pop()
            own = os.stat(place)  # noqa: PTH116
            if (own.st_dev, own.st_ino) in seen:
                continue
            seen.add((own.st_dev, own.st_ino))
            found = _names(place)
            digest.update(b"".join((_facts(own), len(found.rows).to_bytes(8, "big"), *found.rows)))
            waiting += found.folders
            changed = max(changed, _changed(own), found.changed_ns)
            names += len(found.rows)
            chosen = min(filter(None, (chosen, found.chosen)), default=None)
            if names > MAX_NAMES:
                return None
    except (OSError, ValueError):
        return None
    return State(digest.digest(), changed, chosen[1] if chosen else None)


class _Names(NamedTuple):
    """What lies in a folder: names with their facts, sorted; the folders among them; the latest change; one file.

    The file is the first by a number made of its inode, which is as good as drawn by lot.
    """

    rows: list[bytes]
    folders: list[str]
    changed_ns: int
    chosen: tuple[int, str] | None


def _names(place: str) -> _Names:
    rows: list[bytes] = []
    folders: list[str] = []
    latest, least, chosen = 0, _LOTS, None
    with os.scandir(place) as entries:
        for entry in entries:
            found = entry.stat(follow_symlinks=False)
            latest = max(latest, found.st_mtime_ns, found.st_ctime_ns)
            mode = found.st_mode
            row = entry.name.encode("utf-8", "surrogateescape") + b"\0" + _facts(found)
            if stat.S_ISLNK(mode):
                target = _followed(entry.path)
                row += os.fsencode(os.readlink(entry.path)) + b"\0"  # noqa: PTH115
                mode = 0
                if target is not None:
                    row += _facts(target)
                    latest, mode = max(latest, _changed(target)), target.st_mode
            rows.append(row)
            if stat.S_ISDIR(mode):
                folders.append(entry.path)
            elif stat.S_ISREG(mode) and (lot := found.st_ino * 2654435761 % _LOTS) < least:
                least, chosen = lot, entry.path
    rows.sort()
    folders.sort()
    return _Names(rows, folders, latest, (least, chosen) if chosen is not None else None)


def _followed(path: str) -> os.stat_result | None:
    """What a link leads to; None for nothing, or a circle."""
    try:
        return os.stat(path)  # noqa: PTH116
    except OSError:
        return None


def _facts(found: os.stat_result) -> bytes:
    return _pack(
        found.st_mode,
        found.st_dev,
        found.st_ino,
        found.st_size,
        found.st_mtime_ns & _WORD,
        found.st_ctime_ns & _WORD,
        found.st_uid,
    )


def _changed(found: os.stat_result) -> int:
    return max(found.st_mtime_ns, found.st_ctime_ns)
