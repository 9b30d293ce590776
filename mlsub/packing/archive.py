"""Write and read the archive before encryption: a gzip of a tar that depends on no machine, user or day.

Members are sorted, times are 0, owner and group are 0, modes 0644 or 0755; names of any length and script go into PAX
records. The last member is the manifest, so that a tree is read once.

The checksum of gzip covers the content, not the header nor the bits that pad the last byte. So a second, empty gzip
member follows, whose extra field (RFC 1952, 2.3.1.1) holds the SHA-256 of all bytes before it. ``gzip -d`` and ``tar``
read both members as one.

What is read is hostile: whoever has a recipient's public key can seal anything for it. A header that is not, to the
byte, the one that is written here for such a member (devices, hard links, sparse files, numbers in base 256, foreign
records) is refused, although :mod:`tarfile` would take it. What a member is called and where a link leads is checked
here, on text; what takes members never has to.
"""

from __future__ import annotations

import gzip
import hashlib
import io
import os
import struct
import tarfile
import zlib
from collections.abc import Callable, Collection, Iterator
from typing import IO

import msgspec

from mlsub.io import reason_of
from mlsub.io.look import open_regular
from mlsub.io.show import folded
from mlsub.packing.names import MANIFEST, SAME_NAME, link_problems, name_problem
from mlsub.packing.tree import (
    MAX_MANIFEST,
    MAX_MEMBERS,
    Checksums,
    DamagedError,
    RefusedError,
    Tree,
    compare_checksums,
    make_checksums,
    make_member,
    parse_checksums,
)
from mlsub.present.terminal import Progress
from mlsub.rules.catalogue import finding

_LEVEL = 6
#: The header of gzip: no name, time 0, no word on the system; that of the second member, whose extra field follows.
_START = b"\x1f\x8b\x08\x00\x00\x00\x00\x00\x00\xff"
_TRAILER = b"\x1f\x8b\x08\x04\x00\x00\x00\x00\x00\xff" + struct.pack("<H2sH", 36, b"s2", 32)
#: An empty block of deflate, its checksum and its length.
_EMPTY = b"\x03\x00" + bytes(8)
#: Bytes read at a time.
CHUNK = 1 << 16
_BLOCK = tarfile.BLOCKSIZE


class Digesting:
    """A stream whose bytes are counted and hashed as they pass."""

    def __init__(self, stream: IO[bytes] | gzip.GzipFile) -> None:
        self._stream = stream
        self._hash = hashlib.sha256()
        self.size = 0

    def read(self, size: int = -1, /) -> bytes:
        """Return bytes of the stream."""
        return self._seen(self._stream.read(size))

    def write(self, content: bytes) -> int:
        """Write bytes to the stream, and return how many."""
        return self._stream.write(self._seen(content))

    def flush(self) -> None:
        """Whoever opened the stream flushes it."""

    def _seen(self, content: bytes) -> bytes:
        self._hash.update(content)
        self.size += len(content)
        return content

    @property
    def digest(self) -> bytes:
        """The SHA-256 so far, 32 bytes."""
        return self._hash.digest()


def write_archive(
    tree: Tree, file: IO[bytes], progress: Progress | None = None
) -> tuple[Checksums, Digesting, Digesting]:
    """Write the archive of a tree; return its manifest, and size and digest of the tar and of the archive.

    Raises:
        RefusedError: a file changed, went or cannot be read.
        OSError: the archive cannot be written.
    """
    digests: dict[str, str] = {}
    packed = Digesting(file)
    done = 0
    with gzip.GzipFile("", "wb", _LEVEL, packed, 0) as zipped:
        whole = Digesting(zipped)
        with tarfile.open(  # type: ignore[call-overload]
            fileobj=whole, mode="w|", format=tarfile.PAX_FORMAT, encoding="utf-8", errors="strict"
        ) as tar:
            for member in tree.members:
                if member.isreg():
                    digests[member.name] = _add_file(tar, member, tree)
                else:
                    tar.addfile(member)
                done += member.size
                if progress is not None:
                    progress(done, tree.size)
            manifest = msgspec.structs.replace(make_checksums(digests, tree.members), round=tree.round)
            content = manifest.render()
            tar.addfile(make_member(MANIFEST, size=len(content)), io.BytesIO(content))
    packed.write(trailer(packed.digest))
    return manifest, whole, packed


