"""The reader finds every record of any byte stream, with its true line, in flat memory."""

from __future__ import annotations

import io
import re
from collections.abc import Iterator
from itertools import chain, repeat
from unittest.mock import patch

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mlsub.log import reader
from mlsub.log.reader import TOKEN, foreign_encoding
from tools.support.records import MIB, RECORD, Chunks, RawRecord, records

#: Line ends of both kinds, whole tokens, tokens cut short, and whatever may stand around them.
ENDS = (b"\n", b"\r\n", b"\r", b"\r\r\n", b"\n\r")
TOKENS = (TOKEN, TOKEN + RECORD, TOKEN + TOKEN, b"::::MLLOG ", b":::MLLOG", b":::", b"MLLOG ")
FREE = (b" ", b"\t", b"\x00", b"\x0b\x0c", b"\x85\xa0", b"\x1c", b"\xff\xfe", b"{}", b"text")
PIECES = st.one_of(st.sampled_from(ENDS + TOKENS + FREE), st.binary(max_size=6))
STREAMS = st.lists(PIECES, max_size=24).map(b"".join)


def expected_records(data: bytes) -> list[RawRecord]:
    """The promise, written down without regard to speed or memory."""
    found = []
    for match in re.finditer(re.escape(TOKEN), data):
        line_end = re.compile(rb"[\r\n]|\Z").search(data, match.end()).start()
        following = data.find(TOKEN, match.end(), line_end)
        end = line_end if following < 0 else following
        line = 1 + data.count(b"\n", 0, match.start())
        found.append(RawRecord(line, data[match.end() : end], hidden=following >= 0, too_long=False))
    return found


@pytest.mark.parametrize("before", [b"", b"G", b":::MLLOG" * 3, b"G" * 100], ids=["none", "one", "like it", "many"])
@pytest.mark.parametrize("end", ENDS)
def test_a_token_in_the_text_of_a_record_begins_another_one(before: bytes, end: bytes) -> None:
    data = TOKEN + b'{"key": "' + before + TOKEN + b'"}' + end + TOKEN + RECORD + end
    assert [(one.text.strip(), one.hidden) for one in records(io.BytesIO(data))] == [
        (b'{"key": "' + before, True),
        (b'"}', False),
        (RECORD, False),
    ]


def cut(data: bytes, sizes: list[int]) -> Iterator[bytes]:
    """The data in pieces of these sizes, over and over."""
    at = 0
    for size in chain.from_iterable(repeat(sizes)):
        if at >= len(data):
            return
        yield data[at : at + size]
        at += size


SIZES = st.lists(st.integers(1, 20), min_size=1, max_size=6)


@given(data=STREAMS)
def test_every_token_gives_a_record_with_the_line_that_an_editor_shows(data: bytes) -> None:
    assert records(io.BytesIO(data)) == expected_records(data)


@given(data=STREAMS, sizes=SIZES, chunk=st.sampled_from([1, 7, 16, MIB]))
def test_records_do_not_depend_on_how_the_stream_is_cut_into_chunks(data: bytes, sizes: list[int], chunk: int) -> None:
    with patch.object(reader, "CHUNK", chunk):
        assert records(Chunks(cut(data, sizes))) == expected_records(data)


@pytest.mark.parametrize("encoding", ["utf-16-le", "utf-16-be", "utf-32-le", "utf-32-be"])
@pytest.mark.parametrize("sizes", [[1], [3], [5, 2], [1000]])
def test_records_of_a_wide_encoding_are_found_across_chunks(encoding: str, sizes: list[int]) -> None:
    text = '\ufeffgrüße\r\n:::MLLOG {"a": "é\U0001f600"}\r\n\nx :::MLLOG {}:::MLLOG 2'
    data = text.encode(encoding)
    announced = foreign_encoding(data[:4])
    assert announced == encoding[:6]
    assert records(Chunks(cut(data, sizes)), announced) == expected_records(text.encode())


@pytest.mark.parametrize(
    "head",
    [b"", b"\xff", b"\xef\xbb\xbf:", b":::M", b"\xfe\xfe\xff\xff"],
    ids=["empty", "half", "utf-8", "plain", "odd"],
)
def test_no_wide_encoding_is_seen_without_its_byte_order_mark(head: bytes) -> None:
    assert foreign_encoding(head) is None


def test_a_wide_file_cut_in_the_middle_of_a_character_is_read_to_its_end() -> None:
    data = "\ufeff:::MLLOG {}\n".encode("utf-16-le") + b"\x41"
    assert [r.text for r in records(io.BytesIO(data), "utf-16")] == [b"{}"]


@pytest.mark.parametrize("text", [b"x", b":", b"\r"], ids=["letters", "colons", "carriage returns"])
def test_what_has_no_line_feed_is_passed_over(text: bytes) -> None:
    behind = [b" " + TOKEN + RECORD + b"\n", TOKEN + b"{}"]
    found = records(Chunks(chain([b"first\n"], repeat(text * MIB, 64), behind)))
    assert found == [RawRecord(2, RECORD, False, False), RawRecord(3, b"{}", False, False)]


@pytest.mark.parametrize(
    ("behind", "hidden", "others"),
    [
        ([b"\n" + TOKEN + b"{}"], False, [RawRecord(3, b"{}", False, False)]),
        ([b"\r" + TOKEN + b"{}"], False, [RawRecord(2, b"{}", False, False)]),
        ([b"\r", b"\n" + TOKEN + b"{}"], False, [RawRecord(3, b"{}", False, False)]),
        ([TOKEN + b"{}\n"], True, [RawRecord(2, b"{}", False, False)]),
        ([b":::ML", b"LOG {}\n"], True, [RawRecord(2, b"{}", False, False)]),
        ([TOKEN + b"{}"], True, [RawRecord(2, b"{}", False, False)]),
        ([b"x" * 100], False, []),
        ([], False, []),
    ],
    ids=["line feed", "bare return", "return | feed", "same line", "cut token", "last line", "more of it", "nothing"],
)
def test_a_record_without_end_is_named_too_long_and_the_rest_is_read(
    behind: list[bytes], hidden: bool, others: list[RawRecord]
) -> None:
    block = b"9" * MIB
    blocks = reader.MAX_RECORD // MIB + 20
    found = records(Chunks(chain([b"\n" + TOKEN + b"["], repeat(block, blocks), behind)))
    assert [(r.line, r.hidden, r.too_long) for r in found[:1]] == [(2, hidden, True)]
    assert found[1:] == others


def test_a_line_of_short_records_may_be_longer_than_the_bound_on_one_record() -> None:
    """The official parser reads the last record of such a line, so it must not vanish in an earlier one."""
    record = TOKEN + b'"' + b"x" * 4000 + b'"'
    count = 2 * reader.MAX_RECORD // len(record)
    found = records(io.BytesIO(record * count + TOKEN + RECORD + b"\n"))
    assert found[-1] == RawRecord(1, RECORD, False, False)
    assert len(found) == count + 1
    assert not any(r.too_long for r in found)


def test_two_long_records_on_a_line_are_both_whole_where_each_keeps_the_bound() -> None:
    """What hides here is the first; the second is what the official parser reads."""
    first, second = b"1" * (10 * MIB), b"2" * (7 * MIB)
    found = records(io.BytesIO(TOKEN + first + TOKEN + second + b"\n"))
    assert [(len(r.text), r.hidden, r.too_long) for r in found] == [
        (len(first), True, False),
        (len(second), False, False),
    ]
