"""What a folder above is called never changes what is tested of the logs below it."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from tools.support.make_tree import make_tree, spoil
from tools.support.runner import check


@pytest.mark.parametrize("bad", [0, 1, 2])
@pytest.mark.parametrize("inside", ["{}/rack1/resnet", "{}/resnet", "{}"])
def test_loose_logs_are_tested_alike_in_results_and_elsewhere(inside: str, bad: int, tmp_path: Path) -> None:
    tree = make_tree(tmp_path / "source")
    spoil(tree, *range(bad))
    answers = []
    for name in ("runs", "results"):
        folder = tmp_path / inside.format(name)
        shutil.copytree(tree.entry(), folder)
        outcome = check(folder, "--round", "1.0")
        [entry] = outcome.report["entries"]
        assert entry["division"] == "closed"
        facts = {key: entry[key] for key in ("official", "runs", "compliant", "converged", "rcp", "minutes")}
        answers.append((outcome.status, outcome.official, facts, outcome.rules()))
    assert answers[0] == answers[1]
    assert answers[0][0] == int(bad > 1)


def test_below_an_organisation_they_are_a_part_of_it(tmp_path: Path) -> None:
    tree = make_tree(tmp_path)
    tree.description().unlink()
    outcome = check(tree.entry())
    assert (outcome.status, outcome.errors()) == (1, {"tree.system-description-missing"})
    assert outcome.report["entries"][0]["division"] == "closed"


def test_a_folder_of_figures_beside_the_logs_hides_none(tmp_path: Path) -> None:
    tree = make_tree(tmp_path / "source")
    folder = tmp_path / "runs" / "resnet"
    shutil.copytree(tree.entry(), folder)
    (folder / "results").mkdir()
    assert len(check(folder, "--round", "1.0").report["logs"]) == 5
