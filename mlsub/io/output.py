"""Write a file, whole or not at all; what it replaces is kept."""

from __future__ import annotations

import errno
import os
from itertools import count
from pathlib import Path

from mlsub.io.errors import MlsubError, reason_of
from mlsub.io.whole import part_of

#: What a file system without hard links answers.
_NO_LINKS = (errno.EPERM, errno.EOPNOTSUPP, errno.ENOSYS, errno.EMLINK, errno.EACCES)


def check_output(file: Path, *, force: bool) -> None:
    """Find out beforehand what would keep a file from being written.

    Raises:
        MlsubError: it exists and ``force`` is not given, is not a regular file, or its folder does not exist.
    """
    try:
        if not file.parent.is_dir():
            raise MlsubError(f"There is no folder {file.parent}. Make it, or name another file.")
        if file.is_dir():
            raise MlsubError(f"{file} is a folder. Name a file in it.")
        if _is_there(file):
            if not force:
                raise _exists(file)
            if not file.is_file():
                raise MlsubError(f"{file} is not a regular file. Name another, or write to standard output.")
    except (OSError, ValueError) as error:
        raise cannot_write(file, error) from error


def write_file(file: Path, content: bytes, *, force: bool) -> Path | None:
    """Write a file; whoever reads it meanwhile sees the old one or the new one, never a part.

    Args:
        file: where to.
        content: all of it.
        force: replace a file that is there, and keep it under another name unless it is the same.

    Returns:
        The name under which what was there is kept; None where nothing else was there.

    Raises:
        MlsubError: see :func:`check_output`; also where the disk is full or closed to writing.
    """
    check_output(file, force=force)
    kept = None
    part = Path(part_of(file.parent))
    try:
        with part.open("xb") as stream:
            stream.write(content)
            stream.flush()
            os.fsync(stream.fileno())
        if force and _is_there(file):
            from filecmp import cmp

            kept = None if cmp(part, file, shallow=False) else set_aside(file)
        put_in_place(part, file, force=force)
    except OSError as error:
        raise cannot_write(file, error) from error
    finally:
        part.unlink(missing_ok=True)
    return kept


def set_aside(file: Path) -> Path:
    """Give a file that is going to be replaced a further name, ``FILE.~1~`` or the next that is free.

    Raises:
        OSError: the system refuses.
    """
    names = (file.with_name(f"{file.name}.~{number}~") for number in count(1))
    aside = next(name for name in names if not _is_there(name))
    try:
        os.link(file, aside, follow_symlinks=False)
    except OSError as error:
        if error.errno not in _NO_LINKS:
            raise
        from shutil import copy2

        copy2(file, aside, follow_symlinks=False)
    return aside


def put_in_place(part: Path, file: Path, *, force: bool) -> None:
    """Give a finished file of the same folder its name, in one step; its old name may remain.

    Raises:
        MlsubError: ``force`` is not given and there is one of that name.
        OSError: the system refuses.
    """
    if force:
        part.replace(file)
    else:
        _link_in_place(part, file)


def _link_in_place(part: Path, file: Path) -> None:
    """Give the file its name, unless one of that name has come meanwhile."""
    try:
        os.link(part, file)
    except FileExistsError as error:
        raise _exists(file) from error
    except OSError as error:
        # A file system without hard links: what is left is a moment between looking and writing.
        if error.errno not in _NO_LINKS:
            raise
        check_output(file, force=False)
        part.replace(file)


def _is_there(file: Path) -> bool:
    """Whether a name exists, even if it is a link that leads nowhere."""
    try:
        file.lstat()
    except FileNotFoundError:
        return False
    return True


def _exists(file: Path) -> MlsubError:
    return MlsubError(f"{file} exists. Add --force to replace it.")


def cannot_write(place: Path, error: Exception) -> MlsubError:
    """That a file or folder cannot be written, and why."""
    return MlsubError(f"{place} cannot be written: {reason_of(error)}")
