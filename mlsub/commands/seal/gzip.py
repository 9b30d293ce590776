"""gzip that is the same every time, and in which no bit can flip unnoticed.

The checksum of gzip covers the content, not the header nor the bits that pad the last byte. So a second, empty gzip
member follows, whose extra field (RFC 1952, 2.3.1.1) holds the SHA-256 of all bytes before it. ``gzip -d`` and ``tar``
read both members as one.
"""

from __future__ import annotations

import hashlib
import struct
import zlib
from collections.abc import Iterable, Iterator

from mlsub.commands.seal.files import Blocks, DamagedError

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
