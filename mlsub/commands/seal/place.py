"""Putting files and folders in place in one step, and clearing away what a killed process left.

What is being written has a hidden name beside its place and is locked while its process lives. A later process that
finds it unlocked knows that it is abandoned.
"""

from __future__ import annotations

import os
import secrets
import shutil
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO

from mlsub.commands.seal.errors import SealError, reason_of

_PREFIX = ".mlsub-seal-"
_SUFFIX = ".part"


@contextmanager
def new_file(folder: Path) -> Iterator[tuple[Path, BinaryIO]]:
    """A file without a name of its own yet; removed at the end unless it was renamed.

    Raises:
        SealError: it cannot be made.
    """
    clear(folder)
    try:
        part = _name(folder)
        stream = part.open("xb")
        _lock(stream.fileno(), wait=True)
        if not part.exists():
            raise FileNotFoundError(2, "another process took the file away. Try again")
    except OSError as error:
        raise SealError(f"{folder} cannot be written: {reason_of(error)}") from error
    try:
        with stream:
            yield part, stream
    finally:
        part.unlink(missing_ok=True)


@contextmanager
def new_folder(folder: Path) -> Iterator[Path]:
    """A folder that only its owner can read; removed at the end unless it was renamed.

    Raises:
        SealError: it cannot be made.
    """
    clear(folder)
    part = _name(folder)
    descriptor = -1
    try:
        part.mkdir(mode=0o700)
        if os.name == "posix":
            descriptor = os.open(part, os.O_RDONLY)
            _lock(descriptor, wait=True)
    except OSError as error:
        raise SealError(f"{folder} cannot be written: {reason_of(error)}") from error
    try:
        yield part
    finally:
        if descriptor >= 0:
            os.close(descriptor)
        shutil.rmtree(part, ignore_errors=True)


def finish(stream: BinaryIO) -> None:
    """Bring what was written to the disk."""
    stream.flush()
    os.fsync(stream.fileno())


def settle(folder: Path) -> None:
    """Bring the names in a folder to the disk, where the system can."""
    if os.name != "posix":
        return
    with suppress(OSError):
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)


def clear(folder: Path) -> None:
    """Remove what processes left here that are no more."""
    with suppress(OSError):
        for part in folder.glob(f"{_PREFIX}*{_SUFFIX}"):
            with suppress(OSError):
                _clear_one(part)


def _clear_one(part: Path) -> None:
    descriptor = os.open(part, os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0))
    try:
        if not _lock(descriptor, wait=False):
            return
        if part.is_dir():
            shutil.rmtree(part, ignore_errors=True)
        else:
            part.unlink(missing_ok=True)
    finally:
        os.close(descriptor)


def _lock(descriptor: int, *, wait: bool) -> bool:
    """Lock a file or folder; whether it is locked now. Where there are no locks nothing is ever taken for abandoned."""
    try:
        import fcntl
    except ImportError:
        return False
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX if wait else fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    return True


def _name(folder: Path) -> Path:
    return folder / f"{_PREFIX}{secrets.token_hex(8)}{_SUFFIX}"
