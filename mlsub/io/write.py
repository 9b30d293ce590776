"""Write files and folders: each whole or not at all, and nothing that a person wrote replaced without a word.

What is written is made in a hidden folder beside its place, brought to the disk, and renamed. What mlsub put in place
is known again by the record beside it, see :mod:`mlsub.io.folders`.
"""

from __future__ import annotations

import errno
import os
import re
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from filecmp import cmp
from pathlib import Path
from typing import BinaryIO

from mlsub.io import MlsubError, reason_of
from mlsub.io.look import walk
from mlsub.io.show import plain

#: What a file system answers that cannot synchronise a folder, a pipe or a device.
CANNOT_SYNC = (errno.EINVAL, errno.ENOSYS, errno.EOPNOTSUPP, errno.EBADF)
_PART = re.compile(r"\.mlsub-[0-9a-f]+\.part")
#: So many files are synchronised at the same time: file systems commit them together, in a fifth of the time.
_AT_ONCE = 16


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
        file.lstat()
        if not force:
            raise MlsubError(f"{file} exists. Add --force to replace it.")
        if not file.is_file():
            raise MlsubError(f"{file} is not a regular file. Name another, or write to standard output.")
    except FileNotFoundError:
        return
    except (OSError, ValueError) as error:
        raise cannot_write(file, error) from error


def write_file(file: Path, content: bytes, *, force: bool, executable: bool = False) -> Path | None:
    """Write a file, and return the backup of what it replaces; None where there was nothing else.

    Args:
        file: where to.
        content: all of it.
        force: replace a file that is there.
        executable: whether it may be executed.

    Raises:
        MlsubError: see :func:`check_output`; also where the disk is full or closed to writing.
    """
    check_output(file, force=force)
    with staging_beside(file) as staging:
        part = staging / file.name
        with part.open("xb") as stream:
            stream.write(content)
            if executable:
                part.chmod(part.stat().st_mode | 0o111)
            sync_file(stream)
        backup = back_up(file) if force and os.path.lexists(file) and not _same(part, file) else None
        put_file(part, file, force=force)
    return backup


def back_up(file: Path) -> Path:
    """Keep a file that is going to be replaced as ``FILE.~1~``; an earlier one is replaced, which is said.

    Raises:
        OSError: the system refuses.
    """
    backup = file.with_name(f"{file.name}.~1~")
    earlier = os.path.lexists(backup)
    if earlier and _same(backup, file):
        return backup
    with staging_beside(backup) as staging:
        part = staging / backup.name
        try:
            os.link(file, part, follow_symlinks=False)
        except OSError:
            # A file system without hard links.
            from shutil import copy2

            copy2(file, part, follow_symlinks=False)
        put_file(part, backup, force=True)
    if earlier:
        import logging

        # It is on standard error, unless a program says otherwise.
        logging.getLogger("mlsub").warning("%s", plain(f"mlsub: replaced {backup}, an earlier backup"))
    return backup


def _same(one: Path, other: Path) -> bool:
    """Return whether two names are of one file, or of two with the same content; a link is only the same as itself."""
    found = one.lstat(), other.lstat()
    return os.path.samestat(*found) or (
        all(stat.S_ISREG(each.st_mode) for each in found) and cmp(one, other, shallow=False)
    )


def put_file(part: Path, file: Path, *, force: bool) -> None:
    """Give a finished file of the same file system, which is on the disk, its name.

    Raises:
        MlsubError: ``force`` is not given and there is one of that name.
        OSError: the system refuses.
    """
    if not force and os.path.lexists(file):
        raise MlsubError(f"{file} exists. Add --force to replace it.")
    part.replace(file)
    sync_folder(file.parent)


@contextmanager
def staging_beside(final: Path) -> Iterator[Path]:
    """Give an empty folder to build in, on the same file system as ``final``; what is left of it goes in the end.

    The folders above ``final`` are made, and those of them that are still empty go, too.

    Raises:
        MlsubError: it cannot be made, or the system refuses to write in it.
    """
    part = Path(temporary_name(final.parent))
    try:
        made = make_folder(final.parent)
        # A name that cannot be given (too long, NUL) is reported before the work, not after it.
        with suppress(FileNotFoundError):
            final.lstat()
        _recover_folder(final)
        part.mkdir()
    except (OSError, ValueError) as error:
        raise cannot_write(final, error) from error
    try:
        yield part
    except OSError as error:
        raise cannot_write(final, error) from error
    finally:
        _remove(part)
        with suppress(OSError):
            for folder in made:
                folder.rmdir()


def _remove(part: Path) -> None:
    from shutil import rmtree

    if part.is_dir():
        rmtree(part, ignore_errors=True)
    else:
        with suppress(OSError):
            part.unlink(missing_ok=True)