def _add_file(tar: tarfile.TarFile, member: tarfile.TarInfo, tree: Tree) -> str:
    """Add a file, and return its SHA-256; refuse it where it is another by now, or is written meanwhile."""
    try:
        stream = open_regular(tree.folder.parent / member.name, follow=member.name in tree.linked)
    except OSError as error:
        why = f"it cannot be read: {reason_of(error)}"
        raise RefusedError(finding("seal.unreadable", member.name, why)) from error
    with stream:
        before = os.fstat(stream.fileno())
        content = Digesting(stream)
        try:
            if before.st_size == member.size:
                tar.addfile(member, content)
        except OSError:
            if os.fstat(stream.fileno()).st_size == member.size:
                raise  # It is not the file that is at fault.
        after = os.fstat(stream.fileno())
    if content.size != member.size or (after.st_size, after.st_mtime_ns) != (before.st_size, before.st_mtime_ns):
        raise RefusedError(finding("seal.changed", member.name, "it changed while it was sealed"))
    return content.digest.hex()


def trailer(digest: bytes) -> bytes:
    """Return the empty gzip member that holds the SHA-256 of all bytes before it."""
    return _TRAILER + digest + _EMPTY


#: The most that is unpacked unless a size is named: bytes of all files together, and how many times the archive that
#: may be, from so many bytes on. Logs pack 10 to 40 times smaller, a bomb about 1000 times.
MAX_SIZE = 1 << 40
MAX_RATIO = 200
_MAX_UNMEASURED = 256 << 20
#: Bytes that a manifest may always have, and those of a line without path and target: digest, blanks, line feed.
_ALWAYS_OF_MANIFEST, _OF_LINE = 64 << 10, 72
#: Takes members that were found harmless: folders before what lies in them, links last; of a file all pieces.
Put = Callable[[tarfile.TarInfo, Iterator[bytes]], None]


def discard(_: tarfile.TarInfo, pieces: Iterator[bytes]) -> None:
    """Read a member, and keep nothing."""
    for _piece in pieces:
        pass


def read_archive(
    file: IO[bytes], put: Put, max_size: int | None = None, progress: Progress | None = None
) -> tuple[Checksums, int]:
    """Read an archive, and return its manifest, which agrees with the rest, and the bytes of all files.

    Args:
        file: the tar.gz, in which one can seek.
        put: where members go.
        max_size: bytes that are unpacked at most; None for the usual limits.
        progress: called with the bytes that were read, and those there are.

    Raises:
        RefusedError: a member is dangerous, there is too much, or the manifest says otherwise.
        DamagedError: it is not an archive of ``seal``; members may have been put.
    """
    size = _check_trailer(file)

    def limit(member: tarfile.TarInfo, unpacked: int, count: int) -> None:
        if progress is not None:
            progress(min(file.tell(), size), size)
        check_amount(member, unpacked, count, size, max_size)

    try:
        with gzip.GzipFile(mode="rb", fileobj=file) as tar:
            return _read_tar(tar, put, limit)
    except (EOFError, gzip.BadGzipFile, zlib.error) as error:
        raise DamagedError("its content cannot be unpacked") from error


def _check_trailer(file: IO[bytes]) -> int:
    """Compare the archive with the digest it ends in; return its size in bytes."""
    size = file.seek(0, os.SEEK_END)
    file.seek(0)
    if file.read(len(_START)) != _START:
        raise DamagedError("it does not begin like one")
    hashed, left = hashlib.sha256(_START), size - len(_START) - len(trailer(bytes(32)))
    while left > 0 and (chunk := file.read(min(left, CHUNK))):
        hashed.update(chunk)
        left -= len(chunk)
    if left or file.read() != trailer(hashed.digest()):
        raise DamagedError("its checksum does not fit its content" if left >= 0 else "it is cut short")
    file.seek(0)
    return size


