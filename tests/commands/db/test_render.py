"""What people and programs see of an answer."""

from __future__ import annotations

import csv
import datetime
import decimal
import io
import json
from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mlsub.commands.db.document import as_csv, result_document
from mlsub.commands.db.query import QueryColumn, QueryResult, plain_value
from mlsub.commands.db.rows import as_json as json_cell
from mlsub.commands.db.rows import as_text, integer, moment, number, text
from mlsub.present.envelope import answer
from mlsub.present.terminal import render
from tests.conftest import ExpectedText


def result_of(columns: Sequence[tuple[str, str]], rows: Sequence[Sequence[Any]]) -> QueryResult:
    """What DuckDB found, by names and types of columns, as an answer."""
    return QueryResult(
        columns=tuple(QueryColumn(*column) for column in columns),
        rows=tuple(tuple(map(plain_value, row)) for row in rows),
    )


RESULT = result_of(
    [("name", "VARCHAR"), ("minutes", "DOUBLE"), ("flag", "BOOLEAN"), ("when", "TIMESTAMP"), ("list", "VARCHAR[]")],
    [
        ("a|b\x1b[31m", 29.778466666666667, True, datetime.datetime(2021, 6, 30, 12, 0, 1), ["x", "y"]),
        ("=1+1", 1e-9, False, None, []),
        (None, 29778466666666667.5, None, None, None),
        ("two\nlines", 12.0, None, None, None),
    ],
)


def one(value: Any, kind: str = "VARCHAR") -> QueryResult:
    return result_of([("x", kind)], [(value,)])


def markdown(result: QueryResult) -> list[str]:
    return render(result_document(result), "markdown").splitlines()[2:]


def as_json(result: QueryResult) -> dict[str, Any]:
    document = json.loads(answer("db query", result))
    assert isinstance(document, dict)
    return document


def test_text(expected_text: ExpectedText) -> None:
    expected_text("answer.txt", render(result_document(RESULT), "text"))


def test_csv(expected_text: ExpectedText) -> None:
    expected_text("answer.csv", as_csv(RESULT))


@pytest.mark.parametrize("value", [float("inf"), float("-inf"), decimal.Decimal("-1.50"), -3])
def test_numbers_are_no_formulas(value: Any) -> None:
    assert as_csv(one(value)) == f"x\n{value}\n"


def test_json() -> None:
    document = as_json(RESULT)
    assert document["columns"][1] == {"name": "minutes", "type": "DOUBLE"}
    assert document["rows"][0] == ["a|b\x1b[31m", 29.778466666666667, True, "2021-06-30 12:00:01", ["x", "y"]]
    assert as_json(one(float("inf")))["rows"] == [["inf"]]
    assert document["more"] is False


def test_markdown(expected_text: ExpectedText) -> None:
    expected_text("answer.md", "\n".join(markdown(RESULT)) + "\n")


def test_numbers_are_short() -> None:
    shown = {0.0: "0", 1.0: "1", 0.5: "0.5", 1e15: "1000000000000000.0", 0.0001: "0.0001", -2.25: "-2.25", 10: "10"}
    for value, written in {**shown, float("inf"): "inf"}.items():
        assert markdown(one(value, "DOUBLE"))[2] == f"| {written} |"


def test_long_cells_are_cut_for_people_alone() -> None:
    result = one("y" * 5000)
    assert markdown(result)[2] == f"| {'y' * 299}… |"
    assert as_csv(result) == f"x\n{'y' * 5000}\n"


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
    result = result_of([("a", "X"), ("b", "Y")], rows)
    assert len(as_json(result)["rows"]) == len(rows)
    assert len([*csv.reader(io.StringIO(as_csv(result), newline=""))]) == len(rows) + 1
    assert len(markdown(result)) == len(rows) + 2
    for format_ in ("text", "html"):
        assert render(result_document(result), format_)


def test_depth_is_no_danger() -> None:
    deep: Any = []
    for _ in range(100_000):
        deep = [deep]
    assert json_cell(deep) is None
    assert as_text(deep) is None
