"""Assemble a folder from a list of pieces: each file with its place and its origin."""

from __future__ import annotations

import errno
import os
import shutil
import stat
from collections.abc import Iterable
from enum import StrEnum
from pathlib import Path

import msgspec

from mlsub.io.errors import MlsubError


class Piece(msgspec.Struct, frozen=True, kw_only=True):
    """One file: ``to`` is its place in the folder.

    It is a link that says ``link``, or it is copied from ``source``, or it is made of ``content``. With ``size`` the
    source was found in a folder: it is not followed if it is a link by now, and must have so many bytes still.
    ``made`` says how the content came about.
    """

    to: str
    source: Path | None = None
    content: bytes | None = None
    link: str | None = None
    executable: bool = False
    size: int | None = None
    made: str | None = None


class Way(StrEnum):
    """How sources come into the folder: copied, as a second name of them, or as a link to them for a check alone."""

    COPY = "copy"
    HARD_LINK = "hard-link"
    LINK = "link"


def assemble(pieces: Iterable[Piece], folder: Path, way: Way = Way.COPY) -> None:
    """Put every piece into a folder; sources are only read.

    Args:
        pieces: each with a place of its own.
        folder: an empty folder, which need not exist yet.
        way: how; hard links fall back to copies where the source lies on another file system.

    Raises:
        MlsubError: a source cannot be read or changes meanwhile, or the folder cannot be written.
    """
    for piece in pieces:
        target = folder / piece.to
        try:
            target.parent.mkdir(parents=True, exist_ok=True)
            _put(piece, target, way)
        except (OSError, ValueError) as error:
            reason = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
            raise MlsubError(f"{piece.source or target} cannot be copied: {reason}.") from error


def _put(piece: Piece, target: Path, way: Way) -> None:
    if piece.link is not None:
        target.symlink_to(piece.link)
    elif piece.source is None:
        target.write_bytes(piece.content or b"")
        target.chmod(0o755 if piece.executable else 0o644)
    elif way is Way.LINK:
        target.symlink_to(piece.source)
    elif way is Way.COPY or not _linked(piece.source, target, executable=piece.executable):
        _copy(piece.source, target, piece)


def _linked(source: Path, target: Path, *, executable: bool) -> bool:
    """Give the source a second name; not where that cannot be done, or would change what may be executed."""
    real = Path(os.path.realpath(source))
    if os.access(real, os.X_OK) != executable:
        return False
    try:
        os.link(real, target)
    except OSError as error:
        if error.errno in (errno.EXDEV, errno.EPERM, errno.EMLINK, errno.EACCES, errno.EOPNOTSUPP, errno.ENOSYS):
            return False
        raise
    return True


def _copy(source: Path, target: Path, piece: Piece) -> None:
    flags = os.O_RDONLY | os.O_NONBLOCK | (0 if piece.size is None else os.O_NOFOLLOW)
    with open(os.open(source, flags), "rb") as reading:  # noqa: PTH123  (a descriptor, which no path can stand for)
        before = os.fstat(reading.fileno())
        if not stat.S_ISREG(before.st_mode) or piece.size not in (None, before.st_size):
            raise MlsubError(f"{source} has changed since it was looked at. Try again.")
        with target.open("xb") as writing:
            shutil.copyfileobj(reading, writing, 1 << 20)
        after = os.fstat(reading.fileno())
    if (before.st_size, before.st_mtime_ns) != (after.st_size, after.st_mtime_ns):
        raise MlsubError(f"{source} was written while it was copied. Try again when it is finished.")
    target.chmod(0o755 if piece.executable else 0o644)
    os.utime(target, ns=(before.st_atime_ns, before.st_mtime_ns))
