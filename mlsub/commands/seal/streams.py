"""Streams of bytes: read in parts, compressed so that no bit can flip unnoticed; what ends sealing or opening.

The checksum of gzip covers the content, not the header nor the bits that pad the last byte. So a second, empty gzip
member follows, whose extra field (RFC 1952, 2.3.1.1) holds the SHA-256 of all bytes before it. ``gzip -d`` and ``tar``
read both members as one.
"""

from __future__ import annotations

import hashlib
import os
import stat
import struct
import zlib
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO, Generic, TypeVar

from mlsub.findings import Finding, Verdict
from mlsub.io.errors import MlsubError
from mlsub.present.terminal import Progress
from mlsub.rules.catalogue import finding

_CHUNK = 1 << 20
Piece = TypeVar("Piece", bound="bytes | memoryview")


class DamagedError(Exception):
    """The bytes are not as they were sealed; it may be raised after chunks were given."""


class WrongKeyError(DamagedError):
    """The key does not open it, or the beginning is damaged; the two look alike."""


class RefusedError(Exception):
    """It was looked at and refused.

    Attributes:
        findings: why; at least one.
        official: the verdict of the check, where it came to that.
    """

    def __init__(self, *findings: Finding, official: Verdict | None = None) -> None:
        super().__init__(findings[0].message)
        self.findings = findings
        self.official = official


def unsafe(path: str, problem: str, target: str | None = None) -> RefusedError:
    """What refuses a member that is never unpacked."""
    return RefusedError(finding("seal.unsafe", path, problem, actual=target))


def reason_of(error: Exception) -> str:
    """What the system says is wrong, without the path, which the caller names."""
    return getattr(error, "strerror", None) or str(error)


def with_progress(chunks: Iterable[bytes], size: int, progress: Progress | None) -> Iterator[bytes]:
    """Chunks of about so many bytes in all, and how far they are."""
    done = 0
    for chunk in chunks:
        done += len(chunk)
        if progress is not None:
            progress(min(done, size), size)
        yield chunk


@contextmanager
def failing_as(what: str, hint: str = "") -> Iterator[None]:
    """Make one line of what the system refuses: ``what`` says what could not be done.

    Raises:
        MlsubError: the block raised an OSError.
    """
    try:
        yield
    except OSError as error:
        raise MlsubError(f"{what}: {reason_of(error)}{hint}") from error


def open_regular(file: Path, *, follow: bool = True) -> BinaryIO:
    """Open a regular file for reading; a FIFO or a device is not even waited for.

    Raises:
        OSError: it cannot be opened, or is not a regular file.
    """
    flags = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | (0 if follow else getattr(os, "O_NOFOLLOW", 0))
    try:
        descriptor = os.open(file, flags)
    except ValueError as error:
        raise OSError(22, str(error)) from error
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        os.close(descriptor)
        raise OSError(22, "not a regular file")
    return os.fdopen(descriptor, "rb")


def file_digest(file: Path, kind: str = "sha256") -> str:
    """Return the digest of a file in hexadecimal digits.

    Raises:
        OSError: it cannot be read.
    """
    with file.open("rb") as stream:
        return hashlib.file_digest(stream, kind).hexdigest()


class Counted(Generic[Piece]):
    """Chunks on their way, with their size and SHA-256 so far."""

    def __init__(self, chunks: Iterable[Piece]) -> None:
        self._chunks = chunks
        self._digest = hashlib.sha256()
        self.size = 0

    def __iter__(self) -> Iterator[Piece]:
        for chunk in self._chunks:
            self._digest.update(chunk)
            self.size += len(chunk)
            yield chunk

    @property
    def sha256(self) -> str:
        """In hexadecimal digits."""
        return self._digest.hexdigest()


