"""The tables and views of the database: tables.yaml and views.yaml say how they are made, filled and explained."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any, ClassVar, Literal

import msgspec

from mlsub.io.data import shipped
from mlsub.present.envelope import Answer

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

#: Changes whenever tables do: a database of another number is built anew.
FORMAT = 4
#: Where a database says what it is.
ABOUT = "mlsub_database"
#: Rows by table; a row has its values by column, and may have more.
Rows = dict[str, list[dict[str, Any]]]


class Column(msgspec.Struct, frozen=True):
    """A column; ``type`` is DuckDB's, null for a view."""

    name: str
    type: str | None
    meaning: str


class Table(msgspec.Struct, frozen=True):
    """A table, or a view, which has ``sql``. ``touches`` says whether MLPerf results or records are in it."""

    name: str
    kind: Literal["table", "view"]
    meaning: str
    columns: tuple[Column, ...]
    touches: tuple[str, ...]
    sql: str | None = None


class Tables(Answer, frozen=True, kw_only=True):
    """The tables and views of a database."""

    SCHEMA: ClassVar[int] = 3

    tables: tuple[Table, ...]


class _Written(msgspec.Struct, frozen=True):
    """A table as tables.yaml has it, each column with type and meaning; or a view, each with its meaning."""

    meaning: str
    columns: dict[str, tuple[str, str] | str]
    touches: tuple[str, ...] = ()
    sql: str | None = None


@cache
def tables() -> tuple[Table, ...]:
    """The tables, then the views."""
    files = [shipped(__file__, name, dict[str, _Written]) for name in ("tables.yaml", "views.yaml")]
    return tuple(_table(name, written) for file in files for name, written in file.items())


def _table(name: str, written: _Written) -> Table:
    columns = tuple(
        Column(column, None, about) if isinstance(about, str) else Column(column, *about)
        for column, about in written.columns.items()
    )
    touches = written.touches or (("records",) if name.startswith("record") else ("mlperf",))
    return Table(name, "view" if written.sql else "table", written.meaning, columns, touches, written.sql)


def stored() -> tuple[Table, ...]:
    """The tables alone."""
    return tuple(table for table in tables() if table.kind == "table")


def create(connection: DuckDBPyConnection, mlsub: str) -> None:
    """Make empty tables and the views, each with its comment. Every word of it ships with the package."""
    connection.execute(f"CREATE TABLE {ABOUT} (format BIGINT, mlsub VARCHAR)")
    connection.execute(f"INSERT INTO {ABOUT} VALUES (?, ?)", [FORMAT, mlsub])  # noqa: S608  (our own name)
    for table in tables():
        columns = ", ".join(f"{_name(column.name)} {column.type}" for column in table.columns)
        content = f"AS {table.sql}" if table.sql else f"({columns})"
        connection.execute(f"CREATE {table.kind} {_name(table.name)} {content}")
        connection.execute(f"COMMENT ON {table.kind} {_name(table.name)} IS {_text(table.meaning)}")
        for column in table.columns:
            place = f"{_name(table.name)}.{_name(column.name)}"
            connection.execute(f"COMMENT ON COLUMN {place} IS {_text(column.meaning)}")


def remove(connection: DuckDBPyConnection, round_: str, organisation: str) -> None:
    """Take the rows of a submission out: those that hang on its entries, then those that name it."""
    names = {table.name: {column.name for column in table.columns} for table in stored()}
    own = [name for name, columns in names.items() if {"round", "organisation"} <= columns]
    of_entries = [name for name, columns in names.items() if "entry" in columns and name not in own]
    mine = "round = ? AND organisation = ?"
    for name in of_entries:
        those = f"entry IN (SELECT entry FROM entries WHERE {mine})"  # noqa: S608  (our own names)
        connection.execute(f"DELETE FROM {name} WHERE {those}", [round_, organisation])  # noqa: S608  (our own name)
    for name in own:
        connection.execute(f"DELETE FROM {name} WHERE {mine}", [round_, organisation])  # noqa: S608  (our own name)


def _name(text: str) -> str:
    return '"' + text.replace('"', '""') + '"'


def _text(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"
