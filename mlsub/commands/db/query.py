"""Ask a database: read only, and with no way out of it."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterable, Iterator, Sequence
from contextlib import closing, contextmanager
from importlib.util import find_spec
from pathlib import Path
from threading import Timer
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

import msgspec

from mlsub.commands.db.schema import tables
from mlsub.io.errors import MlsubError, needs_extra
from mlsub.present.envelope import Answer

if TYPE_CHECKING:
    import pyarrow as pa
    from duckdb import DuckDBPyConnection

#: How long a question may take, in seconds.
SECONDS = 60
#: Brackets open at once; DuckDB takes ever longer for more of them before it refuses.
_MAX_DEPTH = 200
#: No files, no network, no extensions, no look at this program's variables, nothing spilled, and no way to change that.
_CLOSED: dict[str, str | bool | int | float | list[str]] = {
    "enable_external_access": "false",
    "autoload_known_extensions": "false",
    "autoinstall_known_extensions": "false",
    "allow_community_extensions": "false",
    "python_enable_replacements": "false",
    "temp_directory": "",
    "memory_limit": "2GB",
    "lock_configuration": "true",
}
MIXED = (
    "this touches MLPerf results and benchmark records: other models, data, rules and proof. A ratio of the two "
    "compares what nobody measured alike; say so where you show it"
)


class ResultColumn(msgspec.Struct, frozen=True):
    """A column of an answer, and DuckDB's type of it."""

    name: str
    type: str


class Result(Answer, frozen=True, kw_only=True):
    """The answer to a question.

    Its rows are of plain values: times are text, and so are numbers that JSON does not have. ``more`` says that there
    are further rows; ``notes`` are for whoever reads it.
    """

    SCHEMA: ClassVar[int] = 1

    columns: tuple[ResultColumn, ...]
    rows: tuple[tuple[Any, ...], ...]
    more: bool = False
    notes: tuple[str, ...] = ()


def ask(database: Path, statement: str, limit: int, seconds: float = SECONDS) -> Result:
    """The answer to one SELECT (or DESCRIBE, SHOW, SUMMARIZE, EXPLAIN), at most ``limit`` rows of it.

    Raises:
        MlsubError: there is no database, or the statement is another one, takes longer than ``seconds``, or DuckDB
            refuses it.
    """
    with _checked(database, statement, seconds) as (connection, notes):
        found = connection.execute(statement)
        columns = [(str(head[0]), str(head[1])) for head in found.description or ()]
        rows = found.fetchmany(limit + 1)
    return result_of(columns, rows[:limit], more=len(rows) > limit, notes=notes)


class Columns(NamedTuple):
    """The answer to a question as a table of Arrow; ``more`` and ``notes`` are those of :class:`Result`."""

    table: pa.Table
    more: bool
    notes: tuple[str, ...]


def ask_columns(database: Path, statement: str, limit: int, seconds: float = SECONDS) -> Columns:
    """The same as :func:`ask`, with the types that the columns have."""
    with _checked(database, statement, seconds) as (connection, notes):
        found = connection.sql(statement).limit(limit + 1).to_arrow_table()
    return Columns(found.slice(0, limit), found.num_rows > limit, notes)


@contextmanager
def _checked(database: Path, statement: str, seconds: float) -> Iterator[tuple[DuckDBPyConnection, tuple[str, ...]]]:
    """An open database, once it is clear that the statement only looks; with notes for whoever reads the answer."""
    check_ready(database)
    import duckdb

    _check_text(statement)
    try:
        with closing(_open(database)) as connection, _ended_after(seconds, connection):
            _check_kind(connection, statement)
            touched = _touched(connection, statement)
            yield connection, (MIXED,) if {"mlperf", "records"} <= touched else ()
    except duckdb.InterruptException as error:
        words = f"The question took more than {seconds:g} seconds. Narrow it, or give it more time with --timeout."
        raise MlsubError(words) from error
    except duckdb.Error as error:
        raise MlsubError(message_of(error)) from error


