"""Unfinished files and folders: each is locked as long as its process lives, so that what is left of others can go.

Their names start with a dot, so that no checker takes what a killed process leaves behind for an organisation. A lock
ends with its process, however that ends. Whoever writes in a folder first removes what dead processes have left there,
and names it on standard error.
"""

from __future__ import annotations

import fcntl
import os
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO

from mlsub.io.errors import MlsubError
from mlsub.io.whole import is_part, part_of

#: Seconds to wait for another process that puts something in place in the same folder, which takes it moments.
_PATIENCE_S = 60.0


@contextmanager
def new_part(folder: Path) -> Iterator[tuple[Path, BinaryIO]]:
    """A new file that is not finished, and its stream; it goes in the end, unless it was renamed.

    Raises:
        OSError: it cannot be made.
    """
    while True:
        part = Path(part_of(folder))
        opened = os.open(part, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o666)
        with os.fdopen(opened, "w+b") as stream:
            if not _claimed(opened):
                continue
            try:
                yield part, stream
            finally:
                with suppress(OSError):
                    part.unlink(missing_ok=True)
            return


@contextmanager
def new_folder(parent: Path) -> Iterator[Path]:
    """A new folder to work in; it goes in the end with all that is in it, unless it was renamed.

    Raises:
        OSError: it cannot be made.
    """
    while True:
        part = Path(part_of(parent))
        part.mkdir()
        try:
            lock = os.open(part, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)
        except FileNotFoundError:
            continue
        if _claimed(lock):
            break
        os.close(lock)
    try:
        yield part
    finally:
        remove(part)
        os.close(lock)


@contextmanager
def scratch() -> Iterator[Path]:
    """An empty folder for what is needed while a command runs, among the temporary files of the system, for its user.

    Raises:
        OSError: it cannot be made.
    """
    from tempfile import gettempdir

    place = Path(gettempdir())
    clear_leftovers(place)
    with new_folder(place) as folder:
        folder.chmod(0o700)
        yield folder


def clear_leftovers(folder: Path) -> None:
    """Remove and name what processes that are gone have not finished; what cannot be removed stays."""
    try:
        with os.scandir(folder) as entries:
            parts = [Path(entry.path) for entry in entries if is_part(entry.name) and not entry.is_symlink()]
    except (OSError, ValueError):
        return
    tell_removed(part for part in sorted(parts) if _cleared(part))


def tell_removed(paths: Iterable[Path]) -> None:
    """Name what was removed."""
    for path in paths:
        _tell(f"removed {path}, left by a process that was killed")


def tell_replaced(backup: Path) -> None:
    """Say that an earlier backup was replaced."""
    _tell(f"replaced {backup}, an earlier backup")


def _tell(message: str) -> None:
    """Log a warning of ``mlsub``, which is on standard error unless a program says otherwise."""
    import logging

    from mlsub.io.show import plain

    logging.getLogger("mlsub").warning("%s", plain(f"mlsub: {message}"))


def _cleared(part: Path) -> bool:
    """Whether a part was nobody's any more, and is gone."""
    lock = lock_of(part)
    if lock is None:
        return False
    try:
        if part.is_dir():
            remove(part)
        else:
            part.unlink(missing_ok=True)
    except OSError:
        return False
    finally:
        os.close(lock)
    return not os.path.lexists(part)


def lock_of(path: Path) -> int | None:
    """An open, locked file or folder; None where another process has it, it is gone, or the system knows no locks."""
    try:
        opened = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError:
        return None
    if _locked(opened):
        with suppress(OSError):
            if os.path.samestat(os.fstat(opened), path.lstat()):
                return opened
    os.close(opened)
    return None


def _locked(opened: int) -> bool:
    """Whether a file that is open could be locked, and still has a name."""
    try:
        fcntl.flock(opened, fcntl.LOCK_EX | fcntl.LOCK_NB)
        return os.fstat(opened).st_nlink > 0
    except OSError:
        return False


def _claimed(opened: int) -> bool:
    """Whether what this process has made is its own; before it is locked, another may take it for one that was left.

    Where the system knows no locks it is, for nobody removes what cannot be locked.
    """
    try:
        fcntl.flock(opened, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except OSError:
        pass
    return os.fstat(opened).st_nlink > 0


@contextmanager
def alone_in(folder: Path) -> Iterator[None]:
    """Wait until no other process puts anything in place in a folder, and keep others from it for these moments.

    Raises:
        MlsubError: another process does not end.
    """
    try:
        opened = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    except OSError:
        yield  # Whoever cannot list a folder may be able to write in it all the same.
        return
    try:
        _wait_for(opened, folder)
        yield
    finally:
        os.close(opened)


def _wait_for(opened: int, folder: Path) -> None:
    last = time.monotonic() + _PATIENCE_S
    while True:
        try:
            fcntl.flock(opened, fcntl.LOCK_EX | fcntl.LOCK_NB)
            return
        except BlockingIOError:
            if time.monotonic() > last:
                raise MlsubError(f"{folder} is locked by another process that writes there. Try again.") from None
            time.sleep(0.01)
        except OSError:
            return  # The file system knows no locks.


def remove(folder: Path) -> None:
    """Remove a folder, closed folders in it too; what cannot be removed stays."""
    import shutil

    for place, folders, _ in os.walk(folder):
        for name in folders:
            child = Path(place, name)
            if not child.is_symlink():
                with suppress(OSError):
                    child.chmod(0o700)
    shutil.rmtree(folder, ignore_errors=True)
