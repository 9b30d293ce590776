"""The rows of the official results table as a document: one table a round, numbers rounded."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby

from mlsub.present.document import Cell, Document, Section, Span, Table, Text, document, section
from mlsub.present.document import Column as Shown
from mlsub.score.cells import legible, rounded, value_of
from mlsub.score.columns import Column, ColumnKind, columns
from mlsub.score.columns import Shown as When
from mlsub.score.table import Row


def rows_document(rows: Sequence[Row]) -> Document:
    """The rows, by round."""
    rounds = groupby(rows, lambda row: (row.usage, row.round))
    return document(
        "Results", *(_round(list(group), *of) for of, group in rounds), None if rows else Text("No results.")
    )


def _round(rows: Sequence[Row], usage: str, round_: str) -> Section | None:
    shown = [column for column in columns() if _is_shown(column, rows)]
    heads = tuple(Shown(column.title, number=column.kind is not ColumnKind.TEXT) for column in shown)
    return section(
        f"{usage} v{round_}",
        Text("A rehearsal: real training, but not an MLPerf result.") if usage == "rehearsal" else None,
        Table(heads, tuple(tuple(_cell(row, column) for column in shown) for row in rows)),
    )


def _is_shown(column: Column, rows: Sequence[Row]) -> bool:
    if column.markdown is When.FILLED:
        return any(value_of(row, column) is not None for row in rows)
    return column.markdown is When.ALWAYS


def _cell(row: Row, column: Column) -> Cell:
    value = value_of(row, column)
    if value is None:
        return ""
    if not isinstance(value, str):
        return rounded(value, column.decimals)
    return Span(column.title.lower(), link=value) if column.link else " ".join(legible(value).split())
