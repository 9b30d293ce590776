"""What lies in the tree that is to be sealed; looked at, never opened and never followed."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from enum import StrEnum
from pathlib import Path

import msgspec

from mlsub.commands.seal.files import RefusedError, reason_of
from mlsub.commands.seal.names import SAME_NAME, Links, Names, name_problem
from mlsub.findings import Finding
from mlsub.io.errors import MlsubError
from mlsub.rules.catalogue import finding

#: More files, folders and links than this are neither sealed nor opened.
MAX_MEMBERS = 500_000


class MemberKind(StrEnum):
    """What can be sealed."""

    FILE = "file"
    FOLDER = "folder"
    LINK = "link"


class Member(msgspec.Struct, frozen=True, kw_only=True):
    """One thing in a tree.

    ``path`` begins with the tree's own name; ``size`` is in bytes (0 of no file), ``target`` is the text of a link.
    ``stamp`` is what would show a change: device, inode, modification and status change in nanoseconds.
    """

    path: str
    kind: MemberKind
    size: int = 0
    executable: bool = False
    target: str = ""
    stamp: tuple[int, ...] = ()


class Tree(msgspec.Struct, frozen=True):
    """A tree that can be sealed: its folder, and its members sorted by path."""

    folder: Path
    members: tuple[Member, ...]

    @property
    def files(self) -> int:
        """How many files there are."""
        return sum(member.kind is MemberKind.FILE for member in self.members)

    @property
    def size(self) -> int:
        """Bytes of all files together."""
        return sum(member.size for member in self.members)


def real_folder(folder: Path) -> Path:
    """A folder by its real name.

    Raises:
        MlsubError: it is not a folder, cannot be read, or has no name, such as ``/``.
    """
    try:
        real = folder.resolve(strict=True)
        is_folder = real.is_dir()
    except (OSError, ValueError, RuntimeError) as error:
        raise MlsubError(f"{folder} cannot be read: {reason_of(error)}") from error
    if not is_folder or not real.name:
        why = "has no name of its own" if is_folder else "is not a folder"
        raise MlsubError(f"{folder} {why}. Name the folder of a submission.")
    return real


def scan(folder: Path) -> Tree:
    """Look at a tree.

    Raises:
        MlsubError: it is not a folder, or contains no file.
        RefusedError: it contains what cannot be sealed.
    """
    folder = real_folder(folder)
    problems: list[Finding] = []
    members = sorted(walk(folder, folder.name, problems), key=lambda member: member.path.split("/"))
    problems += _problems(members)
    if problems:
        raise RefusedError(*problems)
    if not any(member.kind is MemberKind.FILE for member in members):
        raise MlsubError(f"{folder} contains no file: there is nothing to seal.")
    if len(members) > MAX_MEMBERS:
        raise MlsubError(f"{folder} contains more than {MAX_MEMBERS} files, folders and links. Seal parts of it.")
    return Tree(folder, tuple(members))


def walk(folder: Path, path: str, problems: list[Finding]) -> Iterator[Member]:
    """The folder and everything below it; what cannot be looked at becomes a finding."""
    waiting = [(folder, path)]
    while waiting:
        folder, path = waiting.pop()
        if name_problem(path):
            yield Member(path=path, kind=MemberKind.FOLDER)
            continue  # Nothing below a bad name is worth a finding of its own.
        try:
            with os.scandir(folder) as entries:
                found = list(entries)
            yield Member(path=path, kind=MemberKind.FOLDER)
            for entry in found:
                below = f"{path}/{entry.name}"
                if entry.is_dir(follow_symlinks=False):
                    waiting.append((folder / entry.name, below))
                else:
                    member = _member(folder / entry.name, below)
                    if member is None:
                        problems.append(finding("seal.special-file", below, "neither a file, a folder nor a link"))
                    else:
                        yield member
        except OSError as error:
            problems.append(finding("seal.unreadable", path, f"it cannot be read: {reason_of(error)}"))


def _member(file: Path, path: str) -> Member | None:
    """A file or a link; None if it is anything else."""
    found = file.lstat()
    if stat.S_ISLNK(found.st_mode):
        return Member(path=path, kind=MemberKind.LINK, target=str(file.readlink()), stamp=stamp_of(found))
    if not stat.S_ISREG(found.st_mode):
        return None
    if not os.access(file, os.R_OK):
        raise PermissionError(13, f"no right to read {file.name}")
    executable = bool(found.st_mode & stat.S_IXUSR)
    return Member(path=path, kind=MemberKind.FILE, size=found.st_size, executable=executable, stamp=stamp_of(found))


def stamp_of(found: os.stat_result) -> tuple[int, ...]:
    """What changes with a file's content or place."""
    return (found.st_dev, found.st_ino, found.st_mtime_ns, found.st_ctime_ns)


def _problems(members: list[Member]) -> Iterator[Finding]:
    names = Names()
    links = Links({member.path: member.target for member in members if member.kind is MemberKind.LINK})
    for member in members:
        if problem := name_problem(member.path):
            yield finding("seal.name", member.path, problem)
        elif member.kind is MemberKind.LINK and (problem := links.problem(member.path)):
            yield finding("seal.link", member.path, problem, actual=member.target)
        same = names.add(member.path)
        if same and same.rpartition("/")[0] == member.path.rpartition("/")[0]:  # What lies in two such folders follows.
            yield finding("seal.name", member.path, SAME_NAME, actual=same)
