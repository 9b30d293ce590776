"""Files and streams: opened so that nothing waits, read in parts; what ends sealing or opening."""

from __future__ import annotations

import hashlib
import os
import stat
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO, Generic, TypeVar

import msgspec

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


class Digests(msgspec.Struct, frozen=True):
    """Of a whole file: bytes, SHA-256 and SHA-1."""

    size: int
    sha256: str
    sha1: str


def digests_of(file: Path) -> Digests:
    """Read a file once.

    Raises:
        OSError: it cannot be read.
    """
    size, sha256, sha1 = 0, hashlib.sha256(), hashlib.sha1(usedforsecurity=False)
    with file.open("rb") as stream:
        while chunk := stream.read(_CHUNK):
            size += len(chunk)
            sha256.update(chunk)
            sha1.update(chunk)
    return Digests(size, sha256.hexdigest(), sha1.hexdigest())


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
