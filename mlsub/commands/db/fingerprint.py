"""What a tree holds, as one number that changes with any of it."""

from __future__ import annotations

import hashlib
import os
import stat
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import msgspec

from mlsub.convergence.entry import USUAL, Options
from mlsub.workspace.memory import Memory, tree_state

_BLOCK = 1 << 20
_UNREADABLE = "unreadable: "


class FileMark(msgspec.Struct, frozen=True):
    """One file or folder: SHA-256 of its content, or why there is none (a FIFO, unreadable), and its kind and mode."""

    sha256: str
    bytes: int
    mode: str


class Fingerprint(msgspec.Struct, frozen=True):
    """``files`` by path relative to the folder; ``digest`` over all of them and whatever the caller adds."""

    digest: str
    files: dict[str, FileMark]

    @property
    def bytes(self) -> int:
        """Bytes of all files."""
        return sum(mark.bytes for mark in self.files.values())


class _Files(msgspec.Struct, frozen=True):
    """Files by path relative to a folder, in the form in which they are remembered."""

    files: dict[str, FileMark]


def fingerprint(folder: Path, *also: str, memory: Memory | None = None) -> Fingerprint:
    """The fingerprint of a folder; links are followed, a circle of them once.

    Args:
        folder: an organisation's folder.
        also: what else the rows depend on: version, round, name.
        memory: knows what files held whose state is still the same, so that they need not be read.
    """
    files = _files(folder, memory)
    digest = hashlib.sha256()
    for part in (*also, *(f"{path}\0{mark.mode} {mark.sha256}" for path, mark in files.items())):
        digest.update(part.encode("utf-8", "surrogateescape") + b"\n")
    return Fingerprint(digest.hexdigest(), files)


def _files(folder: Path, memory: Memory | None) -> dict[str, FileMark]:
    """The files of a folder, sorted."""
    if memory is None:
        return dict(sorted(_marks(folder)))
    drawer = memory.drawer("fingerprints", (str(folder.absolute()),), partial(tree_state, folder))
    found = drawer.recall(_Files)
    if found is None:
        found = _Files(dict(sorted(_marks(folder))))
        # What cannot be read now may be another time, and nothing about it changes then.
        if not any(mark.sha256.startswith(_UNREADABLE) for mark in found.files.values()):
            drawer.keep(found)
    return found.files


def options_of(options: Options) -> dict[str, Any]:
    """What differs from the usual options of the convergence test, a file by its name and content.

    Raises:
        OSError: the file cannot be read.
    """
    asked = msgspec.structs.asdict(options)
    different = {name: value for name, value in asked.items() if value != getattr(USUAL, name)}
    if options.reference is not None:
        file = Path(options.reference)
        different["reference"] = {"file": file.name, "sha256": hashlib.sha256(file.read_bytes()).hexdigest()}
    return different


def _marks(folder: Path) -> Iterator[tuple[str, FileMark]]:
    seen: set[tuple[int, int]] = set()
    for place, folders, files in os.walk(folder, followlinks=True, onerror=None):
        at = Path(place).stat()
        if (at.st_dev, at.st_ino) in seen:
            folders.clear()
            continue
        seen.add((at.st_dev, at.st_ino))
        # Empty folders count: a benchmark without runs is a finding.
        for name in (*folders, *files):
            path = Path(place, name)
            relative = path.relative_to(folder).as_posix()
            mark = _mark(path)
            yield (relative if name in files else f"{relative}/"), mark


def _mark(path: Path) -> FileMark:
    mode = ""
    try:
        # Findings depend on them: a script that cannot be run, a link where a file should be.
        mode = f"{path.lstat().st_mode:o}"
        # Not opened before it is known to be a file: a FIFO would wait for ever.
        if not stat.S_ISREG(path.stat().st_mode):
            return FileMark("no regular file", 0, mode)
        digest, size = hashlib.sha256(), 0
        with path.open("rb") as stream:
            while block := stream.read(_BLOCK):
                digest.update(block)
                size += len(block)
    except (OSError, ValueError) as error:
        return FileMark(f"{_UNREADABLE}{getattr(error, 'strerror', None) or 'odd name'}", 0, mode)
    return FileMark(digest.hexdigest(), size, mode)
