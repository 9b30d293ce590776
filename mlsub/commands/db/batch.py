"""Rows on their way into a database: collected by column, and handed over as arrays of Arrow, so many at once."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cache
from typing import TYPE_CHECKING, Any

from mlsub.commands.db.cells import as_json, integer, moment, number, text
from mlsub.commands.db.schema import Rows, Table, stored

if TYPE_CHECKING:
    import pyarrow as pa
    from duckdb import DuckDBPyConnection

#: Rows of one table that wait at most.
_BATCH = 20_000
#: What makes a cell of a value, by the type of its column; others are taken as they are.
_CELLS: dict[str | None, Callable[[Any], Any]] = {
    "VARCHAR": text,
    "JSON": as_json,
    "BIGINT": integer,
    "DOUBLE": number,
    "TIMESTAMP": moment,
}


class Batch:
    """Rows that wait to be inserted; columns that nobody names stay NULL, and what has no column goes nowhere.

    Nothing from outside becomes part of a statement.
    """

    def __init__(self, connection: DuckDBPyConnection) -> None:
        self._connection = connection
        self._tables = {table.name: table for table in stored()}
        self._waiting = {name: _columns(table) for name, table in self._tables.items()}
        self._count = dict.fromkeys(self._tables, 0)

    def rows(self, table: str, rows: Sequence[Mapping[str, Any]]) -> None:
        """Add rows with their values by column."""
        self.columns(table, len(rows), {name: [row.get(name) for row in rows] for name in self._waiting[table]})

    def columns(self, table: str, count: int, columns: Mapping[str, Sequence[Any]]) -> None:
        """Add so many rows, column by column."""
        for name, values in self._waiting[table].items():
            values += columns[name] if name in columns else [None] * count
        self._count[table] += count
        if self._count[table] >= _BATCH:
            self._insert(self._tables[table])

    def flush(self) -> None:
        """Insert what waits."""
        for name, table in self._tables.items():
            if self._count[name]:
                self._insert(table)

    def _insert(self, table: Table) -> None:
        waiting, self._waiting[table.name] = self._waiting[table.name], _columns(table)
        for start in range(0, self._count[table.name], _BATCH):
            some = _arrow(table, {name: values[start : start + _BATCH] for name, values in waiting.items()})
            self._connection.register("incoming", some)
            self._connection.execute(f"INSERT INTO {table.name} SELECT * FROM incoming")  # noqa: S608  (our own name)
            self._connection.unregister("incoming")
        self._count[table.name] = 0


def insert(connection: DuckDBPyConnection, rows: Rows) -> None:
    """Add the rows of some tables."""
    batch = Batch(connection)
    for name, found in rows.items():
        batch.rows(name, found)
    batch.flush()


def _columns(table: Table) -> dict[str, list[Any]]:
    return {column.name: [] for column in table.columns}


def _arrow(table: Table, columns: Mapping[str, Sequence[Any]]) -> pa.Table:
    import pyarrow as pa

    arrays = []
    for column in table.columns:
        values, cell = columns[column.name], _CELLS.get(column.type)
        if cell is not None:
            values = [None if value is None else cell(value) for value in values]
        arrays.append(pa.array(values, _types()[str(column.type)]))
    return pa.Table.from_arrays(arrays, [column.name for column in table.columns])


@cache
def _types() -> dict[str, pa.DataType]:
    import pyarrow as pa

    return {
        "VARCHAR": pa.string(),
        "VARCHAR[]": pa.list_(pa.string()),
        "BIGINT[]": pa.list_(pa.int64()),
        "JSON": pa.string(),
        "BIGINT": pa.int64(),
        "DOUBLE": pa.float64(),
        "BOOLEAN": pa.bool_(),
        "TIMESTAMP": pa.timestamp("us"),
        "DATE": pa.date32(),
    }