@contextmanager
def _ended_after(seconds: float, connection: DuckDBPyConnection) -> Iterator[None]:
    """Interrupt what a connection does once its time is over."""
    timer = Timer(seconds, connection.interrupt)
    timer.daemon = True
    timer.start()
    try:
        yield
    finally:
        timer.cancel()
        timer.join()


def result_of(
    columns: Iterable[tuple[str, str]],
    rows: Iterable[Sequence[Any]],
    *,
    more: bool = False,
    notes: tuple[str, ...] = (),
) -> Result:
    """What DuckDB found, by names and types of columns, as an answer."""
    return Result(
        columns=tuple(ResultColumn(*column) for column in columns),
        rows=tuple(tuple(map(_plain, row)) for row in rows),
        more=more,
        notes=notes,
    )


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
    """DuckDB's message, without its picture of the place."""
    message = re.split(r"^LINE ", str(error), maxsplit=1, flags=re.MULTILINE)[0]
    return " ".join(line.strip() for line in message.split("\n") if line.strip())


def _open(database: Path) -> DuckDBPyConnection:
    import duckdb

    if not database.is_file():
        raise MlsubError(f"There is no database {database}. Make it with mlsub db build DIR... -o {database}")
    try:
        return duckdb.connect(database, read_only=True, config=_CLOSED)
    except duckdb.Error as error:
        raise MlsubError(f"{database} is not a database, or is in use: {message_of(error)}") from error


def _check_text(statement: str) -> None:
    """Refuse what would not even be parsed in good time."""
    try:
        statement.encode("utf-8")
    except UnicodeEncodeError as error:
        raise MlsubError("The question is not UTF-8 text") from error
    depth = 0
    for bracket in re.findall(r"[()\[\]{}]", statement):
        depth += 1 if bracket in "([{" else -1
        if depth > _MAX_DEPTH:
            raise MlsubError(f"The question has more than {_MAX_DEPTH} brackets open at once")


def _check_kind(connection: DuckDBPyConnection, statement: str) -> None:
    kinds = [found.type.name for found in connection.extract_statements(statement)]
    if len(kinds) != 1:
        raise MlsubError(f"One statement is asked for, not {len(kinds)}")
    if kinds[0] not in ("SELECT", "EXPLAIN"):
        raise MlsubError(f"Only SELECT is answered, not {kinds[0]}; the database is never changed by a question")


def _touched(connection: DuckDBPyConnection, statement: str) -> set[str]:
    """Whether a statement reads MLPerf results, records or both; in doubt, by the words that stand in it."""
    import duckdb

    try:
        [(tree,)] = connection.execute("SELECT json_serialize_sql(?)", [statement]).fetchall()
        names = {name.lower() for name in _table_names(json.loads(tree))}
    except (duckdb.Error, RecursionError):
        names = set()
    # query() and query_table() take names as texts; and what DuckDB cannot take apart has no names here.
    if not names or re.search(r"\bquery(_table)?\s*\(", statement, re.IGNORECASE):
        names |= set(re.findall(r"\w+", statement.lower()))
    return {kind for table in tables() if table.name in names for kind in table.touches}


def _table_names(tree: Any) -> Iterator[str]:
    """The tables that a parsed statement names, at any depth."""
    left = [tree]
    while left:
        node = left.pop()
        if isinstance(node, dict):
            if isinstance(node.get("table_name"), str) and node.get("type") in ("BASE_TABLE", "SHOW_REF"):
                yield node["table_name"]
            left.extend(node.values())
        elif isinstance(node, list):
            left.extend(node)


def _plain(value: Any) -> Any:
    """A value of DuckDB as JSON has it, whole."""
    if value is None or isinstance(value, bool | int | str):
        return value
    if isinstance(value, float):
        return value if math.isfinite(value) else str(value)
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    if isinstance(value, dict):
        return {str(key): _plain(item) for key, item in value.items()}
    return str(value)
