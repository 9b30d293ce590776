"""Sealed files, keys and manifests of other people: nothing lands outside of its folder, and other tools agree."""

from __future__ import annotations

import gzip
import io
import os
import random
import re
import shutil
import tarfile
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Literal

import pyrage
import pyrage.passphrase

from tools.campaigns.fuzz.engine import CORPUS, BrokenError, Harness, scratch
from tools.campaigns.fuzz.packages import orderly
from tools.campaigns.fuzz.trees import State, emptied, same_state, state_of, writes_only_in
from tools.support.runner import run

_PASSPHRASE = "correct horse battery staple"  # noqa: S105  (of inputs that anyone may open)
#: The 32 bytes from 0 to 31.
_SECRET = "AGE-SECRET-KEY-1QQQSYQCYQ5RQWZQFPG9SCRGWPUGPZYSNZS23V9CCRYDPK8QARC0SWRYDWG"  # noqa: S105
#: Asks for so much work that it is tested elsewhere; each takes up to a second, and 1 GiB.
_COSTLY = re.compile(rb"-> scrypt \S+ (?:1[1-9]|20)\n")
_AGE, _GZIP, _BLOCK = b"age-encryption.org", b"\x1f\x8b", 512
_MOST = 100_000


@cache
def _room(_: int) -> Path:
    """Return a folder with a place to open things in, and what a hostile archive would like to reach beside it."""
    above = scratch("archives")
    for name in ("place", "beside", "other"):
        (above / name).mkdir()
    (above / "beside" / "a").write_bytes(b"not to be read, nor to be written")
    (above / "beside" / "link").symlink_to("../other")
    (above / "place" / "T").symlink_to("../beside")
    (above / "passphrase").write_text(_PASSPHRASE)
    (above / "key").write_text(_SECRET)
    return above


def _mended(tar: bytes) -> bytes:
    """Return a tar in which each block that looks like a header has the checksum that fits."""
    found = bytearray(tar)
    for at in range(0, len(found) - _BLOCK + 1, _BLOCK):
        block = found[at : at + _BLOCK]
        if block[257:262] == b"ustar":
            block[148:156] = b" " * 8
            found[at + 148 : at + 156] = b"%06o\0 " % sum(block)
    return bytes(found)


def _open(data: bytes) -> None:
    """Verify and open an age file, a tar.gz, or a tar, which is compressed first."""
    if _COSTLY.search(data[:400]):
        return
    above = _room(os.getpid())
    place, out, file = above / "place", above / "place" / "out", above / "sealed"
    if out.exists():  # of an input that was a finding
        shutil.rmtree(out)
    sealed = data if data.startswith((_AGE, _GZIP)) else gzip.compress(_mended(data), mtime=0)
    file.write_bytes(sealed)
    by_passphrase = b"-> scrypt " in data[:200]
    key = ("--passphrase-file", above / "passphrase") if by_passphrase else ("--identity", above / "key")
    words = (file, *(key if data.startswith(_AGE) else ()))
    before = _outside(above)
    with writes_only_in(None):
        orderly(verified := run("verify", *words, "--max-size", _MOST), "verify")
    with writes_only_in(place):
        orderly(opened := run("unseal", *words, "-o", out, "--max-size", _MOST), "unseal")
    same_state(before, _outside(above))
    if (verified.status == 0) is not (opened.status == 0) or (opened.status == 0) is not out.exists():
        raise BrokenError(f"verify ends with {verified.status}, unseal with {opened.status}, out: {out.exists()}")
    if opened.status == 0:
        _same_tree(out, _decrypted(sealed, by_passphrase=by_passphrase) if data.startswith(_AGE) else sealed)
        shutil.rmtree(out)


def _outside(above: Path) -> State:
    """Return the state of all but what is opened; the folder that it is opened in may have another time."""
    place = os.fsencode(above / "place")
    found = state_of(above)
    return {
        path: what for path, what in found.items() if path != place and not (path + b"/").startswith(place + b"/out/")
    }


def _decrypted(sealed: bytes, *, by_passphrase: bool) -> bytes:
    """Return what the library of age takes out of a file."""
    try:
        if by_passphrase:
            return bytes(pyrage.passphrase.decrypt(sealed, _PASSPHRASE))
        return bytes(pyrage.decrypt(sealed, [pyrage.x25519.Identity.from_str(_SECRET)]))
    except (pyrage.DecryptError, OSError) as error:
        raise BrokenError(f"age refuses what unseal opens: {error}") from error


def _same_tree(out: Path, archive: bytes) -> None:
    """The limit holds, nothing in the tree leads out, and ``tarfile`` takes the same tree out of it."""
    size = sum(path.stat().st_size for path in out.rglob("*") if path.is_file() and not path.is_symlink())
    if size > 2 * _MOST:
        raise BrokenError(f"{size} bytes, over the limit")
    for path in out.rglob("*"):
        if not Path(os.path.realpath(path)).is_relative_to(out):
            raise BrokenError(f"{path} leads to {os.path.realpath(path)}")
    other = emptied(scratch("tarfile") / "out")
    try:
        with tarfile.open(fileobj=io.BytesIO(gzip.decompress(archive)), errorlevel=2) as tar:
            tar.extractall(other, filter="data")
    except (tarfile.TarError, OSError, ValueError, EOFError) as error:
        raise BrokenError(f"tarfile refuses what unseal opens: {error!r}") from error
    ours, theirs = _tree(out), _tree(other)
    if different := sorted(path for path in {*ours, *theirs} if ours.get(path) != theirs.get(path)):
        raise BrokenError(f"tarfile takes another tree out of it: {different[:3]}")


