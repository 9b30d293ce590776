"""A small sample of what is remembered is compared with the content of a file, not with its state alone."""

from __future__ import annotations

import os
import stat
import time
from zlib import crc32

import msgspec

from mlsub.io.data import blake2b

#: Of so many records one is compared; which, is another matter each day.
ONE_IN = 16
#: Larger files are no witnesses.
_MAX_BYTES = 16 << 20
_DAY_S = 86400
#: Bytes of a digest.
_BYTES = 16


class Witness(msgspec.Struct, frozen=True, array_like=True):
    """A file, and the digest of its content."""

    file: str
    digest: bytes


def is_asked(state: bytes) -> bool:
    """Whether the record of a state is one that is compared today."""
    return (crc32(state) + int(time.time() // _DAY_S)) % ONE_IN == 0


def is_witness(state: bytes) -> bool:
    """Whether the digest of a file of this state is kept, where there are many files."""
    return (crc32(state) >> 8) % ONE_IN == 0


def content_of(file: str | None) -> bytes | None:
    """The digest of a file's content, of nothing where there is none; None where it cannot be read."""
    if file is None:
        return b""
    seen = witness(file)
    return seen.digest if seen is not None else None


def witness(file: str) -> Witness | None:
    """A file as a witness; None where it cannot be one."""
    try:
        descriptor = os.open(file, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    except (OSError, ValueError):
        return None
    try:
        with open(descriptor, "rb", buffering=0) as stream:  # noqa: PTH123  (a descriptor)
            found = os.fstat(descriptor)
            if not stat.S_ISREG(found.st_mode) or found.st_size > _MAX_BYTES:
                return None
            return Witness(file, blake2b(stream.read(found.st_size), digest_size=_BYTES).digest())
    except OSError:
        return None
