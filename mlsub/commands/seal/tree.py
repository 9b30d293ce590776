"""What lies in a tree, looked at but never opened or followed; and its manifest, as ``sha256sum -c`` reads it.

    <64 hexadecimal digits>  ACME/systems/rack1.json
    # link<TAB>ACME/latest<TAB>results
    # folder<TAB>ACME/empty

Paths never hold control characters (:mod:`mlsub.commands.seal.names`), so nothing in a manifest needs escaping.
"""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Iterator, Mapping
from enum import StrEnum
from pathlib import Path

import msgspec

from mlsub.commands.seal.names import SAME_NAME, Links, Names, name_problem
from mlsub.commands.seal.streams import RefusedError, reason_of
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


#: Bytes of a manifest that is read: more than a million lines.
MAX_MANIFEST = 128 << 20
_FILE = re.compile(r"([0-9a-f]{64}) [ *](.+)")
_LINK = re.compile(r"# link\t([^\t]+)\t([^\t]+)")
_FOLDER = re.compile(r"# folder\t([^\t]+)")


class Manifest(msgspec.Struct, frozen=True, kw_only=True):
    """What a tree holds: SHA-256 of each file by path, target of each link, and the empty folders."""

    files: Mapping[str, str]
    links: Mapping[str, str] = {}
    folders: tuple[str, ...] = ()

    def render(self) -> bytes:
        """The text, sorted, in UTF-8, each line ended by a line feed."""
        lines = [f"{self.files[path]}  {path}" for path in sorted(self.files)]
        lines += [f"# link\t{path}\t{self.links[path]}" for path in sorted(self.links)]
        lines += [f"# folder\t{path}" for path in sorted(self.folders)]
        return "".join(f"{line}\n" for line in lines).encode()

    @property
    def top(self) -> str:
        """The name of the tree."""
        return next(iter(self.files)).split("/")[0]


def parse_manifest(content: bytes, where: str) -> Manifest:
    """Read a manifest, of ``seal`` or of ``sha256sum``.

    Raises:
        MlsubError: a line is not one of a manifest; ``where`` is what the message calls it.
    """
    files: dict[str, str] = {}
    links: dict[str, str] = {}
    folders: list[str] = []
    try:
        lines = content.decode().split("\n")
    except UnicodeDecodeError as error:
        raise MlsubError(f"{where} is not a manifest: not UTF-8") from error
    for number, line in enumerate(lines, 1):
        if match := _FILE.fullmatch(line):
            path = match[2]
            if path in files:
                raise MlsubError(f"{where}:{number}: {path} for the second time")
            files[path] = match[1]
        elif match := _LINK.fullmatch(line):
            path = match[1]
            links[path] = match[2]
        elif match := _FOLDER.fullmatch(line):
            path = match[1]
            folders.append(path)
        elif not line or line.startswith("#"):
            continue
        else:
            raise MlsubError(f"{where}:{number}: not a line of a manifest. Expected 64 hexadecimal digits and a path.")
        if name_problem(path):
            raise MlsubError(f"{where}:{number}: {name_problem(path)}")
    if not files:
        raise MlsubError(f"{where} is not a manifest: it names no file.")
    if len({path.split("/")[0] for path in files}) > 1:
        raise MlsubError(f"{where} names files of more than one tree.")
    return Manifest(files=files, links=links, folders=tuple(folders))


def differences(listed: Manifest, found: Manifest) -> Iterator[Finding]:
    """What is there against what the manifest lists, sorted by path; nothing where they agree."""
    empty = dict.fromkeys(listed.folders, ""), dict.fromkeys(found.folders, "")
    pairs = (
        ("a file", listed.files, found.files),
        ("a link", listed.links, found.links),
        ("an empty folder", *empty),
    )
    changes = []
    for kind, old, new in pairs:
        for path in {*old, *new}:
            if path not in new:
                changes.append(finding("seal.missing", path, f"{kind} of the manifest is not there"))
            elif path not in old:
                changes.append(finding("seal.extra", path, f"{kind} is there that the manifest does not list"))
            elif old[path] != new[path]:
                aspect = "SHA-256" if kind == "a file" else "target"
                message = f"{kind} has another {aspect} than the manifest"
                changes.append(finding("seal.differs", path, message, expected=old[path], actual=new[path]))
    yield from sorted(changes, key=lambda change: (change.path, change.rule))
