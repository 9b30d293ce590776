"""Inputs made of other inputs."""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Sequence

#: Bytes that mean something in the formats that mlsub reads.
_SIGNS = tuple(bytes((sign,)) for sign in b"{}[]()<>\"'\n\r\t\0 :,;-+.0/\\#&*!|=%$")
#: Numbers at the borders of what programs hold.
_NUMBERS = (
    *(b"0", b"-0", b"-1", b"1", b"0.0", b"1e400", b"-1e400", b"5e-324", b"NaN", b"Infinity", b"-Infinity"),
    *(b"127", b"255", b"65536", b"2147483648", b"4294967296", b"9223372036854775808", b"9" * 40, b"1" + b"0" * 400),
)
#: Text that is no text, or not what it looks like.
_TEXTS = (
    *(b"\xff", b"\xc3", b"\xed\xa0\x80", b"\xef\xbb\xbf", b"\x00\x00", b"\\ud800", b"\\u0000", b"\\u202e"),
    *("\u202e".encode(), "\u2028".encode(), "\u0130".encode(), "\u00df".encode(), "\u0660".encode(), b"\x1b[2J"),
    *(b"../", b"/", b"~", b"null", b"true", b"[]", b"{}", b'""', b"1970-01-01", b"2024-02-30T25:61:61Z"),
)
_NUMBER = re.compile(rb"-?[0-9]+(?:\.[0-9]+)?(?:[eE][-+]?[0-9]+)?")

#: Changes the bytes at a place.
_Change = Callable[[bytearray, int, random.Random], None]


def _set_bytes(content: bytearray, at: int, rng: random.Random) -> None:
    content[at : at + rng.choice((0, 1, 1, 4))] = rng.randbytes(rng.choice((1, 1, 2)))


def _flip_bit(content: bytearray, at: int, rng: random.Random) -> None:
    if at < len(content):
        content[at] ^= 1 << rng.randrange(8)


def _cut(content: bytearray, at: int, rng: random.Random) -> None:
    del content[at : at + rng.choice((1, 2, 8, 64))]


def _cut_off(content: bytearray, at: int, rng: random.Random) -> None:
    del content[at:]


def _repeat(content: bytearray, at: int, rng: random.Random) -> None:
    content[at:at] = content[at : at + rng.choice((1, 8, 64))] * rng.choice((1, 2, 30))


def _repeat_line(content: bytearray, at: int, rng: random.Random) -> None:
    begin, end = content.rfind(b"\n", 0, at) + 1, content.find(b"\n", at) + 1 or len(content)
    content[begin:begin] = content[begin:end] * rng.choice((1, 1, 3))


def _cut_line(content: bytearray, at: int, rng: random.Random) -> None:
    del content[content.rfind(b"\n", 0, at) + 1 : content.find(b"\n", at) + 1 or len(content)]


def _move(content: bytearray, at: int, rng: random.Random) -> None:
    part = content[at : at + rng.choice((1, 8, 64, 256))]
    del content[at : at + len(part)]
    to = rng.randrange(len(content) + 1)
    content[to:to] = part


def _put_sign(content: bytearray, at: int, rng: random.Random) -> None:
    content[at : at + rng.choice((0, 1))] = rng.choice(_SIGNS)


def _put_text(content: bytearray, at: int, rng: random.Random) -> None:
    content[at : at + rng.choice((0, 1, 4))] = rng.choice(_TEXTS)


def _put_number(content: bytearray, at: int, rng: random.Random) -> None:
    found = _NUMBER.search(content, at)
    begin, end = found.span() if found else (at, at)
    content[begin:end] = rng.choice(_NUMBERS)


_CHANGES: tuple[_Change, ...] = (
    *(_set_bytes, _flip_bit, _cut, _cut_off, _repeat, _repeat_line),
    *(_cut_line, _move, _put_sign, _put_sign, _put_text, _put_number),
)


def mutated(data: bytes, words: Sequence[bytes], longest: int, rng: random.Random, other: bytes = b"") -> bytes:
    """An input with one to eight changes; ``other`` is an input of which a part may be put in."""
    content = bytearray(data)
    for _ in range(rng.choice((1, 1, 1, 2, 2, 4, 8))):
        at = rng.randrange(len(content) + 1)
        chance = rng.random()
        if words and chance < 0.25:
            content[at : at + rng.choice((0, 0, 1, 4, 16))] = rng.choice(words)
        elif other and chance < 0.35:
            begin = rng.randrange(len(other))
            content[at : at + rng.choice((0, 8, 64, len(content)))] = other[
                begin : begin + rng.choice((8, 64, 512, len(other)))
            ]
        else:
            rng.choice(_CHANGES)(content, at, rng)
        del content[longest:]
    return bytes(content)
