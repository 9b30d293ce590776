"""Write a file, whole or not at all, and bring it to the disk; what it replaces is kept."""

from __future__ import annotations

import errno
import os
import stat
from contextlib import suppress
from pathlib import Path

from mlsub.io.durable import finish, settle
from mlsub.io.errors import MlsubError, reason_of
from mlsub.io.leftovers import alone_in, clear_leftovers, new_part, tell_replaced
from mlsub.io.renaming import rename_new

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


def write_file(file: Path, content: bytes, *, force: bool, executable: bool = False) -> Path | None:
    """Write a file; whoever reads it meanwhile sees the old one or the new one, never a part, nor after a power cut.

    Args:
        file: where to.
        content: all of it.
        force: replace a file that is there, and keep it under another name unless it is the same.
        executable: whether it may be executed.

    Returns:
        The name under which what was there is kept; None where nothing else was there.

    Raises:
        MlsubError: see :func:`check_output`; also where the disk is full or closed to writing.
    """
    check_output(file, force=force)
    kept = None
    clear_leftovers(file.parent)
    try:
        with new_part(file.parent) as (part, stream):
            stream.write(content)
            if executable:
                part.chmod(part.stat().st_mode | 0o111)
            finish(stream)
            with alone_in(file.parent):
                if force and _is_there(file):
                    from filecmp import cmp

                    kept = None if cmp(part, file, shallow=False) else set_aside(file)
                try:
                    put_in_place(part, file, force=force)
                except BaseException:
                    _undo(kept, file)
                    raise
                settle(file.parent)
    except OSError as error:
        raise cannot_write(file, error) from error
    return kept


def set_aside(file: Path) -> Path:
    """Keep a file that is going to be replaced as ``FILE.~1~``; an earlier one is replaced, which is said.

    Raises:
        OSError: the system refuses.
    """
    aside = file.with_name(f"{file.name}.~1~")
    earlier = _is_there(aside)
    if earlier and _is_same(aside, file):
        return aside
    with new_part(file.parent) as (part, _):
        try:
            part.unlink()
            os.link(file, part, follow_symlinks=False)
        except OSError as error:
            if error.errno not in _NO_LINKS:
                raise
            from shutil import copy2

            copy2(file, part)
            with part.open("rb") as copied:
                finish(copied)
        part.replace(aside)
    if earlier:
        tell_replaced(aside)
    return aside


def _is_same(one: Path, other: Path) -> bool:
    """Whether two names are of one file, or of two with the same content; a link is only the same as itself."""
    from filecmp import cmp

    found = one.lstat(), other.lstat()
    return os.path.samestat(*found) or (
        all(stat.S_ISREG(each.st_mode) for each in found) and cmp(one, other, shallow=False)
    )


def _undo(kept: Path | None, file: Path) -> None:
    """Take the further name of a file away that was not replaced after all."""
    with suppress(OSError):
        if kept is not None and os.path.samestat(kept.lstat(), file.lstat()):
            kept.unlink()


def put_in_place(part: Path, file: Path, *, force: bool) -> None:
    """Give a finished file of the same file system its name, in one step; its old name may remain.

    The file has to be on the disk by now (:func:`~mlsub.io.durable.finish`); its new name is not, before its folder is
    (:func:`~mlsub.io.durable.settle`).

    Raises:
        MlsubError: ``force`` is not given and there is one of that name.
        OSError: the system refuses.
    """
    if force:
        part.replace(file)
    else:
        _put_new(part, file)


def _put_new(part: Path, file: Path) -> None:
    """Give the file its name, unless one of that name has come meanwhile."""
    try:
        if rename_new(part, file):
            return
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
