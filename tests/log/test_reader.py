"""The reader finds every record of any byte stream, with its true line, in flat memory."""

from __future__ import annotations

import gc
import io
import json
import re
import tracemalloc
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack
from itertools import chain, repeat
from typing import Any, NamedTuple
from unittest.mock import patch

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mlsub.judge import rules
from mlsub.judge.log import LogTask, judge_log
from mlsub.log import events, reader, seeds
from mlsub.log import run as run_module
from mlsub.log.reader import TOKEN, foreign_encoding, read_records

FEW = settings(derandomize=True, deadline=None, max_examples=150)
MIB = 1 << 20
RECORD = b'{"time_ms": 1, "key": "a", "value": null, "metadata": {}}'

#: Line ends of both kinds, whole tokens, tokens cut short, and whatever may stand around them.
ENDS = (b"\n", b"\r\n", b"\r", b"\r\r\n", b"\n\r")
TOKENS = (TOKEN, TOKEN + RECORD, TOKEN + TOKEN, b"::::MLLOG ", b":::MLLOG", b":::", b"MLLOG ")
FREE = (b" ", b"\t", b"\x00", b"\x0b\x0c", b"\x85\xa0", b"\x1c", b"\xff\xfe", b"{}", b"text")
PIECES = st.one_of(st.sampled_from(ENDS + TOKENS + FREE), st.binary(max_size=6))
STREAMS = st.lists(PIECES, max_size=24).map(b"".join)


class RawRecord(NamedTuple):
    """The parts of a record, by name."""

    line: int
    text: bytes
    hidden: bool
    too_long: bool


def records(stream: Any, encoding: str | None = None) -> list[RawRecord]:
    return [RawRecord(*record) for batch in read_records(stream, encoding) for record in batch]


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


@FEW
@given(data=STREAMS)
def test_texts_that_are_joined_are_those_of_the_records(data: bytes) -> None:
    for batch in read_records(io.BytesIO(data)):
        assert batch.joined in (None, b"\n".join(batch.texts))


class Chunks:
    """A stream that hands out given chunks, whatever size is asked for; a pipe or an archive does so too."""

    def __init__(self, chunks: Iterable[bytes]) -> None:
        self._chunks = iter(chunks)

    def read(self, _size: int = -1) -> bytes:
        return next(self._chunks, b"")


def cut(data: bytes, sizes: list[int]) -> Iterator[bytes]:
    """The data in pieces of these sizes, over and over."""
    at = 0
    for size in chain.from_iterable(repeat(sizes)):
        if at >= len(data):
            return
        yield data[at : at + size]
        at += size


SIZES = st.lists(st.integers(1, 20), min_size=1, max_size=6)


@FEW
@given(data=STREAMS)
def test_every_token_gives_a_record_with_the_line_that_an_editor_shows(data: bytes) -> None:
    assert records(io.BytesIO(data)) == expected_records(data)


@FEW
@given(data=STREAMS, sizes=SIZES, chunk=st.sampled_from([1, 7, 16, MIB]))
def test_records_do_not_depend_on_how_the_stream_is_cut_into_chunks(data: bytes, sizes: list[int], chunk: int) -> None:
    with patch.object(reader, "CHUNK", chunk):
        assert records(Chunks(cut(data, sizes))) == expected_records(data)


#: Long lines: tokens, short text, and text beyond a bound of 64 bytes.
LONG = st.lists(st.sampled_from([TOKEN, TOKEN, b"x" * 5, b"x" * 30, b"x" * 200, b":::", b"\n", b"\r"]), max_size=24)


@FEW
@given(data=LONG.map(b"".join), sizes=SIZES)
def test_only_a_record_beyond_the_bound_is_too_long_and_all_others_are_whole(data: bytes, sizes: list[int]) -> None:
    """With small bounds, so that long lines are cheap. The bound itself is exact, see test_events."""
    bound, slack = 64, 2 * max(sizes) + len(TOKEN)
    with patch.object(reader, "CHUNK", 16), patch.object(reader, "MAX_RECORD", bound):
        found = records(Chunks(cut(data, sizes)))
    expected = expected_records(data)
    assert [(r.line, r.hidden) for r in found] == [(r.line, r.hidden) for r in expected]
    for ours, wanted in zip(found, expected, strict=True):
        if ours.too_long:
            assert len(wanted.text) > bound - slack
            # Its head may end in the beginning of the next token.
            assert wanted.text.startswith(ours.text[: bound - slack])
        else:
            assert ours.text == wanted.text
            assert len(wanted.text) <= bound + slack


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


def peak_of(chunks: Iterable[bytes]) -> tuple[list[RawRecord], int]:
    """What a stream holds, and the most memory reading it took."""
    tracemalloc.start()
    try:
        found = records(Chunks(chunks))
        return found, tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize("text", [b"x", b":", b"\r"], ids=["letters", "colons", "carriage returns"])
def test_a_gigabyte_without_a_line_feed_is_passed_over_in_flat_memory(text: bytes) -> None:
    block = text * MIB
    found, peak = peak_of(chain([b"first\n"], repeat(block, 1024), [b" " + TOKEN + RECORD + b"\n", TOKEN + b"{}"]))
    assert found == [RawRecord(2, RECORD, False, False), RawRecord(3, b"{}", False, False)]
    assert peak < 64 * MIB


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
    found, peak = peak_of(chain([b"\n" + TOKEN + b"["], repeat(block, blocks), behind))
    assert [(r.line, r.hidden, r.too_long) for r in found[:1]] == [(2, hidden, True)]
    assert found[1:] == others
    assert peak < 4 * reader.MAX_RECORD


