"""Events reach the folds that ask for their keys, however the bytes of a log come."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any
from unittest.mock import patch

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mlsub.log import events, reader
from mlsub.log.event import Defect, Event
from mlsub.log.events import EventTally, Handler, LogReader
from mlsub.log.lengths import Trace
from mlsub.log.reader import TOKEN, RecordCutter
from tests.log.test_reader import SIZES, STREAMS, cut, expected_records
from tools.support.judging import report_on
from tools.support.records import MIB, RawRecord


def line(key: Any, time_ms: float = 1) -> bytes:
    return TOKEN + json.dumps({"time_ms": time_ms, "key": key, "value": None, "metadata": {}}).encode() + b"\n"


class Kept:
    """A fold that keeps what it asked for: some keys, or all."""

    def __init__(self, *keys: str | None) -> None:
        self.keys = keys
        self.asked: list[str | None] = []
        self.events: list[Event] = []

    def handler(self, key: str | None) -> Handler | None:
        self.asked.append(key)
        return self.events.append if not self.keys or key in self.keys else None

    def finish(self) -> list[Any]:
        return [event.key for event in self.events]


class KeepingReader(LogReader):
    """Keeps what is not an event."""

    def __init__(self, folds: Sequence[Kept]) -> None:
        super().__init__(folds)
        self.found: list[tuple[str, int]] = []

    def defect(self, defect: Defect) -> None:
        self.found.append(("defect", defect.line))

    def hidden(self, event: Event | Defect) -> None:
        self.found.append(("hidden", event.line))

    def too_long(self, line: int, hidden: bool) -> None:
        self.found.append(("hidden and too long" if hidden else "too long", line))


def fed(data: bytes, sizes: list[int], *folds: Kept) -> KeepingReader:
    made = KeepingReader(folds)
    for piece in cut(data, sizes):
        made.feed(piece)
    made.close()
    return made


def test_an_event_goes_to_those_who_asked_for_its_key_in_file_order() -> None:
    some, every, none = Kept("a", "c"), Kept(), Kept("x")
    made = fed(b"".join(line(key) for key in "abcab"), [1000], some, every, none)
    assert (some.finish(), every.finish(), none.finish()) == (["a", "c", "a"], ["a", "b", "c", "a", "b"], [])
    assert some.asked == ["a", "b", "c"]
    assert made.tally.events == 5


@pytest.mark.parametrize("key", [None, 1, ["a"], {"a": 1}, True])
def test_a_key_that_is_not_text_is_none(key: Any) -> None:
    text, every = Kept("a"), Kept()
    fed(line(key) + line("a"), [1000], text, every)
    assert text.finish() == ["a"]
    assert every.finish() == [key, "a"]
    assert every.asked == [None, "a"]


def test_few_keys_are_remembered() -> None:
    every = Kept()
    with patch.object(events, "_MAX_KEYS", 2), patch.object(events, "_MAX_KEY", 3):
        fed(b"".join(map(line, ["a", "long", "b", "c", "a", "b", "c", "long"])), [1000], every)
    assert every.asked == ["a", "long", "b", "c", "c", "long"]
    assert every.finish() == ["a", "long", "b", "c", "a", "b", "c", "long"]


def test_a_fold_may_ask_for_other_keys_from_some_event_on() -> None:
    changing = Kept("a")
    made = LogReader([changing])
    made.feed(line("a") + line("b"))
    changing.keys = ("b",)
    made.ask_again()
    made.feed(line("a") + line("b"))
    assert changing.finish() == ["a", "b"]


@given(data=STREAMS, sizes=SIZES)
def test_events_and_defects_do_not_depend_on_how_the_log_is_cut(data: bytes, sizes: list[int]) -> None:
    one, other = Kept(), Kept()
    whole = fed(data, [len(data) + 1], one)
    pieces = fed(data, sizes, other)
    assert repr(one.events) == repr(other.events)
    assert whole.found == pieces.found


#: Long lines with tokens, and text to both sides of a bound of 64 bytes.
LONG_LINES = st.lists(
    st.sampled_from([TOKEN, TOKEN, b"x" * 5, b"x" * 30, b"x" * 63, b"x" * 200, b":::", b"\n", b"\r"]), max_size=24
)


@given(data=LONG_LINES.map(b"".join), sizes=SIZES)
def test_a_record_is_too_long_from_its_first_byte_beyond_the_bound_on(data: bytes, sizes: list[int]) -> None:
    with patch.multiple(reader, CHUNK=16, MAX_RECORD=64, _HEAD=16):
        cutter = RecordCutter()
        batches = [cutter.feed(piece) for piece in cut(data, sizes)]
        found = [RawRecord(*record) for records in (*batches, cutter.close()) for record in records]
    assert found == [
        one._replace(text=one.text[:16], too_long=True) if len(one.text) > 64 else one for one in expected_records(data)
    ]


def test_small_pieces_of_a_long_line_are_put_together_first() -> None:
    cutter, looks = RecordCutter(), []
    with patch.object(RecordCutter, "_shorten", lambda self, _: looks.append(len(self._rest))):
        for _ in range(3 * 1024):
            assert list(cutter.feed(b"x" * 1024)) == []
    assert len(looks) == 2


@given(data=STREAMS, sizes=SIZES, chunk=st.sampled_from([1, 7, 16, MIB]))
def test_lines_without_a_record_are_counted_however_the_bytes_come(data: bytes, sizes: list[int], chunk: int) -> None:
    made = LogReader([])
    with patch.object(reader, "CHUNK", chunk):
        for piece in cut(data, sizes):
            made.feed(piece)
    assert made.tally.others is None, "more may follow"
    made.close()
    lines = data.split(b"\n")
    assert made.tally.others == sum(TOKEN not in line for line in (lines if lines[-1] else lines[:-1]))


@given(times=st.lists(st.integers(-3, 3), min_size=1, max_size=9))
def test_the_tally_knows_the_times_before_the_current_event(times: list[int]) -> None:
    tally, latest = EventTally(), []

    class Looking(Kept):
        def handler(self, key: str | None) -> Handler | None:
            return lambda _: latest.append(tally.latest)

    made = LogReader([Looking()], tally=tally)
    made.feed(b"".join(line("a", time) for time in times))
    assert latest == [max([float("-inf"), *times[:n]]) for n in range(len(times))]
    assert (tally.first, tally.last, tally.latest, tally.events) == (times[0], times[-1], max(times), len(times))


class Broken(Kept):
    """A fold with a defect of ours."""

    def handler(self, key: str | None) -> Handler | None:
        return lambda event: 1 / 0 if event.key == "b" else None  # type: ignore[return-value]


def test_a_fold_besides_the_verdict_comes_to_its_fact_or_to_none_and_never_to_another_verdict(tmp_path: Path) -> None:
    file = tmp_path / "result_0.txt"
    file.write_bytes(line("a") + line("b"))
    plain = report_on(file, "training", "1.0")
    with patch("mlsub.judge.log.IntervalFold", Broken):
        both = report_on(file, "training", "1.0", trace=True, intervals=True)
    assert (both.findings, both.run, both.intervals) == (plain.findings, plain.run, None)
    assert (sorted(both.trace.keys), plain.trace) == (["a", "b"], Trace())
