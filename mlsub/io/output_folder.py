"""Put a folder in place, whole or not at all."""

from __future__ import annotations

import ctypes
import errno
import fcntl
import os
import secrets
import shutil
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from mlsub.io.errors import MlsubError
from mlsub.io.output import cannot_write

_AT_FDCWD, _RENAME_EXCHANGE = -100, 2
#: What renameat2 answers where the kernel or the file system cannot exchange two names.
_NO_EXCHANGE = (errno.ENOSYS, errno.EINVAL, errno.EOPNOTSUPP)


@contextmanager
def staging_beside(final: Path) -> Iterator[Path]:
    """An empty folder to build in, on the same file system as ``final``; what is left of it goes in the end.

    Its name starts with a dot, so that no checker takes what a killed process leaves behind for an organisation. It is
    locked as long as it is used: what killed processes have left here before goes too.

    Raises:
        MlsubError: it cannot be made.
    """
    try:
        final.parent.mkdir(parents=True, exist_ok=True)
        # A name that cannot be given (too long, NUL) is reported before the work, not after it.
        with suppress(FileNotFoundError):
            final.lstat()
        _clear_stale(final.parent)
        staging, lock = _locked_folder(final.parent)
    except (OSError, ValueError) as error:
        raise cannot_write(final, error) from error
    try:
        yield staging
    finally:
        _remove(staging)
        if lock is not None:
            os.close(lock)


def _locked_folder(parent: Path) -> tuple[Path, int | None]:
    """A new folder that is locked, None where the file system knows no locks."""
    while True:
        token = secrets.token_hex(8)
        fresh, staging = (parent / f".mlsub-{token}.{ending}" for ending in ("new", "part"))
        fresh.mkdir()
        lock = _lock(fresh)
        # Only now it gets the name that others look for: one of that name without a lock is nobody's. In the moment
        # before, another process may take the empty folder for one that was left, and remove it.
        with suppress(FileNotFoundError):
            fresh.rename(staging)
            return staging, lock
        if lock is not None:
            os.close(lock)


def _clear_stale(folder: Path) -> None:
    """Remove the staging folders of processes that are gone; a lock ends with its process, however it ends."""
    for left in (*folder.glob(".mlsub-*.part"), *folder.glob(".mlsub-*.new")):
        if left.is_dir() and not left.is_symlink():
            lock = _lock(left)
            if lock is not None:
                _remove(left)
                os.close(lock)


def _lock(folder: Path) -> int | None:
    """An open, locked folder; None where another process has it, or the file system knows no locks."""
    try:
        opened = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    except OSError:
        return None
    try:
        fcntl.flock(opened, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        os.close(opened)
        return None
    return opened


def put_folder(staging: Path, final: Path) -> None:
    """Give a finished folder its name; an earlier folder of that name is replaced and removed.

    Whoever looks meanwhile, and whatever kills the process, there is the old folder or the new one. Where the file
    system cannot exchange two names there is a moment with neither: then the old one lies beside, under the name that
    :func:`recover_folder` looks for, which this function calls first. What was written is not forced to the disk.

    Args:
        staging: the finished folder, on the same file system as ``final``.
        final: its name from now on.

    Raises:
        MlsubError: ``final`` is not a folder, or is a link, or something cannot be renamed. Then the old one is where
            it was (unless the text says that only its remains could not be removed).
    """
    try:
        recover_folder(final)
        if final.is_symlink() or (final.exists() and not final.is_dir()):
            raise MlsubError(f"{final} is not a folder, or is a link. Name another, or move it away.")
        if not final.exists():
            staging.rename(final)
        elif _exchange(staging, final):
            _remove_old(staging, final)
        else:
            _replace(staging, final)
    except (OSError, ValueError) as error:
        raise cannot_write(final, error) from error


def recover_folder(final: Path) -> bool:
    """Give a folder back its name after a :func:`put_folder` that was killed half-way; whether there was one."""
    old = _old_name(final)
    if not old.is_dir() or old.is_symlink() or os.path.lexists(final):
        return False
    old.rename(final)
    return True


def _replace(staging: Path, final: Path) -> None:
    """Replace without an exchange: first the old one away, then the new one in."""
    old = _old_name(final)
    if os.path.lexists(old):
        # Beside a final folder it is what a killed process had no time to remove.
        _remove_old(old, final)
    final.rename(old)
    try:
        staging.rename(final)
    except OSError:
        old.rename(final)
        raise
    _remove_old(old, final)


def _exchange(one: Path, other: Path) -> bool:
    """Exchange two names in one step; False where that cannot be done here."""
    try:
        rename = ctypes.CDLL(None, use_errno=True).renameat2
    except (AttributeError, OSError, TypeError):
        return False
    if rename(_AT_FDCWD, os.fsencode(one), _AT_FDCWD, os.fsencode(other), _RENAME_EXCHANGE) == 0:
        return True
    number = ctypes.get_errno()
    if number in _NO_EXCHANGE:
        return False
    raise OSError(number, os.strerror(number))


def _remove_old(folder: Path, final: Path) -> None:
    _remove(folder)
    if os.path.lexists(folder):
        raise MlsubError(f"{final} is in place, but what it replaced cannot be removed: remove {folder}.")


def _remove(folder: Path) -> None:
    """Remove a folder, closed folders in it too; what cannot be removed stays."""
    for place, folders, _ in os.walk(folder):
        for name in folders:
            child = Path(place, name)
            if not child.is_symlink():
                _open_up(child)
    shutil.rmtree(folder, ignore_errors=True)


def _open_up(folder: Path) -> None:
    try:
        folder.chmod(0o700)
    except OSError:
        return


def _old_name(final: Path) -> Path:
    return final.with_name(f".{final.name}.mlsub-old")
