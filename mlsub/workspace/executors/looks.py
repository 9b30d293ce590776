"""How a machine sees the files of a task, for another machine to compare.

Devices, inodes and fractions of a second are left out: they differ between machines that share a file system.
"""

from __future__ import annotations

import hashlib
import os
import stat

import msgspec

from mlsub.judge.log import LogTask
from mlsub.workspace.executors.base import Tree
from mlsub.workspace.memory.states import folders_below

#: Bytes of a file that are compared where its content counts.
HEAD = 64 << 10
#: A folder with more names below it is not compared; the largest published package has 2,300.
_MOST_NAMES = 200_000


class Look(msgspec.Struct, frozen=True):
    """A regular file, or all that lies below a folder.

    Attributes:
        size: in bytes, of all files.
        changed: when content changed, in whole seconds since 1970: the latest change of a file.
        head: of a file the SHA-256 of its first 64 KiB, empty where nobody asked; of a folder a digest of all names.
    """

    size: int
    changed: int
    head: str = ""


def look_at(task: LogTask | Tree) -> Look | None:
    """How this machine sees the files of a task; None where it cannot say."""
    return look_below(task.folder) if isinstance(task, Tree) else look(task.file)


def look(file: str, *, head: bool = False) -> Look | None:
    """How this machine sees a file; None where it cannot be opened, or is not a regular one."""
    try:
        # Opening asks a network file system for what is there now; a pipe must not block.
        descriptor = os.open(file, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0))
    except (OSError, ValueError):
        return None
    try:
        status = os.fstat(descriptor)
        if not stat.S_ISREG(status.st_mode):
            return None
        seen = hashlib.sha256(os.read(descriptor, HEAD)).hexdigest() if head else ""
        return Look(status.st_size, int(status.st_mtime), seen)
    except OSError:
        return None
    finally:
        os.close(descriptor)


def look_below(folder: str) -> Look | None:
    """How this machine sees a folder; None where part of it cannot be listed, or it is too large.

    Each name counts with what is there, its size and time of change, whether this process can read it, and where it
    leads if it is a link.
    """
    digest = hashlib.sha256()
    size = changed = names = 0
    try:
        for found in folders_below(folder):
            rows: list[tuple[str, int, int, int, bool, str]] = []
            for entry, about, target in found:
                mode = target.st_mode if target is not None else 0
                long = own = 0
                if target is not None and stat.S_ISREG(mode):
                    long, own = target.st_size, int(target.st_mtime)
                link = os.readlink(entry.path) if stat.S_ISLNK(about.st_mode) else ""  # noqa: PTH115
                rows.append((entry.name, mode, long, own, os.access(entry.path, os.R_OK), link))
                size, changed = size + long, max(changed, own)
            digest.update(ascii(rows).encode())
            names += len(rows)
            if names > _MOST_NAMES:
                return None
    except (OSError, ValueError):
        return None
    return Look(size, changed, digest.hexdigest())


def first_file(folder: str) -> str | None:
    """A regular file below a folder, the first by its name."""
    for place, folders, names in os.walk(folder):
        folders.sort()
        for name in sorted(names):
            if look(file := os.path.join(place, name)) is not None:  # noqa: PTH118
                return file
    return None