def put_folder(staging: Path, final: Path) -> None:
    """Give a finished folder its name; an earlier folder of that name is replaced and removed.

    The old one lies beside under another name for a moment; where a process is killed then, the next call of
    :func:`staging_beside` puts it back.

    Args:
        staging: the finished folder, on the same file system as ``final``.
        final: its name from now on.

    Raises:
        MlsubError: ``final`` is not a folder, or is a link, or something cannot be renamed. Then the old one is where
            it was (unless the text says that only its remains could not be removed).
    """
    old = _old_name(final)
    try:
        _recover_folder(final)
        if final.is_symlink() or (final.exists() and not final.is_dir()):
            raise MlsubError(f"{final} is not a folder, or is a link. Name another, or move it away.")
        sync_tree(staging)
        _remove_old(old, final)
        if replaces := final.exists():
            final.rename(old)
        try:
            staging.rename(final)
        except OSError:
            if replaces:
                old.rename(final)
            raise
        sync_folder(final.parent)
        _remove_old(old, final)
    except (OSError, ValueError) as error:
        raise cannot_write(final, error) from error


def _recover_folder(final: Path) -> None:
    """Give a folder back its name after a :func:`put_folder` that was killed half-way."""
    old = _old_name(final)
    if old.is_dir() and not old.is_symlink() and not os.path.lexists(final):
        old.rename(final)
        sync_folder(final.parent)


def _remove_old(old: Path, final: Path) -> None:
    _remove(old)
    if os.path.lexists(old):
        raise MlsubError(f"What {final} held before cannot be removed: remove {old}.")


def _old_name(final: Path) -> Path:
    return final.with_name(f".{final.name}.mlsub-old")


def is_temporary_name(name: str) -> bool:
    """Return whether a name is that of a file or folder that is not finished."""
    return _PART.fullmatch(name) is not None


def temporary_name(folder: str | os.PathLike[str]) -> str:
    """Return a new name in a folder for a file or folder that is not finished."""
    return os.path.join(folder, f".mlsub-{os.urandom(8).hex()}.part")  # noqa: PTH118  (fast, also without pathlib)


def replace_whole(file: str | os.PathLike[str], content: bytes, mode: int = 0o666) -> None:
    """Replace a file that can be made again, such as one of a cache, in one step and as fast as that can be.

    It is not brought to the disk: after a crash of the machine it may be damaged, so its reader has to notice that.

    Args:
        file: in a folder that is there.
        content: all of it.
        mode: of a new file, less what the umask takes away.

    Raises:
        OSError: the system refuses; then nothing has changed.
    """
    part = temporary_name(os.path.dirname(file))  # noqa: PTH120
    try:
        with open(os.open(part, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, mode), "wb") as stream:  # noqa: PTH123
            stream.write(content)
        os.replace(part, file)  # noqa: PTH105
    except OSError:
        with suppress(OSError):
            os.unlink(part)  # noqa: PTH108
        raise


def cannot_write(place: Path, error: Exception) -> MlsubError:
    """Return the error that a file or folder cannot be written, with the reason."""
    return MlsubError(f"{place} cannot be written: {reason_of(error)}")


def sync_file(stream: BinaryIO) -> None:
    """Bring what was written to the disk.

    Raises:
        OSError: the system refuses; what was written may be lost.
    """
    stream.flush()
    os.fsync(stream.fileno())


def sync_folder(folder: Path) -> None:
    """Bring the names in a folder to the disk, where that can be done: not in a folder that cannot be read.

    Raises:
        OSError: the disk refuses; names may be lost.
    """
    with suppress(PermissionError):
        _sync(os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC))


def sync_tree(folder: Path) -> None:
    """Bring a folder and all that is in it to the disk: files first, then from the bottom up the folders.

    Raises:
        OSError: something cannot be opened, or the disk refuses.
    """
    from concurrent.futures import ThreadPoolExecutor

    places, files = [], []
    for place, _, names in walk(folder, topdown=False):
        places.append(Path(place))
        files += [os.path.join(place, name) for name in names]  # noqa: PTH118  (thousands of files)
    with ThreadPoolExecutor(_AT_ONCE) as threads:
        for _ in threads.map(_sync_path, files):
            pass
    for each in places:
        sync_folder(each)


def _sync_path(file: str) -> None:
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


def make_folder(folder: Path) -> list[Path]:
    """Make a folder, and those above it, and bring their names to the disk; return the new ones, the deepest first.

    Raises:
        OSError: one cannot be made.
    """
    new = [place for place in (folder, *folder.parents) if not place.exists()]
    folder.mkdir(parents=True, exist_ok=True)
    for place in new:
        sync_folder(place.parent)
    return new
