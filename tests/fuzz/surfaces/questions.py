"""Questions of ``mlsub db query``: any SQL, which may look at the database and do nothing else.

The database lies in a folder beside a file with a secret, and a variable of the environment holds another one. No
question may show a secret, write into the folder, or change the database; ``{here}`` in a question is that folder. A
question that takes long ends when its time is over, and one that takes much memory is refused. Those that may do so are
answered in a fork within the bounds of ``mlsub db query``, some in its own process, all others in this one, which is
fast.
"""

from __future__ import annotations

import json
import os
import random
import re
import signal
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path
from zlib import crc32

from mlsub.commands.db.answering import Question, Reply, bound, reply, send
from mlsub.commands.db.apart import answered, ended, read
from mlsub.commands.db.query import MIXED, Result, columns_of, question_of, result_of
from mlsub.commands.db.schema import tables
from mlsub.io.errors import MlsubError
from tests.fuzz.guard import end_with_parent, fork
from tests.fuzz.harness import BrokenError, Harness
from tests.fuzz.scratch import scratch

_CANARY = "canary-5d0c3f"
#: What makes much of little.
_MUCH = re.compile(
    r"recursive|range|series|repeat|pad\b|\d{5}|\be\d|e\d\d|sleep|unnest|resize|leven|simil|bitstring|format|printf|factor"
    r"|\*\*|\^|<<|cross|reduce|lambda|agg|\blist|array",
    re.IGNORECASE,
)
#: Answers that depend on the clock, on what else is in memory, and on the kind of answer.
_BOUNDS = re.compile(
    r"took more than|needs more than|larger than|was not answered|nests more|cannot be written as arrow"
)
#: Far less than users have.
_SECONDS, _GRACE, _MEGABYTES = 0.2, 0.2, 600
#: One question in so many goes the whole way of ``mlsub db query``.
_WHOLE = 200
_ROWS = 50
_TABLES = (
    "CREATE TABLE runs (entry VARCHAR, minutes DOUBLE, seed BIGINT)",
    "INSERT INTO runs VALUES ('v1.0/ACME', 12.5, 1), ('v1.0/ACME', 'nan'::DOUBLE, NULL), ('ü\n', 'inf'::DOUBLE, -1)",
    "CREATE TABLE records (system VARCHAR, value DECIMAL(9, 2), day DATE)",
    "INSERT INTO records VALUES ('IPU-M2000', 1.25, DATE '2020-07-29'), (NULL, NULL, NULL)",
    "CREATE TABLE rounds (round VARCHAR, parts STRUCT(a INTEGER, b VARCHAR[]))",
    "INSERT INTO rounds VALUES ('v1.0', {'a': 1, 'b': ['x', NULL]})",
    "CREATE VIEW results AS SELECT * FROM runs",
)


def _place() -> Path:
    """The folder of this process."""
    folder = scratch("questions")
    if not (folder / "secret.csv").exists():
        import duckdb

        (folder / "secret.csv").write_text(f"a,b\n{_CANARY},1\n", encoding="utf-8")
        with duckdb.connect(folder / "results.duckdb") as connection:
            for statement in _TABLES:
                connection.execute(statement)
        os.environ["FUZZ_CANARY"] = _CANARY
    return folder


def _listing(folder: Path) -> dict[str, tuple[int, int]]:
    with os.scandir(folder) as entries:
        return {entry.name: (entry.stat().st_size, entry.stat().st_mtime_ns) for entry in entries}


def _read(data: bytes) -> None:
    text = data.decode("utf-8", "surrogateescape")
    folder = _place()
    statement, database = text.replace("{here}", str(folder)), folder / "results.duckdb"
    before = _listing(folder)
    try:
        question = question_of(database, statement, _ROWS, _SECONDS)._replace(megabytes=_MEGABYTES)
    except MlsubError as error:
        _check_message(str(error))
        return
    way, told = _way(data, text), ""
    try:
        answer = result_of(way(question))
    except MlsubError as error:
        answer, told = None, str(error)
        _check_message(told)
    else:
        _check_answer(answer, statement)
    if crc32(data) % 4 == 0 and not _BOUNDS.search(told):
        _ask_again(question._replace(as_table=True), way, None if answer is None else len(answer.rows))
    if _listing(folder) != before:
        raise BrokenError("the folder has changed")


def _way(data: bytes, text: str) -> Callable[[Question], Reply]:
    """How a question is answered."""
    if crc32(data) % _WHOLE == 1:
        return answered
    return _in_fork if _MUCH.search(text) else reply


def _in_fork(question: Question) -> Reply:
    """The answer of a process that has loaded everything, in the bounds of one of ``mlsub db query``."""
    here = int(Path("/proc/self/statm").read_text("ascii").split()[5]) * os.sysconf("SC_PAGESIZE") // 1_000_000
    reading, writing = os.pipe()
    process = fork()
    if process == 0:
        try:
            end_with_parent()
            bound(question._replace(megabytes=here + _MEGABYTES))
            signal.setitimer(signal.ITIMER_REAL, _SECONDS + _GRACE)
            send(reply(question), writing)
        finally:
            os._exit(1)
    os.close(writing)
    with os.fdopen(reading, "rb") as stream:
        found = read(stream)
    _, status = os.waitpid(process, 0)
    if found is None:
        raise ended(os.waitstatus_to_exitcode(status), question)
    return found


