"""Rows on their way into a database: each value becomes what its column can hold, and many are inserted at once."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Any

from mlsub.commands.db.schema import stored
from mlsub.io.show import readable

if TYPE_CHECKING:
    import pyarrow as pa
    from duckdb import DuckDBPyConnection

#: A row: its values by column. What it does not name is NULL, what no column is named goes nowhere.
Row = Mapping[str, Any]
#: Rows of one table that wait at most.
_BATCH = 20_000
#: Longer texts are cut: descriptions and logs are not bounded by anybody else.
MAX_TEXT = 20_000
_MAX_INTEGER = 1 << 62
#: Microseconds of the year 9999 or so; DuckDB's calendar ends later.
_MAX_MICROSECONDS = 250_000_000_000_000_000


class Inserter:
    """Inserts rows into the tables of a database; nothing from outside becomes part of a statement."""

    def __init__(self, connection: DuckDBPyConnection) -> None:
        self._connection = connection
        self._tables = {table.name: table for table in stored()}
        self._waiting: dict[str, list[Row]] = {name: [] for name in self._tables}

    def add(self, table: str, rows: Iterable[Row]) -> None:
        """Add rows to a table."""
        self._waiting[table] += rows
        if len(self._waiting[table]) >= _BATCH:
            self._insert(table)

    def flush(self) -> None:
        """Insert what waits."""
        for name in self._tables:
            self._insert(name)

    def _insert(self, name: str) -> None:
        import pyarrow as pa

        rows, self._waiting[name] = self._waiting[name], []
        columns = {
            column.name: _array([row.get(column.name) for row in rows], str(column.type))
            for column in self._tables[name].columns
        }
        self._connection.register("incoming", pa.table(columns))
        self._connection.execute(f"INSERT INTO {name} SELECT * FROM incoming")  # noqa: S608  (our own name)
        self._connection.unregister("incoming")


def _array(values: list[Any], type_: str) -> pa.Array:
    import pyarrow as pa

    cell = _CELLS.get(type_)
    kinds = {
        "VARCHAR": pa.string(),
        "VARCHAR[]": pa.list_(pa.string()),
        "JSON": pa.string(),
        "BIGINT": pa.int64(),
        "DOUBLE": pa.float64(),
        "BOOLEAN": pa.bool_(),
        "TIMESTAMP": pa.timestamp("us"),
        "DATE": pa.date32(),
    }
    return pa.array([None if value is None else cell(value) for value in values] if cell else values, kinds[type_])


def text(value: object) -> str | None:
    """Return a text, cut where it is too long; None for anything else."""
    if not isinstance(value, str):
        return None
    if value.isascii() and len(value) <= MAX_TEXT:
        return value
    return value[:MAX_TEXT].encode("utf-8", "backslashreplace").decode("utf-8")


def integer(value: object) -> int | None:
    """Return a whole number that fits; None for anything else."""
    return value if isinstance(value, int) and not isinstance(value, bool) and abs(value) < _MAX_INTEGER else None


def number(value: object) -> float | None:
    """Return a finite number, or that of a text that is one; None for anything else."""
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        return None
    try:
        found = float(value)
    except (ValueError, OverflowError):
        return None
    return found if math.isfinite(found) else None


def as_text(value: Any) -> str | None:
    """Return a value of a log as a text: a text as it was written, anything else as JSON."""
    if (type(value) is float and math.isfinite(value)) or (type(value) is int and abs(value) < _MAX_INTEGER):
        return repr(value)  # As JSON has it.
    return text(readable(value)) if isinstance(value, str) else as_json(value)


def as_json(value: Any) -> str | None:
    """Return a value as JSON; None where it cannot be: nested too deeply, or longer than a cell."""
    try:
        # Escaped, so that halves of characters do no harm; NaN and Infinity are no JSON and go as texts.
        found = json.dumps(_plain(value), ensure_ascii=False, allow_nan=False)
    except (TypeError, ValueError, RecursionError):
        return None
    return found if len(found) <= MAX_TEXT else None


def moment(time_ms: object) -> int | None:
    """Return the microseconds since the Unix epoch of a time in ms; None where no calendar has it."""
    found = number(time_ms) if not isinstance(time_ms, str) else None
    if found is None or abs(found) * 1000 >= _MAX_MICROSECONDS:
        return None
    return round(found * 1000)


def _plain(value: Any) -> Any:
    """The value with texts and numbers that a column can hold."""
    if isinstance(value, str):
        return text(value)
    if isinstance(value, float):
        return value if math.isfinite(value) else str(value)
    if isinstance(value, int) and not isinstance(value, bool):
        return value if abs(value) < _MAX_INTEGER else str(value)
    if isinstance(value, dict):
        return {text(str(key)): _plain(item) for key, item in value.items()}
    return list(map(_plain, value)) if isinstance(value, list) else value


#: What makes a cell of a value, by the type of its column; others are taken as they are.
_CELLS: dict[str, Callable[[Any], Any]] = {
    "VARCHAR": text,
    "JSON": as_json,
    "BIGINT": integer,
    "DOUBLE": number,
    "TIMESTAMP": moment,
}
