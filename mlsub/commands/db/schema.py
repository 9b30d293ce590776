"""The tables and views of the database, as tables.yaml and views.yaml describe them; types of entries are Result's."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any, ClassVar, Literal

import msgspec
from msgspec import inspect

from mlsub.io.data import shipped
from mlsub.present.envelope import Answer

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

#: Changes whenever tables do: a database of another number is built anew.
FORMAT = 5
#: Where a database says what it is.
ABOUT = "mlsub_database"
#: DuckDB's type of a value; of several kinds of value the first here.
_TYPES: dict[type[inspect.Type], str] = {
    inspect.FloatType: "DOUBLE",
    inspect.IntType: "BIGINT",
    inspect.BoolType: "BOOLEAN",
    inspect.DateType: "DATE",
    inspect.StrType: "VARCHAR",
    inspect.EnumType: "VARCHAR",
    inspect.LiteralType: "VARCHAR",
}


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
    """A table or view as the files have it.

    A column has a type and a meaning; of a view, and where it is a field of :class:`~mlsub.judge.result.Result`, the
    meaning alone. ``rest`` is the table whose columns a view has after its own.
    """

    meaning: str
    columns: dict[str, tuple[str, str] | str]
    touches: tuple[str, ...] = ()
    sql: str | None = None
    rest: str | None = None


@cache
def tables() -> tuple[Table, ...]:
    """Return the tables, then the views."""
    files = [shipped(__file__, name, dict[str, _Written]) for name in ("tables.yaml", "views.yaml")]
    written = {name: one for file in files for name, one in file.items()}
    return tuple(_table(name, one, written) for name, one in written.items())


def stored() -> tuple[Table, ...]:
    """Return the tables alone."""
    return tuple(table for table in tables() if table.kind == "table")


def create_tables(connection: DuckDBPyConnection) -> None:
    """Make empty tables and the views, each with its comment. Every word of it ships with the package."""
    for table in tables():
        columns = ", ".join(f"{_name(column.name)} {column.type}" for column in table.columns)
        content = f"AS {table.sql}" if table.sql else f"({columns})"
        connection.execute(f"CREATE {table.kind} {_name(table.name)} {content}")
        connection.execute(f"COMMENT ON {table.kind} {_name(table.name)} IS {_text(table.meaning)}")
        for column in table.columns:
            place = f"{_name(table.name)}.{_name(column.name)}"
            connection.execute(f"COMMENT ON COLUMN {place} IS {_text(column.meaning)}")


def _table(name: str, written: _Written, others: dict[str, _Written]) -> Table:
    columns = dict(written.columns)
    if written.rest:
        columns |= {column: about for column, about in others[written.rest].columns.items() if column not in columns}
    touches = written.touches or (("records",) if name.startswith("record") else ("mlperf",))
    return Table(
        name,
        "view" if written.sql else "table",
        written.meaning,
        tuple(_column(column, about, view=written.sql is not None) for column, about in columns.items()),
        touches,
        written.sql,
    )


def _column(name: str, about: tuple[str, str] | str, *, view: bool) -> Column:
    type_, meaning = about if isinstance(about, tuple) else (None, about)
    return Column(name, None if view else type_ or _result_types()[name], meaning)


@cache
def _result_types() -> dict[str, str | None]:
    """DuckDB's type of each field of a result, by the name of its column."""
    from mlsub.judge.result import Result

    fields = {field.name: field.type for field in _struct(inspect.type_info(Result)).fields}
    rcp = {field.name: _sql_type(field.type) for field in _struct(fields["rcp"]).fields}
    types = {name: _sql_type(kind) for name, kind in fields.items()}
    types |= {field.name: _sql_type(field.type) for field in _struct(fields["score"]).fields}
    for prefix in ("rcp_", "rcp_also_"):
        types |= {prefix + name: kind for name, kind in rcp.items()}
    return types


def _struct(kind: Any) -> inspect.StructType:
    found = kind.type if isinstance(kind, inspect.Metadata) else kind
    assert isinstance(found, inspect.StructType)  # noqa: S101  (what is nested in a result)
    return found


def _sql_type(kind: inspect.Type) -> str | None:
    """DuckDB's type of a field; None for what has no column."""
    if isinstance(kind, inspect.Metadata):
        return _sql_type(kind.type)
    if isinstance(kind, inspect.VarTupleType):
        inner = _sql_type(kind.item_type)
        return f"{inner}[]" if inner else None
    kinds = {type(one.type if isinstance(one, inspect.Metadata) else one) for one in getattr(kind, "types", (kind,))}
    return next((sql for one, sql in _TYPES.items() if one in kinds), None)


def _name(text: str) -> str:
    return '"' + text.replace('"', '""') + '"'


def _text(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"
