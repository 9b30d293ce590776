"""Folders of benchmarks without logs: counted once, with the report, and named wherever the best result is shown."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import mlsub
from mlsub.commands.db.build import BuiltDatabase, build
from mlsub.submission.report import EmptyFolder
from mlsub.workspace import Context
from tests.commands.site.sites import Html
from tools.support.make_tree import SYSTEM, Tree, make_tree
from tools.support.runner import run

WORDS = "1 benchmark folder has no result logs here (results/rack2/resnet): the best of resnet may be missing"


def _partial(folder: Path, round_: str = "v1.0") -> Tree:
    """Results of ResNet on two systems and of BERT on one; those of ResNet on the second have not been downloaded."""
    tree = make_tree(folder, round_, benchmarks=["resnet", "bert"])
    tree.add_system("rack2")
    tree.add_entry("resnet", "rack2")
    for log in tree.entry("resnet", "rack2").iterdir():
        log.unlink()
    return tree


@pytest.mark.parametrize("round_", ["v0.7", "v1.0", "v1.1"])
def test_a_report_has_them_whether_the_checker_of_the_round_skips_them_or_not(tmp_path: Path, round_: str) -> None:
    tree = _partial(tmp_path, round_)
    missing = EmptyFolder(path="results/rack2/resnet", organisation="ACME", system="rack2", benchmark="resnet")
    assert mlsub.check(tree.folder).without_logs == (missing,)
    assert mlsub.check(tree.folder / "results" / "rack2").without_logs == (missing,)
    assert mlsub.check(tree.entry("bert")).without_logs == ()


def test_a_report_on_several_organisations_has_those_of_all(tmp_path: Path) -> None:
    _partial(tmp_path)
    other = make_tree(tmp_path, "v1.0", "Bolt")
    for log in other.entry().iterdir():
        log.unlink()
    found = mlsub.check(tmp_path / "v1.0").without_logs
    assert [one.path for one in found] == ["ACME/results/rack2/resnet", f"Bolt/results/{SYSTEM}/resnet"]


def test_a_complete_package_has_none(tmp_path: Path) -> None:
    tree = make_tree(tmp_path)
    assert mlsub.check(tree.folder).without_logs == ()
    assert "without" not in run("score", tree.folder).stdout


def test_score_names_them(tmp_path: Path) -> None:
    tree = _partial(tmp_path)
    assert WORDS in " ".join(run("score", tree.folder).stdout.split())
    assert WORDS in run("score", tree.folder, "--format", "csv").stderr
    [report] = json.loads(run("score", tree.folder, "--format", "json").stdout)["reports"]
    assert [one["path"] for one in report["without_logs"]] == ["results/rack2/resnet"]


def test_many_are_counted(tmp_path: Path) -> None:
    tree = make_tree(tmp_path)
    for name in "abcdefg":
        (tree.folder / "results" / name / "bert").mkdir(parents=True)
    said = " ".join(run("score", tree.folder).stdout.split())
    assert "7 benchmark folders have no result logs here (results/a/bert, " in said
    assert "results/e/bert and 2 more): the best of bert may be missing" in said


@pytest.mark.slow
def test_site_marks_the_records_of_that_benchmark_and_round_alone(tmp_path: Path) -> None:
    rounds, site = tmp_path / "rounds", tmp_path / "site"
    _partial(rounds)
    later = make_tree(rounds, "v1.1", "Bolt", benchmarks=["resnet"])
    later.edit(lambda log: log.last(minutes=90))
    said = " ".join(run("site", rounds, "-o", site).stdout.split())
    assert said.count("1 benchmark folder has no result logs here (v1.0/ACME/results/rack2/resnet): ") == 1
    mark = "† 1 folder of ResNet-50 in v1.0 has no logs here."
    home = _text(site / "index.html")
    assert home.count(mark) == 1
    assert home.count("†") == 4, "and the cell of that benchmark and round in each view"
    assert mark in _text(site / "benchmarks" / "resnet.html")
    assert mark not in _text(site / "benchmarks" / "bert.html")
    of_round = _text(site / "rounds" / "training_1.0.html")
    assert of_round.count("1 folder of this round has no logs here: ") == of_round.count("no logs") == 1
    assert "ACME/results/rack2/resnet" in of_round
    assert "no logs" not in _text(site / "rounds" / "training_1.1.html")


def _text(page: Path) -> str:
    return " ".join(Html(page.read_bytes()).text)


def _build(folder: Path, output: Path) -> BuiltDatabase:
    return build((folder,), output, Context(jobs=1))


@pytest.mark.slow
def test_db_names_them_and_results_count_them(tmp_path: Path) -> None:
    duckdb = pytest.importorskip("duckdb")
    pytest.importorskip("pyarrow")
    tree, output = _partial(tmp_path / "rounds"), tmp_path / "results.duckdb"
    place = "v1.0/ACME/results/rack2/resnet"
    assert _build(tmp_path / "rounds", output).without_logs == (place,)
    question = "SELECT benchmark_name, without_logs FROM results ORDER BY 1"
    with duckdb.connect(output, read_only=True) as connection:
        assert connection.execute(question).fetchall() == [("bert", 0), ("resnet", 1)]
    said = " ".join(run("db", "build", tmp_path / "rounds", "-o", output).stdout.split())
    assert f"1 benchmark folder has no result logs here ({place}): " in said
    tree.entry("resnet", "rack2").rmdir()
    assert _build(tmp_path / "rounds", output).without_logs == ()
    with duckdb.connect(output, read_only=True) as connection:
        assert connection.execute(question).fetchall() == [("bert", 0), ("resnet", 0)]
