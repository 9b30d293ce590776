"""Questions are answered, and nothing else: no writing, no files, no network, no end without a bound."""

from __future__ import annotations

import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
import yaml

from mlsub.commands.db import query
from mlsub.commands.db.query import query_arrow, query_rows
from mlsub.commands.db.schema import tables
from mlsub.io import MlsubError
from tests.commands.db.place import Place, duckdb
from tools.support.effort import HUNG

#: Ends only where it is ended.
ENDLESS = "WITH RECURSIVE t(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM t) SELECT count(*) FROM t"


#: What lies beside the database before and after a question.
BESIDE = [".results.duckdb.mlsub-written", "results.duckdb", "rounds"]


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Place:
    place = Place(tmp_path_factory.mktemp("query"))
    place.build()
    return place


def test_an_answer_has_columns_types_and_rows(place: Place) -> None:
    answer = query_rows(place.database, "SELECT entry, runs, published_minutes FROM entries ORDER BY entry", 10)
    columns = {column.name: column.type for column in answer.columns}
    assert columns == {"entry": "VARCHAR", "runs": "BIGINT", "published_minutes": "DOUBLE"}
    assert answer.rows == (("v1.0/ACME/rack1/resnet", 5, 12.0), ("v1.1/Bolt/rack1/resnet", 5, 12.0))
    assert answer.more is False


def test_rows_are_bounded(place: Place) -> None:
    answer = query_rows(place.database, "SELECT * FROM range(1000000000000)", 3)
    assert answer.rows == ((0,), (1,), (2,))
    assert answer.more
    assert not query_rows(place.database, "SELECT * FROM range(3)", 3).more


def test_columns_of_arrow_are_the_same_answer_and_as_bounded(place: Place) -> None:
    table, more = query_arrow(place.database, "SELECT * FROM range(1000000000000)", 3)
    assert (table.to_pydict(), more) == ({"range": [0, 1, 2]}, True)
    assert not query_arrow(place.database, "SELECT * FROM range(3)", 3)[1]


@pytest.mark.parametrize(
    "statement",
    ["DESCRIBE runs", "SUMMARIZE runs", "SHOW TABLES", "EXPLAIN SELECT 1", "VALUES (1)", "FROM runs", "SELECT 1;"],
)
def test_statements_that_only_look_are_answered(statement: str, place: Place) -> None:
    rows = query_rows(place.database, statement, 100).rows
    assert rows
    assert query_arrow(place.database, statement, 100)[0].num_rows == len(rows)


REFUSED = yaml.safe_load(Path(__file__).with_name("refused.yaml").read_text())


@pytest.mark.parametrize(("statement", "told"), [*REFUSED, ("SELECT '\ud800'", "The question is not UTF-8 text")])
@pytest.mark.parametrize("way", [query_rows, query_arrow])
def test_everything_else_is_refused_in_one_line(
    statement: str, told: str, way: Callable[[Path, str, int], object], place: Place
) -> None:
    before = place.database.read_bytes()
    with pytest.raises(MlsubError) as raised:
        way(place.database, statement.format(file=__file__), 10)
    assert told in str(raised.value)
    assert "\n" not in str(raised.value)
    assert place.database.read_bytes() == before
    assert sorted(child.name for child in place.folder.iterdir()) == BESIDE


