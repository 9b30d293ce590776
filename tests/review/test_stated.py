"""What logs and descriptions state of organisation, availability and persons."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from mlsub.io.data import load_yaml
from mlsub.review.run import audit_run
from tests.review.folding import events, fold
from tools.support.make_tree import Log, make_tree
from tools.support.runner import check

TABLES = load_yaml(Path(__file__).with_name("stated.yaml"))


@pytest.mark.parametrize(
    ("submitter", "expected"),
    [
        ("ACME_1", [("cross.submitter", '"ACME_1"', "ACME")]),
        ("Umbrella", [("cross.submitter", '"Umbrella"', "ACME")]),
        ("acme", []),
        ("ACME Research", []),
    ],
)
def test_the_submitter_is_the_folder(submitter: str, expected: list[tuple[str, str, str]], tmp_path: Path) -> None:
    tree = make_tree(tmp_path, benchmarks=["resnet", "bert"])
    tree.describe(submitter=submitter)
    found = [f for f in check(tree.folder).findings if f["rule"] in ("cross.submitter", "cross.org")]
    assert [(f["rule"], f["actual"], f["expected"]) for f in found] == expected
    assert all(f["path"].endswith("systems/rack1.json") for f in found)


@pytest.mark.parametrize(("logged", "stated", "found"), TABLES["availability"])
def test_the_availability_of_logs_is_that_of_the_description(
    logged: str, stated: str, found: bool, tmp_path: Path
) -> None:
    tree = make_tree(tmp_path)
    tree.describe(status=stated)
    tree.edit(lambda log: log.put("submission_status", value=logged), 2)
    told = [f for f in check(tree.folder).of("cross.status") if f["path"].endswith("result_2.txt")]
    assert [(f["actual"], f["expected"]) for f in told] == [(f'"{logged}"', stated)] * found


@pytest.mark.parametrize(("round_name", "places"), [("0.6", []), ("0.7", ["submission_poc_email in line 1"])])
def test_the_round_that_demands_a_contact_is_not_asked_about_it(round_name: str, places: list[str]) -> None:
    run = fold(events([("submission_poc_email", "a.person@acme.io", {})]))
    found = [one for one in audit_run(run, "log", "training", round_name) if one.rule == "run.contact"]
    assert [one.actual for one in found] == places


@pytest.mark.parametrize(("key", "value", "found"), TABLES["persons"])
def test_a_person_in_a_log_is_named_by_key_and_never_shown(key: str, value: Any, found: bool, tmp_path: Path) -> None:
    tree = make_tree(tmp_path)

    def add(log: Log) -> None:
        log.lines.insert(log.at("init_stop"), {**log.records("submission_org")[0], "key": key, "value": value})

    tree.edit(add, 2)
    told = check(tree.folder).of("run.contact")
    assert [f["path"].rpartition("/")[2] for f in told] == ["result_2.txt"] * found
    assert all(f["line"] and f["actual"] == f"{key} in line {f['line']}" for f in told)
    assert not any("erson" in str(f["actual"]) for f in told if key == "config")