def _check_message(message: str) -> None:
    if "\n" in message:
        raise BrokenError(f"a message of several lines: {message!r}")
    if _CANARY in message:
        raise BrokenError("a message shows a secret")


def _check_answer(answer: Result, statement: str) -> None:
    if _CANARY in json.dumps(answer.rows):
        raise BrokenError("an answer shows a secret")
    if len(answer.rows) > _ROWS or any(len(row) != len(answer.columns) for row in answer.rows):
        raise BrokenError(f"{len(answer.rows)} rows of {len(answer.columns)} columns")
    named = {kind for table in tables() if table.name in statement.lower() for kind in table.touches}
    if MIXED in answer.notes and not named >= {"mlperf", "records"}:
        raise BrokenError(f"a note on what the question does not name: {named}")


def _ask_again(question: Question, way: Callable[[Question], Reply], rows: int | None) -> None:
    """As a table of Arrow, which has as many rows or is refused as well."""
    try:
        again = columns_of(way(question)).table.num_rows
    except MlsubError as error:
        _check_message(str(error))
        if _BOUNDS.search(str(error)):
            return
        again = None
    if (rows is None) != (again is None) and "random" not in question.statement.lower():
        raise BrokenError(f"{rows} rows, but {again} of Arrow")


_SEEDS = (
    b"SELECT 1",
    b"SELECT entry, minutes FROM runs WHERE minutes > 1 ORDER BY 1",
    b"SELECT r.value / s.minutes FROM records r, runs s GROUP BY ALL",
    b"WITH a AS (SELECT value FROM records) SELECT max(value) OVER (), * FROM a JOIN rounds ON true",
    b"SELECT parts.b[1], parts, day + INTERVAL 1 DAY, TIMESTAMP '2020-01-01 00:00:00' FROM rounds, records LIMIT 3",
    b"SUMMARIZE runs",
    b"EXPLAIN SELECT * FROM results",
    b"FROM query('SELECT 1')",
    b"SELECT * FROM read_csv('{here}/secret.csv')",
    b"SELECT getenv('FUZZ_CANARY'), current_setting('threads')",
    b"COPY runs TO '{here}/out.csv'",
    b"SELECT range(1000000000)",
    b"SELECT length(repeat('x', 4000000000)), unnest(generate_series(1, 100000))",
    b"WITH RECURSIVE t(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM t) SELECT max(n) FROM t",
    b"SELECT list_resize([1], 1000000), list_aggregate(range(1000), 'sum') FROM range(100000000)",
    b"SELECT levenshtein(repeat('a', 100000), repeat('b', 100000))",
    b"SELECT (repeat('[', 300) || '1' || repeat(']', 300))::INTEGER" + b"[]" * 300,
)
_WORDS = tuple(
    word.encode()
    for word in (
        *("'{here}/secret.csv'", "'{here}/out.csv'", "'{here}/other.duckdb'", "read_csv(", "read_text(", "read_blob("),
        *("read_json(", "read_parquet(", "glob(", "sniff_csv(", "query(", "query_table(", "parse_path("),
        *("ATTACH ", "COPY ", " TO ", "INSTALL ", "LOAD ", "SET ", "RESET ", "PRAGMA ", "CALL ", "EXPORT DATABASE "),
        *("IMPORT DATABASE ", "CREATE SECRET ", "CREATE MACRO ", "PREPARE ", "EXECUTE ", "EXPLAIN ANALYZE ", "; "),
        *("duckdb_settings()", "duckdb_secrets()", "current_setting('", "set_config(", "getvariable(", "pragma_"),
        *("checkpoint(", "write_log(", "enable_logging(", "sql_auto_complete(", "json_serialize_sql(", "from_json("),
        *("json_execute_serialized_sql(", "getenv('FUZZ_CANARY')", "SELECT ", " FROM ", " UNION ALL ", "runs"),
        *("::HUGEINT", "::BLOB", "::BIT", "::UUID", "::TIME", "::INTERVAL", "::JSON", "MAP {'a': 1}", "[1, NULL]"),
        *("--", "$$", "/*", "nextval(", "parse_duckdb_log_message(", "test_all_types()", "storage_info('", "?"),
        *(
            "records",
            "rounds",
            "'\\x00'",
            "range(",
            "repeat('x', ",
            "1000000000",
            "RECURSIVE ",
            "list_resize([1], ",
            "unnest(",
        ),
        *(
            "generate_series(1, ",
            "string_agg(",
            "list_sort(",
            "levenshtein(",
            "lpad('x', ",
            "printf('%1000000d', ",
            "**",
        ),
    )
)


def _generate(rng: random.Random) -> bytes:
    words = rng.choices(_WORDS, k=rng.choice((1, 2, 3, 5)))
    seed = rng.choice(_SEEDS)
    at = seed.find(b" ", rng.randrange(len(seed))) + 1
    return seed[:at] + b" ".join(words) + rng.choice((b")", b"", b"')", b" ")) + seed[at:]


_HARNESS = Harness(
    "questions",
    "SQL questions of db query",
    _read,
    lambda: _SEEDS,
    _WORDS,
    _generate,
    1_000,
    seconds=2,
    megabytes=500,
)
#: The database needs an extra.
HARNESSES = (_HARNESS,) if find_spec("duckdb") and find_spec("pyarrow") else ()
