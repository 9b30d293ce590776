"""Files for what reads no bytes but files: in memory where the system has that, of one process, removed at its end."""

from __future__ import annotations

import atexit
import os
import shutil
import tempfile
from functools import cache
from pathlib import Path

_MEMORY = Path("/dev/shm")


def scratch(name: str) -> Path:
    """A folder for a harness, the same at each call; what it holds is the caller's to remove."""
    return _folder(name, os.getpid())


@cache
def _folder(name: str, owner: int) -> Path:
    folder = Path(tempfile.mkdtemp(prefix=f"mlsub-fuzz-{name}-", dir=_MEMORY if os.access(_MEMORY, os.W_OK) else None))
    atexit.register(_remove, folder, owner)
    return folder


def _remove(folder: Path, owner: int) -> None:
    if os.getpid() == owner:
        shutil.rmtree(folder, ignore_errors=True)
