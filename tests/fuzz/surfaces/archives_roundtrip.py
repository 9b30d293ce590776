"""What ``seal`` made of a tree opens to the same tree, and no changed byte makes another one of it."""

# Names are bytes, which need not be text, so pathlib is not for them.
# ruff: noqa: PTH101, PTH102, PTH118, PTH123, PTH211

from __future__ import annotations

import os
import random
from collections.abc import Iterator
from functools import cache
from pathlib import Path

from mlsub.commands.seal.forms import OpenKey, OpenSSL, SealKey, Unencrypted
from mlsub.commands.seal.names import name_problem
from mlsub.commands.seal.openssl import program
from mlsub.commands.seal.run import MANIFEST_SUFFIX, RECEIPT_SUFFIX, SHA1_SUFFIX, seal_tree
from mlsub.commands.seal.streams import DamagedError, RefusedError, compress, decompress
from mlsub.commands.seal.tar import Limits, TarWriter, take
from mlsub.commands.seal.tree import Member, MemberKind, Tree, scan
from mlsub.commands.unseal.run import unseal
from mlsub.commands.verify.run import verify_sealed, verify_tree
from mlsub.io.errors import MlsubError
from mlsub.io.show import folded
from tests.fuzz.harness import BrokenError, Harness
from tests.fuzz.opening import tree_of
from tests.fuzz.provider import END, Provider, one_in
from tests.fuzz.scratch import scratch
from tests.fuzz.sealing import PASSPHRASE, recipient
from tests.fuzz.watched import emptied, same_state, state_of, writes_only_in

_LIMITS = Limits(size=1 << 30)
#: One in so many is sealed and opened on a disk, and one in so many of these with a program that has to be started.
_ON_DISK, _OPENSSL = 8, 16
#: Around the 512 bytes of a block of tar, the 10 KiB of a record, and the 64 KiB that are packed at a time.
_SIZES = (0, 1, 511, 512, 513, 10_239, 10_240, 65_535, 65_537)


def _plant(folder: Path, data: bytes) -> bool:
    """Lay out the tree that bytes say; whether ``seal`` has to take it."""
    said = Provider(data)
    folders, fine, files = [b""], True, 0
    taken: set[str] = set()
    root = os.fsencode(folder)
    while said.left > 1 and len(folders) < 20 and files < 20:
        how, name = said.byte(), said.content().replace(b"/", b"")
        path = os.path.join(said.one_of(folders), name)
        if name in (b"", b".", b"..") or b"\0" in name or len(name) > 255 or os.path.lexists(os.path.join(root, path)):
            continue
        content = said.content() if how & 3 else b"s" * said.one_of(_SIZES)
        match how >> 4:
            case 0 | 1 | 2:
                os.mkdir(os.path.join(root, path))
                folders.append(path)
            case 3:
                if not content or b"\0" in content or len(content) > 4000:
                    continue
                os.symlink(content, os.path.join(root, path))
                fine = False
            case _:
                with open(os.path.join(root, path), "wb") as stream:
                    stream.write(content)
                os.chmod(os.path.join(root, path), 0o755 if how & 8 else 0o644)
                files += 1
        shown = os.fsdecode(b"T/" + path)
        fine = fine and name_problem(shown) is None and folded(shown) not in taken
        taken.add(folded(shown))
    return fine and files > 0


def _roundtrip(data: bytes) -> None:
    room = scratch("roundtrip")
    tree = emptied(room / "T")
    fine = _plant(tree, data)
    before = state_of(tree)
    try:
        with writes_only_in(None):
            scanned = scan(tree)
            archive = b"".join(compress(TarWriter(scanned).chunks()))
    except (MlsubError, RefusedError) as error:
        if fine:
            raise BrokenError(f"it is not sealed: {error}") from error
        return
    expected = tree_of(tree)
    if _members(archive) != expected:
        raise BrokenError("another tree comes out of the archive")
    _flip(archive, data)
    if one_in(_ON_DISK, data):
        _on_disk(room, scanned, data, expected)
    same_state(before, state_of(tree))


def _members(archive: bytes) -> dict[str, tuple[object, ...]] | None:
    """The tree that is taken out of an archive, as :func:`tree_of` gives it; None where it is refused."""
    found: dict[str, tuple[object, ...]] = {}

    def sink(member: Member, pieces: Iterator[memoryview]) -> None:
        name = member.path.partition("/")[2]
        if member.kind is MemberKind.FILE:
            found[name] = ("file", b"".join(pieces), member.executable)
        elif name:
            link = member.kind is MemberKind.LINK
            found[name] = ("link", os.path.normpath(member.target)) if link else ("folder",)

    try:
        take(decompress([archive]), len(archive), _LIMITS, sink)
    except (DamagedError, MlsubError, RefusedError):
        return None
    return found


