"""``mlsub db``: what users see, to the letter, and how it ends."""

from __future__ import annotations

import datetime
import subprocess
import sys
from pathlib import Path

import pytest

from mlsub.commands.db.schema import FORMAT
from mlsub.commands.output import Target
from mlsub.io import VERSION, MlsubError
from tests.commands.db.place import Place, duckdb
from tests.conftest import ExpectedText
from tools.support.make_tree import make_tree
from tools.support.runner import Stream, call, run


@pytest.mark.slow
def test_build(place: Place) -> None:
    assert run("db", "build", "rounds") == (
        0,
        "Database of results\n\nfile: results.duckdb: written\nrows: 2 submissions, 2 entries, 10 runs, 5 findings\n",
        "",
    )
    outcome = run("db", "build", "rounds/v1.0", "--format", "json")
    document = outcome.document
    assert (outcome.status, outcome.stderr) == (0, "")
    assert {name: document[name] for name in ("output", "submissions", "passed_over", "written", "older", "aside")} == {
        "output": "results.duckdb",
        "submissions": ["v1.0/ACME"],
        "passed_over": [],
        "written": True,
        "older": False,
        "aside": None,
    }


@pytest.mark.slow
def test_a_database_of_another_version_is_built_anew_with_one_line(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    run("db", "build", "rounds")
    monkeypatch.setattr("mlsub.commands.db.build.FORMAT", FORMAT + 1)
    outcome = run("db", "build", "rounds")
    assert (outcome.status, outcome.stderr) == (
        0,
        "mlsub: results.duckdb was made by another version of mlsub, and is built anew\n",
    )


def test_what_is_left_out_is_told(place: Place) -> None:
    make_tree(place.rounds, "v9.9")
    outcome = run("db", "build", "rounds")
    assert outcome.status == 1
    assert outcome.stderr.startswith(f"mlsub: left out: {place.rounds}/v9.9: ")
    assert outcome.stderr.count("\n") == 1


#: What is asked, and the line that says why it cannot be done.
REFUSED = {
    "build rounds -o no/such/x.duckdb": "There is no folder no/such. Make it, or name another file.",
    "build rounds -o rounds": "rounds is a folder. Name a file in it.",
    "query SELECT": "There is no database results.duckdb. Make it with mlsub db build DIR... -o results.duckdb",
    "build rounds -o \udcfe.duckdb": "The name \\udcfe.duckdb is not UTF-8 text. Name another file.",
    "build rounds --parquet \udcfe": "The name \\udcfe is not UTF-8 text. Name another file.",
    "query SELECT --db \udcfe.duckdb": "The name \\udcfe.duckdb is not UTF-8 text. Name another file.",
    "tables entires": "There is no table 'entires'. Did you mean entries?",
}


@pytest.mark.parametrize("words", REFUSED, ids=range(len(REFUSED)))
def test_what_cannot_be_done_is_said_in_one_line(words: str, place: Place) -> None:
    command, *arguments = words.split()
    assert run("db", command, *arguments) == (2, "", f"mlsub db {command}: {REFUSED[words]}\n")


def test_nothing_to_build_from_is_a_usage_error(place: Place) -> None:
    outcome = run("db", "build")
    assert outcome.status == 2
    assert "Name a folder of results." in outcome.stderr


QUESTION = "SELECT entry, published_minutes, division FROM entries ORDER BY entry"


@pytest.mark.slow
def test_an_answer_in_every_format(place: Place, expected_text: ExpectedText) -> None:
    run("db", "build", "rounds")
    outcome = run("db", "query", QUESTION)
    assert (outcome.status, outcome.stderr) == (0, "")
    expected_text("query.txt", outcome.stdout)
    assert run("db", "query", QUESTION, "--format", "csv").stdout == (
        "entry,published_minutes,division\nv1.0/ACME/rack1/resnet,12.0,closed\nv1.1/Bolt/rack1/resnet,12.0,closed\n"
    )
    document = run("db", "query", QUESTION, "--format", "json", "--limit", "1").document
    assert document == {
        "schema": 2,
        "mlsub": VERSION,
        "command": "db query",
        "columns": [
            {"name": "entry", "type": "VARCHAR"},
            {"name": "published_minutes", "type": "DOUBLE"},
            {"name": "division", "type": "VARCHAR"},
        ],
        "rows": [["v1.0/ACME/rack1/resnet", 12.0, "closed"]],
        "more": True,
    }


def test_no_rows_are_an_answer_and_more_rows_are_told(place: Place) -> None:
    run("db", "build", "rounds")
    assert run("db", "query", "SELECT entry FROM entries WHERE false") == (0, "0 rows\n\nentry\n-----\n", "")
    outcome = run("db", "query", QUESTION, "--limit", "1")
    assert outcome.stderr == "mlsub: only the first 1 rows; --limit N shows more\n"
    assert outcome.stdout.count("resnet") == 1


def test_errors_of_sql_are_one_line_with_what_was_meant(place: Place) -> None:
    run("db", "build", "rounds")
    outcome = run("db", "query", "SELECT minuts FROM runs")
    assert (outcome.status, outcome.stdout, outcome.stderr.count("\n")) == (2, "", 1)
    assert outcome.stderr.startswith(
        'mlsub db query: Binder Error: Referenced column "minuts" not found in FROM clause! '
        'Candidate bindings: "minutes", '
    )


def test_control_characters_do_not_reach_the_terminal(place: Place) -> None:
    place.acme.describe(system_name="\x1b[31mred")
    run("db", "build", "rounds")
    outcome = run("db", "query", "SELECT system_name FROM systems WHERE organisation = 'ACME'")
    assert outcome.stdout.splitlines()[4] == "\\x1b[31mred"
    outcome = run("db", "query", "SELECT \x1b[31m")
    assert "\x1b" not in outcome.stdout + outcome.stderr


def test_a_table_is_explained(place: Place, expected_text: ExpectedText) -> None:
    outcome = run("db", "tables", "submissions")
    assert (outcome.status, outcome.stderr) == (0, "")
    expected_text("table.txt", outcome.stdout)
    [table] = run("db", "tables", "results", "--format", "json").document["tables"]
    assert (table["name"], table["kind"], table["columns"][0]["name"]) == ("results", "view", "kind")
    assert len(run("db", "tables", "--format", "json").document["tables"]) == 10


def test_tables_are_those_of_the_database_that_query_asks(place: Place) -> None:
    shipped = run("db", "tables", "--format", "json").document
    outcome = run("db", "tables", "--db", "other.duckdb")
    made = "Make it with mlsub db build DIR... -o other.duckdb"
    assert (outcome.status, outcome.stderr) == (2, f"mlsub db tables: There is no database other.duckdb. {made}\n")
    run("db", "build", "rounds")
    assert run("db", "tables", "--format", "json").document == shipped
    with duckdb.connect(place.database) as connection:
        connection.execute("CREATE TABLE mine AS SELECT 42 AS x")
        connection.execute("COMMENT ON TABLE mine IS 'my own'")
    outcome = run("db", "tables", "mine", "--db", place.database)
    assert outcome.stdout.splitlines()[2:] == [
        "mine (table)",
        "  my own",
        "  column  type     meaning",
        "  ------------------------",
        "  x       INTEGER",
    ]


@pytest.mark.parametrize("arguments", [["build", "rounds"], ["query", "SELECT 1"]])
def test_without_the_libraries_the_remedy_is_told(
    arguments: list[str], place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("mlsub.commands.db.query.find_spec", lambda name: None)
    assert run("db", *arguments) == (
        2,
        "",
        f"mlsub db {arguments[0]}: The database needs duckdb and pyarrow. "
        "Install it from a copy of the source: pip install '.[db]'\n",
    )


@pytest.mark.slow
def test_an_answer_as_a_stream_or_a_file(place: Place) -> None:
    import pyarrow as pa
    from pyarrow import parquet

    run("db", "build", "rounds")
    question = "SELECT entry, minutes, publication_date FROM results ORDER BY entry"
    command = [sys.executable, "-m", "mlsub", "db", "query", question, "--limit", "1"]
    done = subprocess.run([*command, "--format", "arrow"], capture_output=True, check=False)
    assert (done.returncode, done.stderr) == (0, b"mlsub: only the first 1 rows; --limit N shows more\n")
    table = pa.ipc.open_stream(done.stdout).read_all()
    assert table.to_pylist() == [
        {"entry": "v1.0/ACME/rack1/resnet", "minutes": 12.0, "publication_date": datetime.date(2021, 6, 30)}
    ]
    for name in ("x.parquet", "x.arrow", "x.csv", "x.json", "x.md", "x.html", "x.txt"):
        assert run("db", "query", question, "-o", name) == (0, "", "")
    assert parquet.read_table("x.parquet").column_names == ["entry", "minutes", "publication_date"]
    assert pa.ipc.open_stream(Path("x.arrow").read_bytes()).read_all().num_rows == 2
    assert Path("x.csv").read_text().splitlines()[1] == "v1.0/ACME/rack1/resnet,12.0,2021-06-30"
    assert run("db", "query", question, "-o", "x.parquet").status == 2
    assert run("db", "query", "SELECT nope", "--format", "arrow", "-o", "y.arrow").status == 2
    assert not Path("y.arrow").exists()


@pytest.mark.parametrize("format_", ["arrow", "parquet"])
def test_what_no_terminal_shows_is_not_printed_on_one(
    format_: str, place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("mlsub.commands.output.sys.stdout", Stream(terminal=True))
    with pytest.raises(MlsubError, match=f"^{format_} cannot be read on a terminal. Name a file with --output FILE.$"):
        Target("db query", format_).refuse_terminal()


@pytest.mark.slow
def test_a_question_from_standard_input(place: Place) -> None:
    run("db", "build", "rounds")
    command = [sys.executable, "-m", "mlsub", "db", "query", "-", "--format", "csv"]
    done = subprocess.run(command, input=b"SELECT count(*) AS n FROM runs", capture_output=True, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (0, b"n\n10\n", b"")
    done = subprocess.run(command, input=b"\xff", capture_output=True, check=False)
    assert (done.returncode, done.stderr) == (2, b"mlsub db query: The question is not UTF-8 text\n")


@pytest.mark.slow
def test_an_output_that_knows_few_characters_loses_only_those(place: Place) -> None:
    run("db", "build", "rounds", "-o", place.database)
    done = call("db", "query", "SELECT 'é' AS x", "--db", place.database, PYTHONIOENCODING="ascii")
    assert (done.returncode, done.stdout.splitlines()[-1]) == (0, "\\xe9")
