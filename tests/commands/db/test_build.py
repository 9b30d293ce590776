"""The database holds what the folders hold: built anew if anything has changed, whole or not at all."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec
import pytest

from mlsub.commands.db.build import build
from mlsub.commands.db.query import query_rows
from mlsub.commands.db.schema import stored
from mlsub.io import MlsubError
from mlsub.present.dataset import CRATE
from tests.commands.db.place import Place, content_of, duckdb
from tests.present.crates import check_folder
from tools.support.corpus import CORPUS
from tools.support.make_tree import Tree, make_tree, spoil


@pytest.mark.slow
def test_rows_of_two_submissions(place: Place) -> None:
    built = place.build()
    told = (built.submissions, built.written, built.older, built.aside)
    assert told == (("v1.0/ACME", "v1.1/Bolt"), True, False, None)
    assert place.select("SELECT round, organisation, systems, entries, accepted, runs FROM submissions") == [
        ("1.0", "ACME", 1, 1, 1, 5),
        ("1.1", "Bolt", 1, 1, 1, 5),
    ]
    described = "SELECT system, number_of_nodes, accelerators_count, description->>'division' FROM systems"
    assert place.select(described) == [("rack1", 1, 8, "closed")] * 2
    [first, _] = place.select(
        "SELECT entry, division, verdict, runs, compliant, converged, batch_size, unscaled_minutes, published_minutes "
        "FROM entries ORDER BY entry"
    )
    assert first == ("v1.0/ACME/rack1/resnet", "closed", "accepted", 5, 5, 5, 3200.0, 12.0, 12.0)
    runs = place.select("SELECT run, minutes, init_minutes, seed, status, converged FROM runs ORDER BY run LIMIT 2")
    assert [run[0] for run in runs] == [f"v1.0/ACME/rack1/resnet/result_{n}.txt" for n in (0, 1)]
    assert [run[1] for run in runs] == [10.0, 11.0]
    assert runs[0][2] == pytest.approx(1.0, abs=0.01)
    assert [run[3:] for run in runs] == [(1000.0, "success", True), (1001.0, "success", True)]
    for key, row in (("opt_name", ("lars", None)), ("lars_opt_momentum", ("0.9", 0.9))):
        found = place.select(f"SELECT text, number FROM hyperparameters WHERE key = '{key}' GROUP BY ALL")  # noqa: S608
        assert found == [row]
    assert place.select("SELECT count(*), max(value) FROM evaluations") == [(100, 0.75954)]
    [(start, stop)] = place.select("SELECT run_start, run_stop FROM runs WHERE run LIKE 'v1.0/%/result_0.txt'")
    assert (stop - start).total_seconds() == 600


def test_findings_hang_on_their_entry_and_run(place: Place) -> None:
    spoil(place.acme, 1)
    place.build()
    found = place.select("SELECT entry, run, kind, severity FROM findings WHERE rule = 'key.eval_accuracy.target'")
    assert found == [("v1.0/ACME/rack1/resnet", "v1.0/ACME/rack1/resnet/result_1.txt", "official", "error")]


@pytest.mark.usefixtures("settled")
def test_the_same_files_are_not_read_again_and_the_file_stays(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    first = place.build()
    before = place.database.stat()
    monkeypatch.delattr("mlsub.commands.db.build.check_apart")
    again = place.build()
    assert again == msgspec.structs.replace(first, written=False)
    assert (place.database.stat().st_ino, place.database.stat().st_mtime_ns) == (before.st_ino, before.st_mtime_ns)


@pytest.mark.slow
def test_files_that_changed_only_just_now_are_read_again(place: Place) -> None:
    place.build()
    assert place.build().written


CHANGES: dict[str, Callable[[Tree], object]] = {
    "a byte of a log": lambda tree: spoil(tree, 0),
    "a log less": lambda tree: tree.log(4).unlink(),
    "a log more": lambda tree: shutil.copy(tree.log(0), tree.log(5)),
    "another name": lambda tree: tree.log(0).rename(tree.log(9)),
    "a description": lambda tree: tree.describe(number_of_nodes="2"),
    "a script that cannot be run": lambda tree: next(tree.folder.rglob("setup.sh")).chmod(0o644),
    "an empty folder": lambda tree: (tree.entry().parent / "bert").mkdir(),
    "a stray": lambda tree: (tree.folder / "stray").write_text(""),
    "a link": lambda tree: (tree.folder / "stray").symlink_to("results"),
    "a pipe": lambda tree: os.mkfifo(tree.entry() / "result_7.txt"),
}


@pytest.mark.product
@pytest.mark.usefixtures("settled")
@pytest.mark.parametrize("change", CHANGES)
def test_whatever_changes_is_seen(change: str, place: Place) -> None:
    place.build()
    CHANGES[change](place.acme)
    assert place.build().written
    assert not place.build().written


@pytest.mark.slow
@pytest.mark.usefixtures("settled")
def test_a_submission_that_is_gone_goes(place: Place) -> None:
    place.build()
    shutil.rmtree(place.bolt.folder)
    built = place.build()
    assert (built.submissions, built.written) == (("v1.0/ACME",), True)
    for table in ("submissions", "systems", "entries"):
        assert place.select(f"SELECT DISTINCT round FROM {table}") == [("1.0",)]  # noqa: S608
    for table in ("runs", "evaluations", "hyperparameters"):
        found = place.select(f"SELECT DISTINCT entry FROM {table}")  # noqa: S608
        assert found == [("v1.0/ACME/rack1/resnet",)]


@pytest.mark.slow
def test_folders_may_be_rounds_or_organisations(place: Place) -> None:
    place.build(place.acme.folder, place.rounds / "v1.1")
    by_parts = place.content()
    place.build(place.rounds, place.acme.folder)
    assert place.content() == by_parts


@pytest.mark.slow
@pytest.mark.usefixtures("settled")
def test_a_database_of_another_version_is_built_anew(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    place.build()
    monkeypatch.setattr("mlsub.io.VERSION", "99.0")
    built = place.build()
    assert (built.written, built.older) == (True, True)
    with duckdb.connect(place.database) as connection:
        connection.execute("CREATE OR REPLACE TABLE mlsub_database AS SELECT 4::BIGINT AS format, '0.1' AS mlsub")
    with pytest.raises(MlsubError, match=r"was made by another version of mlsub\. Build it anew with mlsub db build "):
        query_rows(place.database, "SELECT 1", 1)
    built = place.build()
    assert (built.written, built.older, built.aside) == (True, True, "results.duckdb.~1~")
    assert query_rows(place.database, "SELECT 1", 1).rows == ((1,),)


@pytest.mark.slow
def test_views_and_parquet_hold_the_same(place: Place) -> None:
    parquet = place.folder / "tables"
    place.build(parquet=parquet)
    place.build(parquet=parquet)
    assert place.select("SELECT kind, entry, minutes, accelerators_count FROM results ORDER BY entry") == [
        ("mlperf", "v1.0/ACME/rack1/resnet", 12.0, 8),
        ("mlperf", "v1.1/Bolt/rack1/resnet", 12.0, 8),
    ]
    [(one, other)] = place.select("SELECT min(settings), max(settings) FROM hyperparameter_sets")
    assert one == other
    assert one.startswith("lars_epsilon=0.0 lars_opt_base_learning_rate=10.5 ")
    with duckdb.connect() as connection:
        for name, count in place.build().rows.items():
            file = str(parquet / f"{name}.parquet")
            assert connection.read_parquet(file).count("*").fetchall() == [(count,)]


def test_the_tables_are_an_ro_crate(place: Place) -> None:
    tables = place.folder / "tables"
    place.build(parquet=tables)
    entities = check_folder(tables)
    assert {file.name for file in tables.iterdir()} == {CRATE, *(f"{table.name}.parquet" for table in stored())}
    assert [one["@id"] for one in entities["./"]["hasPart"]] == [f"{table.name}.parquet" for table in stored()]
    assert entities["./"]["name"] == "Results of training benchmarks, v1.0 to v1.1"
    assert entities["./"]["temporalCoverage"] == "2021-06-30/2021-12-01"
    assert entities["#entries.verdict"]["description"].startswith("accepted or rejected by the official checker")
    first = (tables / CRATE).read_bytes()
    place.build(parquet=tables, fresh=True)
    assert (tables / CRATE).read_bytes() == first


def test_a_folder_with_other_things_is_not_replaced_by_parquet(place: Place) -> None:
    (place.folder / "tables").mkdir()
    (place.folder / "tables" / "thesis.txt").write_text("years of work")
    with pytest.raises(MlsubError, match="contains other files"):
        place.build(parquet=place.folder / "tables")
    assert (place.folder / "tables" / "thesis.txt").read_text() == "years of work"
    assert not place.database.exists()


def test_what_is_no_database_of_ours_is_left_alone_unless_forced(place: Place) -> None:
    place.database.write_text("a thesis")
    with pytest.raises(MlsubError, match="is not a database of mlsub db"):
        place.build()
    assert place.database.read_text() == "a thesis"
    place.database.unlink()
    with duckdb.connect(place.database) as connection:
        connection.execute("CREATE TABLE mine (x INTEGER)")
    with pytest.raises(MlsubError, match="add --force to replace it"):
        place.build()
    assert place.build(fresh=True).written


@pytest.mark.slow
def test_a_journal_of_somebody_else_is_not_replayed_into_the_new_file(place: Place) -> None:
    place.build()
    with duckdb.connect(place.database) as connection:
        connection.execute("CREATE TABLE mine (x INTEGER)")
        connection.execute("CREATE OR REPLACE TABLE mine (x VARCHAR)")
        with pytest.raises(MlsubError, match=r"results\.duckdb\.wal exists: "):
            place.build(fresh=True)
    assert place.build(fresh=True).written


def test_nothing_is_written_into_a_submission(place: Place) -> None:
    with pytest.raises(MlsubError, match="lies in a submission"):
        place.build(output=place.acme.folder / "results.duckdb")
    with pytest.raises(MlsubError, match="lies in a submission"):
        place.build(parquet=place.acme.folder / "results" / "tables")


def test_one_submission_in_two_places_is_an_error(place: Place) -> None:
    shutil.copytree(place.rounds, place.folder / "copy" / "rounds")
    with pytest.raises(MlsubError, match=r"^v1\.0/ACME is there twice: "):
        place.build(place.rounds, place.folder / "copy" / "rounds")


@pytest.mark.parametrize("kind", ["none", "file", "empty"])
def test_a_folder_that_holds_nothing_is_an_error(kind: str, place: Place) -> None:
    odd = place.folder / "odd"
    if kind == "file":
        odd.write_text("")
    elif kind == "empty":
        odd.mkdir()
    with pytest.raises(MlsubError, match=r"^(There is no |No round was given|There is neither )"):
        place.build(odd)


def test_hostile_values_become_cells(place: Place) -> None:
    def poison(log: Any) -> None:
        log.put("run_start", time_ms=1e300)
        log.put("seed", value="\ud800 seed")
        log.put("opt_name", value={"deep": ["\u0000", float("inf"), 10**400]})
        log.put("lars_opt_momentum", value=10**400)
        log.put("eval_accuracy", value="nan")

    place.acme.edit(poison)
    place.acme.describe(system_name="'; DROP TABLE runs; --\u0000", framework=10**30)
    (place.rounds / "v1.0" / os.fsdecode(b"\xff") / "results").mkdir(parents=True)
    place.build()
    assert place.select("SELECT system_name FROM systems WHERE organisation = 'ACME'") == [
        ("'; DROP TABLE runs; --\0",)
    ]
    assert place.select("SELECT organisation FROM submissions ORDER BY organisation") == [
        ("ACME",), ("Bolt",), ("\\udcff",)
    ]  # fmt: skip
    [(start,)] = place.select("SELECT run_start FROM runs WHERE run LIKE '%ACME%/result_0.txt'")
    assert start is None


#: Builds, and is killed right before the new database gets its name.
KILLED = """
import os, signal, sys
from mlsub.cli import main
from mlsub.commands.db import build
build.put_file = lambda *_, **__: os.kill(os.getpid(), signal.SIGKILL)
main(sys.argv[1:])
"""


@pytest.mark.slow
def test_a_killed_build_leaves_the_old_file(place: Place) -> None:
    place.build()
    before = content_of(place.database)
    for number in range(3):
        make_tree(place.rounds, "v1.0", f"Org{number}", ("unet3d",))
    command = [sys.executable, "-c", KILLED, "db", "build", str(place.rounds), "-o", str(place.database)]
    assert subprocess.run(command, stdout=subprocess.DEVNULL, check=False).returncode == -signal.SIGKILL
    assert content_of(place.database) == before
    place.build()
    assert content_of(place.database) != before
    assert place.select("SELECT count(*) FROM submissions") == [(5,)]


@pytest.mark.skipif(not CORPUS.is_dir(), reason="published results are not there")
@pytest.mark.long
def test_all_published_rounds_agree_with_the_report_and_are_read_once(tmp_path: Path) -> None:
    from mlsub.workspace import Context, check_paths

    output = tmp_path / "results.duckdb"
    built = build((CORPUS,), output, Context())
    assert (len(built.submissions), built.rows["entries"], built.rows["runs"]) == (55, 242, 1919)
    assert not build((CORPUS,), output, Context()).written
    reports = check_paths([CORPUS / "v1.0", CORPUS / "v2.0", CORPUS / "v4.0"], Context())
    expected = sorted(
        (f"v{report.round}/{entry.path.replace('/results/', '/')}", entry.official.value, entry.score.published)
        for report in reports
        for entry in report.entries
    )
    with duckdb.connect(output, read_only=True) as connection:
        found = connection.execute(
            "SELECT entry, verdict, published_minutes FROM entries WHERE round IN ('1.0', '2.0', '4.0') ORDER BY entry"
        ).fetchall()
    assert [tuple(row) for row in found] == expected


@pytest.mark.slow
@pytest.mark.usefixtures("settled")
def test_what_somebody_added_to_a_database_is_never_lost(place: Place) -> None:
    place.build()
    with duckdb.connect(place.database) as connection:
        connection.execute("CREATE TABLE mine AS SELECT 42 AS x")
    assert not place.build().written
    assert place.select("SELECT x FROM mine") == [(42,)]
    make_tree(place.rounds, "v1.0", "Third")
    rebuilt = place.build()
    assert (rebuilt.written, rebuilt.aside) == (True, "results.duckdb.~1~")
    with duckdb.connect(place.folder / "results.duckdb.~1~", read_only=True) as connection:
        assert connection.execute("SELECT x FROM mine").fetchall() == [(42,)]
    assert (place.build(fresh=True).written, place.build(fresh=True).aside) == (True, None)
    assert sorted(path.name for path in place.folder.glob("*~")) == ["results.duckdb.~1~"]
