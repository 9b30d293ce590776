"""The archive before encryption: a tar in which nothing depends on machine, user or day, written and read.

Members are sorted, times are 0, owner and group are 0, modes 0644 or 0755; names of any length and script go into PAX
records. The last member is the manifest, so that a tree is read once.

What is read is hostile: whoever has a recipient's public key can seal anything for it. Everything that such a tar does
not need (devices, hard links, sparse files, numbers in base 256, foreign records) is refused, although :mod:`tarfile`
would take it. What a member is called and where a link leads is checked here, on text; what takes members never has to.
"""

from __future__ import annotations

import os
import re
import tarfile
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path

import msgspec

from mlsub.commands.seal.names import MANIFEST, SAME_NAME, Links, Names, name_problem
from mlsub.commands.seal.streams import Blocks, Counted, DamagedError, RefusedError, open_regular, reason_of, unsafe
from mlsub.commands.seal.tree import (
    MAX_MANIFEST,
    MAX_MEMBERS,
    Manifest,
    Member,
    MemberKind,
    Tree,
    differences,
    parse_manifest,
    scan,
    stamp_of,
)
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
            _check_unchanged(stream.fileno(), member)
            while left and (chunk := stream.read(min(CHUNK, left))):
                left -= len(chunk)
                yield chunk
            if left:
                raise RefusedError(_changed(member.path))
            _check_unchanged(stream.fileno(), member)
    except OSError as error:
        raise RefusedError(finding("seal.unreadable", member.path, f"it cannot be read: {reason_of(error)}")) from error


def _check_unchanged(descriptor: int, member: Member) -> None:
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


#: Bytes of the PAX records of one member; a path, a target and a size of seal need no more.
_MAX_RECORDS = 8192
_KINDS = {tar_type: kind for kind, tar_type in _TYPES.items()}
#: Digits, ended by NUL or blank.
_OCTAL = re.compile(rb"[0-7]+[\x00 ]*")
_OTHERS = {
    b"1": "a hard link",
    b"3": "a character device",
    b"4": "a block device",
    b"6": "a FIFO",
    b"L": "a GNU long name",
    b"S": "a sparse file",
}


def members(blocks: Blocks) -> Iterator[Member]:
    """The members in order. Whoever iterates takes the ``size`` bytes of a file, and :func:`skip_padding` after.

    Raises:
        DamagedError: also where bytes follow the end.
    """
    while True:
        header = blocks.take(_BLOCK)
        if not any(header):
            if any(blocks.take(_BLOCK)) or not _rest_is_filling(blocks):
                raise DamagedError("something follows its end")
            return
        info = _parsed(header)
        records: dict[str, str] = {}
        if info.type == tarfile.XHDTYPE:
            if info.size > _MAX_RECORDS:
                raise DamagedError("a member has PAX records of unusual size")
            records = _records(blocks.take(info.size))
            skip_padding(blocks, info.size)
            info = _parsed(blocks.take(_BLOCK))
        yield _member_of(info, records)


def _rest_is_filling(blocks: Blocks) -> bool:
    """Whether nothing but the zeros that fill up a record is left."""
    rest = blocks.read(_RECORD + 1)
    return len(rest) <= _RECORD and not any(rest)


def skip_padding(blocks: Blocks, size: int) -> None:
    """Go to the next block after ``size`` bytes of content."""
    if any(blocks.take(-size % _BLOCK)):
        raise DamagedError("something hides between two members")


def _member_of(info: tarfile.TarInfo, records: dict[str, str]) -> Member:
    path = records.get("path", info.name)
    kind = _KINDS.get(info.type)
    if kind is None:
        raise unsafe(path, f"a member is {_OTHERS.get(info.type, 'of an unknown type')}")
    size = records.get("size", str(info.size))
    if not (size.isascii() and size.isdigit() and len(size) < 20):
        raise DamagedError("a member has no valid size")
    if kind is not MemberKind.FILE and int(size):
        raise DamagedError("a member without content has a size")
    return Member(
        path=path.removesuffix("/") if kind is MemberKind.FOLDER else path,
        kind=kind,
        size=int(size),
        executable=bool(info.mode & 0o100),
        target=records.get("linkpath", info.linkname) if kind is MemberKind.LINK else "",
    )


def _parsed(header: bytes) -> tarfile.TarInfo:
    """Return a header as :mod:`tarfile` reads it, where it is one of a POSIX tar with plain numbers."""
    if header[257:265] != b"ustar\x0000":
        raise DamagedError("a member has no POSIX header")
    if not all(_OCTAL.fullmatch(field) for field in (header[100:108], header[124:136])):
        raise DamagedError("a member has no valid number")
    try:
        return tarfile.TarInfo.frombuf(header, "utf-8", "strict")
    except tarfile.HeaderError as error:
        raise DamagedError("the checksum of a member is wrong") from error
    except UnicodeDecodeError as error:
        raise DamagedError("a name is not UTF-8") from error


def _records(content: bytes) -> dict[str, str]:
    """PAX records: ``<length> <key>=<value>`` and a line feed, the length being that of the whole record."""
    records: dict[str, str] = {}
    while content:
        digits, blank, _ = content[:8].partition(b" ")
        if not blank or not digits.isdigit():
            raise DamagedError("a member has broken PAX records")
        length = int(digits)
        record, content = content[:length], content[length:]
        key, equals, value = record[len(digits) + 1 : -1].partition(b"=")
        if len(record) != length or record[-1:] != b"\n" or not equals or not length > len(digits) + 2:
            raise DamagedError("a member has broken PAX records")
        if key not in (b"path", b"linkpath", b"size") or key.decode() in records:
            raise DamagedError("a member has PAX records of a foreign kind")
        try:
            records[key.decode()] = value.decode()
        except UnicodeDecodeError as error:
            raise DamagedError("a name is not UTF-8") from error
    return records


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
        _check_place(member, kinds, names)
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


def _check_place(member: Member, kinds: dict[str, Member], names: Names) -> None:
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
