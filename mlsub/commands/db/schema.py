"""The tables and views of the database, as mlsub/present/database.yaml describes them."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import TYPE_CHECKING, ClassVar, Literal

import msgspec

from mlsub.io import MlsubError
from mlsub.io.problems import did_you_mean
from mlsub.present.dataset import database_tables
from mlsub.present.envelope import Answer

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

#: Changes whenever tables do: a database of another number is built anew.
FORMAT = 6
#: Where a database says what it is.
ABOUT = "mlsub_database"


class TableColumn(msgspec.Struct, frozen=True):
    """A column; ``type`` is DuckDB's, null for a view."""

    name: str
    type: str | None
    meaning: str


class StoredTable(msgspec.Struct, frozen=True):
    """A table, or a view, which has ``sql``."""

    name: str
    kind: Literal["table", "view"]
    meaning: str
    columns: tuple[TableColumn, ...]
    sql: str | None = None


class Tables(Answer, frozen=True, kw_only=True):
    """The tables and views of a database."""

    SCHEMA: ClassVar[int] = 4

    tables: tuple[StoredTable, ...]


@cache
def tables() -> tuple[StoredTable, ...]:
    """Return the tables, then the views."""
    written = database_tables()
    found = []
    for name, one in written.items():
        rest = written[one.rest].columns if one.rest else {}
        columns = []
        for column, about in {**one.columns, **rest, **one.columns}.items():
            type_, meaning = (None, about) if isinstance(about, str) else about
            columns.append(TableColumn(column, None if one.sql else type_, meaning))
        found.append(StoredTable(name, "view" if one.sql else "table", one.meaning, tuple(columns), one.sql))
    return tuple(found)


def find_tables(names: Sequence[str]) -> tuple[StoredTable, ...]:
    """Return the tables and views of these names; all where none is given.

    Raises:
        MlsubError: there is none of a name.
    """
    by_name = {table.name: table for table in tables()}
    for name in names:
        if name not in by_name:
            raise MlsubError(f"There is no table {name!r}{did_you_mean(name, by_name)}")
    return tuple(by_name[name] for name in names or by_name)


def stored() -> tuple[StoredTable, ...]:
    """Return the tables alone."""
    return tuple(table for table in tables() if table.kind == "table")


def create_tables(connection: DuckDBPyConnection) -> None:
    """Make empty tables and the views, each with its comment. Every word of it ships with the package."""
    for table in tables():
        columns = ", ".join(f'"{column.name}" {column.type}' for column in table.columns)
        connection.execute(f"CREATE {table.kind} {table.name} {f'AS {table.sql}' if table.sql else f'({columns})'}")
        meanings = {f"{table.kind} {table.name}": table.meaning}
        meanings |= {f'COLUMN {table.name}."{column.name}"': column.meaning for column in table.columns}
        for what, meaning in meanings.items():
            text = meaning.replace("'", "''")
            connection.execute(f"COMMENT ON {what} IS '{text}'")
