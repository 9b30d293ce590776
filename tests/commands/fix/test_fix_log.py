"""Repairs of a log leave every event as it is, but for records that only repeat one of a key that appears once."""

from __future__ import annotations

import io
import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mlsub.commands.fix.repairs import ALL, fix_log
from mlsub.log.event import decode
from mlsub.log.reader import TOKEN, read_records
from mlsub.packing.edits import edited, lines_of
from mlsub.rounds import get_round
from tests.commands.fix.logs import logs

ROUND = get_round("training", "5.1")


def record(key: str, value: Any = "x", **more: Any) -> bytes:
    fields = {"namespace": "", "time_ms": 1, "event_type": "POINT_IN_TIME", "key": key, "value": value, "metadata": {}}
    return b":::MLLOG " + json.dumps(fields | more).encode() + b"\n"


def mended(data: bytes, *wanted: str) -> tuple[bytes, list[tuple[str, int | None, int]]]:
    lines = lines_of(data)
    edits, repairs = fix_log(lines, ROUND, wanted or ALL)
    after = edited(lines, edits)
    return after, [(repair.rule, repair.line, repair.count) for repair in repairs]


def events(data: bytes) -> list[tuple[int, str]]:
    found = read_records(io.BytesIO(data))
    return [(line, repr((decode(0, text), hidden))) for line, text, hidden, _ in found]


ORG, REPEATED = "submission_org", "key.submission_org.repeated"
FIRST = record(ORG, time_ms=7)
CASES = [
    (b"a \r\nb\t\r\n", b"a \nb\t\n", [("file.line-ends", 1, 2)]),
    (b"10%\r20%\r\r\nx\r\n", b"10%\r20%\r\r\nx\n", [("file.line-ends", 2, 1)]),
    (b"\xef\xbb\xbf" + FIRST, FIRST, [("file.byte-order-mark", 1, 1)]),
    (FIRST[:-1] + b" \t\n", FIRST, [("file.trailing-blanks", 1, 1)]),
    (FIRST[:-1] + b" \r\n", FIRST, [("file.line-ends", 1, 1), ("file.trailing-blanks", 1, 1)]),
    (b':::MLLOG {"key": "cut  \n', b':::MLLOG {"key": "cut  \n', []),
    (FIRST + record(ORG), FIRST, [(REPEATED, 2, 1)]),
    (
        FIRST + b"x\n" + b"1: " + record(ORG) + b"[1,2]<stdout>:" + record(ORG),
        FIRST + b"x\n",
        [(REPEATED, 3, 1), (REPEATED, 4, 1)],
    ),
]


@pytest.mark.parametrize(("before", "after", "repairs"), CASES)
def test_repairs(before: bytes, after: bytes, repairs: list[tuple[str, int, int]]) -> None:
    assert mended(before) == (after, repairs)


@pytest.mark.parametrize(
    "data",
    [
        FIRST + record(ORG, "y"),
        FIRST + record(ORG) + record(ORG, "y"),
        record(ORG, 1) + record(ORG, 1.0),
        record(ORG, 1) + record(ORG, True),
        FIRST + record(ORG, metadata={"lineno": 2}),
        FIRST + record(ORG, event_type="INTERVAL_START"),
        FIRST + b"loading " + record(ORG),
        FIRST + record(ORG)[:-1] + b" and more\n",
        FIRST + record("x")[:-1] + record(ORG),
        FIRST + b"10%\r" + record(ORG),
        record("run_start", None) * 2,
        record("run_stop", None) * 2,
        record("init_stop", None) * 2,
        record("seed", 1) * 2,
        record("eval_accuracy", 0.5) * 2,
        record("cache_clear", True) * 2,
        record("not_a_key_of_the_rules") * 2,
    ],
)
def test_what_is_more_than_a_repeat_stays(data: bytes) -> None:
    assert mended(data) == (data, [])


def test_without_a_round_no_record_goes() -> None:
    assert fix_log(lines_of(FIRST + FIRST), None) == ([], [])


def test_only_what_is_selected_is_repaired() -> None:
    data = FIRST + record(ORG)[:-1] + b"\r\n"
    assert mended(data, "key") == (FIRST, [(REPEATED, 2, 1)])
    assert mended(data, "file")[0] == FIRST + record(ORG)


@given(logs, st.lists(st.sampled_from([record(ORG), record("submission_status"), b"3: " + record(ORG)]), max_size=4))
def test_events_stay_and_a_second_time_finds_nothing(data: bytes, repeats: list[bytes]) -> None:
    data = b"".join([*repeats[:2], data, b"\n", *repeats[2:]])
    after, repairs = mended(data)
    gone = {line for rule, line, _ in repairs if rule.endswith(".repeated")}
    assert [event for line, event in events(data) if line not in gone] == [event for _, event in events(after)]
    # What goes was there before, on a line that stays.
    kept = {event for line, event in events(data) if line not in gone}
    assert {event for line, event in events(data) if line in gone} <= kept
    assert mended(after) == (after, [])
    # Framework output stays, but for its line ends.
    free = [line.rstrip(b"\r\n") for line in lines_of(data.removeprefix(b"\xef\xbb\xbf")) if b":::ML" not in line]
    assert free == [line.rstrip(b"\r\n") for line in lines_of(after) if b":::ML" not in line]
    assert TOKEN in data or gone == set()
