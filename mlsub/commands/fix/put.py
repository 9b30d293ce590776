"""Put a changed file in the place of the old one: whole, proven and with its mode, or not at all."""

from __future__ import annotations

import os
import secrets
import shutil
import stat
from collections.abc import Callable
from pathlib import Path
from typing import BinaryIO

from mlsub.io.errors import MlsubError

Writer = Callable[[BinaryIO, BinaryIO], None]


def check_source(file: Path) -> None:
    """Find out beforehand what keeps a file from being changed.

    Raises:
        MlsubError: it is a link, no regular file, packed, or does not exist.
    """
    try:
        mode = file.lstat().st_mode
    except (OSError, ValueError) as error:
        raise _cannot(file, "read", error) from error
    if stat.S_ISLNK(mode):
        raise MlsubError(f"{file} is a link. Name the file it leads to.")
    if not stat.S_ISREG(mode):
        raise MlsubError(f"{file} is no regular file. Name a log.")
    if file.suffix == ".gz":
        raise MlsubError(f"{file} is packed, and results are submitted plain. Unpack it first.")


def rewrite(file: Path, write: Writer, prove: Callable[[Path], None], target: Path | None = None) -> None:
    """Write the changed file beside its place, prove it, and only then let it take the place.

    Args:
        file: what is read.
        write: copies from the first stream to the second, with its changes.
        prove: raises :class:`MlsubError` where the written file is not what it must be.
        target: where it goes; None for the place of ``file`` itself. A target that exists is never replaced.

    Raises:
        MlsubError: reading or writing fails, the proof does, or the file changed meanwhile.
    """
    check_source(file)
    place = file if target is None else target
    part = place.with_name(f".mlsub-{secrets.token_hex(8)}.part")
    try:
        before = _state(file)
        with file.open("rb") as source, part.open("xb") as sink:
            write(source, sink)
            sink.flush()
            os.fsync(sink.fileno())
        prove(part)
        if _state(file) != before:
            raise MlsubError(f"{file} changed while it was read, and is left as it is. Wait until its run has ended.")
        shutil.copymode(file, part)
        if target is None:
            part.replace(file)
        else:
            os.link(part, target)
    except OSError as error:
        raise _cannot(place, "written", error) from error
    finally:
        part.unlink(missing_ok=True)


def _state(file: Path) -> tuple[int, int, int]:
    found = file.stat()
    return found.st_ino, found.st_size, found.st_mtime_ns


def _cannot(file: Path, what: str, error: Exception) -> MlsubError:
    reason = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
    return MlsubError(f"{file} cannot be {what}: {reason}. Nothing was changed in it.")
