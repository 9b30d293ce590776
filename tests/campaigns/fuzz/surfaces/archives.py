"""Sealed files made to do harm, opened and verified: each layer attacked with the layers around it in order."""

from __future__ import annotations

import gzip
import io
import random
import tarfile
import zlib

from mlsub.commands.seal.streams import CHUNK, DamagedError, compress, decompress
from tests.campaigns.fuzz.harness import BrokenError, Harness
from tests.campaigns.fuzz.opening import check_archive, check_opening
from tests.campaigns.fuzz.provider import END, one_in
from tests.campaigns.fuzz.tars import TYPES, header, mended, padded, record, tar_of


def _packed(tar: bytes) -> bytes:
    return b"".join(compress([tar]))


def _members(data: bytes) -> None:
    """Bytes as a program that says which members there are."""
    check_archive(_packed(tar_of(data)))


def _tar(data: bytes) -> None:
    """Bytes as a tar, whose checksums are made to fit where the first byte is even."""
    tar = data[1:]
    check_archive(_packed(tar if data[:1] > b"\x7f" else mended(tar)))


def _gzip(data: bytes) -> None:
    """Bytes as what lies around the tar: what is accepted is what any gzip unpacks, in small pieces."""
    try:
        pieces = list(decompress([data[at : at + 1000] for at in range(0, len(data), 1000)]))
    except DamagedError:
        pieces = None
    if pieces is None:
        if one_in(16, data) and check_opening(data):
            raise BrokenError("unseal opens what decompress refuses")
        return
    if max(map(len, pieces), default=0) > CHUNK:
        raise BrokenError(f"a piece of {max(map(len, pieces))} bytes")
    try:
        other = gzip.decompress(data)
    except (OSError, EOFError, zlib.error) as error:
        raise BrokenError(f"gzip refuses what unseal unpacks: {error}") from error
    if b"".join(pieces) != other:
        raise BrokenError("gzip unpacks something else")
    check_archive(data)


def _program(*members: tuple[bytes, bytes, bytes], top: bytes = b"T", how: bytes = b"\x41") -> bytes:
    """The bytes that :func:`tar_of` reads as members of type, path and content."""
    found = b"\x11" + top + END
    for kind, path, content in members:
        flags = how if TYPES.index(kind) < 3 else b"\x40"
        found += flags + bytes([TYPES.index(kind)]) + path + END + content + END
    return found


_NAMES = (
    b"a",
    b"b",
    b"d",
    b"d/a",
    b"A",
    b".",
    b"..",
    b"",
    b"d/../..",
    b"../place",
    "ä".encode(),
    b"a/b",
    b"n" * 101,
    b"T",
)
_TARGETS = (
    b"a",
    b"..",
    b"../..",
    b".",
    b"d",
    b"d/..",
    b"l",
    b"/etc",
    b"../T/a",
    b"",
    b"./" * 30,
    b"l/../..",
    b"x" * 200,
)


def _generated(rng: random.Random) -> bytes:
    """A program of plausible members, some of which lie in folders that are links."""
    members = []
    for _ in range(rng.randrange(1, 7)):
        kind = rng.choice(TYPES[:3] if rng.random() < 0.9 else TYPES)
        content = rng.choice(_TARGETS) if kind in b"21" else rng.randbytes(rng.choice((0, 1, 511, 512, 513)))
        members.append((kind, rng.choice(_NAMES), content.replace(END, b"\xfe")))
    return _program(*members, how=rng.choice((b"\x41", b"\x51", b"\x61", b"\x4d")))


_PROGRAMS = (
    _program((b"0", b"a", b"a log\n")),
    _program((b"5", b"d", b""), (b"0", b"d/a", b"x"), (b"2", b"l", b"d/a"), (b"5", b"e", b"")),
    _program((b"0", "ä".encode() + b"n" * 120, b"y" * 600), (b"2", b"l", b"a/" * 70)),
    _program((b"0", b"a", b"x"), (b"1", b"h", b"a"), (b"3", b"c", b"")),
    _program((b"5", b"d", b""), (b"2", b"d/b", b".."), (b"2", b"d/c", b"b/../x")),
)


def _with_tarfile(form: int) -> bytes:
    stream = io.BytesIO()
    names = (("T", b"5", b""), ("T/a", b"0", b"x"), ("T/d", b"5", b""), ("T/d/" + "n" * 97, b"0", b""))
    with tarfile.open(fileobj=stream, mode="w", format=form) as tar:
        for name, kind, content in names:
            info = tarfile.TarInfo(name)
            info.type, info.size = kind, len(content)
            tar.addfile(info, io.BytesIO(content))
    return stream.getvalue()


def _tars() -> list[bytes]:
    ours = [tar_of(program) for program in _PROGRAMS[:3]]
    theirs = [_with_tarfile(form) for form in (tarfile.USTAR_FORMAT, tarfile.GNU_FORMAT, tarfile.PAX_FORMAT)]
    return [b"\0" + tar for tar in (*ours, *theirs)]


def _gzips() -> list[bytes]:
    content = tar_of(_PROGRAMS[0])
    whole = _packed(content)
    bomb = zlib.compressobj(9, zlib.DEFLATED, -15)
    zeros = whole[:10] + bomb.compress(bytes(300_000)) + bomb.flush()
    return [_packed(b""), _packed(b"short"), whole, whole + whole, gzip.compress(content, mtime=0), zeros]


_TAR_WORDS = (
    b"ustar\x0000",
    b"ustar  \0",
    header(name=b"T/a", type=b"0"),
    header(name=b"T/l", type=b"2", target=b"../x"),
    header(name=b"MANIFEST.sha256"),
    padded(record(b"path", b"T/../../x")),
    record(b"linkpath", b"/etc"),
    record(b"size", b"9" * 19),
    record(b"GNU.sparse.realsize", b"1"),
    bytes(512),
)

HARNESSES = (
    Harness("archive-members", "members of sealed archives", _members, lambda: _PROGRAMS, _NAMES, _generated, 6_000),
    Harness("archive-tar", "the tar in sealed archives", _tar, _tars, _TAR_WORDS),
    Harness(
        "archive-gzip", "the compression of sealed archives", _gzip, _gzips, (b"\x1f\x8b\x08\x00", b"s2", bytes(8))
    ),
)
