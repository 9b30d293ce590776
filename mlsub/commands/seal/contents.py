"""Walk through an unpacked stream, refuse what is dangerous or too much, and compare with the manifest in it.

Input is hostile: whoever has a recipient's public key can seal anything for it. What a member is called and where a
link leads is checked here, on text; what takes the members (:mod:`mlsub.commands.unseal.run`) never has to.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from typing import Protocol

import msgspec

from mlsub.commands.seal.archive import empty_folders
from mlsub.commands.seal.errors import RefusedError
from mlsub.commands.seal.manifest import MAX_MANIFEST, Manifest, differences, parse_manifest
from mlsub.commands.seal.names import MANIFEST, link_problem, name_problem
from mlsub.commands.seal.tree import MAX_MEMBERS, Member, MemberKind
from mlsub.commands.seal.untar import Blocks, TarError, members, skip_padding
from mlsub.rules.catalogue import finding

#: Unpacked bytes that are always allowed to be more than ``max_ratio`` times the packed ones.
_ALWAYS = 256 << 20


class Limits(msgspec.Struct, frozen=True, kw_only=True):
    """How much is unpacked at most.

    ``size`` is bytes of all files together; ``ratio`` how many times the size of the sealed file that may be, None for
    no such limit. Logs pack 10 to 40 times smaller, a bomb about 1000 times.
    """

    size: int = 1 << 40
    ratio: int | None = 200
    members: int = MAX_MEMBERS


class Sink(Protocol):
    """Takes members that were found harmless: folders before what lies in them, links last."""

    def folder(self, path: str) -> None:
        """Take a folder."""

    def file(self, member: Member, pieces: Iterator[memoryview]) -> None:
        """Take a file; all pieces must be taken."""

    def link(self, path: str, target: str) -> None:
        """Take a link; it stays within the tree."""


class Nowhere:
    """Takes all and keeps nothing."""

    def folder(self, path: str) -> None:
        """Nothing to do."""

    def file(self, member: Member, pieces: Iterator[memoryview]) -> None:
        """Read on."""
        for _ in pieces:
            pass

    def link(self, path: str, target: str) -> None:
        """Nothing to do."""


class Contents(msgspec.Struct, frozen=True):
    """What was in an archive: the manifest, which agrees with the rest, and bytes of all files."""

    manifest: Manifest
    text: bytes
    size: int


def take(chunks: Iterator[bytes], packed: int, limits: Limits, sink: Sink) -> Contents:
    """Take all members, and compare them with the manifest.

    Args:
        chunks: the tar.
        packed: bytes of the sealed file.
        limits: how much is taken at most.
        sink: where members go.

    Raises:
        RefusedError: a member is dangerous, there is too much, or the manifest says otherwise.
        TarError: no tar of ``seal``.
    """
    blocks = Blocks(chunks)
    kinds: dict[str, Member] = {}
    files: dict[str, str] = {}
    text: bytes | None = None
    size = 0
    for member in members(blocks):
        if text is not None:
            raise TarError("a member follows the manifest")
        if member.path == MANIFEST and member.kind is MemberKind.FILE and kinds:
            if member.size > MAX_MANIFEST:
                raise _too_much(f"the manifest has more than {MAX_MANIFEST} bytes", member.path)
            text = blocks.take(member.size)
            skip_padding(blocks, member.size)
            continue
        _check(member, kinds)
        size += member.size
        _check_amount(member, size, len(kinds), packed, limits)
        kinds[member.path] = member
        if member.kind is MemberKind.FOLDER:
            sink.folder(member.path)
        elif member.kind is MemberKind.FILE:
            files[member.path] = _hashed(member, blocks, sink)
    if text is None:
        raise TarError("it holds no manifest. Was it made by mlsub seal?")
    links = {member.path: member.target for member in kinds.values() if member.kind is MemberKind.LINK}
    _check_links(links)
    for path, target in links.items():
        sink.link(path, target)
    found = Manifest(files=files, links=links, folders=empty_folders(kinds.values()))
    listed = parse_manifest(text, f"{MANIFEST} of the archive")
    changes = list(differences(listed, found))
    if changes:
        raise RefusedError(changes)
    return Contents(found, text, size)


def _hashed(member: Member, blocks: Blocks, sink: Sink) -> str:
    digest = hashlib.sha256()

    def pieces() -> Iterator[memoryview]:
        for piece in blocks.pieces(member.size):
            digest.update(piece)
            yield piece

    sink.file(member, pieces())
    skip_padding(blocks, member.size)
    return digest.hexdigest()


def _check(member: Member, kinds: dict[str, Member]) -> None:
    """Whether a member may be where it says."""
    problem = name_problem(member.path)
    if problem:
        raise _unsafe(member.path, problem)
    if member.path in kinds:
        raise _unsafe(member.path, "a path is there twice")
    parent = member.path.rpartition("/")[0]
    if not parent:
        if kinds or member.kind is not MemberKind.FOLDER:
            raise _unsafe(member.path, "a member lies outside of the one tree")
    elif parent not in kinds or kinds[parent].kind is not MemberKind.FOLDER:
        raise _unsafe(member.path, "a member lies in what is not a folder of the archive")


def _check_links(links: dict[str, str]) -> None:
    """Whether all links stay within the tree; only all of them together tell."""
    for path, target in links.items():
        problem = link_problem(path, links)
        if problem:
            raise _unsafe(path, problem, target)


def _check_amount(member: Member, size: int, count: int, packed: int, limits: Limits) -> None:
    if count >= limits.members:
        raise _too_much(f"there are more than {limits.members} members", member.path)
    if size > limits.size:
        raise _too_much(f"unpacked it is more than {limits.size} bytes", member.path)
    if limits.ratio is not None and size > max(_ALWAYS, packed * limits.ratio):
        raise _too_much(f"unpacked it is more than {limits.ratio} times as large", member.path)


def _unsafe(path: str, problem: str, target: str | None = None) -> RefusedError:
    return RefusedError([finding("seal.unsafe", path, problem, actual=target)])


def _too_much(message: str, path: str) -> RefusedError:
    return RefusedError([finding("seal.too-much", path, message)])
