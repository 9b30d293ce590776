"""The archive before encryption: a tar in which nothing depends on machine, user or day.

Members are sorted, times are 0, owner and group are 0, modes 0644 or 0755; names of any length and script go into PAX
records. The last member is the manifest, so that a tree is read once.
"""

from __future__ import annotations

import hashlib
import os
import tarfile
from collections.abc import Iterable, Iterator
from pathlib import Path

from mlsub.commands.seal.errors import RefusedError, reason_of
from mlsub.commands.seal.manifest import Manifest
from mlsub.commands.seal.names import MANIFEST
from mlsub.commands.seal.reading import open_regular
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
        sha256: of the tar.
        size: bytes of the tar.
    """

    def __init__(self, tree: Tree) -> None:
        self._tree = tree
        self._files: dict[str, str] = {}
        self._digest = hashlib.sha256()
        self.size = 0
        links = {member.path: member.target for member in tree.members if member.kind is MemberKind.LINK}
        self.manifest = Manifest(files=self._files, links=links, folders=empty_folders(tree.members))

    @property
    def sha256(self) -> str:
        """Of the chunks given so far, in hexadecimal digits."""
        return self._digest.hexdigest()

    def chunks(self) -> Iterator[bytes]:
        """The tar, in pieces of at most 1 MiB.

        Raises:
            RefusedError: a file changed, went or came meanwhile.
        """
        for chunk in self._chunks():
            self._digest.update(chunk)
            self.size += len(chunk)
            yield chunk

    def _chunks(self) -> Iterator[bytes]:
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
            digest = hashlib.sha256()
            for chunk in read_unchanged(self._tree.folder.parent / member.path, member):
                digest.update(chunk)
                yield chunk
            self._files[member.path] = digest.hexdigest()
            yield _padding(member.size)

    def _still_the_same(self) -> None:
        """Look at the tree again: what came, went or changed behind the reader's back is not sealed over."""
        before = {member.path: member for member in self._tree.members}
        now = {member.path: member for member in scan(self._tree.folder).members}
        changed = [path for path in sorted({*before, *now}) if _content(before.get(path)) != _content(now.get(path))]
        if changed:
            raise RefusedError([_changed(path) for path in changed])


def _content(member: Member | None) -> tuple[object, ...]:
    """What must not change; reading alone may change the stamp of a folder."""
    return () if member is None else (member.kind, member.size, member.executable, member.target, member.stamp)


def empty_folders(members: Iterable[Member]) -> tuple[str, ...]:
    """The folders nothing lies in."""
    members = list(members)
    parents = {member.path.rpartition("/")[0] for member in members}
    return tuple(m.path for m in members if m.kind is MemberKind.FOLDER and m.path not in parents)


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
                raise RefusedError([_changed(member.path)])
            _check(stream.fileno(), member)
    except OSError as error:
        raise RefusedError([_unreadable(member.path, error)]) from error


def _check(descriptor: int, member: Member) -> None:
    found = os.fstat(descriptor)
    if (found.st_size, stamp_of(found)) != (member.size, member.stamp):
        raise RefusedError([_changed(member.path)])


def _changed(path: str) -> Finding:
    return finding("seal.changed", path, "it changed while it was sealed")


def _unreadable(path: str, error: OSError) -> Finding:
    return finding("seal.unreadable", path, f"it cannot be read: {reason_of(error)}")


def _header(member: Member) -> bytes:
    info = tarfile.TarInfo(member.path)
    info.type = _TYPES[member.kind]
    info.size = member.size
    info.linkname = member.target
    info.mode = 0o755 if member.executable or member.kind is not MemberKind.FILE else 0o644
    return info.tobuf(format=tarfile.PAX_FORMAT, encoding="utf-8", errors="strict")


def _padding(size: int) -> bytes:
    return bytes(-size % _BLOCK)
