"""Ask a database: read only, and with no way out of it."""

from __future__ import annotations

import json
import os
import re
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

import msgspec

from mlsub.commands.db.answering import Question, Reply
from mlsub.commands.db.apart import answered
from mlsub.commands.db.schema import tables
from mlsub.io.errors import MlsubError, needs_extra
from mlsub.present.envelope import Answer

if TYPE_CHECKING:
    import pyarrow as pa

#: How long a question may take, in seconds.
SECONDS = 60
#: Brackets open at once; DuckDB takes ever longer for more of them before it refuses.
_MAX_DEPTH = 200
#: How much memory the process that answers it may have.
MEGABYTES = 2000
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


class Columns(NamedTuple):
    """The answer to a question as a table of Arrow; ``more`` and ``notes`` are those of :class:`Result`."""

    table: pa.Table
    more: bool
    notes: tuple[str, ...]


def ask(database: Path, statement: str, limit: int, seconds: float = SECONDS) -> Result:
    """The answer to one SELECT (or DESCRIBE, SHOW, SUMMARIZE, EXPLAIN), at most ``limit`` rows of it.

    Raises:
        MlsubError: there is no database, or the statement is another one, takes longer than ``seconds`` or more than
            `MEGABYTES`, has too large an answer, or DuckDB refuses it.
    """
    return result_of(answered(question_of(database, statement, limit, seconds)))


def ask_columns(database: Path, statement: str, limit: int, seconds: float = SECONDS) -> Columns:
    """The same as :func:`ask`, with the types that the columns have."""
    return columns_of(answered(question_of(database, statement, limit, seconds, as_table=True)))


def question_of(
    database: Path, statement: str, limit: int, seconds: float = SECONDS, *, as_table: bool = False
) -> Question:
    """A question, as far as it can be checked without DuckDB.

    Raises:
        MlsubError: a library is missing, there is no database, or the statement would take long to parse.
    """
    check_ready(database)
    if not database.is_file():
        raise MlsubError(f"There is no database {database}. Make it with mlsub db build DIR... -o {database}")
    _check_text(statement)
    touches = {table.name: list(table.touches) for table in tables()}
    return Question(str(database), statement, limit, seconds, MEGABYTES, as_table, touches, os.getpid())


def result_of(reply: Reply) -> Result:
    """A reply of rows.

    Raises:
        MlsubError: it is that there is no answer.
    """
    _check_reply(reply)
    return Result(
        columns=tuple(ResultColumn(*column) for column in reply.head["columns"]),
        rows=tuple(tuple(row) for line in reply.body.splitlines() for row in json.loads(line)),
        more=reply.head["more"],
        notes=_notes(reply),
    )


def columns_of(reply: Reply) -> Columns:
    """A reply of a table, which is not copied.

    Raises:
        MlsubError: it is that there is no answer.
    """
    _check_reply(reply)
    import pyarrow as pa

    table = pa.ipc.open_stream(reply.body).read_all()
    return Columns(table, reply.head["more"], _notes(reply))


def _check_reply(reply: Reply) -> None:
    if "error" in reply.head:
        raise MlsubError(reply.head["error"])
    if "defect" in reply.head:
        raise RuntimeError(f"the process that answers questions failed:\n{reply.head['defect']}")


def _notes(reply: Reply) -> tuple[str, ...]:
    return (MIXED,) if {"mlperf", "records"} <= set(reply.head["touched"]) else ()


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
