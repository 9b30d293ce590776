"""A log is cut into free text and records without a byte lost, whatever the chunks."""

from __future__ import annotations

import io
import re
from itertools import groupby
from unittest.mock import patch

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mlsub.log import reader as module
from mlsub.log.rewrite import line_end, zones
from tests.commands.fix.logs import logs


def merged(data: bytes) -> list[tuple[bool, bytes]]:
    found = [(at >= 0, text) for at, text in zones(io.BytesIO(data))]
    return [(kind, b"".join(text for _, text in group)) for kind, group in groupby(found, lambda zone: zone[0])]


def expected(data: bytes) -> list[tuple[bool, bytes]]:
    lines = re.findall(rb"[^\r\n]*(?:\r\n|\r|\n)|[^\r\n]+\Z", data)
    return [(kind, b"".join(group)) for kind, group in groupby(lines, lambda line: b":::ML" in line)]


@given(logs)
def test_records_are_whole_lines_and_the_rest_is_free(data: bytes) -> None:
    assert merged(data) == expected(data)


@given(logs, st.integers(8, 64))
def test_short_chunks_cut_long_lines_but_lose_nothing_and_show_no_record_as_free(data: bytes, chunk: int) -> None:
    with patch.object(module, "CHUNK", chunk):
        found = list(zones(io.BytesIO(data)))
    assert b"".join(text for _, text in found) == data
    at = 0
    for mark, text in found:
        if mark > 0:
            assert b":::ML" not in text[:mark]
        free = text if mark < 0 else text[:mark]
        if free:
            # Nothing of a record, from its mark to the end of its line, may ever stand in free text.
            for match in re.finditer(rb":::ML[^\r\n]*", data):
                assert match.end() <= at or match.start() >= at + len(free)
        at += len(text)


@pytest.mark.parametrize(
    ("block", "start", "end"),
    [
        *((b"ab", 0, 2), (b"", 0, 0), (b"ab\ncd", 0, 3), (b"ab\rcd", 0, 3), (b"ab\r\ncd", 0, 4), (b"ab\r", 1, 3)),
        *((b"\rab", 0, 1), (b"\r\nab", 0, 2)),
        *((b"a\rb\nc", 2, 4), (b"ab\rc\n", 0, 3), (b"\nab\r", 0, 1), (b"a\nb\nc", 2, 4), (b"a\nb\nc", 4, 5)),
    ],
)
def test_a_line_ends_behind_its_carriage_return_line_feed_or_both(block: bytes, start: int, end: int) -> None:
    assert line_end(block, start) == end


def test_a_line_without_end_is_not_held() -> None:
    """No more than a few pieces are read before they are given on."""

    class Endless(io.RawIOBase):
        left = 64

        def read(self, size: int = -1) -> bytes:
            self.left -= 1
            return b"x" * (1 << 20) if self.left >= 0 else b""

    source, given = Endless(), 0
    for _, text in zones(source):  # type: ignore[arg-type]
        given += len(text)
        assert (64 - max(source.left, 0) << 20) - given <= 4 << 20
    assert given == 64 << 20
