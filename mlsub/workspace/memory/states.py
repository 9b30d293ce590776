"""The state of a file or a tree as the file system tells it: whoever changes anything in it changes its state.

A state is taken without opening a file. It rests on device, inode, size and both times of change: a program can set
back the time of the content (mtime), but not that of the inode (ctime).
"""

from __future__ import annotations

import os
import stat
import struct
import time
from collections.abc import Iterable, Iterator, Mapping
from itertools import islice
from typing import NamedTuple

from mlsub.io.data import blake2b

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

    ``file`` is one of the files, the same one for the same state. ``files`` has what is known of the files of a tree by
    their paths, ``links`` the same of files that links lead to, by the paths of the links.
    """

    digest: bytes
    changed_ns: int
    file: str | None = None
    files: Mapping[str, bytes] = {}
    links: Mapping[str, bytes] = {}

    @property
    def settled(self) -> bool:
        """Whether a change from now on would show: the last one lies long enough in the past."""
        return time.time_ns() - self.changed_ns > SETTLED_NS

    def of(self, path: str) -> State | None:
        """The state of a file: as it was with that of its tree, and else as it is now."""
        facts = self.files.get(path)
        return State(facts, self.changed_ns, path) if facts is not None else file_state(path)


def file_state(path: str | os.PathLike[str]) -> State | None:
    """The state of a regular file, links followed; None where there is none or it cannot be looked at."""
    try:
        found = os.stat(path)  # noqa: PTH116  (of thousands of files: a path object costs as much as the call)
    except (OSError, ValueError):
        return None
    return State(_facts(found), _changed(found), os.fspath(path)) if stat.S_ISREG(found.st_mode) else None


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
    files = {path: facts for one in found for path, facts in one.files.items()}
    return State(digest, max(state.changed_ns for state in found), found[digest[0] % len(found)].file, files)


def tree_state(folder: str | os.PathLike[str]) -> State | None:
    """The state of all files and folders below a folder; None where part of it cannot be looked at, or it is too large.

    Links count with where they lead and with what is there: a file, all of a folder, or nothing.
    """
    files: dict[str, bytes] = {}
    links: dict[str, bytes] = {}
    try:
        above, own = os.lstat(folder), os.stat(folder)  # noqa: PTH116
        rows, times = [_facts(above), _facts(own)], [_changed(own)]
        for found in folders_below(folder):
            rows.append(b"%d\0" % len(found))
            for entry, about, target in found:
                facts = _facts(about)
                rows += (entry.name.encode("utf-8", "surrogateescape"), b"\0", facts)
                times += (about.st_mtime_ns, about.st_ctime_ns)
                if stat.S_ISREG(about.st_mode):
                    files[entry.path] = facts
                elif stat.S_ISLNK(about.st_mode):
                    rows += (os.fsencode(os.readlink(entry.path)), b"\0")  # noqa: PTH115
                    if target is not None:
                        rows.append(_facts(target))
                        times.append(_changed(target))
                        if stat.S_ISREG(target.st_mode):
                            links[entry.path] = _facts(target)
            if len(times) > 2 * MAX_NAMES:
                return None
    except (OSError, ValueError):
        return None
    digest = blake2b(b"".join(rows), digest_size=_SIZE).digest()
    # The smallest of some that are as good as drawn by lot, since its content is read.
    drawn = int.from_bytes(digest[:4], "big") % (len(files) or 1)
    chosen = min(islice(files, drawn, drawn + 4), key=lambda path: size_of(files[path]), default=None)
    return State(digest, max(times), chosen, files, links)


#: A name in a folder, what is there, and what a link leads to: itself without one, None for nothing, or a circle.
Entry = tuple["os.DirEntry[str]", os.stat_result, os.stat_result | None]


def folders_below(folder: str | os.PathLike[str]) -> Iterator[list[Entry]]:
    """What lies in a folder by its names, and then in each folder below it once, links followed.

    Raises:
        OSError: part of it cannot be looked at.
    """
    waiting, seen = [(os.fspath(folder), os.stat(folder))], set()  # noqa: PTH116
    while waiting:
        place, own = waiting.pop()
        if (own.st_dev, own.st_ino) in seen:
            continue
        seen.add((own.st_dev, own.st_ino))
        with os.scandir(place) as entries:
            named = sorted([(entry.name, entry) for entry in entries])
        found: list[Entry] = []
        for _, entry in named:
            about = entry.stat(follow_symlinks=False)
            target = _followed(entry.path) if stat.S_ISLNK(about.st_mode) else about
            if target is not None and stat.S_ISDIR(target.st_mode):
                waiting.append((entry.path, target))
            found.append((entry, about, target))
        yield found


def _followed(path: str) -> os.stat_result | None:
    """What a link leads to; None for nothing, or a circle."""
    try:
        return os.stat(path)  # noqa: PTH116
    except OSError:
        return None


def size_of(facts: bytes) -> int:
    """Bytes of a file of a state."""
    size: int = _unpack(facts)[3]
    return size


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
