"""A strict reader of the one kind of tar that :mod:`mlsub.commands.seal.archive` writes.

Headers are POSIX ustar with PAX records for long or non-ASCII names and large files. Everything else a tar can hold
(devices, hard links, sparse files, numbers in base 256, foreign records) is refused, not guessed at.
"""

from __future__ import annotations

from collections.abc import Iterator

from mlsub.commands.seal.files import Blocks, DamagedError, unsafe
from mlsub.commands.seal.tree import Member, MemberKind

_BLOCK = 512
#: A tar is filled up to a multiple of this.
_RECORD = 20 * _BLOCK
#: Bytes of the PAX records of one member; a path, a target and a size of seal need no more.
_MAX_RECORDS = 8192
_KINDS = {b"0": MemberKind.FILE, b"5": MemberKind.FOLDER, b"2": MemberKind.LINK}
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
        _check(header)
        records: dict[str, str] = {}
        if header[156:157] == b"x":
            size = _number(header[124:136])
            if size > _MAX_RECORDS:
                raise DamagedError("a member has PAX records of unusual size")
            records = _records(blocks.take(size))
            skip_padding(blocks, size)
            header = blocks.take(_BLOCK)
            _check(header)
        yield _member(header, records)


def _rest_is_filling(blocks: Blocks) -> bool:
    """Whether nothing but the zeros that fill up a record is left."""
    rest = blocks.read(_RECORD + 1)
    return len(rest) <= _RECORD and not any(rest)


def skip_padding(blocks: Blocks, size: int) -> None:
    """Go to the next block after ``size`` bytes of content."""
    if any(blocks.take(-size % _BLOCK)):
        raise DamagedError("something hides between two members")


def _member(header: bytes, records: dict[str, str]) -> Member:
    name = _text(header[:100])
    prefix = _text(header[345:500])
    path = records.get("path", f"{prefix}/{name}" if prefix else name)
    kind = _KINDS.get(header[156:157])
    if kind is None:
        raise unsafe(path, f"a member is {_OTHERS.get(header[156:157], 'of an unknown type')}")
    size = records.get("size", "")
    if size and not (size.isascii() and size.isdigit() and len(size) < 20):
        raise DamagedError("a member has no valid size")
    length = int(size) if size else _number(header[124:136])
    if kind is not MemberKind.FILE and length:
        raise DamagedError("a member without content has a size")
    return Member(
        path=path.removesuffix("/") if kind is MemberKind.FOLDER else path,
        kind=kind,
        size=length,
        executable=bool(_number(header[100:108]) & 0o100),
        target=records.get("linkpath", _text(header[157:257])) if kind is MemberKind.LINK else "",
    )


def _check(header: bytes) -> None:
    """The magic and the checksum."""
    if header[257:265] != b"ustar\x0000":
        raise DamagedError("a member has no POSIX header")
    if _number(header[148:156]) != sum(header) - sum(header[148:156]) + 8 * 32:
        raise DamagedError("the checksum of a member is wrong")


def _number(field: bytes) -> int:
    """Octal digits, ended by NUL or blank."""
    digits = field.rstrip(b"\x00 ")
    if not digits or digits.strip(b"01234567"):
        raise DamagedError("a member has no valid number")
    return int(digits, 8)


def _text(field: bytes) -> str:
    try:
        return field.split(b"\x00", 1)[0].decode()
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
