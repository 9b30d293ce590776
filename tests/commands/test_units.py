"""What every command shows of an entry whose logs count something else than the reference."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from tools.support.make_tree import RUNS, Log, Tree, make_tree
from tools.support.runner import run

#: What the logs count, and what a page must not call it.
EPOCHS = 1.375
NONSENSE = re.compile(r"1\.375\d* (?:samples|epochs to)|100\.00 % below|\b100 %")
SAID = "not comparable: the logs count epochs, the reference samples"


@pytest.fixture
def tree(tmp_path: Path) -> Tree:
    """BERT of v1.1 that counts epochs, and too few samples to pass by these."""
    made = make_tree(tmp_path, "v1.1", benchmarks=("bert",))

    def count(log: Log) -> None:
        log.put("eval_accuracy", metadata={"epoch_num": EPOCHS})
        log.put("train_samples", value=2_000_000)

    made.edit(count, *range(RUNS["bert"]), benchmark="bert")
    return made


WORDS = ("check {0}", "check {0} --verbose", "score {0}", "rcp margin {0}", "check {0} --format markdown")


@pytest.mark.parametrize("words", WORDS)
def test_a_count_of_epochs_is_not_shown_as_one_of_samples(words: str, tree: Tree) -> None:
    outcome = run(*words.format(tree.folder).split())
    said = " ".join((outcome.stdout + outcome.stderr).split())
    assert SAID in said
    assert NONSENSE.search(said) is None


def test_the_json_document_has_no_mean_and_says_what_the_logs_count(tree: Tree) -> None:
    (report,) = json.loads(run("check", tree.folder, "--format", "json").stdout)["reports"]
    rcp = report["entries"][0]["rcp"]
    assert (rcp["verdict"], rcp["counted"], rcp["unit"], rcp["logs_unit"]) == ("fail", "epoch_num", "samples", "epochs")
    assert (rcp["mean"], rcp["points"]) == (None, [EPOCHS] * 10)
    assert (rcp["also"]["verdict"], rcp["also"]["mean"], rcp["also"]["logs_unit"]) == ("fail", 2_000_000, None)


def test_a_results_table_has_no_convergence_and_says_what_the_logs_count(tree: Tree) -> None:
    head, row = run("score", tree.folder, "--format", "csv").stdout.splitlines()
    found = dict(zip(head.split(","), row.split(","), strict=True))
    assert (found["rcp_mean"], found["rcp_verdict"], found["rcp_logs_unit"]) == ("", "fail", "epochs")


@pytest.mark.slow
def test_the_database_has_no_mean_and_says_what_the_logs_count(tree: Tree, tmp_path: Path) -> None:
    pytest.importorskip("duckdb", reason="needs duckdb: pip install '.[db]'")
    database = tmp_path / "results.duckdb"
    assert run("db", "build", tree.folder, "-o", database).status == 0
    asked = "SELECT rcp_mean, rcp_logs_unit, rcp_also_mean, rcp_also_logs_unit FROM entries"
    answer = json.loads(run("db", "query", asked, "--db", database, "--format", "json").stdout)
    assert answer["rows"] == [[None, "epochs", 2_000_000.0, None]]


def test_the_pages_of_a_result_do_not_compare_what_cannot_be_compared(tree: Tree, tmp_path: Path) -> None:
    site = tmp_path / "site"
    assert run("site", tree.folder, "-o", site).status in (0, 1)
    (page,) = (site / "results").glob("*.html")
    text = " ".join(re.sub(r"<[^>]*>", " ", page.read_text()).split())
    assert SAID.capitalize() in text or SAID in text
    assert "Quality over epochs" in text
    assert NONSENSE.search(text) is None
    for other in site.rglob("*.html"):
        assert NONSENSE.search(other.read_text()) is None, other


def test_runs_that_are_compared_have_the_unit_of_the_logs(tree: Tree, tmp_path: Path) -> None:
    other = make_tree(tmp_path / "other", "v1.1", "Bolt", benchmarks=("bert",))
    folders = (one.folder / "results" / "rack1" / "bert" for one in (tree, other))
    outcome = run("compare", *folders, "--format", "json")
    sides = json.loads(outcome.stdout)["pairs"][0]
    assert [sides[name]["convergence"]["unit"] for name in ("old", "new")] == ["epochs", "samples"]


def test_the_progress_of_an_open_result_is_named_by_what_it_counts(tmp_path: Path) -> None:
    """Nothing is compared there, but one global batch is more samples than the logs count."""
    made = make_tree(tmp_path, "v1.1", benchmarks=("bert",), division="open")
    made.edit(lambda log: log.put("eval_accuracy", metadata={"epoch_num": 1}), *range(RUNS["bert"]), benchmark="bert")
    assert run("site", made.folder, "-o", tmp_path / "site").status in (0, 1)
    (page,) = (tmp_path / "site" / "results").glob("*.html")
    text = page.read_text()
    assert "Quality over epochs" in text and "Quality over samples" not in text
