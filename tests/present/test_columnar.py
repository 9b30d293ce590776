"""Tables of Arrow as an IPC stream and as a Parquet file."""

from __future__ import annotations

import datetime
import io
from pathlib import Path

import pytest

pa = pytest.importorskip("pyarrow")

from pyarrow import parquet  # noqa: E402

from mlsub.io import MlsubError  # noqa: E402
from mlsub.present.columnar import FORMATS, render  # noqa: E402

TABLE = pa.table(
    {
        "text": ["a", None, "\u00fc"],
        "count": pa.array([1, None, 3], pa.int64()),
        "minutes": [29.778466666666667, float("inf"), None],
        "day": [datetime.date(2021, 6, 30), None, None],
        "list": [["x", "y"], [], None],
    }
)


def test_a_stream_and_a_file_have_the_values_and_types() -> None:
    assert pa.ipc.open_stream(render(TABLE, "arrow")).read_all() == TABLE
    assert parquet.read_table(io.BytesIO(render(TABLE, "parquet"))) == TABLE
    empty = TABLE.slice(0, 0)
    assert pa.ipc.open_stream(render(empty, "arrow")).read_all().schema == TABLE.schema
    assert parquet.read_table(io.BytesIO(render(empty, "parquet"))).schema == TABLE.schema


def test_what_a_format_cannot_hold_is_named_in_one_line() -> None:
    table = pa.table({"much": pa.array([None], pa.month_day_nano_interval())})
    with pytest.raises(MlsubError, match=r"cannot be written as parquet: .* Cast the column to another type\.$"):
        render(table, "parquet")
    assert pa.ipc.open_stream(render(table, "arrow")).read_all() == table


@pytest.mark.parametrize("format_", sorted(FORMATS))
def test_text_that_is_not_utf8_is_named_in_one_line(format_: str) -> None:
    ends, text = pa.array([0, 1], pa.int32()).buffers()[1], pa.py_buffer(b"\xff")
    table = pa.table({"text": pa.StringArray.from_buffers(1, ends, text)})
    with pytest.raises(MlsubError, match=rf"^The table cannot be written as {format_}: .*UTF8.*"):
        render(table, format_)


def test_nothing_else_writes_them() -> None:
    sources = Path(__file__).parents[2].joinpath("mlsub").rglob("*.py")
    writers = [file.name for file in sources if "write_table" in file.read_text() or "new_stream" in file.read_text()]
    assert writers == ["columnar.py"]
    assert set(FORMATS) == {"arrow", "parquet"}
