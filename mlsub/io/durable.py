"""Bring what was written to the disk, so that it outlasts a power cut: contents by file, names by folder.

A name may reach the disk before the content of its file, so whatever is put in place is synchronised in this order:
the files, the folders that they lie in, then the rename, then the folder that has the new name.
"""

from __future__ import annotations

import errno
import os
from pathlib import Path
from typing import BinaryIO

#: What a file system answers that cannot synchronise a folder, a pipe or a device.
CANNOT_SYNC = (errno.EINVAL, errno.ENOSYS, errno.EOPNOTSUPP, errno.EBADF)
#: From so many files on, so many are synchronised at the same time.
_MANY, _AT_ONCE = 200, 16


def finish(stream: BinaryIO) -> None:
    """Bring what was written to the disk.

    Raises:
        OSError: the system refuses; what was written may be lost.
    """
    stream.flush()
    os.fsync(stream.fileno())


def settle(folder: Path) -> None:
    """Bring the names in a folder to the disk, where that can be done: not in a folder that cannot be read.

    Raises:
        OSError: the disk refuses; names may be lost.
    """
    try:
        descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    except PermissionError:
        return
    _sync(descriptor)


def make_folder(folder: Path) -> None:
    """Make a folder, and those above it, where they are not there yet, and bring their names to the disk.

    Raises:
        OSError: one cannot be made.
    """
    new = [place for place in (folder, *folder.parents) if not place.exists()]
    folder.mkdir(parents=True, exist_ok=True)
    for place in new:
        settle(place.parent)


def settle_tree(folder: Path) -> None:
    """Bring a folder and all that is in it to the disk: files first, then from the bottom up the folders.

    Raises:
        OSError: something cannot be opened, or the disk refuses.
    """
    places, files = [], []
    for place, _, names in os.walk(folder, topdown=False, onerror=_raise):
        places.append(Path(place))
        files += [os.path.join(place, name) for name in names]  # noqa: PTH118  (thousands of files)
    if len(files) < _MANY:
        for file in files:
            _sync_file(file)
    else:
        from concurrent.futures import ThreadPoolExecutor

        # The file system commits together what is asked for at the same time: a fifth of the time.
        with ThreadPoolExecutor(_AT_ONCE) as threads:
            for _ in threads.map(_sync_file, files):
                pass
    for each in places:
        settle(each)


def _sync_file(file: str) -> None:
    if not os.path.islink(file):  # noqa: PTH114
        _sync(os.open(file, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC))


def _sync(descriptor: int) -> None:
    try:
        os.fsync(descriptor)
    except OSError as error:
        if error.errno not in CANNOT_SYNC:
            raise
    finally:
        os.close(descriptor)


def _raise(error: OSError) -> None:
    raise error
