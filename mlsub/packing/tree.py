"""List a tree without opening or following anything in it; read, write and compare its manifest.

The manifest is a file that ``sha256sum -c`` reads:

    <64 hexadecimal digits>  ACME/systems/rack1.json
    # link<TAB>ACME/latest<TAB>results
    # folder<TAB>ACME/empty

The first line may be ``# round<TAB>training_v5.1``.

A statement (:mod:`mlsub.packing.statement`) says the same. Paths never hold control characters
(:mod:`mlsub.packing.names`), so nothing in a manifest needs escaping. A member of a tree is a :class:`tarfile.TarInfo`,
whose name begins with the tree's own: a file, a folder or a link.
"""

from __future__ import annotations

import operator
import os
import re
import stat
import tarfile
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from fnmatch import fnmatchcase
from pathlib import Path
from typing import TypeVar

import msgspec

from mlsub.findings import Finding
from mlsub.io import MlsubError, reason_of
from mlsub.io.look import failing_as, file_digest, open_regular
from mlsub.io.show import folded
from mlsub.io.write import is_temporary_name
from mlsub.packing.names import MANIFEST, SAME_NAME, link_problems, name_problem
from mlsub.packing.statement import Listed, parse_statement
from mlsub.present.terminal import Progress
from mlsub.rules.catalogue import finding
from mlsub.submission.find import ROUND
from mlsub.submission.listing import Listing
from mlsub.submission.model import RESULT_PATTERN

#: More files, folders and links than this are neither sealed nor opened.
MAX_MEMBERS = 500_000


class RefusedError(Exception):
    """A tree or an archive was looked at and refused; ``findings`` say why, at least one."""

    def __init__(self, *findings: Finding) -> None:
        super().__init__(findings[0].message)
        self.findings = findings


class DamagedError(Exception):
    """The bytes are not as they were sealed."""


class Tree(msgspec.Struct, frozen=True):
    """A tree that can be sealed: its folder, its members sorted by path, and its round, as :class:`Checksums` has it.

    ``linked`` are the logs that are links out of the tree, whose content is sealed in their place; ``left_out`` the
    paths that are not sealed.
    """

    folder: Path
    members: tuple[tarfile.TarInfo, ...]
    linked: tuple[str, ...] = ()
    left_out: tuple[str, ...] = ()
    round: str = ""

    @property
    def files(self) -> int:
        """How many files there are."""
        return sum(member.isreg() for member in self.members)

    @property
    def size(self) -> int:
        """Bytes of all files together."""
        return sum(member.size for member in self.members)


