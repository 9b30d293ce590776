"""What answers a question, in a process of its own: see :mod:`mlsub.commands.db.apart`.

It imports little, for every question waits for it: msgspec and YAML are the caller's.
"""

from __future__ import annotations

import json
import math
import os
import re
import resource
import signal
import sys
import traceback
from collections.abc import Iterator
from contextlib import closing, contextmanager
from threading import Timer
from typing import TYPE_CHECKING, Any, NamedTuple, NoReturn

from mlsub.io.errors import MlsubError

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

#: How much longer than its time a question may take until it is killed, in seconds: most end when they are interrupted.
GRACE = 1.0
#: Bounds of an answer: as rows, which become objects of Python in the process of the caller; and as a table of Arrow.
MOST_ROWS_MIB, MOST_VALUES, MOST_TABLE_MIB = 64, 5_000_000, 256
#: A value of an answer nests no deeper.
_MAX_LEVELS = 200
_MOST_COLUMNS = 10_000
_ROWS_AT_ONCE = 1000
_AS_IS = (str, int, bool)
#: More threads of DuckDB would have less than the 125 MB each that it wants.
_MOST_THREADS = 16
#: No files, no network, no extensions, no look at this program's variables, nothing spilled, and no way to change that.
_CLOSED: dict[str, str | bool | int | float | list[str]] = {
    "enable_external_access": "false",
    "autoload_known_extensions": "false",
    "autoinstall_known_extensions": "false",
    "allow_community_extensions": "false",
    "python_enable_replacements": "false",
    "temp_directory": "",
    "lock_configuration": "true",
}
_PR_SET_PDEATHSIG = 1


class Question(NamedTuple):
    """A question, and what answers it gets.

    Attributes:
        database: the file.
        statement: in SQL.
        limit: at most so many rows.
        seconds: how long it may take.
        megabytes: how much memory the process that answers may have.
        as_table: answer with a table of Arrow, not with rows of plain values.
        touches: of each table, whether MLPerf results or records are in it.
        asker: the process that asks; the one that answers ends with it.
    """

    database: str
    statement: str
    limit: int
    seconds: float
    megabytes: int
    as_table: bool
    touches: dict[str, list[str]]
    asker: int


class Reply(NamedTuple):
    """An answer on its way: a head in JSON, and a body of lines of JSON with rows, or a stream of Arrow.

    The head has ``more``, ``touched`` and, of rows, ``columns``; or else ``error``, what to tell, or ``defect``, a
    traceback.
    """

    head: dict[str, Any]
    body: bytes = b""


