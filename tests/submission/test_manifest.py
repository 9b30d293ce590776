"""Which round a package is by its manifest, where no folder above it is named like a round."""

from __future__ import annotations

from pathlib import Path

import pytest

from mlsub.submission.find import find
from tools.support.make_tree import ORG, make_tree
from tools.support.runner import check, run

TEXT = 'organisation: {}\nround: "{}"\nsystems: {{}}\nentries: []\n'


def written(file: Path, organisation: str = ORG, round_: str = "1.0", more: str = "") -> Path:
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(TEXT.format(organisation, round_) + more)
    return file


@pytest.mark.parametrize(
    "place",
    [
        f"work/{ORG}/submission.yaml",
        "work/submission.yaml",
        "work/submission.yml",
        f"work/{ORG}.yaml",
        f"work/{ORG.lower()}.yaml",
        "submission.yaml",
    ],
)
def test_a_manifest_in_or_near_the_package_says_its_round(place: str, tmp_path: Path) -> None:
    tree = make_tree(tmp_path, "work")
    written(tmp_path / place)
    outcome = check(tree.folder)
    assert (outcome.status, outcome.report["round"], outcome.report["round_from"]) == (0, "1.0", Path(place).name)
    assert f"(read off the manifest {Path(place).name})" in run("check", tree.folder).stdout


def test_it_is_found_from_everything_in_the_package_and_from_the_folder_above(tmp_path: Path) -> None:
    tree = make_tree(tmp_path, "work")
    written(tmp_path / "work/submission.yaml")
    paths = [tree.folder.parent, tree.entry(), tree.log()]
    assert [check(path).status for path in paths] == [0, 0, 0]
    assert run("system", "check", tree.description()).stdout.startswith("training v1.0 (read off the manifest")


def test_it_says_the_usage(tmp_path: Path) -> None:
    written(tmp_path / "submission.yaml", round_="3.0", more="usage: hpc\n")
    inferred = find(make_tree(tmp_path, "work").folder)
    assert (inferred.usage, inferred.round) == ("hpc", "3.0")


def test_a_folder_named_like_a_round_comes_first(tmp_path: Path) -> None:
    tree = make_tree(tmp_path, "v1.0/mine")
    written(tmp_path / "v1.0/mine/submission.yaml", round_="1.1")
    assert check(tree.folder).report["round"] == "1.0"


def test_loose_runs_beside_a_manifest_are_of_its_round(tmp_path: Path) -> None:
    tree = make_tree(tmp_path, "elsewhere")
    written(tmp_path / "submission.yaml")
    runs = tmp_path / "runs/rack1/resnet"
    runs.parent.mkdir(parents=True)
    tree.entry().rename(runs)
    assert check(runs).report["round"] == "1.0"


@pytest.mark.parametrize(
    "text",
    [
        TEXT.format("OTHER", "1.0"),
        TEXT.format(ORG, "9.9"),
        TEXT.format(ORG, "1.0").replace("entries: []\n", ""),
        "- a list\n",
        "{{{",
        "a: &a [*a]\n",
        "\0\xff",
        "",
        "organisation: {a: b}\nround: [1.0]\nentries: []\n",
        f"x:\n  organisation: {ORG}\n  round: 1.0\n  systems: {{}}\n  entries: []\n",
    ],
)
def test_what_is_no_manifest_of_the_package_says_nothing(text: str, tmp_path: Path) -> None:
    tree = make_tree(tmp_path, "work")
    (tmp_path / "work/submission.yaml").write_text(text)
    assert find(tree.folder).round == ""


@pytest.mark.parametrize(
    "head",
    [
        "round: 1.0\norganisation: 'ACME'  # us\n",
        '# a comment\norganisation: "ACME" # us\nround: "v1.0"\nusage: training   # or hpc\n',
        "organisation: ACME # us\r\nround: 1.0.0 #\r\n",
    ],
)
def test_it_is_read_however_it_is_written(head: str, tmp_path: Path) -> None:
    tree = make_tree(tmp_path, "work")
    (tmp_path / "work/submission.yaml").write_bytes(f"{head}systems: {{}}\nentries: []\n".encode())
    assert check(tree.folder).report["round"] == "1.0"


def test_neither_a_pipe_nor_a_manifest_that_changes_is_a_trap(tmp_path: Path) -> None:
    import os

    tree = make_tree(tmp_path, "work")
    os.mkfifo(tree.folder / "submission.yaml")
    file = written(tmp_path / "work/submission.yaml")
    assert check(tree.folder).report["round"] == "1.0"
    written(file, round_="1.1")
    os.utime(file, ns=(1, 1))
    assert check(tree.folder).report["round"] == "1.1"


def test_without_either_the_finding_names_both(tmp_path: Path) -> None:
    [found] = check(make_tree(tmp_path, "work").folder).of("check.no-round")
    assert "training_vX.Y" in found["actual"] and "submission.yaml" in found["actual"]
