"""What lies at a path. That there is nothing is an answer; that the system does not let us look is an error.

``Path.exists``, ``is_dir`` and ``is_file`` say no to both, from Python 3.14 on to every error and before that to some.
What is taken for missing because a disk failed for a moment must neither pass nor be remembered.
"""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from io import BufferedReader
from typing import cast

from mlsub.io import MlsubError, reason_of

#: A path, in any form.
AnyPath = str | os.PathLike[str]

#: Errors that say that there is nothing: no such name, one that there cannot be, or a link in a circle.
_NOTHING = frozenset(
    (errno.ENOENT, errno.ENOTDIR, errno.ELOOP, errno.ENAMETOOLONG, errno.EINVAL, errno.EILSEQ, errno.EBADF)
)


def means_missing(error: OSError) -> bool:
    """Whether an error of looking at a path, or of opening it, says that there is nothing."""
    return error.errno in _NOTHING


def status_of(path: AnyPath, *, follow: bool = True) -> os.stat_result | None:
    """Return what lies at a path; None for nothing.

    Args:
        path: where to look; there are thousands, and path objects cost as much as the call.
        follow: whether links are followed.

    Raises:
        OSError: it cannot be looked at.
    """
    try:
        return os.stat(path, follow_symlinks=follow)  # noqa: PTH116
    except OSError as error:
        if means_missing(error):
            return None
        raise
    except ValueError:  # A name that no file can have.
        return None


def is_folder(path: AnyPath) -> bool:
    """Whether a path is a folder, or a link to one.

    Raises:
        OSError: it cannot be looked at.
    """
    found = status_of(path)
    return found is not None and stat.S_ISDIR(found.st_mode)


def is_link(path: AnyPath) -> bool:
    """Whether a path is a link, to whatever or nothing.

    Raises:
        OSError: it cannot be looked at.
    """
    found = status_of(path, follow=False)
    return found is not None and stat.S_ISLNK(found.st_mode)


def exists(path: AnyPath) -> bool:
    """Whether there is anything at a path, be it a link that leads nowhere.

    Raises:
        OSError: it cannot be looked at.
    """
    return status_of(path, follow=False) is not None


def names_in(folder: AnyPath) -> list[str]:
    """The names in a folder, in any order; none where there is no folder.

    Raises:
        OSError: it cannot be listed.
    """
    try:
        return os.listdir(folder)  # noqa: PTH208  (names, and errors that come at once)
    except OSError as error:
        if means_missing(error):
            return []
        raise
    except ValueError:
        return []


def lies_in(path: AnyPath, folder: AnyPath) -> bool:
    """Whether a path is a folder, or something in it, by their real names."""
    return f"{os.path.realpath(path)}{os.sep}".startswith(f"{os.path.realpath(folder)}{os.sep}")


def walk(folder: AnyPath, *, topdown: bool = True) -> Iterator[tuple[str, list[str], list[str]]]:
    """Yield each folder below a folder with the names of its folders and files, as :func:`os.walk` does.

    Raises:
        OSError: a folder cannot be listed.
    """

    def refuse(error: OSError) -> None:
        raise error

    return os.walk(os.fspath(folder), topdown=topdown, onerror=refuse)


def open_regular(file: AnyPath, *, follow: bool = True, buffering: int = -1) -> BufferedReader:
    """Open a file whose content is stored, for reading; whatever foreign bytes are read from is opened here.

    A FIFO or a device is not opened, nor waited for where it comes in the place of the file meanwhile. What the system
    makes when it is read, as in ``/proc`` and ``/sys``, may never end, and says something of this machine.

    Args:
        file: the file.
        follow: whether a link is followed.
        buffering: 0 for who reads large pieces.

    Raises:
        OSError: it cannot be opened, or is not such a file.
    """
    flags = os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC | (0 if follow else os.O_NOFOLLOW)
    try:
        _check_regular(os.stat(file, follow_symlinks=follow))  # noqa: PTH116
        descriptor = os.open(file, flags)
    except ValueError as error:
        raise OSError(errno.EINVAL, str(error)) from error
    try:
        found = os.fstat(descriptor)
        _check_regular(found)
        # An empty file, one with holes, and those that file systems keep beside their names have no blocks either.
        if not found.st_blocks and not os.statvfs(descriptor).f_blocks:
            raise OSError(errno.EINVAL, "not stored anywhere, but made by the system when it is read, as in /proc")
    except OSError:
        os.close(descriptor)
        raise
    return cast("BufferedReader", os.fdopen(descriptor, "rb", buffering))


def read_bounded(file: AnyPath, most: int) -> bytes:
    """Return the content of a regular file of so many bytes at most.

    Raises:
        OSError: it cannot be read, is not such a file, or is larger.
    """
    with open_regular(file) as stream:
        content = stream.read(most + 1)
    if len(content) > most:
        raise OSError(errno.EFBIG, f"larger than {most >> 20} MiB")
    return content


def _check_regular(found: os.stat_result) -> None:
    if stat.S_ISDIR(found.st_mode):
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR))
    if not stat.S_ISREG(found.st_mode):
        raise OSError(errno.EINVAL, "not a regular file")


def file_digest(file: AnyPath, kind: str = "sha256", *, follow: bool = True) -> str:
    """Return the digest of a regular file's content in hexadecimal digits.

    Raises:
        OSError: it cannot be read.
    """
    import hashlib

    with open_regular(file, follow=follow) as stream:
        return hashlib.file_digest(stream, kind).hexdigest()


def content_digest(path: AnyPath) -> bytes | None:
    """Return the SHA-256 of a regular file's content; None where it is none, or cannot be read."""
    try:
        return bytes.fromhex(file_digest(path))
    except OSError:
        return None


@contextmanager
def failing_as(what: str, hint: str = "") -> Iterator[None]:
    """Raise MlsubError, which begins with ``what``, where the block raises OSError."""
    try:
        yield
    except OSError as error:
        raise MlsubError(f"{what}: {reason_of(error)}{hint}") from error


@contextmanager
def without_panics(message: str) -> Iterator[None]:
    """Raise MlsubError where a library in Rust meets what it took for impossible; what it raises is no Exception."""
    try:
        yield
    except BaseException as error:
        if type(error).__name__ == "PanicException":
            raise MlsubError(message) from error
        raise
