"""Tars of anything: each field of a header as an input says it, with a checksum that fits unless it says otherwise."""

from __future__ import annotations

import hashlib

from mlsub.commands.seal.names import MANIFEST
from tests.campaigns.fuzz.provider import Provider

BLOCK = 512
_OFFSETS = {
    "name": 0,
    "mode": 100,
    "size": 124,
    "checksum": 148,
    "type": 156,
    "target": 157,
    "magic": 257,
    "prefix": 345,
}
_LENGTHS = {"name": 100, "size": 12, "target": 100, "prefix": 155}
#: Files, folders, links; then what is not unpacked: hard links, devices, FIFOs, GNU and Solaris forms, PAX of all.
TYPES = (b"0", b"5", b"2", b"1", b"3", b"4", b"6", b"7", b"\0", b"L", b"K", b"S", b"M", b"V", b"g", b"x", b"X", b"Z")
#: Sizes that a header gives instead of the true one; None is the true one.
SIZES = (None, None, None, None, b"\x80" + b"\0" * 10 + b"\1", b"77777777777\0", b"\xff" * 12, b" " * 12, b"0" * 12)
MAGICS = (b"ustar\x0000", b"ustar\x0000", b"ustar\x0000", b"ustar  \0", b"\0" * 8)


def header(**fields: bytes) -> bytes:
    """A header of 512 bytes with these fields, which :data:`_OFFSETS` names, and the checksum that fits."""
    block = bytearray(BLOCK)
    defaults = {"mode": b"0000644\0", "size": b"%011o\0" % 0, "type": b"0", "magic": MAGICS[0]}
    for field, value in (defaults | fields).items():
        at = _OFFSETS[field]
        block[at : at + len(value)] = value
    return mended(bytes(block))


def mended(tar: bytes) -> bytes:
    """A tar in which each block that looks like a header has the checksum that fits."""
    found = bytearray(tar)
    for at in range(0, len(found) - BLOCK + 1, BLOCK):
        block = found[at : at + BLOCK]
        if block[257:262] == b"ustar":
            block[148:156] = b" " * 8
            found[at + 148 : at + 156] = b"%06o\0 " % sum(block)
    return bytes(found)


def padded(content: bytes) -> bytes:
    return content + bytes(-len(content) % BLOCK)


def record(key: bytes, value: bytes) -> bytes:
    """A PAX record with the length that fits."""
    rest = len(key) + len(value) + 3
    length = rest + len(str(rest))
    length = rest + len(str(length))
    return b"%d %s=%s\n" % (length, key, value)


def tar_of(program: bytes) -> bytes:
    """The tar that a program says: members until its bytes end, then a manifest, then what follows."""
    said = Provider(program)
    options = said.byte()
    top = said.content() or b"T"
    parts, listed = [header(name=top, type=b"5")], dict[bytes, bytes]()
    while said.left > 1 and len(parts) < 40:
        part, path, line = _member(said, top)
        parts.append(part)
        listed[path] = line
    folders = {path.rpartition(b"/")[0] for path in listed}
    lines = (line for path, line in listed.items() if path not in folders)
    manifest = b"".join(lines) if options & 3 else said.content()
    if options & 12 != 12:
        parts.append(header(name=MANIFEST.encode(), size=b"%011o\0" % len(manifest)) + padded(manifest))
    ends = (bytes(2 * BLOCK), bytes(20 * BLOCK), bytes(BLOCK), b"", bytes(BLOCK) + b"x" * BLOCK)
    parts.append(ends[0 if options & 16 else options % len(ends)])
    return b"".join(parts)


def _member(said: Provider, top: bytes) -> tuple[bytes, bytes, bytes]:
    """A member, its path, and the line of the manifest that fits it."""
    how = said.byte()
    kind = TYPES[said.below(3) if how & 3 else said.below(len(TYPES))]
    name, content = said.content(), said.content()
    path = name if how & 12 == 12 else top + b"/" + name
    fields = {"type": kind, "mode": b"0000755\0" if how & 16 else b"0000644\0"}
    target = b""
    if kind in b"21":
        target, content = content, b""
    elif kind == b"5":
        content = b""
    fields["target"] = target[: _LENGTHS["target"]]
    records = b""
    if len(path) > _LENGTHS["name"] or not path.isascii() or how & 32:
        records += record(b"path", path)
    if len(target) > _LENGTHS["target"] or not target.isascii():
        records += record(b"linkpath", target)
    fields["name"] = path[: _LENGTHS["name"]]
    size = None if how & 192 else said.one_of(SIZES)
    fields["size"] = b"%011o\0" % len(content) if size is None else size
    if not how & 192:
        fields["magic"] = said.one_of(MAGICS)
        records += said.content()
    before = header(type=b"x", size=b"%011o\0" % len(records)) + padded(records) if records else b""
    return before + header(**fields) + padded(content), path, _line(kind, path, content, target)


def _line(kind: bytes, path: bytes, content: bytes, target: bytes) -> bytes:
    if kind == b"0":
        return b"%s  %s\n" % (hashlib.sha256(content).hexdigest().encode(), path)
    if kind == b"2":
        return b"# link\t%s\t%s\n" % (path, target)
    return b"# folder\t%s\n" % path if kind == b"5" else b""