@pytest.mark.parametrize("way", [query_rows, query_arrow])
def test_a_question_that_needs_too_much_memory_ends_and_spills_nothing(
    way: Callable[[Path, str, int], object], place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(query, "MEGABYTES", 66)
    statement = "SELECT count(*) FROM (SELECT DISTINCT range, md5(range::VARCHAR) FROM range(2000000))"
    with pytest.raises(MlsubError, match=r"^The question needs more than 0\.066 GB of memory\. Narrow it\.$"):
        way(place.database, statement, 1)
    assert sorted(child.name for child in place.folder.iterdir()) == BESIDE


@pytest.mark.parametrize("way", [query_rows, query_arrow])
def test_a_question_that_takes_too_long_is_ended(way: Callable[..., object], place: Place) -> None:
    with pytest.raises(MlsubError, match=r"^The question took more than 0\.2 seconds\. .* --timeout\.$"):
        way(place.database, ENDLESS, 1, 0.2)


#: Whoever starts the tests in the background makes all their processes ignore Ctrl-C.
_MLSUB = """
import signal, sys, threading
from mlsub.commands.db import query
from mlsub.cli import main
signal.signal(signal.SIGINT, signal.default_int_handler)
check = query._check_kind
query._check_kind = lambda *words: (check(*words), print("asked", flush=True))
if sys.argv[4] == "starting":
    start = threading.Thread.start
    threading.Thread.start = lambda thread: (start(thread), threading.Event().wait())
main(["db", "query", sys.argv[1], "--db", sys.argv[2], "-o", sys.argv[3]])
"""


@pytest.mark.slow
@pytest.mark.parametrize("moment", ["starting", "answering"])
@pytest.mark.parametrize("output", ["x.json", "x.arrow"])
def test_ctrl_c_ends_a_question(output: str, moment: str, place: Place) -> None:
    command = [sys.executable, "-c", _MLSUB, ENDLESS, str(place.database), str(place.folder / output), moment]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == b"asked\n"
        process.send_signal(signal.SIGINT)
        try:
            printed, told = process.communicate(timeout=HUNG)
        finally:
            process.kill()
    assert (process.returncode, printed, told.strip()) == (130, b"", b"")


def test_values_come_as_they_are(place: Place) -> None:
    statement = r"SELECT 170141183460469231731687303715884105727::HUGEINT, 0.1::DOUBLE, -0.0::DOUBLE, 'nan'::DOUBLE, "
    statement += "'\r\n\u2028\x01ü', NULL, true, [1.0::DOUBLE, NULL], {'a': [DATE '2020-01-01']}, 1.50::DECIMAL(9, 2)"
    [row] = query_rows(place.database, statement, 1).rows
    assert repr(row) == (
        r"(170141183460469231731687303715884105727, 0.1, -0.0, 'nan', '\r\n\u2028\x01ü', None, True, [1.0, None], "
        r"{'a': ['2020-01-01']}, '1.50')"
    )


def test_views_have_the_columns_that_their_descriptions_name(place: Place) -> None:
    with duckdb.connect(place.database, read_only=True) as connection:
        for table in tables():
            if table.sql is not None:
                assert [row[0] for row in connection.execute(f"DESCRIBE {table.name}").fetchall()] == [
                    column.name for column in table.columns
                ]


def test_every_table_and_column_says_what_it_is(place: Place) -> None:
    with duckdb.connect(place.database, read_only=True) as connection:
        comments = dict(connection.execute("SELECT table_name, comment FROM duckdb_tables()").fetchall())
        comments |= dict(
            connection.execute("SELECT view_name, comment FROM duckdb_views() WHERE NOT internal").fetchall()
        )
        columns = connection.execute(
            "SELECT table_name, column_name, comment FROM duckdb_columns() WHERE NOT internal"
        ).fetchall()
    told = {(table, column): comment for table, column, comment in columns}
    for table in tables():
        assert comments[table.name] == table.meaning
        for column in table.columns:
            assert told[(table.name, column.name)] == column.meaning


@pytest.mark.parametrize("kind", ["none", "folder", "text"])
def test_what_is_no_database_is_told(kind: str, tmp_path: Path) -> None:
    file = tmp_path / "results.duckdb"
    if kind == "folder":
        file.mkdir()
    elif kind == "text":
        file.write_text("text" * 5000)
    with pytest.raises(MlsubError, match=r"^There is no database |is not a database, or is in use: "):
        query_rows(file, "SELECT 1", 1)
