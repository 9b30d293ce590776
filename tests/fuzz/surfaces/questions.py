"""Questions of ``mlsub db query``: any SQL, which may look at the database and do nothing else.

The database lies in a folder beside a file with a secret, and a variable of the environment holds another one. No
question may show a secret, write into the folder, or change the database; ``{here}`` in a question is that folder.
Functions that make a row or a text of any size are left out: nothing promises how long those take.
"""

from __future__ import annotations

import os
import random
import re
from importlib.util import find_spec
from pathlib import Path
from zlib import crc32

import msgspec

from mlsub.commands.db.query import MIXED, ask, ask_columns
from mlsub.commands.db.schema import tables
from mlsub.io.errors import MlsubError
from tests.fuzz.harness import BrokenError, Harness
from tests.fuzz.scratch import scratch

_CANARY = "canary-5d0c3f"
_ENDLESS = re.compile(r"recursive|range|series|repeat|pad\b|\d{6}|\be\d\d|sleep|unnest", re.IGNORECASE)
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
        os.environ["MLSUB_FUZZ_VARIABLE"] = _CANARY
    return folder


def _listing(folder: Path) -> dict[str, tuple[int, int]]:
    with os.scandir(folder) as entries:
        return {entry.name: (entry.stat().st_size, entry.stat().st_mtime_ns) for entry in entries}


def _read(data: bytes) -> None:
    text = data.decode("utf-8", "surrogateescape")
    if _ENDLESS.search(text):
        return
    folder = _place()
    statement, database = text.replace("{here}", str(folder)), folder / "results.duckdb"
    before = _listing(folder)
    try:
        answer = ask(database, statement, _ROWS)
    except MlsubError as error:
        answer = None
        if "\n" in str(error):
            raise BrokenError(f"a message of several lines: {error!r}") from error
        if _CANARY in str(error):
            raise BrokenError("a message shows a secret") from error
    else:
        if _CANARY in msgspec.json.encode(answer).decode():
            raise BrokenError("an answer shows a secret")
        if len(answer.rows) > _ROWS or any(len(row) != len(answer.columns) for row in answer.rows):
            raise BrokenError(f"{len(answer.rows)} rows of {len(answer.columns)} columns")
        named = {kind for table in tables() if table.name in statement.lower() for kind in table.touches}
        if MIXED in answer.notes and not named >= {"mlperf", "records"}:
            raise BrokenError(f"a note on what the question does not name: {named}")
    if crc32(data) % 4 == 0:
        _ask_again(database, statement, None if answer is None else len(answer.rows))
    if _listing(folder) != before:
        raise BrokenError("the folder has changed")


def _ask_again(database: Path, statement: str, rows: int | None) -> None:
    """As a table of Arrow, which has as many rows or is refused as well."""
    try:
        again = ask_columns(database, statement, _ROWS).table.num_rows
    except MlsubError:
        again = None
    if (rows is None) != (again is None) and "random" not in statement.lower():
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
    b"SELECT getenv('MLSUB_FUZZ_VARIABLE'), current_setting('threads')",
    b"COPY runs TO '{here}/out.csv'",
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
        *("json_execute_serialized_sql(", "getenv('MLSUB_FUZZ_VARIABLE')", "SELECT ", " FROM ", " UNION ALL ", "runs"),
        *("::HUGEINT", "::BLOB", "::BIT", "::UUID", "::TIME", "::INTERVAL", "::JSON", "MAP {'a': 1}", "[1, NULL]"),
        *("--", "$$", "/*", "nextval(", "parse_duckdb_log_message(", "test_all_types()", "storage_info('", "?"),
        *("records", "rounds", "'\\x00'"),
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
