"""Pieces of any size become pieces in which the reader sees what it sees of a file."""

from __future__ import annotations

import random

from mlsub.commands.watch.blocks import Blocks
from mlsub.log.reader import CHUNK


def test_lines_are_handed_on_at_once() -> None:
    blocks = Blocks()
    for piece in (b"one\n", b"tw", b"o\nthree", b"\n", b"x" * 1000):
        assert list(blocks.cut(piece)) == [piece]
    assert blocks.rest() == b""


def test_nothing_is_lost_and_no_piece_crosses_the_end_of_a_chunk() -> None:
    chance = random.Random(6)
    blocks = Blocks()
    data = b"".join(
        [chance.randbytes(9000), b"y" * (2 * CHUNK), b"\n", b"z" * (CHUNK // 3), b"\r", b"w" * CHUNK, b"\nlast line"]
    )
    place, out = 0, []
    while place < len(data):
        size = chance.choice([1, 100, 70_000, 2_000_000])
        out += list(blocks.cut(data[place : place + size]))
        place += size
    out.append(blocks.rest())
    assert b"".join(out) == data
    start = 0
    for piece in out[:-1]:
        assert piece and start // CHUNK == (start + len(piece) - 1) // CHUNK
        start += len(piece)


def test_the_end_of_a_long_line_waits_for_the_end_of_its_chunk() -> None:
    blocks = Blocks()
    long = b"x" * (CHUNK - 100)
    assert list(blocks.cut(long)) == []
    assert list(blocks.cut(b"y" * 50)) == []
    assert [len(piece) for piece in blocks.cut(b"z" * 51)] == [CHUNK]
    assert list(blocks.cut(b"\n")) == [b"z\n"]


def test_a_carriage_return_may_be_half_of_a_line_end() -> None:
    blocks = Blocks()
    assert list(blocks.cut(b"x" * (CHUNK - 100))) == []
    assert list(blocks.cut(b"\r")) == []
    assert [len(piece) for piece in blocks.cut(b"\n")] == [CHUNK - 98]
