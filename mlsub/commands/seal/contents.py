"""Walk through an unpacked stream, refuse what is dangerous or too much, and compare with the manifest in it.

Input is hostile: whoever has a recipient's public key can seal anything for it. What a member is called and where a
link leads is checked here, on text; what takes the members (:mod:`mlsub.commands.unseal.run`) never has to.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

import msgspec

from mlsub.commands.seal.archive import manifest_of
from mlsub.commands.seal.files import Blocks, Counted, DamagedError, RefusedError, unsafe
from mlsub.commands.seal.manifest import MAX_MANIFEST, Manifest, differences, parse_manifest
from mlsub.commands.seal.names import MANIFEST, SAME_NAME, Links, Names, name_problem
from mlsub.commands.seal.tree import MAX_MEMBERS, Member, MemberKind
from mlsub.commands.seal.untar import members, skip_padding
from mlsub.rules.catalogue import finding

#: Unpacked bytes that may always be more than ``ratio`` times the packed ones.
_ALWAYS = 256 << 20
#: Bytes that a manifest may always have, and those of a line without path and target: digest, blanks, line feed.
_ALWAYS_OF_MANIFEST, _OF_LINE = 64 << 10, 72


class Limits(msgspec.Struct, frozen=True, kw_only=True):
    """How much is unpacked at most.

    ``size`` is bytes of all files together; ``ratio`` how many times the size of the sealed file that may be, None for
    no such limit. Logs pack 10 to 40 times smaller, a bomb about 1000 times.
    """

    size: int = 1 << 40
    ratio: int | None = 200
    members: int = MAX_MEMBERS


#: Takes members that were found harmless: folders before what lies in them, links last; of a file all pieces.
Sink = Callable[[Member, Iterator[memoryview]], None]


def nowhere(_: Member, pieces: Iterator[memoryview]) -> None:
    """Read on and keep nothing."""
    for _piece in pieces:
        pass


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
        DamagedError: it is not a tar of ``seal``.
    """
    blocks = Blocks(chunks)
    kinds: dict[str, Member] = {}
    names = Names()
    files: dict[str, str] = {}
    text: bytes | None = None
    size = 0
    for member in members(blocks):
        if text is not None:
            raise DamagedError("a member follows the manifest")
        if member.path == MANIFEST and member.kind is MemberKind.FILE and kinds:
            most = min(MAX_MANIFEST, _longest_manifest(kinds.values()))
            if member.size > most:
                raise _too_much(f"the manifest has more than {most} bytes", member.path)
            text = blocks.take(member.size)
            skip_padding(blocks, member.size)
            continue
        _check(member, kinds, names)
        size += member.size
        _check_amount(member, size, len(kinds), packed, limits)
        kinds[member.path] = member
        if member.kind is MemberKind.FILE:
            content = Counted(blocks.pieces(member.size))
            sink(member, iter(content))
            skip_padding(blocks, member.size)
            files[member.path] = content.sha256
        elif member.kind is MemberKind.FOLDER:
            sink(member, iter(()))
    if text is None:
        raise DamagedError("it contains no manifest. Was it made by mlsub seal?")
    found = manifest_of(files, kinds.values())
    links = Links(found.links)
    for path, target in found.links.items():
        # Only all links together show whether one leads out of the tree.
        if problem := links.problem(path):
            raise unsafe(path, problem, target)
    for path in found.links:
        sink(kinds[path], iter(()))
    changes = list(differences(parse_manifest(text, f"{MANIFEST} of the archive"), found))
    if changes:
        raise RefusedError(*changes)
    return Contents(found, text, size)


def _check(member: Member, kinds: dict[str, Member], names: Names) -> None:
    """Whether a member may be where it says."""
    problem = name_problem(member.path)
    if problem:
        raise unsafe(member.path, problem)
    if same := names.add(member.path):
        raise unsafe(member.path, "a path is there twice" if same == member.path else SAME_NAME, same)
    parent = member.path.rpartition("/")[0]
    if not parent:
        if kinds or member.kind is not MemberKind.FOLDER:
            raise unsafe(member.path, "a member lies outside of the one tree")
    elif parent not in kinds or kinds[parent].kind is not MemberKind.FOLDER:
        raise unsafe(member.path, "a member lies in what is not a folder of the archive")


def _check_amount(member: Member, size: int, count: int, packed: int, limits: Limits) -> None:
    if count >= limits.members:
        raise _too_much(f"there are more than {limits.members} members", member.path)
    if size > limits.size:
        raise _too_much(f"unpacked it is more than {limits.size} bytes", member.path)
    if limits.ratio is not None and size > max(_ALWAYS, packed * limits.ratio):
        raise _too_much(f"unpacked it is more than {limits.ratio} times as large", member.path)


def _longest_manifest(members: Iterable[Member]) -> int:
    """Bytes that the manifest of some members may have: each once, and as much again for comments.

    Without it, a few kilobytes that are packed well would unpack to a hundred million empty lines.
    """
    return (
        _ALWAYS_OF_MANIFEST
        + sum(_OF_LINE + len(member.path.encode()) + len(member.target.encode()) for member in members) * 2
    )


def _too_much(message: str, path: str) -> RefusedError:
    return RefusedError(finding("seal.too-much", path, message))
