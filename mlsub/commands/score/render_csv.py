"""The results table as CSV: UTF-8, one header row, lines that end in LF."""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence

from mlsub.score.cells import Value, exact, is_formula, legible, value_of
from mlsub.score.columns import columns
from mlsub.score.table import Row


def render_csv(rows: Sequence[Row]) -> bytes:
    """The rows as a file. Text that a spreadsheet would take for a formula starts with an apostrophe."""
    stream = io.StringIO(newline="")
    writer = csv.writer(stream, lineterminator="\n")
    writer.writerow([column.name for column in columns()])
    writer.writerows([_cell(value_of(row, column)) for column in columns()] for row in rows)
    return stream.getvalue().encode("utf-8")


def _cell(value: Value) -> str:
    if value is None:
        return ""
    if isinstance(value, str):
        text = legible(value)
        return f"'{text}" if is_formula(value) else text
    return exact(value)