def main() -> NoReturn:
    """Answer the question on standard input, on standard output; the process ends here."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the asker, who ends this process too.
    question = Question(*json.loads(sys.stdin.buffer.readline()))
    target = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # Whatever a library prints is not part of the answer.
    import duckdb  # noqa: F401  (its time is not the question's)

    end_with(question.asker)
    bound(question)
    send(reply(question), target.fileno())
    os._exit(0)  # Whoever needs no memory any more need not give it back piece by piece.


def end_with(asker: int) -> None:
    """Die when the asker dies; where the system cannot do that, its time ends the question."""
    if sys.platform == "linux":
        import ctypes

        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() != asker:
        os._exit(1)


def bound(question: Question) -> None:
    """Let the system bound memory and time: DuckDB looks at its own bounds only between two calls of functions.

    Memory is what this process can write to, not the addresses that allocators reserve. Linux alone bounds it.
    """
    limits = (question.megabytes * 1_000_000, *resource.getrlimit(resource.RLIMIT_DATA))
    most = min(limit for limit in limits if limit != resource.RLIM_INFINITY)
    resource.setrlimit(resource.RLIMIT_DATA, (most, most))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    signal.signal(signal.SIGALRM, signal.SIG_DFL)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGALRM})
    signal.setitimer(signal.ITIMER_REAL, question.seconds + GRACE)


def reply(question: Question) -> Reply:
    """The answer, within the bounds of DuckDB alone."""
    try:
        return _table(question) if question.as_table else _rows(question)
    except MlsubError as error:
        return Reply({"error": str(error)})
    except Exception:
        return Reply({"defect": traceback.format_exc()})


def send(answer: Reply, target: int) -> None:
    """Write an answer to a file descriptor, the size of its body first."""
    head = json.dumps({**answer.head, "bytes": len(answer.body)}).encode() + b"\n"
    for part in (memoryview(head), memoryview(answer.body)):
        while part:
            part = part[os.write(target, part) :]


def _rows(question: Question) -> Reply:
    body, values, count, more = bytearray(), 0, 0, False
    with _checked(question) as (connection, touched):
        found = connection.execute(question.statement)
        columns = [(str(head[0]), str(head[1])) for head in found.description or ()]
        if len(columns) > _MOST_COLUMNS:
            raise _too_large(f"{_MOST_COLUMNS:,} columns")
        while rows := found.fetchmany(min(_ROWS_AT_ONCE, question.limit + 1 - count)):
            count += len(rows)
            if count > question.limit:
                more = bool(rows.pop())
            content = [[plain(value) for value in row] for row in rows]
            values += sum(_values(row) - 1 for row in content)
            if values > MOST_VALUES:
                raise _too_large(f"{MOST_VALUES:,} values")
            body += json.dumps(content, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "surrogatepass")
            body += b"\n"
            if len(body) > MOST_ROWS_MIB << 20:
                raise _too_large(f"{MOST_ROWS_MIB} MiB")
            if more:
                break
        return Reply({"columns": columns, "more": more, "touched": sorted(touched)}, bytes(body))


def _table(question: Question) -> Reply:
    # The other allocators of Arrow reserve more at once than they need.
    os.environ["ARROW_DEFAULT_MEMORY_POOL"] = "system"
    from mlsub.present.columnar import render

    with _checked(question) as (connection, touched):
        found = connection.sql(question.statement).limit(question.limit + 1).to_arrow_table()
        shown = found.slice(0, question.limit)
        if shown.nbytes > MOST_TABLE_MIB << 20:
            raise _too_large(f"{MOST_TABLE_MIB} MiB")
        more = found.num_rows > question.limit
        return Reply({"more": more, "touched": sorted(touched)}, render(shown, "arrow"))


def _too_large(size: str) -> MlsubError:
    return MlsubError(f"The answer is larger than {size}. Narrow the question, or lower --limit.")


def too_slow(seconds: float) -> MlsubError:
    """That a question had no more time."""
    return MlsubError(
        f"The question took more than {seconds:g} seconds. Narrow it, or give it more time with --timeout."
    )


def too_big(megabytes: int) -> MlsubError:
    """That a question had no more memory."""
    return MlsubError(f"The question needs more than {megabytes / 1000:g} GB of memory. Narrow it.")


@contextmanager
def _checked(question: Question) -> Iterator[tuple[DuckDBPyConnection, set[str]]]:
    """An open database, once it is clear that the statement only looks; with what that touches."""
    import duckdb

    try:
        with closing(_open(question)) as connection, _ended_after(question.seconds, connection):
            _check_kind(connection, question.statement)
            yield connection, touched(connection, question.statement, question.touches)
    except duckdb.InterruptException as error:
        raise too_slow(question.seconds) from error
    except (duckdb.OutOfMemoryException, MemoryError) as error:
        raise too_big(question.megabytes) from error
    except duckdb.Error as error:
        raise MlsubError(message_of(error)) from error


@contextmanager
def _ended_after(seconds: float, connection: DuckDBPyConnection) -> Iterator[None]:
    """Interrupt what a connection does once its time is over."""
    timer = Timer(seconds, connection.interrupt)
    timer.daemon = True
    try:
        timer.start()
    except RuntimeError as error:
        raise MlsubError(f"The question was not answered: {error}") from error
    try:
        yield
    finally:
        timer.cancel()
        timer.join()


def _open(question: Question) -> DuckDBPyConnection:
    import duckdb

    # Of its memory DuckDB counts the larger part itself; what is beyond that has to fit as well.
    config = {**_CLOSED, "memory_limit": f"{question.megabytes * 3 // 4}MB"}
    if (os.cpu_count() or 1) > _MOST_THREADS:
        config["threads"] = _MOST_THREADS
    try:
        return duckdb.connect(question.database, read_only=True, config=config)
    except (duckdb.OutOfMemoryException, MemoryError):
        raise
    except duckdb.Error as error:
        raise MlsubError(f"{question.database} is not a database, or is in use: {message_of(error)}") from error


def message_of(error: Exception) -> str:
    """DuckDB's message, without its picture of the place."""
    message = re.split(r"^LINE ", str(error), maxsplit=1, flags=re.MULTILINE)[0]
    return " ".join(line.strip() for line in message.split("\n") if line.strip())


def _check_kind(connection: DuckDBPyConnection, statement: str) -> None:
    kinds = [found.type.name for found in connection.extract_statements(statement)]
    if len(kinds) != 1:
        raise MlsubError(f"One statement is asked for, not {len(kinds)}")
    if kinds[0] not in ("SELECT", "EXPLAIN"):
        raise MlsubError(f"Only SELECT is answered, not {kinds[0]}; the database is never changed by a question")


def touched(connection: DuckDBPyConnection, statement: str, touches: dict[str, list[str]]) -> set[str]:
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
    return {kind for name in touches if name in names for kind in touches[name]}


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


def plain(value: Any, levels: int = _MAX_LEVELS) -> Any:
    """A value of DuckDB as JSON has it, whole.

    Raises:
        MlsubError: it nests too deeply.
    """
    if value is None or isinstance(value, _AS_IS):
        return value
    if isinstance(value, float):
        return value if math.isfinite(value) else str(value)
    if isinstance(value, (list, tuple, dict)) and not levels:
        raise MlsubError(f"The answer has a value that nests more than {_MAX_LEVELS} levels deep")
    if isinstance(value, list | tuple):
        return [plain(item, levels - 1) for item in value]
    if isinstance(value, dict):
        return {str(key): plain(item, levels - 1) for key, item in value.items()}
    return str(value)


def _values(content: Any) -> int:
    """How many values a plain one has, itself included."""
    if isinstance(content, dict):
        content = list(content.values())
    if not isinstance(content, list):
        return 1
    return 1 + len(content) + sum(_values(item) - 1 for item in content if isinstance(item, (list, dict)))
