"""The layout of a tree: what is missing, misnamed, misplaced or no file at all."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import pytest

from tests.commands.runner import check
from tests.make_tree import SYSTEM, Tree, make_log, make_tree, spoil


class Case(NamedTuple):
    """One change to an accepted organisation, and what must come of it."""

    change: Callable[[Tree], object]
    status: int
    official: str
    errors: set[str]
    round: str = "1.0"


def _loop(path: Path) -> None:
    path.symlink_to(path.name)


def _replaced_by(path: Path, make: Callable[[Path], object]) -> None:
    if path.is_dir():
        shutil.rmtree(path)
    else:
        path.unlink()
    make(path)


def _emptied(folder: Path) -> None:
    for child in folder.iterdir():
        child.unlink()


def _misnamed_beside(tree: Tree, name: str) -> None:
    tree.add_entry().rename(tree.entry(name))
    tree.add_entry()


def _without_results(tree: Tree) -> None:
    shutil.rmtree(tree.folder / "results")


ACCEPTED: tuple[int, str, set[str]] = (0, "accepted", set())
CASES = {
    "untouched": Case(lambda t: None, *ACCEPTED),
    "untouched, 1.1": Case(lambda t: None, *ACCEPTED, round="1.1"),
    # Missing or misnamed parts beside something that was checked.
    "no systems folder": Case(lambda t: shutil.rmtree(t.folder / "systems"), 1, "rejected", {"tree.systems-missing"}),
    "systems is a file": Case(
        lambda t: _replaced_by(t.folder / "systems", Path.touch), 1, "rejected", {"tree.systems-missing"}
    ),
    "systems is a link in a circle": Case(
        lambda t: _replaced_by(t.folder / "systems", _loop), 1, "rejected", {"tree.systems-missing"}
    ),
    "no system description": Case(
        lambda t: t.description().unlink(), 1, "rejected", {"tree.system-description-missing"}
    ),
    "description of another case": Case(
        lambda t: t.description().rename(t.description(SYSTEM.upper())),
        1,
        "rejected",
        {"tree.system-description-missing"},
    ),
    "one of two systems undescribed": Case(
        lambda t: t.add_entry("bert", "rack2"), 1, "rejected", {"tree.system-description-missing"}
    ),
    "description without results": Case(lambda t: t.add_system("rack2"), *ACCEPTED),
    "bad description without results": Case(
        lambda t: t.add_system("rack2", cooling=None), 1, "rejected", {"system.field-missing"}
    ),
    "misnamed benchmark beside a good one": Case(
        lambda t: _misnamed_beside(t, "resnet50"), 1, "rejected", {"tree.unknown-benchmark"}
    ),
    "benchmark in capitals beside a good one": Case(
        lambda t: _misnamed_beside(t, "ResNet"), 1, "rejected", {"tree.unknown-benchmark"}
    ),
    "empty benchmark folder, 1.0": Case(lambda t: t.entry("bert").mkdir(), *ACCEPTED),
    "empty benchmark folder, 1.1": Case(
        lambda t: t.entry("bert").mkdir(), 1, "rejected", {"entry.run-count"}, round="1.1"
    ),
    "benchmark folder with misnamed results, 1.0": Case(lambda t: t.add_entry("bert", named="run_{}.txt"), *ACCEPTED),
    "benchmark folder with misnamed results, 1.1": Case(
        lambda t: t.add_entry("bert", named="run_{}.txt"), 1, "rejected", {"entry.run-count"}, round="1.1"
    ),
    "empty system folder": Case(lambda t: (t.folder / "results" / "rack2").mkdir(), *ACCEPTED),
    # Strays: the official checker warns of files, and nobody looks deeper.
    "strays in the benchmark folder": Case(lambda t: (t.entry() / "notes.md").touch(), *ACCEPTED),
    "a stray folder in the benchmark folder": Case(lambda t: (t.entry() / "plots").mkdir(), *ACCEPTED),
    "hidden files everywhere": Case(
        lambda t: [(p / ".DS_Store").touch() for p in (t.folder, t.entry(), t.entry().parent, t.folder / "systems")],
        *ACCEPTED,
    ),
    "files between the folders": Case(
        lambda t: [(p / "README.md").touch() for p in (t.folder, t.entry().parent, t.folder / "results")], *ACCEPTED
    ),
    # Nothing checked is never a success.
    "misnamed benchmark alone": Case(
        lambda t: t.entry().rename(t.entry("resnet50")), 2, "not-checked", {"tree.unknown-benchmark"}
    ),
    "no results folder": Case(_without_results, 2, "not-checked", {"tree.results-missing"}),
    "results is a file": Case(
        lambda t: _replaced_by(t.folder / "results", Path.touch),
        2,
        "not-checked",
        {"tree.results-missing"},
    ),
    "empty results folder": Case(
        lambda t: _replaced_by(t.folder / "results", Path.mkdir), 2, "not-checked", {"tree.no-logs"}
    ),
    "empty systems and results": Case(
        lambda t: [_replaced_by(t.folder / name, Path.mkdir) for name in ("results", "systems")],
        2,
        "not-checked",
        {"tree.no-logs"},
    ),
    "empty system folder alone": Case(
        lambda t: _replaced_by(t.entry().parent, Path.mkdir), 2, "not-checked", {"tree.no-logs"}
    ),
    "empty benchmark folder alone, 1.0": Case(lambda t: _emptied(t.entry()), 2, "not-checked", {"tree.no-logs"}),
    "empty benchmark folder alone, 1.1": Case(
        lambda t: _emptied(t.entry()), 2, "not-checked", {"entry.run-count"}, round="1.1"
    ),
    "empty folder": Case(lambda t: _replaced_by(t.folder, Path.mkdir), 2, "not-checked", {"check.no-logs"}),
    # Links that lead nowhere or in a circle.
    "a result is a link in a circle": Case(
        lambda t: _replaced_by(t.log(), _loop), 1, "rejected", {"log.unreadable"}
    ),
    "a result is a link to nowhere": Case(
        lambda t: _replaced_by(t.log(), lambda p: p.symlink_to("gone")),
        1,
        "rejected",
        {"log.unreadable"},
    ),
    "a result is a folder": Case(
        lambda t: _replaced_by(t.log(), Path.mkdir), 1, "rejected", {"log.unreadable"}
    ),
    "a result is a pipe": Case(
        lambda t: _replaced_by(t.log(), os.mkfifo), 1, "rejected", {"log.unreadable"}
    ),
    "a system folder is a link in a circle": Case(
        lambda t: _loop(t.folder / "results" / "rack2"), 1, "rejected", {"tree.unreadable"}
    ),
    "a system folder is a link to nowhere": Case(
        lambda t: (t.folder / "results" / "rack2").symlink_to("gone"), 1, "rejected", {"tree.unreadable"}
    ),
    "a benchmark folder is a link in a circle": Case(
        lambda t: _loop(t.entry("bert")), 1, "rejected", {"tree.unreadable"}
    ),
    "a system folder leads back up": Case(
        lambda t: (t.folder / "results" / "rack2").symlink_to(".."), 1, "rejected", {"tree.unknown-benchmark"}
    ),
    "a system folder is a good link": Case(
        lambda t: (t.entry().parent.rename(t.folder / "kept"), t.entry().parent.symlink_to("../kept")), *ACCEPTED
    ),
    # Two defects are two findings.
    "no systems folder and too few results": Case(
        lambda t: (shutil.rmtree(t.folder / "systems"), t.log(4).unlink()),
        1,
        "rejected",
        {"tree.systems-missing", "entry.run-count"},
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", CASES)
def test_a_tree_gets_the_exit_status_and_the_rules_of_its_defect(name: str, tmp_path: Path) -> None:
    case = CASES[name]
    tree = make_tree(tmp_path, f"v{case.round}")
    case.change(tree)
    outcome = check(tree.folder)
    assert (outcome.status, outcome.official) == (case.status, case.official)
    assert outcome.errors() == case.errors


# Whole folders of organisations: what is beside the good one, exit status, official errors.
BESIDE: dict[str, tuple[Callable[[Path], object], int, set[str]]] = {
    "nothing else": (lambda above: None, 0, set()),
    "another good one": (lambda above: make_tree(above.parent, org="Zeta"), 0, set()),
    "a good one in Open": (lambda above: make_tree(above.parent, org="Zeta", division="open"), 0, set()),
    "a bad one": (
        lambda above: spoil(make_tree(above.parent, org="Zeta"), 0, 1),
        1,
        {"entry.noncompliant-runs", "key.eval_accuracy.target"},
    ),
    "one without anything": (
        lambda above: (above / "Zeta").mkdir(),
        1,
        {"tree.results-missing", "tree.systems-missing"},
    ),
    "one without results": (
        lambda above: Tree(above / "Zeta").add_system(),
        1,
        {"tree.results-missing"},
    ),
    "one with only an unknown benchmark": (
        lambda above: _only_unknown(make_tree(above.parent, org="Zeta")),
        1,
        {"tree.unknown-benchmark"},
    ),
    "files and hidden folders": (lambda above: ((above / "README.md").touch(), (above / ".git").mkdir()), 0, set()),
    "a link to nowhere": (lambda above: (above / "Zeta").symlink_to("gone"), 1, {"tree.unreadable"}),
    "a link in a circle": (lambda above: _loop(above / "Zeta"), 1, {"tree.unreadable"}),
}


def _only_unknown(tree: Tree) -> None:
    tree.entry().rename(tree.entry("resnet50"))


@pytest.mark.parametrize("name", BESIDE)
def test_a_folder_of_organisations_is_accepted_if_each_is(name: str, tmp_path: Path) -> None:
    add, status, errors = BESIDE[name]
    above = make_tree(tmp_path).folder.parent
    add(above)
    outcome = check(above)
    assert outcome.status == status
    assert outcome.official == ("accepted" if status == 0 else "rejected")
    assert outcome.errors() == errors


def test_organisations_without_any_log_are_not_checked(tmp_path: Path) -> None:
    above = tmp_path / "v1.0"
    Tree(above / "ACME").add_system()
    Tree(above / "Zeta").add_system()
    assert check(above).status == 2


def test_one_rejected_entry_rejects_the_organisation_and_no_other_entry(tmp_path: Path) -> None:
    tree = make_tree(tmp_path, benchmarks=["resnet", "bert"])
    tree.log(3, "bert").unlink()
    document = check(tree.folder).report
    assert document["official"] == "rejected"
    assert {entry["benchmark"]: entry["official"] for entry in document["entries"]} == {
        "resnet": "accepted",
        "bert": "rejected",
    }


@pytest.mark.parametrize(
    ("named", "rule", "hint"),
    [
        ("rack-1", "tree.system-description-missing", "systems/rack-1.json"),
        ("rack1 ", "tree.system-description-missing", "systems/rack1 .json"),
    ],
)
def test_a_missing_description_names_the_file_of_a_similar_name(
    named: str, rule: str, hint: str, tmp_path: Path
) -> None:
    tree = make_tree(tmp_path)
    tree.description().rename(tree.description(named))
    finding = check(tree.folder).of(rule)[0]
    assert finding["path"] == finding["expected"] == f"systems/{SYSTEM}.json"
    assert finding["actual"] == hint


@pytest.mark.parametrize(
    ("named", "meant"),
    [
        ("resnet50", "resnet"),
        ("ResNet", "resnet"),
        ("BERT", "bert"),
        ("3d-unet", "unet3d"),
        ("mask-rcnn", "maskrcnn"),
        ("rnn-t", "rnnt"),
        ("image_segmentation", "unet3d"),
        ("single_stage_detector", "ssd"),
        ("flux", None),
    ],
)
def test_an_unknown_benchmark_gets_a_did_you_mean(named: str, meant: str | None, tmp_path: Path) -> None:
    tree = make_tree(tmp_path)
    _misnamed_beside(tree, named)
    finding = check(tree.folder).of("tree.unknown-benchmark")[0]
    assert finding["path"] == f"results/{SYSTEM}/{named}"
    assert (f"Did you mean {meant}?" in finding["fix"]) if meant else ("Did you mean" not in finding["fix"])


def test_an_undescribed_entry_is_rejected_itself(tmp_path: Path) -> None:
    tree = make_tree(tmp_path)
    tree.description().unlink()
    entry = check(tree.folder).report["entries"][0]
    assert (entry["official"], entry["division"], entry["compliant"]) == ("rejected", "closed", 5)


def test_logs_one_folder_too_deep_are_pointed_at(tmp_path: Path) -> None:
    tree = make_tree(tmp_path)
    deep = tree.entry() / "bert"
    deep.mkdir()
    (deep / "result_0.txt").write_text(make_log("bert").text())
    outcome = check(tree.folder)
    assert outcome.status == 0
    finding = outcome.of("tree.stray-logs")[0]
    assert (finding["kind"], finding["path"]) == ("review", f"results/{SYSTEM}/resnet/bert")


def test_an_empty_folder_that_the_round_passes_over_is_not_passed_over_in_silence(tmp_path: Path) -> None:
    tree = make_tree(tmp_path)
    tree.entry("bert").mkdir()
    outcome = check(tree.folder)
    finding = outcome.of("entry.empty-folder")[0]
    assert (finding["kind"], finding["path"]) == ("review", f"results/{SYSTEM}/bert")
    assert [entry["benchmark"] for entry in outcome.report["entries"]] == ["resnet"]


@pytest.mark.parametrize("name", ["s" * 200, "s" * 252, "sys tem", "système", "x.json", "TF2.0", "n8_v5.0"])
def test_a_system_may_have_any_name_a_folder_can_have(name: str, tmp_path: Path) -> None:
    tree = make_tree(tmp_path)
    tree.entry().parent.rename(tree.folder / "results" / name)
    outcome = check(tree.folder)
    # No description of that name: the answer is a finding, never a traceback.
    assert outcome.status == 1
    assert outcome.errors() == {"tree.system-description-missing"}


def test_a_tree_that_goes_away_while_it_is_read_is_an_answer(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    tree = make_tree(tmp_path)

    def gone(*_: object) -> None:
        raise FileNotFoundError(2, "No such file or directory", "results")

    monkeypatch.setattr("mlsub.workspace.schedule.list_package", gone)
    outcome = check(tree.folder)
    assert (outcome.status, outcome.official) == (2, "not-checked")
    assert outcome.errors() == {"tree.unreadable"}
