"""Parquet, read back with the library."""

from __future__ import annotations

import io

import pyarrow
from hypothesis import given
from hypothesis import strategies as st
from pyarrow import parquet

from mlsub.commands.score.formats import render_parquet
from mlsub.present.tables import columns
from tests.score.reports import make_row, organisations, rows_of, variety

TYPES = {"text": pyarrow.string(), "count": pyarrow.int64(), "number": pyarrow.float64()}


def read(content: bytes) -> pyarrow.Table:
    return parquet.read_table(io.BytesIO(content))


def test_every_value_comes_back_as_it_was() -> None:
    rows = rows_of(variety(), organisations())
    assert read(render_parquet(rows)).to_pylist() == [
        {column.name: row[column.name] for column in columns()} for row in rows
    ]


def test_columns_have_their_types_with_and_without_rows() -> None:
    for rows in ((), rows_of(variety())):
        schema = read(render_parquet(rows)).schema
        assert schema.names == [column.name for column in columns()]
        assert [field.type for field in schema] == [TYPES[column.kind] for column in columns()]


@given(st.text(st.characters(exclude_categories=()), max_size=20))
def test_any_text_can_be_stored_and_comes_back_where_utf8_can_hold_it(text: str) -> None:
    (row,) = read(render_parquet([make_row(notes=text)])).to_pylist()
    assert row["notes"] == text.encode("utf-8", "backslashreplace").decode("utf-8")