def _flip(archive: bytes, data: bytes) -> None:
    """One byte of the archive, which the input chooses, is another: it is refused."""
    at, by = int.from_bytes(data[-3:], "big") % len(archive), 1 << (len(data) % 8)
    changed = bytearray(archive)
    changed[at] ^= by
    if _members(bytes(changed)) is not None:
        raise BrokenError(f"byte {at} of {len(archive)} may be another")


@cache
def _forms() -> tuple[tuple[SealKey, OpenKey], ...]:
    return ((Unencrypted(), None), (PASSPHRASE, PASSPHRASE), recipient())


def _on_disk(room: Path, scanned: Tree, data: bytes, expected: dict[str, tuple[object, ...]]) -> None:
    """Seal, verify and open with files, in a form that the input chooses."""
    key, opener = _forms()[sum(data) % len(_forms())]
    if one_in(_OPENSSL, data, b"openssl") and _has_openssl():
        key, opener = OpenSSL(PASSPHRASE.secret), PASSPHRASE
    place = emptied(room / "place")
    file, out = place / "sealed", place / "out"
    seal_tree(scanned.folder, file, key)
    beside = {file.name + suffix for suffix in (RECEIPT_SUFFIX, MANIFEST_SUFFIX)}
    beside |= {file.name + SHA1_SUFFIX} if isinstance(key, OpenSSL) else set()
    if {path.name for path in place.iterdir() if not path.name.startswith(".")} != {file.name, *beside}:
        raise BrokenError(f"beside the sealed file there is {sorted(place.iterdir())}")
    unseal(file, out, opener, _LIMITS)
    if tree_of(out / "T") != expected:
        raise BrokenError("another tree is opened")
    for checked in (
        verify_sealed(file, opener, place / (file.name + MANIFEST_SUFFIX), _LIMITS),
        verify_tree(out),
        verify_tree(scanned.folder, place / (file.name + MANIFEST_SUFFIX)),
    ):
        if checked.findings:
            raise BrokenError(f"verify says {checked.findings}")
    content = bytearray(file.read_bytes())
    content[int.from_bytes(data[-3:], "big") % len(content)] ^= 1 << (len(data) % 8)
    file.write_bytes(content)
    try:
        checked = verify_sealed(file, opener, None, _LIMITS)
    except MlsubError:
        return
    if not checked.findings:
        raise BrokenError("a byte of the sealed file may be another")


@cache
def _has_openssl() -> bool:
    try:
        return bool(program())
    except MlsubError:
        return False


def _said(*entries: tuple[int, bytes, int, bytes]) -> bytes:
    return b"".join(bytes([how]) + name + END + bytes([place]) + content + END for how, name, place, content in entries)


_NAMES = tuple(
    map(str.encode, ("a", "A", "ä", "a\u0308", "漢字", "🙂", " ", "-", "*", "n" * 200, "results", "\u202e", "~", "#"))
)
_BAD = (b"\xfe", b"a\\b", b"a\nb", b"\x1b[0m", b"\xc2\x85", b"MANIFEST.sha256", b"n" * 255)


def _generated(rng: random.Random) -> bytes:
    entries = []
    for _ in range(rng.randrange(1, 8)):
        name = rng.choice(_NAMES if rng.random() < 0.95 else _BAD)
        kind = rng.choice((1, 1, 0x31, 0x41, 0x41, 0x49, 0x40))
        content = rng.choice((b"", b"x", b"a log\n", b"..", b"a", b"../T/a", b"a/..", b"./" * 40))
        entries.append((kind, name, rng.randrange(4), content if kind & 3 else bytes([rng.randrange(9)])))
    return _said(*entries) + rng.randbytes(3).replace(END, b"\0")


_SEEDS = (
    _said((0x41, b"a", 0, b"a log\n")),
    _said((1, b"d", 0, b""), (0x49, "ä".encode(), 1, b"x"), (1, b"empty", 1, b""), (0x31, b"l", 0, b"d")),
    _said((0x40, b"n" * 120, 0, b"\4"), (0x40, b"block", 0, b"\3"), (0x41, b"a\\b", 0, b"")),
)

HARNESSES = (
    Harness("archive-roundtrip", "trees, sealed and opened", _roundtrip, lambda: _SEEDS, _NAMES, _generated, 3_000),
)
