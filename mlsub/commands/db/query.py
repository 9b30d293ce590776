"""Answer a question in SQL: a connection that only reads, bounded by DuckDB's own settings."""

from __future__ import annotations

import math
import os
import re
from collections.abc import Callable
from concurrent.futures import Future
from contextlib import closing
from importlib.util import find_spec
from pathlib import Path
from threading import Thread
from typing import TYPE_CHECKING, Any, ClassVar, TypeVar

import msgspec

from mlsub.commands.db.schema import ABOUT, FORMAT, StoredTable, TableColumn, tables
from mlsub.io import MlsubError, needs_extra
from mlsub.present.envelope import Answer

if TYPE_CHECKING:
    import pyarrow as pa
    from duckdb import DuckDBPyConnection

T = TypeVar("T")

#: Seconds that a question may take.
SECONDS = 60
#: Memory in MB that DuckDB may use for it.
MEGABYTES = 2000
#: Reads the database alone: no files, no network, no extensions, no variables of Python, nothing spilled to disk.
_CLOSED: dict[str, str | bool | int | float | list[str]] = {
    "enable_external_access": "false",
    "python_enable_replacements": "false",
    "temp_directory": "",
    "lock_configuration": "true",
}
#: Each thread of DuckDB wants 125 MB.
_THREADS = min(os.cpu_count() or 1, 16)
#: Seconds between two interrupts: one that comes between two statements is lost.
_AGAIN = 0.1


class QueryColumn(msgspec.Struct, frozen=True):
    """A column of an answer, and DuckDB's type of it."""

    name: str
    type: str


class QueryResult(Answer, frozen=True, kw_only=True):
    """The answer to a question.

    ``rows`` have plain values: times are text, and so are numbers that JSON does not have. ``more`` says that there are
    further rows.
    """

    SCHEMA: ClassVar[int] = 2

    columns: tuple[QueryColumn, ...]
    rows: tuple[tuple[Any, ...], ...]
    more: bool = False


def query_rows(database: Path, statement: str, limit: int, seconds: float = SECONDS) -> QueryResult:
    """Return the answer to one SELECT (or DESCRIBE, SHOW, SUMMARIZE, EXPLAIN), at most ``limit`` rows of it.

    Raises:
        MlsubError: there is no database, or the statement is another one, takes longer than ``seconds`` or more than
            `MEGABYTES`, or DuckDB refuses it.
    """

    def ask(connection: DuckDBPyConnection) -> QueryResult:
        found = connection.execute(statement)
        rows = found.fetchmany(limit + 1)
        return QueryResult(
            columns=tuple(QueryColumn(str(head[0]), str(head[1])) for head in found.description or ()),
            rows=tuple(tuple(map(plain_value, row)) for row in rows[:limit]),
            more=len(rows) > limit,
        )

    return _answer(database, statement, seconds, ask)


def query_arrow(database: Path, statement: str, limit: int, seconds: float = SECONDS) -> tuple[pa.Table, bool]:
    """Return the same as :func:`query_rows` as a table of Arrow, with its types, and whether there are further rows."""

    def ask(connection: DuckDBPyConnection) -> tuple[pa.Table, bool]:
        found = connection.sql(statement).limit(limit + 1).to_arrow_table()
        return found.slice(0, limit), found.num_rows > limit

    return _answer(database, statement, seconds, ask)


#: A row a column of a table or view, with what the comments in the database say.
_COLUMNS = """
SELECT t.name, t.kind, t.comment, c.column_name, c.data_type, c.comment FROM (
SELECT table_name AS name, 'table' AS kind, comment, table_oid AS oid FROM duckdb_tables() WHERE NOT internal
UNION ALL SELECT view_name, 'view', comment, view_oid FROM duckdb_views() WHERE NOT internal) AS t
JOIN duckdb_columns() AS c ON c.table_oid = t.oid ORDER BY t.kind, t.name, c.column_index
"""
_MOST_COLUMNS = 10_000


def tables_of(database: Path) -> tuple[StoredTable, ...]:
    """Return the tables of a database, then its views.

    Raises:
        MlsubError: there is no such database, or it cannot be read.
    """
    known, found = {table.name: table for table in tables()}, dict[str, StoredTable]()
    for name, kind, meaning, column, type_, about in query_rows(database, _COLUMNS, _MOST_COLUMNS).rows:
        if name != ABOUT:
            sql = known[name].sql if name in known else None
            one = found.get(name) or StoredTable(name, kind, meaning or "", (), sql)
            added = TableColumn(column, None if kind == "view" else type_, about or "")
            found[name] = msgspec.structs.replace(one, columns=(*one.columns, added))
    return tuple(found[name] for name in dict.fromkeys((*known, *found)) if name in found)


