"""The state of a file or a tree as the file system tells it: whoever changes anything in it changes its state.

A state is taken without opening a file. It rests on device, inode, size and both times of change: a program can set
back the time of the content (mtime), but not that of the inode (ctime).
"""

from __future__ import annotations

import os
import stat
import struct
import time
from collections.abc import Iterable, Mapping
from itertools import islice
from typing import NamedTuple

from mlsub.io.digest import blake2b

#: A file may change once more within the resolution of the clock, and keep its times: what is younger is not believed.
#: Two seconds are the coarsest resolution there is (FAT).
SETTLED_NS = 2_000_000_000
#: A tree with more names is not remembered; the largest published package has 2,300.
MAX_NAMES = 200_000
#: Bytes of the state of a tree.
_SIZE = 16
#: Times before 1970 and after 2262 fit as well.
_WORD = (1 << 64) - 1
_pack, _unpack = (_row := struct.Struct("=IQQQQQI")).pack, _row.unpack


class State(NamedTuple):
    """A state, as bytes to compare, and the latest time of change in it (ns since the Unix epoch).

    ``file`` is one of the files, the same one for the same state. ``files`` has the states of the files of a tree by
    their paths; those that are links are left out.
    """

    digest: bytes
    changed_ns: int
    file: str | None = None
    files: Mapping[str, State] = {}

    @property
    def settled(self) -> bool:
        """Whether a change from now on would show: the last one lies long enough in the past."""
        return time.time_ns() - self.changed_ns > SETTLED_NS

    @property
    def size(self) -> int:
        """Bytes of the file that the state is of."""
        size: int = _unpack(self.digest)[3]
        return size

    def of(self, path: str) -> State | None:
        """The state of a file: as it was with that of its tree, and else as it is now."""
        return self.files.get(path) or file_state(path)


def file_state(path: str | os.PathLike[str]) -> State | None:
    """The state of a regular file, links followed; None where there is none or it cannot be looked at."""
    try:
        found = os.stat(path)  # noqa: PTH116  (of thousands of files: a path object costs as much as the call)
    except (OSError, ValueError):
        return None
    return State(*_facts(found), os.fspath(path)) if stat.S_ISREG(found.st_mode) else None


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
    files = {path: state for one in found for path, state in one.files.items()}
    return State(digest, max(state.changed_ns for state in found), found[digest[0] % len(found)].file, files)


def tree_state(folder: str | os.PathLike[str]) -> State | None:
    """The state of all files and folders below a folder; None where part of it cannot be looked at, or it is too large.

    Links count with where they lead and with what is there: a file, all of a folder, or nothing.
    """
    files: dict[str, State] = {}
    seen: set[tuple[int, int]] = set()
    try:
        facts, changed = _facts(os.lstat(folder))
        rows, latest = [facts], [changed]
        waiting = [(os.fspath(folder), os.stat(folder))]  # noqa: PTH116
        while waiting:
            place, own = waiting.pop()
            if (own.st_dev, own.st_ino) in seen:
                continue
            seen.add((own.st_dev, own.st_ino))
            facts, changed = _facts(own)
            latest.append(changed)
            with os.scandir(place) as entries:
                found = sorted([(entry.name, entry) for entry in entries])
            rows += (facts, b"%d\0" % len(found))
            for name, entry in found:
                about = _look(name, entry, rows, latest, files)
                if about is not None and stat.S_ISDIR(about.st_mode):
                    waiting.append((entry.path, about))
            if len(latest) > MAX_NAMES:
                return None
    except (OSError, ValueError):
        return None
    digest = blake2b(b"".join(rows), digest_size=_SIZE).digest()
    drawn = int.from_bytes(digest[:4], "big") % (len(files) or 1)
    return State(digest, max(latest), next(islice(files, drawn, None), None), files)


def _look(
    name: str, entry: os.DirEntry[str], rows: list[bytes], latest: list[int], files: dict[str, State]
) -> os.stat_result | None:
    """Add what an entry shows to rows, times of change and files; what it is or leads to, None for nothing."""
    found = entry.stat(follow_symlinks=False)
    facts, changed = _facts(found)
    rows += (os.fsencode(name), b"\0", facts)
    latest.append(changed)
    if stat.S_ISREG(found.st_mode):
        files[entry.path] = State(facts, changed, entry.path)
    elif stat.S_ISLNK(found.st_mode):
        rows += (os.fsencode(os.readlink(entry.path)), b"\0")  # noqa: PTH115
        try:
            found = os.stat(entry.path)  # noqa: PTH116
        except OSError:
            # It leads to nothing, or in a circle.
            return None
        facts, changed = _facts(found)
        rows.append(facts)
        latest.append(changed)
    return found


def _facts(found: os.stat_result) -> tuple[bytes, int]:
    """What is known of a file or folder, and when it last changed (ns)."""
    modified, changed = found.st_mtime_ns, found.st_ctime_ns
    facts = _pack(
        found.st_mode,
        found.st_dev,
        found.st_ino,
        found.st_size,
        modified & _WORD,
        changed & _WORD,
        found.st_uid,
    )
    return facts, modified if modified > changed else changed
