"""Benchmarks and organisations have the same name in every round, and rounds that do not go together are named."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from tests.commands.compare.asked import packages, trainings
from tests.judge.test_package_rounds import make_round
from tools.support.runner import run


def submission(folder: Path, round_id: str, *benchmarks: str, organisation: str = "ACME") -> Path:
    """An organisation with one system and some benchmarks."""
    first, *others = benchmarks
    tree = make_round(folder / organisation, round_id, first)
    for number, benchmark in enumerate(others):
        other = make_round(folder / f"{organisation}-{number}", round_id, benchmark)
        (other / "results" / "rack1" / benchmark).rename(tree / "results" / "rack1" / benchmark)
    there = folder / f"v{round_id}" / organisation
    there.parent.mkdir(exist_ok=True)
    tree.rename(there)
    shutil.rmtree(folder / organisation)
    return there


def test_a_benchmark_is_the_same_whatever_its_folder_is_called(tmp_path: Path) -> None:
    old = submission(tmp_path, "4.1", "ssd", "bert")
    new = submission(tmp_path, "5.0", "retinanet", "bert")
    found = trainings(old, new)
    assert [(pair["old"]["benchmark"], pair["new"]["benchmark"]) for pair in found["pairs"]] == [
        ("bert", "bert"),
        ("ssd", "retinanet"),
    ]
    last = found["pairs"][-1]
    assert [(last[side]["benchmark_name"], last[side]["benchmark_title"]) for side in ("old", "new")] == [
        ("retinanet", "RetinaNet")
    ] * 2
    assert (last["compatible"], last["warning"], last["undivided"]) == ("yes", None, None)
    found = packages(old, new)
    assert [(one["benchmark"], one["change"] in ("changed", "same")) for one in found["entries"]] == [
        ("bert", True),
        ("retinanet", True),
    ]


def test_a_folder_that_held_another_benchmark_is_another_entry(tmp_path: Path) -> None:
    old = submission(tmp_path, "1.1", "ssd", "resnet")
    new = submission(tmp_path, "2.0", "ssd", "resnet")
    found = trainings(old, new)
    assert [pair["old"]["benchmark"] for pair in found["pairs"]] == ["resnet"]
    assert (found["only_old"], found["only_new"]) == (["ACME/rack1/ssd"], ["ACME/rack1/ssd"])
    found = packages(old, new)
    assert [(one["benchmark"], one["change"]) for one in found["entries"] if "ssd" in one["benchmark"]] == [
        ("ssd (RetinaNet)", "added"),
        ("ssd (SSD)", "removed"),
    ]
    [pair] = trainings(old, new, "--pair", "rack1/ssd=rack1/ssd")["pairs"][:1]
    assert (pair["compatible"], pair["undivided"]) == ("no", "they train different benchmarks")
    assert pair["warning"] == "SSD (training v1.1) and RetinaNet (training v2.0) are different benchmarks"


def test_rounds_that_are_not_compatible_are_compared_with_a_warning(tmp_path: Path) -> None:
    old, new = submission(tmp_path, "1.0", "rnnt"), submission(tmp_path, "1.1", "rnnt")
    warning = "RNN-T of v1.0 and of v1.1 are not compatible: MLCommons lists v1.1 to v3.1 as compatible, without v1.0"
    [pair] = trainings(old, new)["pairs"]
    assert (pair["compatible"], pair["warning"]) == ("no", warning)
    assert "Warning: RNN-T of v1.0" in run("compare", "--trainings", old, new).stdout
    [entry] = packages(old, new)["entries"]
    assert entry["warning"] == warning
    assert "Warning: RNN-T of v1.0" in run("compare", old, new).stdout


@pytest.mark.parametrize(("folder", "name"), [("krai", "Krai"), ("QCT", "Quanta Cloud Technology")])
def test_an_organisation_is_the_same_whatever_its_folder_is_called(folder: str, name: str, tmp_path: Path) -> None:
    other = {"krai": "Krai", "QCT": "Quanta_Cloud_Technology"}[folder]
    for one, round_id in ((other, "4.0"), (folder, "4.1")):
        submission(tmp_path, round_id, "bert", organisation="ACME")
        submission(tmp_path, round_id, "bert", organisation=one)
    rounds = (tmp_path / "v4.0", tmp_path / "v4.1")
    found = packages(*rounds)
    assert [(one["organisation"], one["change"]) for one in found["entries"]] == [("ACME", "same"), (folder, "same")]
    pairs = trainings(*rounds)["pairs"]
    found = [
        (pair["old"]["organisation"], pair["new"]["organisation"], pair["new"]["organisation_name"]) for pair in pairs
    ]
    assert found == [("ACME", "ACME", "ACME"), (other, folder, name)]


def test_the_division_counts_by_what_it_means(tmp_path: Path) -> None:
    old, new = submission(tmp_path, "1.0", "bert"), submission(tmp_path, "1.1", "bert")
    for tree in (old, new):
        shutil.copytree(tree / "results" / "rack1", tree / "results" / "rack2")
        description = tree / "systems" / "rack1.json"
        text = description.read_text()
        (tree / "systems" / "rack2.json").write_text(text.replace('"closed"', '"open"'))
        if tree is new:
            description.write_text(text.replace('"closed"', '"close"'))
    pairs = trainings(old, new)["pairs"]
    assert [(pair["old"]["system"], pair["new"]["system"], pair["new"]["division_name"]) for pair in pairs] == [
        ("rack1", "rack1", "closed"),
        ("rack2", "rack2", "open"),
    ]
    assert [pair["new"]["division"] for pair in pairs] == ["close", "open"]


@pytest.mark.parametrize(
    ("was", "round_id", "folder", "message"),
    [
        ("1.1", "2.0", "ssd", "ssd is another benchmark in MLPerf Training v2.0"),
        ("4.1", "5.0", "ssd", "MLPerf Training v5.0 calls the benchmark retinanet"),
        ("4.0", "5.0", "unet3d", "unet3d is not a benchmark of MLPerf Training v5.0"),
    ],
)
def test_an_old_result_belongs_to_its_benchmark(
    was: str, round_id: str, folder: str, message: str, tmp_path: Path
) -> None:
    tree = submission(tmp_path, was, folder)
    found = trainings(tree, "--resubmit", "--round", round_id)
    assert message in [one["message"] for one in found["findings"] if one["rule"] == "resubmit.benchmark"]