class Blocks:
    """Chunks of any size, given out as they are asked for."""

    def __init__(self, chunks: Iterable[bytes]) -> None:
        self._chunks = iter(chunks)
        self._rest = memoryview(b"")

    def some(self, size: int) -> memoryview:
        """1 to ``size`` bytes as they come; none at the end."""
        while not self._rest:
            chunk = next(self._chunks, None)
            if chunk is None:
                break
            self._rest = memoryview(chunk)
        piece, self._rest = self._rest[:size], self._rest[size:]
        return piece

    def pieces(self, size: int) -> Iterator[memoryview]:
        """``size`` bytes in pieces as they come.

        Raises:
            DamagedError: there are fewer.
        """
        while size:
            piece = self.some(size)
            if not piece:
                raise DamagedError("it is cut short")
            size -= len(piece)
            yield piece

    def take(self, size: int) -> bytes:
        """Exactly ``size`` bytes, or DamagedError."""
        return b"".join(self.pieces(size))

    def read(self, size: int) -> bytes:
        """``size`` bytes, fewer only at the end."""
        block = bytearray()
        while len(block) < size and (piece := self.some(size - len(block))):
            block += piece
        return bytes(block)


#: No name, time 0, no word on the system: nothing that differs from one machine or day to the next.
_HEADER = b"\x1f\x8b\x08\x00\x00\x00\x00\x00\x00\xff"
_EXTRA_HEADER = b"\x1f\x8b\x08\x04\x00\x00\x00\x00\x00\xff"
_FIELD = struct.Struct("<H2sH")
#: An empty block of deflate, its checksum and its length.
_EMPTY = b"\x03\x00" + bytes(8)
_LEVEL = 6
#: Bytes given at a time.
CHUNK = 1 << 16
TRAILER = len(_EXTRA_HEADER) + _FIELD.size + 32 + len(_EMPTY)


def trailer(digest: bytes) -> bytes:
    """The empty member that holds the SHA-256 (32 bytes) of all bytes before it."""
    return _EXTRA_HEADER + _FIELD.pack(4 + len(digest), b"s2", len(digest)) + digest + _EMPTY


def compress(chunks: Iterable[bytes]) -> Iterator[bytes]:
    """Compress; the same bytes for the same bytes wherever zlib is the same."""
    digest = hashlib.sha256(_HEADER)
    packer = zlib.compressobj(_LEVEL, zlib.DEFLATED, -zlib.MAX_WBITS)
    checksum = length = 0
    yield _HEADER
    for chunk in chunks:
        checksum = zlib.crc32(chunk, checksum)
        length += len(chunk)
        part = packer.compress(chunk)
        if part:
            digest.update(part)
            yield part
    end = packer.flush() + struct.pack("<II", checksum, length & 0xFFFFFFFF)
    digest.update(end)
    yield end
    yield trailer(digest.digest())


def decompress(chunks: Iterable[bytes]) -> Iterator[bytes]:
    """The content, at most ``CHUNK`` bytes at a time however well it is packed.

    Raises:
        DamagedError: also after the last chunk, where only the end shows the damage.
    """
    source = Blocks(chunks)
    if source.take(len(_HEADER)) != _HEADER:
        raise DamagedError("it does not begin like one")
    unpacker = zlib.decompressobj(-zlib.MAX_WBITS)
    digest = hashlib.sha256(_HEADER)
    checksum = length = 0
    while not unpacker.eof:
        packed = source.some(CHUNK)
        if not packed:
            raise DamagedError("it is cut short")
        for part in _unpack(unpacker, packed):
            checksum = zlib.crc32(part, checksum)
            length += len(part)
            yield part
        digest.update(packed[: len(packed) - len(unpacker.unused_data)])
    end = unpacker.unused_data + source.read(8 + TRAILER + 1)
    expected = struct.pack("<II", checksum, length & 0xFFFFFFFF)
    digest.update(expected)
    if end != expected + trailer(digest.digest()):
        raise DamagedError("its checksum does not fit its content")


def _unpack(unpacker: zlib._Decompress, packed: bytes | memoryview) -> Iterator[bytes]:
    try:
        part = unpacker.decompress(packed, CHUNK)
        while part:
            yield part
            part = b"" if unpacker.eof else unpacker.decompress(unpacker.unconsumed_tail, CHUNK)
    except zlib.error as error:
        raise DamagedError("its content cannot be unpacked") from error
