"""The results table as Parquet: typed columns, values as they are."""

from __future__ import annotations

import io
from collections.abc import Sequence
from typing import Any

from mlsub.score.cells import Value, encodable, value_of
from mlsub.score.columns import ColumnKind, columns
from mlsub.score.table import Row


def render_parquet(rows: Sequence[Row]) -> bytes:
    """The rows as a file: text is string, a count int64, a number double; an empty cell is null.

    Raises:
        ImportError: pyarrow is not installed.
    """
    import pyarrow
    from pyarrow import parquet

    types: dict[ColumnKind, Any] = {
        ColumnKind.TEXT: pyarrow.string(),
        ColumnKind.COUNT: pyarrow.int64(),
        ColumnKind.NUMBER: pyarrow.float64(),
    }
    schema = pyarrow.schema([(column.name, types[column.kind]) for column in columns()])
    content = {column.name: [_cell(value_of(row, column)) for row in rows] for column in columns()}
    stream = io.BytesIO()
    parquet.write_table(pyarrow.table(content, schema=schema), stream)
    return stream.getvalue()


def _cell(value: Value) -> Value:
    return encodable(value) if isinstance(value, str) else value