def _tree(folder: Path) -> dict[str, tuple[object, ...]]:
    """Return all there is below a folder by its path: kind, content, and whether its owner may run it."""
    found: dict[str, tuple[object, ...]] = {}
    for path in folder.rglob("*"):
        what: tuple[object, ...] = ("folder",)
        if path.is_symlink():
            what = ("link", os.path.normpath(path.readlink()))
        elif not path.is_dir():
            what = ("file", path.read_bytes(), bool(path.stat().st_mode & 0o100))
        found[path.relative_to(folder).as_posix()] = what
    return found


def _keys(data: bytes) -> None:
    """Bytes as a file of secret keys, and as one of public keys."""
    above = scratch("keys")
    (above / "keys").write_bytes(data)
    sealed = next(iter((CORPUS / "archive").glob("recipient-archive.age")))
    orderly(run("verify", sealed, "--identity", above / "keys"), "verify")
    (above / "T").mkdir(exist_ok=True)
    words = ("--recipients-file", above / "keys", "-o", above / "sealed", "--even-rejected", "--dry-run", "--jobs", 1)
    orderly(run("seal", above / "T", *words), "seal")


def _manifest(data: bytes) -> None:
    """Bytes as a manifest, and as the receipt beside a sealed file."""
    above = scratch("manifest")
    (above / "T").mkdir(exist_ok=True)
    (above / "T" / "a").write_bytes(b"")
    (above / "MANIFEST.sha256").write_bytes(data)
    orderly(run("verify", above / "T", "--manifest", above / "MANIFEST.sha256"), "verify")
    (above / "a.age").write_bytes((CORPUS / "archive" / "recipient-archive.age").read_bytes())
    (above / "a.age.receipt.txt").write_bytes(data)
    orderly(run("verify", above / "a.age"), "verify")


_NAMES = (b"a", b"b", b"d", b"d/a", b"A", b".", b"..", b"", b"d/../..", b"../place", "ä".encode(), b"n" * 101, b"T")
_TARGETS = (b"a", b"..", b"../..", b"d/..", b"l", b"/etc", b"../T/a", b"", b"./" * 30, b"l/../..", b"x" * 200)
_TYPES = (tarfile.REGTYPE, tarfile.REGTYPE, tarfile.DIRTYPE, tarfile.SYMTYPE, b"1", b"3", b"6", b"L", b"S", b"g", b"X")


def _tar(rng: random.Random) -> bytes:
    """Draw a tar of plausible members, some of which lie in folders that are links."""
    stream = io.BytesIO()
    form: Literal[0, 1, 2] = rng.choice((0, 1, 2, 2))
    names = [b"T", *(b"T/" + rng.choice(_NAMES) for _ in range(rng.randrange(1, 7)))]
    for name in names:
        kind = tarfile.DIRTYPE if name == b"T" else rng.choice(_TYPES[:4] if rng.random() < 0.9 else _TYPES)
        info = tarfile.TarInfo(name.decode())
        info.type, info.linkname = kind, rng.choice(_TARGETS).decode() if kind in b"12" else ""
        content = rng.randbytes(rng.choice((0, 1, 511, 513))) if kind == tarfile.REGTYPE else b""
        info.size, info.mode = len(content), rng.choice((0o644, 0o755))
        try:
            stream.write(info.tobuf(form, errors="surrogateescape"))
        except ValueError:  # a name that is too long for the format
            continue
        stream.write(content + bytes(-len(content) % _BLOCK))
    return stream.getvalue() + bytes(2 * _BLOCK)


def _seeds() -> Iterator[bytes]:
    return (_tar(random.Random(number)) for number in range(8))


_WORDS = (
    *(b"ustar\x0000", b"ustar  \0", b"25 path=T/../../x\n", b"12 linkpath=/etc\n", bytes(512), _GZIP),
    b"MANIFEST.sha256",
    *(b"-> scrypt ", b"-> X25519 ", b"-> ssh-rsa ", b"\n--- ", b"-> grease x\nYQ\n", *_NAMES, *_TARGETS),
)

HARNESSES = (
    Harness("archive", _open, _seeds, _WORDS, _tar, 30_000),
    Harness("archive-keys", _keys, words=(b"AGE-SECRET-KEY-1", b"age1", b"ssh-rsa ", b"-----BEGIN "), longest=5_000),
    Harness(
        "archive-manifest", _manifest, words=(b"0123456789abcdef" * 4, b"# link\t", b"# folder\t", b"sealed file: ")
    ),
)
