"""Files for what reads no bytes but files: in memory where the system has that, of one process, removed at its end."""

from __future__ import annotations

import atexit
import os
import shutil
import tempfile
from functools import cache
from pathlib import Path

_MEMORY = Path("/dev/shm")
_PREFIX = "mlsub-fuzz-"


def scratch(name: str) -> Path:
    """A folder for a harness, the same at each call; what it holds is the caller's to remove."""
    return _folder(name, os.getpid())


@cache
def _folder(name: str, owner: int) -> Path:
    above = _MEMORY if os.access(_MEMORY, os.W_OK) else Path(tempfile.gettempdir())
    _remove_left(above)
    folder = Path(tempfile.mkdtemp(prefix=f"{_PREFIX}{name}-{owner}-", dir=above))
    atexit.register(_remove, folder, owner)
    return folder


def _remove(folder: Path, owner: int) -> None:
    if os.getpid() == owner:
        shutil.rmtree(folder, ignore_errors=True)


def _remove_left(above: Path) -> None:
    """Remove the folders of processes that were killed, as those are that an input keeps from ending."""
    for folder in above.glob(f"{_PREFIX}*-*"):
        owner = folder.name.split("-")[-2]
        if owner.isdigit() and not _is_alive(int(owner)):
            shutil.rmtree(folder, ignore_errors=True)


def _is_alive(process: int) -> bool:
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except OSError:
        return True
    return True
