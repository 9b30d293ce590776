"""Which code is running: what another reader, other rules or another version has found is never believed."""

from __future__ import annotations

import os
import sys
from functools import cache
from hashlib import blake2b
from pathlib import Path

import msgspec

from mlsub.io.version import VERSION

#: Python's own copies of modules.
_PASSED_OVER = "__pycache__"


@cache
def code_digest() -> bytes | None:
    """16 bytes that change with every file of this program: reader, rules, data; None where it is not in a folder."""
    return digest_of(Path(__file__).parents[2])


def digest_of(folder: Path) -> bytes | None:
    """The digest of a program in a folder.

    Files count by size, inode and times of change: reading all of them would take longer than what is saved.
    """
    rows: list[tuple[object, ...]] = []
    waiting = [str(folder)]
    try:
        while waiting:
            with os.scandir(waiting.pop()) as entries:
                for entry in entries:
                    if entry.name == _PASSED_OVER:
                        continue
                    if entry.is_dir():
                        waiting.append(entry.path)
                        continue
                    found = entry.stat()
                    rows.append((entry.path, found.st_size, found.st_ino, found.st_mtime_ns, found.st_ctime_ns))
    except OSError:
        return None
    about = (VERSION, msgspec.__version__, sys.version, sorted(rows))
    return blake2b(repr(about).encode(), digest_size=16).digest()