def check_ready(*places: Path) -> None:
    """Find out whether the libraries are installed, without importing them, and whether DuckDB can take the paths.

    Raises:
        MlsubError: a library is missing, or a path is not UTF-8.
    """
    missing = [name for name in ("duckdb", "pyarrow") if find_spec(name) is None]
    if missing:
        raise MlsubError(needs_extra(f"The database needs {' and '.join(missing)}.", "db"))
    for place in places:
        try:
            str(place).encode("utf-8")
        except UnicodeEncodeError as error:
            raise MlsubError(f"The name {place} is not UTF-8 text. Name another file.") from error


def message_of(error: Exception) -> str:
    """Return DuckDB's message in one line, without its picture of the place."""
    message = re.split(r"^LINE |^Possible solutions", str(error), maxsplit=1, flags=re.MULTILINE)[0]
    return " ".join(line.strip() for line in message.split("\n") if line.strip())


def _answer(database: Path, statement: str, seconds: float, ask: Callable[[DuckDBPyConnection], T]) -> T:
    """Return what ``ask`` makes of a database, once it is clear that the statement only looks."""
    check_ready(database)
    if not database.is_file():
        raise MlsubError(f"There is no database {database}. Make it with mlsub db build DIR... -o {database}")
    import duckdb

    def check_and_ask(connection: DuckDBPyConnection) -> T:
        _check_kind(connection, statement)
        try:
            [(found,)] = connection.execute(f"SELECT format FROM {ABOUT}").fetchall()  # noqa: S608  (our own name)
        except duckdb.CatalogException:
            found = FORMAT  # Somebody's own.
        if found != FORMAT:
            build = f"mlsub db build DIR... -o {database}"
            raise MlsubError(f"{database} was made by another version of mlsub. Build it anew with {build}")
        return ask(connection)

    try:
        config = {**_CLOSED, "memory_limit": f"{MEGABYTES}MB", "threads": _THREADS}
        connection = duckdb.connect(database, read_only=True, config=config)
    except duckdb.Error as error:
        raise MlsubError(f"{database} is not a database, or is in use: {message_of(error)}") from error
    try:
        with closing(connection):
            return _interrupted_after(seconds, connection, check_and_ask)
    except TimeoutError as error:
        raise MlsubError(
            f"The question took more than {seconds:g} seconds. Narrow it, or give it more time with --timeout."
        ) from error
    except (duckdb.OutOfMemoryException, MemoryError) as error:
        raise MlsubError(f"The question needs more than {MEGABYTES / 1000:g} GB of memory. Narrow it.") from error
    except duckdb.Error as error:
        raise MlsubError(message_of(error)) from error


def _interrupted_after(seconds: float, connection: DuckDBPyConnection, ask: Callable[[DuckDBPyConnection], T]) -> T:
    """Ask in a thread of its own, which is interrupted when its time is over, and by Ctrl-C."""
    answer: Future[T] = Future()

    def work() -> None:
        try:
            answer.set_result(ask(connection))
        except Exception as error:
            answer.set_exception(error)

    # A pool forgets a thread when Ctrl-C comes while it starts, and waits for it at the end of the process.
    thread = Thread(target=work, daemon=True)
    try:
        thread.start()
        return answer.result(seconds)
    finally:
        while thread.is_alive():
            connection.interrupt()
            thread.join(_AGAIN)


def _check_kind(connection: DuckDBPyConnection, statement: str) -> None:
    try:
        statement.encode("utf-8")
    except UnicodeEncodeError as error:
        raise MlsubError("The question is not UTF-8 text") from error
    kinds = [found.type.name for found in connection.extract_statements(statement)]
    if len(kinds) != 1:
        raise MlsubError(f"One statement is asked for, not {len(kinds)}")
    if kinds[0] not in ("SELECT", "EXPLAIN"):
        raise MlsubError(f"Only SELECT is answered, not {kinds[0]}; the database is never changed by a question")


def plain_value(value: Any, text: Callable[[str], Any] = str) -> Any:
    """Return a value of DuckDB or of a log as JSON has it, whole; ``text`` makes what becomes of texts."""
    if isinstance(value, str):
        return text(value)
    if isinstance(value, float):
        return value if math.isfinite(value) else str(value)
    if value is None or isinstance(value, int):
        return value
    if isinstance(value, list | tuple):
        return [plain_value(item, text) for item in value]
    if isinstance(value, dict):
        return {text(str(key)): plain_value(item, text) for key, item in value.items()}
    return str(value)
