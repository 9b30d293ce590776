"""The archive before encryption: a tar in which nothing depends on machine, user or day.

Members are sorted, times are 0, owner and group are 0, modes 0644 or 0755; names of any length and script go into PAX
records. The last member is the manifest, so that a tree is read once.
"""

from __future__ import annotations

import os
import tarfile
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

from mlsub.commands.seal.files import Counted, RefusedError, open_regular, reason_of
from mlsub.commands.seal.manifest import Manifest
from mlsub.commands.seal.names import MANIFEST
from mlsub.commands.seal.tree import Member, MemberKind, Tree, scan, stamp_of
from mlsub.findings import Finding
from mlsub.rules.catalogue import finding

CHUNK = 1 << 20
_BLOCK = 512
#: A tar is filled up to a multiple of this.
_RECORD = 20 * _BLOCK
_TYPES = {MemberKind.FILE: tarfile.REGTYPE, MemberKind.FOLDER: tarfile.DIRTYPE, MemberKind.LINK: tarfile.SYMTYPE}


class TarWriter:
    """Gives the tar of a tree, and knows afterwards what was in it.

    Attributes:
        manifest: what was sealed; whole once :meth:`chunks` has ended.
    """

    def __init__(self, tree: Tree) -> None:
        self._tree = tree
        self._files: dict[str, str] = {}
        self.manifest = manifest_of(self._files, tree.members)

    def chunks(self) -> Iterator[bytes]:
        """The tar, in pieces of at most 1 MiB.

        Raises:
            RefusedError: a file changed, went or came meanwhile.
        """
        total = 0
        for member in self._tree.members:
            for chunk in self._member(member):
                total += len(chunk)
                yield chunk
        self._still_the_same()
        content = self.manifest.render()
        end = _header(Member(path=MANIFEST, kind=MemberKind.FILE, size=len(content))) + content + _padding(len(content))
        end += bytes(2 * _BLOCK)
        yield end + bytes(-(total + len(end)) % _RECORD)

    def _member(self, member: Member) -> Iterator[bytes]:
        yield _header(member)
        if member.kind is MemberKind.FILE:
            content = Counted(read_unchanged(self._tree.folder.parent / member.path, member))
            yield from content
            self._files[member.path] = content.sha256
            yield _padding(member.size)

    def _still_the_same(self) -> None:
        """Look at the tree again: what came, went or changed behind the reader's back is not sealed over."""
        before = {member.path: member for member in self._tree.members}
        now = {member.path: member for member in scan(self._tree.folder).members}
        changed = [path for path in sorted({*before, *now}) if _content(before.get(path)) != _content(now.get(path))]
        if changed:
            raise RefusedError(*map(_changed, changed))


def _content(member: Member | None) -> tuple[object, ...]:
    """What must not change; reading alone may change the stamp of a folder."""
    return () if member is None else (member.kind, member.size, member.executable, member.target, member.stamp)


def manifest_of(files: Mapping[str, str], members: Iterable[Member]) -> Manifest:
    """The manifest of a tree: the SHA-256 of its files by path, its links, and the folders that nothing lies in."""
    members = list(members)
    parents = {member.path.rpartition("/")[0] for member in members}
    return Manifest(
        files=files,
        links={member.path: member.target for member in members if member.kind is MemberKind.LINK},
        folders=tuple(m.path for m in members if m.kind is MemberKind.FOLDER and m.path not in parents),
    )


def read_unchanged(file: Path, member: Member) -> Iterator[bytes]:
    """The bytes of a file, exactly as many as it had when it was looked at.

    Raises:
        RefusedError: it is another file by now, or it changed while it was read.
    """
    left = member.size
    try:
        # What was a file may be a link or a FIFO by now.
        with open_regular(file, follow=False) as stream:
            _check(stream.fileno(), member)
            while left and (chunk := stream.read(min(CHUNK, left))):
                left -= len(chunk)
                yield chunk
            if left:
                raise RefusedError(_changed(member.path))
            _check(stream.fileno(), member)
    except OSError as error:
        raise RefusedError(finding("seal.unreadable", member.path, f"it cannot be read: {reason_of(error)}")) from error


def _check(descriptor: int, member: Member) -> None:
    found = os.fstat(descriptor)
    if (found.st_size, stamp_of(found)) != (member.size, member.stamp):
        raise RefusedError(_changed(member.path))


def _changed(path: str) -> Finding:
    return finding("seal.changed", path, "it changed while it was sealed")


def _header(member: Member) -> bytes:
    info = tarfile.TarInfo(member.path)
    info.type = _TYPES[member.kind]
    info.size = member.size
    info.linkname = member.target
    info.mode = 0o755 if member.executable or member.kind is not MemberKind.FILE else 0o644
    return info.tobuf(format=tarfile.PAX_FORMAT, encoding="utf-8", errors="strict")


def _padding(size: int) -> bytes:
    return bytes(-size % _BLOCK)