def _read_tar(
    tar: gzip.GzipFile, put: Put, limit: Callable[[tarfile.TarInfo, int, int], None]
) -> tuple[Checksums, int]:
    taken: dict[str, tarfile.TarInfo] = {}
    names = {folded(MANIFEST): MANIFEST}
    digests: dict[str, str] = {}
    text: bytes | None = None
    size = 0
    for member in read_members(tar):
        if text is not None:
            raise DamagedError("a member follows the manifest")
        if member.name == MANIFEST and member.isreg() and taken:
            text = _manifest_text(tar, member, taken.values())
            continue
        _check_place(member, taken, names)
        size += member.size
        limit(member, size, len(taken))
        taken[member.name] = member
        if member.isreg():
            hashed = hashlib.sha256()
            put(member, _pieces(tar, member.size, hashed.update))
            digests[member.name] = hashed.hexdigest()
        elif member.isdir():
            put(member, iter(()))
    if text is None:
        raise DamagedError("it contains no manifest. Was it made by mlsub seal?")
    found = make_checksums(digests, taken.values())
    # Only all links together show whether one leads out of the tree.
    for path, problem in link_problems(found.links).items():
        raise _refused(path, problem, found.links[path])
    for path in found.links:
        put(taken[path], iter(()))
    listed = parse_checksums(text, f"{MANIFEST} of the archive")
    if changes := compare_checksums(listed, found):
        raise RefusedError(*changes)
    return msgspec.structs.replace(found, round=listed.round), size


def _check_place(member: tarfile.TarInfo, taken: dict[str, tarfile.TarInfo], names: dict[str, str]) -> None:
    """Refuse a member that may not be where it says."""
    path = member.name
    if problem := name_problem(path):
        raise _refused(path, problem)
    if same := names.get(folded(path)):
        raise _refused(path, "a path is there twice" if same == path else SAME_NAME, same)
    names[folded(path)] = path
    parent = path.rpartition("/")[0]
    if not parent:
        if taken or not member.isdir():
            raise _refused(path, "a member lies outside of the one tree")
    elif parent not in taken or not taken[parent].isdir():
        raise _refused(path, "a member lies in what is not a folder of the archive")


def check_amount(member: tarfile.TarInfo, size: int, count: int, packed: int, max_size: int | None) -> None:
    """Refuse a member with which there is too much.

    Args:
        member: the next one.
        size: bytes of all files with it.
        count: members before it.
        packed: bytes of the archive.
        max_size: bytes that are unpacked at most; None for the usual limits.
    """
    most = MAX_SIZE if max_size is None else max_size
    problem = None
    if count >= MAX_MEMBERS:
        problem = f"there are more than {MAX_MEMBERS} members"
    elif size > most:
        problem = f"unpacked it is more than {most} bytes"
    elif max_size is None and size > max(_MAX_UNMEASURED, packed * MAX_RATIO):
        problem = f"unpacked it is more than {MAX_RATIO} times as large"
    if problem:
        raise _refused(member.name, problem, rule="seal.too-much")


def _manifest_text(tar: gzip.GzipFile, member: tarfile.TarInfo, taken: Collection[tarfile.TarInfo]) -> bytes:
    """Read the manifest: each member once, and as much again for comments.

    Without that bound, a few kilobytes that are packed well would unpack to a hundred million empty lines.
    """
    lines = sum(_OF_LINE + len(each.name.encode()) + len(each.linkname.encode()) for each in taken)
    most = min(MAX_MANIFEST, _ALWAYS_OF_MANIFEST + 2 * lines)
    if member.size > most:
        raise _refused(member.name, f"the manifest has more than {most} bytes", rule="seal.too-much")
    return b"".join(_pieces(tar, member.size))


