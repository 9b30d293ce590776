"""Files for what reads no bytes but files: in memory where the system has that, of one process, removed at its end."""

from __future__ import annotations

import atexit
import os
import shutil
import tempfile
from functools import cache
from pathlib import Path

_MEMORY = Path("/dev/shm")
_PREFIX = "mlsub-fuzz-logs-"


def scratch(name: str) -> Path:
    """A folder for a harness, the same at each call; what it holds is the caller's to remove."""
    folder = _own(os.getpid()) / name
    folder.mkdir(exist_ok=True)
    return folder


@cache
def _own(process: int) -> Path:
    """The folder of a process; those of processes that were killed are removed."""
    memory = _MEMORY if os.access(_MEMORY, os.W_OK) else Path(tempfile.gettempdir())
    for folder in memory.glob(f"{_PREFIX}*"):
        if not _lives(folder.name.removeprefix(_PREFIX).partition("-")[0]):
            shutil.rmtree(folder, ignore_errors=True)
    folder = Path(tempfile.mkdtemp(prefix=f"{_PREFIX}{process}-", dir=memory))
    atexit.register(_remove, folder, process)
    return folder


def _lives(process: str) -> bool:
    try:
        os.kill(int(process), 0)
    except ProcessLookupError:
        return False
    except (OSError, ValueError):
        return True
    return True


def _remove(folder: Path, process: int) -> None:
    if os.getpid() == process:
        shutil.rmtree(folder, ignore_errors=True)
