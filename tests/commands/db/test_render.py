"""What people and programs see of an answer."""

from __future__ import annotations

import csv
import datetime
import io
import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mlsub.commands.db.cells import as_json as json_cell
from mlsub.commands.db.cells import as_text, integer, moment, number, text
from mlsub.commands.db.query import Answer
from mlsub.commands.db.render import as_csv, as_json, as_markdown, print_table
from mlsub.present.terminal import console

ANSWER = Answer(
    ("name", "minutes", "flag", "when", "list"),
    ("VARCHAR", "DOUBLE", "BOOLEAN", "TIMESTAMP", "VARCHAR[]"),
    (
        ("a|b\x1b[31m", 29.778466666666667, True, datetime.datetime(2021, 6, 30, 12, 0, 1), ["x", "y"]),
        ("=1+1", 1e-9, False, None, []),
        (None, float("inf"), None, None, None),
        ("two\nlines", 12.0, None, None, None),
    ),
    False,
    (),
)


def test_text() -> None:
    stream = io.StringIO()
    print_table(ANSWER, console(stream))
    assert stream.getvalue().splitlines() == [
        "name            minutes   flag    when                  list      ",
        "──────────────────────────────────────────────────────────────────",
        'a|b\\x1b[31m   29.778467   true    2021-06-30 12:00:01   ["x", "y"]',
        "=1+1              1e-09   false   -                     []        ",
        "-                   inf   -       -                     -         ",
        "two\\nlines           12   -       -                     -         ",
    ]


def test_csv() -> None:
    assert as_csv(ANSWER) == (
        "name,minutes,flag,when,list\n"
        'a|b\\x1b[31m,29.778466666666667,true,2021-06-30 12:00:01,"[""x"", ""y""]"\n'
        "'=1+1,1e-09,false,,[]\n"
        ",inf,,,\n"
        '"two\nlines",12.0,,,\n'
    )


def test_json() -> None:
    document = json.loads(as_json(ANSWER))
    assert document["columns"][1] == {"name": "minutes", "type": "DOUBLE"}
    assert document["rows"][0] == ["a|b\x1b[31m", 29.778466666666667, True, "2021-06-30T12:00:01", ["x", "y"]]
    assert document["rows"][2] == [None, "inf", None, None, None]
    assert (document["more"], document["notes"]) == (False, [])


def test_markdown() -> None:
    assert as_markdown(ANSWER).splitlines() == [
        "| name | minutes | flag | when | list |",
        "| --- | ---: | --- | --- | --- |",
        '| a\\|b\\\\x1b\\[31m | 29.778467 | true | 2021-06-30 12:00:01 | \\["x", "y"\\] |',
        "| =1+1 | 1e-09 | false | - | \\[\\] |",
        "| - | inf | - | - | - |",
        "| two lines | 12 | - | - | - |",
    ]


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        (0.0, "0"),
        (1.0, "1"),
        (0.5, "0.5"),
        (1e15, "1000000000000000.0"),
        (0.0001, "0.0001"),
        (-2.25, "-2.25"),
        (10, "10"),
    ],
)
def test_numbers_are_short(value: float, shown: str) -> None:
    assert as_markdown(Answer(("x",), ("DOUBLE",), ((value,),), False, ())).splitlines()[2] == f"| {shown} |"


def test_long_cells_are_cut_for_people_alone() -> None:
    answer = Answer(("x",), ("VARCHAR",), (("y" * 5000,),), False, ())
    assert as_markdown(answer).splitlines()[2] == f"| {'y' * 299}… |"
    assert as_csv(answer) == f"x\n{'y' * 5000}\n"


_VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.text()
    | st.characters(categories=["Cs"])
    | st.integers(min_value=10**4000, max_value=10**4001)
    | st.binary(max_size=5),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=5), inner, max_size=4),
    max_leaves=15,
)


@given(_VALUES)
def test_any_value_of_a_log_becomes_cells(value: Any) -> None:
    import pyarrow as pa

    pa.array([as_text(value), json_cell(value), text(value)], pa.string())
    pa.array([integer(value)], pa.int64())
    pa.array([number(value)], pa.float64())
    pa.array([moment(value)], pa.timestamp("us"))
    found = json_cell(value)
    if found is not None:
        json.loads(found, parse_constant=lambda name: pytest.fail(name))


@given(st.lists(st.tuples(_VALUES, _VALUES), max_size=4))
def test_any_answer_is_rendered(rows: list[tuple[Any, Any]]) -> None:
    answer = Answer(("a", "b"), ("X", "Y"), tuple(rows), False, ())
    assert len(json.loads(as_json(answer))["rows"]) == len(rows)
    assert len([*csv.reader(io.StringIO(as_csv(answer), newline=""))]) == len(rows) + 1
    assert len(as_markdown(answer).split("\n")) == len(rows) + 3


def test_depth_is_no_danger() -> None:
    deep: Any = []
    for _ in range(100_000):
        deep = [deep]
    assert json_cell(deep) is None
    assert as_text(deep) is None
