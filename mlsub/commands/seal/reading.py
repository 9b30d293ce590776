"""Open files in a way that never waits and never reads a device."""

from __future__ import annotations

import os
import stat
from pathlib import Path
from typing import BinaryIO


def open_regular(file: Path, *, follow: bool = True) -> BinaryIO:
    """Open a regular file for reading; a FIFO or a device is not even waited for.

    Raises:
        OSError: it cannot be opened, or is not a regular file.
    """
    flags = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | (0 if follow else getattr(os, "O_NOFOLLOW", 0))
    try:
        descriptor = os.open(file, flags)
    except ValueError as error:
        raise OSError(22, str(error)) from error
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        os.close(descriptor)
        raise OSError(22, "not a regular file")
    return os.fdopen(descriptor, "rb")
