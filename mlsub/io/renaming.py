"""Renames in one step that Python does not know: to a name that nothing has, and the exchange of two names."""

from __future__ import annotations

import errno
import os
from pathlib import Path

_AT_FDCWD, _NOREPLACE, _EXCHANGE = -100, 1, 2
#: What renameat2 answers where the kernel or the file system does not know its flags.
_NO_FLAGS = (errno.ENOSYS, errno.EINVAL, errno.EOPNOTSUPP)


def exchange(one: Path, other: Path) -> bool:
    """Exchange two names; False where that cannot be done here.

    Raises:
        OSError: the system refuses.
    """
    return _renamed(one, other, _EXCHANGE)


def rename_new(path: Path, target: Path) -> bool:
    """Rename a file or folder to a name that nothing has; False where that cannot be done here in one step.

    Raises:
        FileExistsError: something has the name.
        OSError: the system refuses.
    """
    return _renamed(path, target, _NOREPLACE)


def _renamed(one: Path, other: Path, flags: int) -> bool:
    import ctypes

    try:
        rename = ctypes.CDLL(None, use_errno=True).renameat2
    except (AttributeError, OSError, TypeError):
        return False
    if rename(_AT_FDCWD, os.fsencode(one), _AT_FDCWD, os.fsencode(other), flags) == 0:
        return True
    number = ctypes.get_errno()
    if number in _NO_FLAGS:
        return False
    raise OSError(number, os.strerror(number), str(one))
