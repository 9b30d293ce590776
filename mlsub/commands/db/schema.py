"""The tables and views of the database, from tables.yaml and views.yaml."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any

import msgspec

from mlsub.io.data import shipped

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

#: Changes whenever tables do: a database of another number is built anew.
FORMAT = 2
#: Where a database says what it is.
ABOUT = "mlsub_database"


class Column(msgspec.Struct, frozen=True):
    """A column; ``type`` is DuckDB's, empty for a view."""

    name: str
    type: str
    meaning: str


class Table(msgspec.Struct, frozen=True):
    """A table, or a view if it has ``sql``. ``touches`` says whether MLPerf results or records are in it."""

    name: str
    meaning: str
    columns: tuple[Column, ...]
    touches: tuple[str, ...]
    sql: str | None = None


@cache
def tables() -> tuple[Table, ...]:
    """The tables, then the views."""
    found = [_table(name, entry) for name, entry in shipped(__file__, "tables.yaml", dict[str, dict[str, Any]]).items()]
    found += [_view(name, entry) for name, entry in shipped(__file__, "views.yaml", dict[str, dict[str, Any]]).items()]
    return tuple(found)


def stored() -> tuple[Table, ...]:
    """The tables alone."""
    return tuple(table for table in tables() if table.sql is None)


def create(connection: DuckDBPyConnection, mlsub: str) -> None:
    """Make empty tables and the views, each with its comment. Every word of it ships with the package."""
    connection.execute(f"CREATE TABLE {ABOUT} (format BIGINT, mlsub VARCHAR)")
    connection.execute(f"INSERT INTO {ABOUT} VALUES (?, ?)", [FORMAT, mlsub])  # noqa: S608  (our own name)
    for table in tables():
        if table.sql is None:
            columns = ", ".join(f"{_name(column.name)} {column.type}" for column in table.columns)
            connection.execute(f"CREATE TABLE {_name(table.name)} ({columns})")
        else:
            connection.execute(f"CREATE VIEW {_name(table.name)} AS {table.sql}")
        kind = "TABLE" if table.sql is None else "VIEW"
        connection.execute(f"COMMENT ON {kind} {_name(table.name)} IS {_text(table.meaning)}")
        for column in table.columns:
            place = f"{_name(table.name)}.{_name(column.name)}"
            connection.execute(f"COMMENT ON COLUMN {place} IS {_text(column.meaning)}")


def _table(name: str, entry: dict[str, Any]) -> Table:
    columns = tuple(Column(column, *kind) for column, kind in entry["columns"].items())
    return Table(name, entry["meaning"], columns, ("records",) if name.startswith("record") else ("mlperf",))


def _view(name: str, entry: dict[str, Any]) -> Table:
    columns = tuple(Column(column, "", meaning) for column, meaning in entry["columns"].items())
    return Table(name, entry["meaning"], columns, tuple(entry["touches"]), entry["sql"])


def _name(text: str) -> str:
    return '"' + text.replace('"', '""') + '"'


def _text(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"
