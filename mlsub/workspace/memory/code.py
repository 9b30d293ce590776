"""Which code is running: what another reader, other rules or another version has found is never believed."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import msgspec

from mlsub.io.data import blake2b
from mlsub.io.version import VERSION

#: Python's own copies of modules.
_PASSED_OVER = "__pycache__"


@cache
def code_digest() -> bytes | None:
    """16 bytes that change with every file of this program: reader, rules, data; None where it is not in a folder."""
    return digest_of(_program())


def digest_of(folder: Path) -> bytes | None:
    """The digest of a program in a folder.

    Files count by size, inode and times of change: reading all of them would take longer than what is saved.
    """
    rows: list[tuple[object, ...]] = []
    try:
        for entry in _files(folder):
            found = entry.stat()
            rows.append((entry.path, found.st_size, found.st_ino, found.st_mtime_ns, found.st_ctime_ns))
    except OSError:
        return None
    about = (VERSION, msgspec.__version__, sys.version, sorted(rows))
    return blake2b(repr(about).encode(), digest_size=16).digest()


def content_digest() -> str:
    """SHA-256 of what the files of this program hold, which is the same on every machine.

    Raises:
        OSError: they cannot be read.
    """
    from hashlib import sha256

    root = _program()
    contents = {Path(entry.path).relative_to(root).as_posix(): entry.path for entry in _files(root)}
    digest = sha256()
    for name, path in sorted(contents.items()):
        content = Path(path).read_bytes()
        digest.update(f"{name}\0{len(content)}\0".encode() + content)
    return digest.hexdigest()


def _program() -> Path:
    return Path(__file__).parents[2]


def _files(folder: Path) -> Iterator[os.DirEntry[str]]:
    """The files of a program, in any order."""
    waiting = [str(folder)]
    while waiting:
        with os.scandir(waiting.pop()) as entries:
            for entry in entries:
                if entry.name == _PASSED_OVER:
                    continue
                if entry.is_dir():
                    waiting.append(entry.path)
                else:
                    yield entry