def test_two_records_without_end_on_one_line_are_both_named() -> None:
    block = b"9" * MIB
    blocks = reader.MAX_RECORD // MIB + 4
    found, _ = peak_of(chain([TOKEN], repeat(block, blocks), [TOKEN], repeat(block, blocks), [b"\n" + TOKEN + b"{}"]))
    assert [(r.line, r.hidden, r.too_long) for r in found] == [(1, True, True), (1, False, True), (2, False, False)]


def test_a_record_of_just_under_the_bound_is_whole() -> None:
    text = b'"' + b"x" * (reader.MAX_RECORD - 100) + b'"'
    found = records(io.BytesIO(TOKEN + text + b"\n" + TOKEN + b"{}"))
    assert [(r.line, len(r.text), r.too_long) for r in found] == [(1, len(text), False), (2, 2, False)]


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


# Memory of judging what was read


def record(key: Any, value: Any = None, **changes: Any) -> bytes:
    """One record and its line end."""
    fields = {"time_ms": 1, "key": key, "value": value, "metadata": {}, **changes}
    return TOKEN + json.dumps(fields).encode() + b"\n"


class Endless(io.RawIOBase):
    """A stream of a start and then as many bytes of numbered lines as asked for; none is held."""

    def __init__(self, start: bytes, line: Callable[[int], bytes], size: int) -> None:
        self._start, self._line, self._size = start, line, size
        self.seek(0)

    def seek(self, _offset: int, _whence: int = 0) -> int:
        self._given, self._number, self._rest = 0, 0, self._start
        return 0

    def read(self, size: int = -1) -> bytes:
        # When the collector happens to run is not what is measured.
        gc.collect()
        parts, length = [self._rest], len(self._rest)
        while length < size and self._given + length < self._size:
            block = self._line(self._number)
            self._number += 1
            parts.append(block)
            length += len(block)
        data = b"".join(parts)
        self._rest = data[size:]
        self._given += len(data[:size])
        return data[:size]


def judging_peak(start: bytes, line: Callable[[int], bytes], size: int) -> int:
    """The most memory that judging such a log takes; the bounds are low, so that small logs reach them."""
    with ExitStack() as stack:
        for module, name, bound in (
            (rules, "MAX_HELD", 50),
            (reader, "CHUNK", 1 << 16),
            *((run_module, f"MAX_{kind}", 50) for kind in ("EVALUATIONS", "HYPERPARAMETERS")),
            (seeds, "MAX_SEEDS", 50),
        ):
            stack.enter_context(patch.object(module, name, bound))
        stack.enter_context(patch.object(events, "open_log", lambda path: Endless(start, line, size)))
        # The collections of Endless are to see what the judge makes, not everything that is loaded.
        gc.collect()
        gc.freeze()
        tracemalloc.start()
        stack.callback(tracemalloc.stop)
        assert judge_log(LogTask("result_0.txt", "result_0.txt", "training", "1.0")).run.timeline.last is not None
        return tracemalloc.get_traced_memory()[1]


NAMED = record("submission_benchmark", "resnet") + record("submission_division", "closed")
FREE_LINES = b"".join(b"step %d loss 0.25\n" % n for n in range(500)) + record("tracked_stats", {"x": 1})


@pytest.mark.parametrize("start", [NAMED, record("epoch_start")], ids=["named", "nameless"])
def test_memory_does_not_grow_with_the_lines_of_a_log(start: bytes) -> None:
    """Millions of lines; a log that never names itself is read twice."""
    small, large = (judging_peak(start, lambda number: FREE_LINES, size * MIB) for size in (10, 30))
    assert large < small + MIB // 2


LONG = "x" * 80
HOSTILE: dict[str, Callable[[int], bytes]] = {
    "keys": lambda n: record(f"{LONG}{n}"),
    "keys of a submission": lambda n: record(f"submission_{LONG}{n}"),
    "keys that are no text": lambda n: record([LONG, n]),
    "values": lambda n: record("submission_org", f"{LONG}{n}"),
    "values of the optimizer": lambda n: record("opt_name", f"{LONG}{n}"),
    "evaluations": lambda n: record("eval_accuracy", f"{LONG}{n}"),
    "seeds": lambda n: record("seed", n, metadata={"file": f"{LONG}{n}", "lineno": n}),
    "event types": lambda n: record("run_start", event_type=f"{LONG}{n}"),
    "starts": lambda n: record("run_start", time_ms=n),
    "stops": lambda n: record("run_stop", metadata={"status": f"{LONG}{n}"}),
    "unusable keys": lambda n: record(f"{LONG}{n}")[:-1] + b" x\n",
    "unusable times": lambda n: record(f"{LONG}{n}", time_ms=f"{LONG}{n}"),
    "hidden keys": lambda n: record(f"{LONG}{n}")[:-1] + record("note"),
}


@pytest.mark.parametrize("line", HOSTILE.values(), ids=HOSTILE)
def test_memory_does_not_grow_with_what_a_hostile_log_says_anew_on_each_line(line: Callable[[int], bytes]) -> None:
    start = NAMED + record("init_start")
    judging_peak(start, line, MIB // 16)  # What is made once, at the first log, is not growth.
    small, large = (judging_peak(start, line, size) for size in (MIB // 4, MIB))
    assert large < small + MIB // 8
