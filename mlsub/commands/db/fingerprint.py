"""What a tree holds, as one number that changes with any of it."""

from __future__ import annotations

import hashlib
import os
import stat
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import msgspec

from mlsub.convergence.entry import USUAL, Options
from mlsub.io.errors import reason_of
from mlsub.io.look import is_nothing
from mlsub.workspace import Settings
from mlsub.workspace.cache import record_name, scan_tree
from mlsub.workspace.logs import run_here

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


class Files(msgspec.Struct, frozen=True):
    """The files and folders below a folder, by their path relative to it, sorted."""

    marks: dict[str, FileMark]


def fingerprint(files: Files, *also: str) -> Fingerprint:
    """The fingerprint of some files.

    Args:
        files: those of an organisation's folder.
        also: what else the rows depend on: version, round, name.
    """
    digest = hashlib.sha256()
    for part in (*also, *(f"{path}\0{mark.mode} {mark.sha256}" for path, mark in files.marks.items())):
        digest.update(part.encode("utf-8", "surrogateescape") + b"\n")
    return Fingerprint(digest.hexdigest(), files.marks)


def files_below(folders: Sequence[Path], settings: Settings) -> list[Files | OSError]:
    """The files of each folder, or why they cannot be looked at; links are followed, a circle of them once.

    Args:
        folders: organisations' folders.
        settings: how many processes read; their cache knows what files held of trees that have not changed.
    """
    cache = settings.cache
    trees = {folder: scan_tree(folder) for folder in folders}
    names = {folder: record_name(str(folder.absolute())) for folder in folders}
    known: dict[Path, Files | OSError] = {}
    for folder, tree in trees.items():
        if cache is not None and tree.fingerprint is not None:
            found = cache.read("fingerprints", names[folder], tree.fingerprint, Files)
            known |= {folder: found} if found is not None else {}
    unknown = [folder for folder in trees if folder not in known]
    size = sum(trees[folder].size for folder in unknown)
    for folder, read in zip(unknown, run_here(_files, unknown, settings, size), strict=True):
        known[folder] = read
        state = trees[folder].fingerprint
        # What cannot be read now may be another time, and nothing about it changes then.
        if cache and state and isinstance(read, Files) and not any(map(_unreadable, read.marks.values())):
            cache.write("fingerprints", names[folder], state, read)
    return [known[folder] for folder in folders]


def _files(folder: Path) -> Files | OSError:
    try:
        return Files(dict(sorted(dict(_marks(folder)).items())))
    except OSError as error:
        return error


def _unreadable(mark: FileMark) -> bool:
    return mark.sha256.startswith(_UNREADABLE)


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
    closed: list[OSError] = []
    for place, folders, files in os.walk(folder, followlinks=True, onerror=closed.append):
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
    # In the place of their own marks: what lies below them is not there only because it cannot be listed.
    for error in (error for error in closed if not is_nothing(error)):
        relative = Path(os.fsdecode(error.filename)).relative_to(folder).as_posix()
        yield f"{relative}/", FileMark(f"{_UNREADABLE}{reason_of(error)}", 0, "")


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
