"""Put rows into tables, and take them out; nothing from outside ever becomes part of a statement."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from mlsub.commands.db.rows import Rows
from mlsub.commands.db.schema import Table, stored

if TYPE_CHECKING:
    import pyarrow
    from duckdb import DuckDBPyConnection

#: Rows handed over at once.
_BATCH = 20_000
#: Tables with round and organisation, and those that hang on their entries.
_OF_SUBMISSION = ("submissions", "systems", "entries", "findings")
_OF_ENTRY = ("runs", "evaluations", "hyperparameters")


def insert(connection: DuckDBPyConnection, rows: Rows) -> None:
    """Add rows; columns that a row does not name stay NULL."""
    for table in stored():
        found = rows.get(table.name, [])
        for start in range(0, len(found), _BATCH):
            connection.register("incoming", _arrow(table, found[start : start + _BATCH]))
            connection.execute(f"INSERT INTO {table.name} SELECT * FROM incoming")  # noqa: S608  (our own name)
            connection.unregister("incoming")


def remove(connection: DuckDBPyConnection, round_: str, organisation: str) -> None:
    """Take the rows of a submission out."""
    for name in _OF_ENTRY:
        connection.execute(
            f"DELETE FROM {name} WHERE entry IN "  # noqa: S608  (our own name)
            "(SELECT entry FROM entries WHERE round = ? AND organisation = ?)",
            [round_, organisation],
        )
    for name in _OF_SUBMISSION:
        connection.execute(
            f"DELETE FROM {name} WHERE round = ? AND organisation = ?",  # noqa: S608  (our own name)
            [round_, organisation],
        )


def replace(connection: DuckDBPyConnection, rows: Rows, tables: Sequence[str]) -> None:
    """Give tables other rows."""
    for name in tables:
        connection.execute(f"DELETE FROM {name}")  # noqa: S608  (our own name)
    insert(connection, rows)


def _arrow(table: Table, rows: Sequence[dict[str, Any]]) -> pyarrow.Table:
    import pyarrow as pa

    types = {
        "VARCHAR": pa.string(),
        "VARCHAR[]": pa.list_(pa.string()),
        "JSON": pa.string(),
        "BIGINT": pa.int64(),
        "DOUBLE": pa.float64(),
        "BOOLEAN": pa.bool_(),
        "TIMESTAMP": pa.timestamp("us"),
        "DATE": pa.date32(),
    }
    arrays = [pa.array([row.get(c.name) for row in rows], types[c.type]) for c in table.columns]
    return pa.Table.from_arrays(arrays, [column.name for column in table.columns])
