"""What a question may take: bounds that hold within a call of a function too, and what becomes of its process."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from mlsub.commands.db import answering, apart
from mlsub.commands.db.answering import reply
from mlsub.commands.db.query import ask, ask_columns, columns_of, question_of, result_of
from mlsub.io.errors import MlsubError
from tests.alive import is_alive
from tests.commands.db.place import duckdb
from tests.effort import HUNG

LINUX = pytest.mark.skipif(sys.platform != "linux", reason="needs /proc, and what Linux alone bounds")
#: Ends only where it is ended.
ENDLESS = "WITH RECURSIVE t(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM t) SELECT count(*) FROM t"


@pytest.fixture(scope="module")
def database(tmp_path_factory: pytest.TempPathFactory) -> Path:
    file = tmp_path_factory.mktemp("apart") / "results.duckdb"
    duckdb.connect(file).close()
    return file


@pytest.mark.parametrize("of", [ask, ask_columns])
def test_a_function_that_takes_half_an_hour_is_killed(of: Callable[..., object], database: Path) -> None:
    minutes = "SELECT levenshtein(repeat('a', 1000000), repeat('b', 1000000))"
    began = time.monotonic()
    with pytest.raises(MlsubError, match=r"^The question took more than 0\.1 seconds\. .* --timeout\.$"):
        of(database, minutes, 1, 0.1)
    assert time.monotonic() - began < HUNG


#: DuckDB says that memory ran out, or is killed by not noticing it.
_NO_MEMORY = re.compile(
    r"The question (needs more than 0\.4 GB of memory\.|was not answered: .* because memory ran out\.) .*"
)
#: Questions that ask for more memory than they may have.
TOO_LARGE = (
    "SELECT range(1000000000)",
    "SELECT list_sort(range(20000000))",
    "SELECT length(repeat(repeat('x', 1000000), 300))",
)
_ASKED = """
import sys
from pathlib import Path
from mlsub.commands.db import query
from mlsub.io.errors import MlsubError
query.MEGABYTES = 400
for statement in sys.argv[2:]:
    try:
        print(query.ask(Path(sys.argv[1]), statement, 1))
    except MlsubError as error:
        print(error)
print("duckdb" in sys.modules)
"""


@LINUX
def test_a_question_that_needs_too_much_memory_is_ended_and_the_asker_does_not_even_load_duckdb(database: Path) -> None:
    command = [sys.executable, "-c", _ASKED, str(database), *TOO_LARGE]
    *told, loaded = subprocess.run(command, capture_output=True, check=True, text=True).stdout.splitlines()
    assert len(told) == len(TOO_LARGE)
    assert [line for line in told if not _NO_MEMORY.fullmatch(line)] == []
    assert loaded == "False"


@pytest.mark.parametrize(
    ("statement", "told"),
    [
        ("SELECT repeat('x', 2000000)", "is larger than 1 MiB. Narrow the question, or lower --limit."),
        ("SELECT [range(500), range(500)]", "is larger than 1,000 values. Narrow the question, or lower --limit."),
        (
            "SELECT " + ", ".join(["1"] * 10_001),
            "is larger than 10,000 columns. Narrow the question, or lower --limit.",
        ),
        ("SELECT (repeat('[', 300) || repeat(']', 300))::INTEGER" + "[]" * 300, "nests more than 200 levels"),
    ],
)
def test_rows_that_are_too_large_are_refused(
    statement: str, told: str, database: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(answering, "MOST_ROWS_MIB", 1)
    monkeypatch.setattr(answering, "MOST_VALUES", 1000)
    with pytest.raises(MlsubError, match=f"^The answer .*{re.escape(told)}"):
        result_of(reply(question_of(database, statement, 1)))


def test_a_table_that_is_too_large_is_refused(database: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(answering, "MOST_TABLE_MIB", 1)
    question = question_of(database, "SELECT repeat('x', 2000000)", 1, as_table=True)
    with pytest.raises(
        MlsubError, match=r"^The answer is larger than 1 MiB\. Narrow the question, or lower --limit\.$"
    ):
        columns_of(reply(question))


def test_a_large_answer_comes_whole(database: Path) -> None:
    [(text,)] = ask(database, "SELECT repeat('äö', 1000000)", 1).rows
    assert text == "äö" * 1_000_000
    table = ask_columns(database, "SELECT range AS n FROM range(1000000)", 5_000_000).table
    assert (table.num_rows, table.column("n")[-1].as_py()) == (1_000_000, 999_999)
    assert len(ask(database, "SELECT 'a', range FROM range(20000)", 10_500).rows) == 10_500


def test_values_come_as_they_are(database: Path) -> None:
    statement = r"SELECT 170141183460469231731687303715884105727::HUGEINT, 0.1::DOUBLE, -0.0::DOUBLE, 'nan'::DOUBLE, "
    statement += "'\r\n\u2028\x01ü', NULL, true, [1.0::DOUBLE, NULL], {'a': [DATE '2020-01-01']}, 1.50::DECIMAL(9, 2)"
    [row] = ask(database, statement, 1).rows
    assert repr(row) == (
        r"(170141183460469231731687303715884105727, 0.1, -0.0, 'nan', '\r\n\u2028\x01ü', None, True, [1.0, None], "
        r"{'a': ['2020-01-01']}, '1.50')"
    )


def test_a_process_that_is_killed_is_told_in_one_line(database: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    begin = apart.begin

    def killed() -> subprocess.Popen[bytes]:
        process = begin()
        process.kill()
        return process

    monkeypatch.setattr(apart, "begin", killed)
    with pytest.raises(MlsubError) as raised:
        ask(database, "SELECT 1", 1)
    assert str(raised.value) == (
        "The question was not answered: its process was ended by signal 9 (Killed), most likely because memory ran "
        "out. Narrow the question."
    )


def test_a_defect_of_what_answers_is_one_here(database: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(answering, "plain", None)
    with pytest.raises(RuntimeError, match="TypeError: 'NoneType' object is not callable"):
        result_of(reply(question_of(database, "SELECT 1", 1)))


#: Whoever starts the tests in the background makes all their processes ignore Ctrl-C.
_MLSUB = (
    "import signal, sys; from mlsub.cli import main; "
    "signal.signal(signal.SIGINT, signal.default_int_handler); main(sys.argv[1:])"
)


@pytest.fixture
def asking(database: Path) -> Iterator[tuple[subprocess.Popen[bytes], int]]:
    """A command at an endless question in a group of its own, and the process that answers."""
    command = [sys.executable, "-c", _MLSUB, "db", "query", ENDLESS, "--db", str(database)]
    process = subprocess.Popen(command, start_new_session=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    children = Path(f"/proc/{process.pid}/task/{process.pid}/children")
    while not (found := children.read_text().split()):
        assert process.poll() is None
        time.sleep(0.01)
    yield process, int(found[0])
    process.kill()
    process.communicate()


@LINUX
def test_ctrl_c_ends_both(asking: tuple[subprocess.Popen[bytes], int]) -> None:
    process, child = asking
    os.killpg(process.pid, signal.SIGINT)
    output, told = process.communicate(timeout=HUNG)
    assert (process.returncode, output, told.strip()) == (130, b"", b"")
    assert not is_alive(child)


@LINUX
@pytest.mark.parametrize("late", [0, 0.5])
def test_no_process_outlives_the_one_that_asks(asking: tuple[subprocess.Popen[bytes], int], late: float) -> None:
    process, child = asking
    time.sleep(late)
    process.kill()
    process.wait()
    until = time.monotonic() + HUNG
    while is_alive(child):
        assert time.monotonic() < until
        time.sleep(0.01)