def real_folder(folder: Path) -> Path:
    """Return a folder by its real name.

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
    left_out: list[str] = []
    members = sorted(_walk(folder, folder.name, problems, left_out), key=lambda member: member.name.split("/"))
    members, linked = _take_linked_logs(folder, members)
    problems += _name_problems(members)
    if problems:
        raise RefusedError(*problems)
    tree = Tree(folder, tuple(members), linked, tuple(sorted(left_out)))
    if not tree.files:
        raise MlsubError(f"{folder} contains no file: there is nothing to seal.")
    if len(members) > MAX_MEMBERS:
        raise MlsubError(f"{folder} contains more than {MAX_MEMBERS} files, folders and links. Seal parts of it.")
    return tree


def make_member(path: str, kind: bytes = tarfile.REGTYPE, size: int = 0, target: str = "") -> tarfile.TarInfo:
    """Return a member as it is sealed: without time, owner and rights, but that to execute."""
    member = tarfile.TarInfo(path)
    member.type, member.size, member.linkname = kind, size, target
    member.mode = 0o644 if kind == tarfile.REGTYPE else 0o755
    return member


def _walk(
    folder: Path, path: str, problems: list[Finding], left_out: list[str] | None = None
) -> Iterator[tarfile.TarInfo]:
    """Yield the folder and everything below it; what cannot be looked at becomes a finding.

    With ``left_out`` what mlsub never finished goes there instead.
    """
    waiting = [(folder, path)]
    while waiting:
        folder, path = waiting.pop()
        if name_problem(path):
            yield make_member(path, tarfile.DIRTYPE)
            continue  # Nothing below a bad name is worth a finding of its own.
        try:
            statuses = Listing().items_in(folder)
            yield make_member(path, tarfile.DIRTYPE)
            for name, found in statuses.items():
                below = f"{path}/{name}"
                if left_out is not None and is_temporary_name(name):
                    left_out.append(below)
                elif found.is_folder:
                    waiting.append((folder / name, below))
                elif found.problem is not None:
                    raise OSError(found.problem)
                elif found.target is not None:
                    yield make_member(below, tarfile.SYMTYPE, target=str(Path(found.target)))
                elif not stat.S_ISREG(found.mode):
                    problems.append(finding("seal.special-file", below, "neither a file, a folder nor a link"))
                elif not os.access(folder / name, os.R_OK):
                    raise PermissionError(13, f"no right to read {name}")
                else:
                    member = make_member(below, size=found.size)
                    member.mode = 0o755 if found.mode & stat.S_IXUSR else 0o644
                    yield member
        except OSError as error:
            problems.append(finding("seal.unreadable", path, f"it cannot be read: {reason_of(error)}"))


def _take_linked_logs(folder: Path, members: list[tarfile.TarInfo]) -> tuple[list[tarfile.TarInfo], tuple[str, ...]]:
    """Return the members, with a file for each log that is a link out of the tree, and the names of these.

    People link their runs, and all tools follow such links.
    """
    links = link_problems({member.name: member.linkname for member in members if member.issym()})
    taken = {}
    for path in links:
        above, _, name = path.rpartition("/")
        if "/results/" not in above or not fnmatchcase(name, RESULT_PATTERN):
            continue
        with suppress(OSError), open_regular(folder.parent / path) as stream:
            taken[path] = make_member(path, size=os.fstat(stream.fileno()).st_size)
    return [taken.get(member.name, member) for member in members], tuple(taken)


def _name_problems(members: list[tarfile.TarInfo]) -> Iterator[Finding]:
    names = {folded(MANIFEST): MANIFEST}
    links = link_problems({member.name: member.linkname for member in members if member.issym()})
    for member in members:
        path = member.name
        if problem := name_problem(path):
            yield finding("seal.name", path, problem)
        elif problem := links.get(path):
            yield finding("seal.link", path, problem, actual=member.linkname)
        same = names.get(folded(path))
        # What lies in two folders of one name follows from these.
        if same and same.rpartition("/")[0] == path.rpartition("/")[0]:
            yield finding("seal.name", path, SAME_NAME, actual=same)
        names[folded(path)] = path


#: Bytes of a manifest that is read: more than a million lines.
MAX_MANIFEST = 128 << 20
_LINE = re.compile(
    r"([0-9a-f]{64}) [ *](?P<file>.+)|# link\t(?P<link>[^\t]+)\t([^\t]+)|# folder\t(?P<folder>[^\t]+)"
    rf"|{ROUND}(?P<round>[a-z]+_v[0-9.]{{1,9}})"
)


class Checksums(msgspec.Struct, frozen=True, kw_only=True):
    """What a tree holds: SHA-256 of each file by path, target of each link, and the empty folders.

    ``round`` is what a folder of its round is called (``training_v5.1``), empty where that is not known. ``signed`` is
    whether they come from an envelope with signatures, which nobody has looked at.
    """

    files: Mapping[str, str]
    links: Mapping[str, str] = {}
    folders: tuple[str, ...] = ()
    round: str = ""
    signed: bool = False

    def render(self) -> bytes:
        """Return the text, sorted, in UTF-8, each line ended by a line feed."""
        lines = [f"{ROUND}{self.round}"] if self.round else []
        lines += [f"{self.files[path]}  {path}" for path in sorted(self.files)]
        lines += [f"# link\t{path}\t{self.links[path]}" for path in sorted(self.links)]
        lines += [f"# folder\t{path}" for path in sorted(self.folders)]
        return "".join(f"{line}\n" for line in lines).encode()

    @property
    def top(self) -> str:
        """The name of the tree."""
        return next(iter(self.files)).split("/")[0]


def make_checksums(files: Mapping[str, str], members: Iterable[tarfile.TarInfo]) -> Checksums:
    """Return the manifest of members, with the SHA-256 of the files by path."""
    members = list(members)
    parents = {member.name.rpartition("/")[0] for member in members}
    return Checksums(
        files=files,
        links={member.name: member.linkname for member in members if member.issym()},
        folders=tuple(member.name for member in members if member.isdir() and member.name not in parents),
    )


def parse_checksums(content: bytes, where: str) -> Checksums:
    """Read a manifest, of ``seal`` or of ``sha256sum``.

    Raises:
        MlsubError: a line is not one of a manifest; ``where`` is what the message calls it.
    """
    return _collect(_listed_in(content, where), where)


def _collect(listed: Iterable[Listed], where: str, *, signed: bool = False) -> Checksums:
    """Return what is listed, where all of it can be in one tree."""
    found: dict[str, dict[str, str]] = {"file": {}, "link": {}, "folder": {}, "round": {}}
    for place, kind, path, value in listed:
        if kind == "file" and path in found[kind]:
            raise MlsubError(f"{place}: {path} for the second time")
        if kind != "round" and (problem := name_problem(path)):
            raise MlsubError(f"{place}: {problem}")
        found[kind][path] = value
    if not found["file"]:
        raise MlsubError(f"{where} is not a manifest: it names no file.")
    if len({path.split("/")[0] for path in found["file"]}) > 1:
        raise MlsubError(f"{where} names files of more than one tree.")
    return Checksums(
        files=found["file"],
        links=found["link"],
        folders=tuple(found["folder"]),
        round=next(reversed(found["round"]), ""),
        signed=signed,
    )


def _listed_in(content: bytes, where: str) -> Iterator[Listed]:
    """Yield what the lines of a manifest list."""
    try:
        lines = content.decode().split("\n")
    except UnicodeDecodeError as error:
        raise MlsubError(f"{where} is not a manifest: not UTF-8") from error
    for number, line in enumerate(lines, 1):
        place = f"{where}:{number}"
        match = _LINE.fullmatch(line)
        if match is None:
            if not line or line.startswith("#"):
                continue
            raise MlsubError(f"{place}: not a line of a manifest. Expected 64 hexadecimal digits and a path.")
        kind = next(filter(match.group, ("file", "link", "folder", "round")))
        yield place, kind, match[kind], match[1] or match[4] or ""


def read_checksums(file: Path) -> Checksums:
    """Read a manifest from a file, or a statement.

    Raises:
        MlsubError: it cannot be read, or is not one.
    """
    with failing_as(f"{file} cannot be read", ". Name a manifest with --manifest."), open_regular(file) as stream:
        content = stream.read(MAX_MANIFEST + 1)
    if len(content) > MAX_MANIFEST:
        raise MlsubError(f"{file} is not a manifest: longer than {MAX_MANIFEST} bytes.")
    if content.startswith(b"{"):
        statement, signed = parse_statement(content, str(file))
        return _collect(statement.listed(str(file)), str(file), signed=signed)
    return parse_checksums(content, str(file))


class TreeDifference(msgspec.Struct, frozen=True):
    """How a tree differs from what it should hold: paths.

    ``new`` should be there and are not, ``extra`` are there and should not be. ``foreign``, of a folder that is going
    to be replaced, are those of ``changed`` and ``extra`` that pack did not write, or that were changed since.
    """

    new: tuple[str, ...] = ()
    changed: tuple[str, ...] = ()
    same: tuple[str, ...] = ()
    extra: tuple[str, ...] = ()
    foreign: tuple[str, ...] = ()

    @property
    def none(self) -> bool:
        """Whether the tree is as it should be."""
        return not (self.new or self.changed or self.extra)


A = TypeVar("A")
B = TypeVar("B")


def compare_trees(
    wanted: Mapping[str, A], there: Mapping[str, B], alike: Callable[[A, B], bool] = operator.eq
) -> TreeDifference:
    """Compare what should be in a tree with what is there, each by path."""
    same = {path for path, one in wanted.items() if path in there and alike(one, there[path])}
    return TreeDifference(
        new=tuple(path for path in wanted if path not in there),
        changed=tuple(path for path in wanted if path in there and path not in same),
        same=tuple(path for path in wanted if path in same),
        extra=tuple(sorted(there.keys() - wanted.keys())),
    )


def compare_checksums(listed: Checksums, found: Checksums) -> tuple[Finding, ...]:
    """Return what is there against what a manifest lists, sorted by path; nothing where they agree."""
    changes: list[Finding] = []
    for kind, aspect, old, new in (
        ("a file", "SHA-256", listed.files, found.files),
        ("a link", "target", listed.links, found.links),
        ("an empty folder", "", dict.fromkeys(listed.folders, ""), dict.fromkeys(found.folders, "")),
    ):
        difference = compare_trees(old, new)
        missing, extra = f"{kind} of the manifest is not there", f"{kind} is there that the manifest does not list"
        differs = f"{kind} has another {aspect} than the manifest"
        changes += [finding("seal.missing", path, missing) for path in difference.new]
        changes += [finding("seal.extra", path, extra) for path in difference.extra]
        for path in difference.changed:
            changes.append(finding("seal.differs", path, differs, expected=old[path], actual=new[path]))
    return tuple(sorted(changes, key=lambda change: (change.path, change.rule)))


def compare_tree(
    tree: Path, listed: Checksums, progress: Progress | None = None, *, sealed_from: bool = False
) -> tuple[Finding, ...]:
    """Compare a tree with its manifest, and return what differs.

    Args:
        tree: the folder, by its real name.
        listed: its manifest.
        progress: called with the members that are compared, and those there are.
        sealed_from: whether it is the tree that was sealed, in which logs may be links out of it.
    """
    problems: list[Finding] = []
    members = sorted(_walk(tree, tree.name, problems), key=lambda member: member.name)
    members, linked = _take_linked_logs(tree, members) if sealed_from else (members, ())
    files: dict[str, str] = {}
    for number, member in enumerate(members):
        if progress is not None:
            progress(number, len(members))
        if member.isreg():
            try:
                files[member.name] = file_digest(tree.parent / member.name, follow=member.name in linked)
            except OSError as error:
                problems.append(finding("seal.unreadable", member.name, f"it cannot be read: {reason_of(error)}"))
    known = {problem.path for problem in problems}
    changes = compare_checksums(listed, make_checksums(files, members))
    return (*problems, *(change for change in changes if change.path not in known))