def _refused(path: str, problem: str, found: str | None = None, rule: str = "seal.unsafe") -> RefusedError:
    return RefusedError(finding(rule, path, problem, actual=found))


#: Bytes of the PAX records of one member; a path, a target and a size of seal need no more.
_MAX_RECORDS = 8192
_KINDS = (tarfile.REGTYPE, tarfile.DIRTYPE, tarfile.SYMTYPE)
_OTHERS = {
    tarfile.LNKTYPE: "a hard link",
    tarfile.CHRTYPE: "a character device",
    tarfile.BLKTYPE: "a block device",
    tarfile.FIFOTYPE: "a FIFO",
    tarfile.GNUTYPE_LONGNAME: "a GNU long name",
    tarfile.GNUTYPE_SPARSE: "a sparse file",
}


def read_members(tar: IO[bytes] | gzip.GzipFile) -> Iterator[tarfile.TarInfo]:
    """Yield the members in order; whoever iterates reads the content of a file with its padding.

    Raises:
        DamagedError: also where bytes follow the end.
        RefusedError: a member is neither a file, a folder nor a link.
    """
    while any(header := _exactly(tar, _BLOCK)):
        try:
            yield _read_member(tar, header)
        except (tarfile.TarError, ValueError) as error:
            raise DamagedError(f"the header of a member is broken: {error}") from error
    if any(_exactly(tar, _BLOCK)) or any(rest := tar.read(tarfile.RECORDSIZE + 1)) or len(rest) > tarfile.RECORDSIZE:
        raise DamagedError("something follows its end")


def _read_member(tar: IO[bytes] | gzip.GzipFile, header: bytes) -> tarfile.TarInfo:
    """Return a member whose header, with its PAX records, is to the byte what ``seal`` writes for it.

    Raises:
        tarfile.TarError, ValueError: it is not a header.
    """
    found, records = tarfile.TarInfo.frombuf(header, "utf-8", "strict"), dict[bytes, bytes]()
    if found.type == tarfile.XHDTYPE:
        if not 0 < found.size <= _MAX_RECORDS:
            raise DamagedError("a member has PAX records of unusual size")
        header += _exactly(tar, found.size + -found.size % _BLOCK) + _exactly(tar, _BLOCK)
        # Lines of ``<length> <key>=<value>``; whether they are, shows when the header is written again.
        lines = header[_BLOCK:-_BLOCK].split(b"\n")
        records = {key: value for key, _, value in (line.partition(b" ")[2].partition(b"=") for line in lines)}
        found = tarfile.TarInfo.frombuf(header[-_BLOCK:], "utf-8", "strict")
    if found.type not in _KINDS:
        raise _refused(found.name, f"a member is {_OTHERS.get(found.type, 'of an unknown type')}")
    path = records[b"path"].decode() if b"path" in records else found.name
    target = records[b"linkpath"].decode() if b"linkpath" in records else found.linkname
    size = int(records.get(b"size", found.size)) if found.isreg() else 0
    member = make_member(path.removesuffix("/") if found.isdir() else path, found.type, size, target)
    member.mode = found.mode
    if size < 0 or member.tobuf(tarfile.PAX_FORMAT, "utf-8", "strict") != header:
        raise DamagedError("the header of a member is not one that seal writes")
    return member


def _exactly(tar: IO[bytes] | gzip.GzipFile, size: int) -> bytes:
    content = tar.read(size)
    if len(content) < size:
        raise DamagedError("it is cut short")
    return content


def _pieces(
    tar: IO[bytes] | gzip.GzipFile, size: int, seen: Callable[[bytes], None] = lambda _: None
) -> Iterator[bytes]:
    """Read content in pieces, and go to the next block after it."""
    left = size
    while left:
        piece = _exactly(tar, min(left, CHUNK))
        seen(piece)
        left -= len(piece)
        yield piece
    if any(_exactly(tar, -size % _BLOCK)):
        raise DamagedError("something hides between two members")
