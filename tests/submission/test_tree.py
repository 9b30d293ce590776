"""The layout of a tree: what is missing, misnamed, misplaced, hidden, a search pattern or no file at all."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from mlsub.submission.listing import Listing
from mlsub.submission.tree import matched_elsewhere
from tools.support.make_tree import SYSTEM, Log, Tree, make_description, make_log, make_tree, snapshot, spoil
from tools.support.runner import check

STATUS = {"accepted": 0, "rejected": 1, "not-checked": 2}
CRASH, MISSING, GLOB = "official.crash", "tree.system-description-missing", "entry.glob-name"
Change = Callable[[Tree], object]


def _loop(path: Path) -> None:
    path.symlink_to(path.name)


def _dangling(path: Path) -> None:
    path.symlink_to("gone")


def _replaced_by(path: Path, make: Callable[[Path], object]) -> None:
    if path.is_dir():
        shutil.rmtree(path)
    else:
        path.unlink()
    make(path)


def _misnamed_beside(tree: Tree, name: str) -> None:
    tree.add_entry().rename(tree.entry(name))
    tree.add_entry()


def _renamed(tree: Tree, name: str) -> None:
    tree.entry().parent.rename(tree.folder / "results" / name)
    tree.description().rename(tree.description(name))


def _another(tree: Tree, name: str, runs: int | None = None) -> None:
    tree.add_system(name)
    tree.add_entry("resnet", name, runs=runs)


def _folder(tree: Tree, *parts: str) -> None:
    tree.folder.joinpath("results", *parts).mkdir(parents=True)


# Changes to an accepted organisation, by the round: what is changed, and the official errors that come of it.
NOTHING: set[str] = set()
CASES: dict[str, tuple[str, Change, set[str]]] = {
    "untouched": ("1.0", lambda t: None, NOTHING),
    "untouched, 1.1": ("1.1", lambda t: None, NOTHING),
    # Missing or misnamed parts beside something that was checked.
    "no systems folder": ("1.0", lambda t: shutil.rmtree(t.folder / "systems"), {"tree.systems-missing"}),
    "systems is a file": ("1.0", lambda t: _replaced_by(t.folder / "systems", Path.touch), {"tree.systems-missing"}),
    "systems is a link in a circle": (
        "1.0", lambda t: _replaced_by(t.folder / "systems", _loop), {"tree.systems-missing"}
    ),
    "no system description": ("1.0", lambda t: t.description().unlink(), {MISSING}),
    "description of another case": ("1.0", lambda t: t.description().rename(t.description(SYSTEM.upper())), {MISSING}),
    "one of two systems undescribed": ("1.0", lambda t: t.add_entry("bert", "rack2"), {MISSING}),
    "description without results": ("1.0", lambda t: t.add_system("rack2"), NOTHING),
    "bad description without results": (
        "1.0", lambda t: t.add_system("rack2", cooling=None), {"system.field-missing"}
    ),
    "misnamed benchmark beside a good one": (
        "1.0", lambda t: _misnamed_beside(t, "resnet50"), {"tree.unknown-benchmark"}
    ),
    "benchmark in capitals beside a good one": (
        "1.0", lambda t: _misnamed_beside(t, "ResNet"), {"tree.unknown-benchmark"}
    ),
    "empty benchmark folder, 1.0": ("1.0", lambda t: t.entry("bert").mkdir(), NOTHING),
    "empty benchmark folder, 1.1": ("1.1", lambda t: t.entry("bert").mkdir(), {"entry.run-count"}),
    "misnamed results, 1.0": ("1.0", lambda t: t.add_entry("bert", named="run_{}.txt"), NOTHING),
    "misnamed results, 1.1": ("1.1", lambda t: t.add_entry("bert", named="run_{}.txt"), {"entry.run-count"}),
    "empty system folder": ("1.0", lambda t: _folder(t, "rack2"), NOTHING),
    # Strays: the official checker warns of files, and nobody looks deeper.
    "strays in the benchmark folder": ("1.0", lambda t: (t.entry() / "notes.md").touch(), NOTHING),
    "a stray folder in the benchmark folder": ("1.0", lambda t: (t.entry() / "plots").mkdir(), NOTHING),
    "hidden files everywhere": (
        "1.0",
        lambda t: [(p / ".DS_Store").touch() for p in (t.folder, t.entry(), t.entry().parent, t.folder / "systems")],
        NOTHING,
    ),
    "files between the folders": (
        "1.0",
        lambda t: [(p / "README.md").touch() for p in (t.folder, t.entry().parent, t.folder / "results")],
        NOTHING,
    ),
    # Links that lead nowhere or in a circle.
    "a result is a link in a circle": ("1.0", lambda t: _replaced_by(t.log(), _loop), {"log.unreadable"}),
    "a result is a link to nowhere": ("1.0", lambda t: _replaced_by(t.log(), _dangling), {"log.unreadable"}),
    "a result is a folder": ("1.0", lambda t: _replaced_by(t.log(), Path.mkdir), {"log.unreadable"}),
    "a result is a pipe": ("1.0", lambda t: _replaced_by(t.log(), os.mkfifo), {"log.unreadable"}),
    "a system is a link in a circle": ("1.0", lambda t: _loop(t.folder / "results" / "rack2"), {"tree.unreadable"}),
    "a system is a link to nowhere": ("1.0", lambda t: _dangling(t.folder / "results" / "rack2"), {"tree.unreadable"}),
    "a benchmark is a link in a circle": ("1.0", lambda t: _loop(t.entry("bert")), {"tree.unreadable"}),
    "a system folder leads back up": (
        "1.0", lambda t: (t.folder / "results" / "rack2").symlink_to(".."), {"tree.unknown-benchmark"}
    ),
    "a system folder is a good link": (
        "1.0",
        lambda t: (t.entry().parent.rename(t.folder / "kept"), t.entry().parent.symlink_to("../kept")),
        NOTHING,
    ),
    # Two defects are two findings.
    "no systems folder and too few results": (
        "1.0",
        lambda t: (shutil.rmtree(t.folder / "systems"), t.log(4).unlink()),
        {"tree.systems-missing", "entry.run-count"},
    ),
    # Every folder in results is a system to the official checker, hidden or not.
    "hidden system, too few logs": ("1.1", lambda t: _another(t, ".old", 4), {"entry.run-count"}),
    "hidden system, complete": ("1.1", lambda t: _another(t, ".old"), NOTHING),
    "hidden system without description": ("1.1", lambda t: t.add_entry("resnet", ".old"), {MISSING}),
    "an editor's copy": ("1.1", lambda t: _folder(t, ".ipynb_checkpoints", "resnet"), {MISSING, "entry.run-count"}),
    "version control": ("1.1", lambda t: _folder(t, ".git", "hooks"), {CRASH}),
    "version control, 1.0": ("1.0", lambda t: _folder(t, ".git", "hooks"), {CRASH}),
    "version control, 0.7": ("0.7", lambda t: _folder(t, ".git", "hooks"), NOTHING),
    "empty hidden folder": ("1.1", lambda t: _folder(t, ".ipynb_checkpoints"), NOTHING),
    "hidden folder of files": (
        "1.1", lambda t: (_folder(t, ".cache"), (t.folder / "results/.cache/a").touch()), NOTHING
    ),
    "hidden folder in a described system": ("1.1", lambda t: _folder(t, SYSTEM, ".ipynb_checkpoints", "x"), NOTHING),
    "hidden folder in a system without description": ("1.1", lambda t: _folder(t, "rack2", ".cache"), {CRASH}),
    "hidden folder in a benchmark": ("1.1", lambda t: _folder(t, SYSTEM, "resnet", ".cache"), NOTHING),
    "hidden link to nowhere": ("1.1", lambda t: (t.folder / "results/.gone").symlink_to("nowhere"), NOTHING),
    # The official tools search for the logs by a pattern that the names are parts of.
    "brackets": ("1.1", lambda t: _renamed(t, "rack[8xH100]"), {GLOB}),
    "brackets, 1.0": ("1.0", lambda t: _renamed(t, "rack[8xH100]"), {GLOB}),
    "brackets that do not match": ("1.1", lambda t: _renamed(t, "[!r]ack"), {GLOB}),
    "an open bracket": ("1.1", lambda t: _renamed(t, "rack[8"), NOTHING),
    "a closing bracket": ("1.1", lambda t: _renamed(t, "rack8]"), NOTHING),
    "brackets that match themselves": ("1.1", lambda t: _renamed(t, "[[]x]"), {GLOB}),
    "a star": ("1.1", lambda t: _renamed(t, "rack*"), NOTHING),
    "a question mark": ("1.1", lambda t: _renamed(t, "rack?"), NOTHING),
    "a star that finds another": ("1.1", lambda t: (_renamed(t, "rack*"), _another(t, "rack2")), {GLOB}),
    "a star that finds another without it": ("1.1", lambda t: (_renamed(t, "rack*"), t.add_system("rack2")), NOTHING),
    "brackets that find another": ("1.1", lambda t: (_renamed(t, "rack[12]"), _another(t, "rack1")), {GLOB}),
    "two stars": ("1.1", lambda t: _renamed(t, "**"), NOTHING),
    "two stars that find another": ("1.1", lambda t: (_renamed(t, "**"), _another(t, "rack2")), {GLOB}),
    "two stars that find logs above": (
        "1.1",
        lambda t: (_renamed(t, "**"), _folder(t, "resnet"), (t.folder / "results/resnet/result_9.txt").touch()),
        {GLOB},
    ),
    "a star does not find what is hidden": ("1.1", lambda t: (_renamed(t, "*"), _another(t, ".old")), NOTHING),
}  # fmt: skip
# Nothing checked is never a success.
UNCHECKED: dict[str, tuple[str, Change, set[str]]] = {
    "misnamed benchmark": ("1.0", lambda t: t.entry().rename(t.entry("resnet50")), {"tree.unknown-benchmark"}),
    "no results folder": ("1.0", lambda t: shutil.rmtree(t.folder / "results"), {"tree.results-missing"}),
    "results is a file": ("1.0", lambda t: _replaced_by(t.folder / "results", Path.touch), {"tree.results-missing"}),
    "empty results folder": ("1.0", lambda t: _replaced_by(t.folder / "results", Path.mkdir), {"tree.no-logs"}),
    "empty systems and results": (
        "1.0",
        lambda t: [_replaced_by(t.folder / name, Path.mkdir) for name in ("results", "systems")],
        {"tree.no-logs"},
    ),
    "empty system folder": ("1.0", lambda t: _replaced_by(t.entry().parent, Path.mkdir), {"tree.no-logs"}),
    "empty benchmark folder, 1.0": ("1.0", lambda t: _replaced_by(t.entry(), Path.mkdir), {"tree.no-logs"}),
    "empty benchmark folder, 1.1": ("1.1", lambda t: _replaced_by(t.entry(), Path.mkdir), {"entry.run-count"}),
    "empty folder": ("1.0", lambda t: _replaced_by(t.folder, Path.mkdir), {"check.no-logs"}),
}  # fmt: skip


@pytest.mark.parametrize("name", CASES)
def test_a_tree_is_rejected_by_the_rules_of_its_defect_alone(name: str, tmp_path: Path) -> None:
    round_, change, errors = CASES[name]
    tree = make_tree(tmp_path, f"v{round_}")
    change(tree)
    outcome = check(tree.folder)
    assert (outcome.official, outcome.errors()) == ("rejected" if errors else "accepted", errors)
    assert outcome.status == STATUS[outcome.official]


@pytest.mark.parametrize("name", UNCHECKED)
def test_a_tree_of_which_nothing_was_checked_is_not_accepted(name: str, tmp_path: Path) -> None:
    round_, change, errors = UNCHECKED[name]
    tree = make_tree(tmp_path, f"v{round_}")
    change(tree)
    outcome = check(tree.folder)
    assert (outcome.status, outcome.official, outcome.errors()) == (2, "not-checked", errors)


# Beside a good organisation of a round: what lies there, and the official errors.
BESIDE: dict[str, tuple[Callable[[Path], object], set[str]]] = {
    "nothing else": (lambda above: None, NOTHING),
    "another good one": (lambda above: make_tree(above.parent, org="Zeta"), NOTHING),
    "a good one in Open": (lambda above: make_tree(above.parent, org="Zeta", division="open"), NOTHING),
    "a bad one": (
        lambda above: spoil(make_tree(above.parent, org="Zeta"), 0, 1),
        {"entry.noncompliant-runs", "key.eval_accuracy.target"},
    ),
    "one without anything": (lambda above: (above / "Zeta").mkdir(), {"tree.results-missing", "tree.systems-missing"}),
    "one without results": (lambda above: Tree(above / "Zeta").add_system(), {"tree.results-missing"}),
    "one with only an unknown benchmark": (
        lambda above: (tree := make_tree(above.parent, org="Zeta")).entry().rename(tree.entry("resnet50")),
        {"tree.unknown-benchmark"},
    ),
    "files and hidden folders": (lambda above: ((above / "README.md").touch(), (above / ".git").mkdir()), NOTHING),
    "a link to nowhere": (lambda above: _dangling(above / "Zeta"), {"tree.unreadable"}),
    "a link in a circle": (lambda above: _loop(above / "Zeta"), {"tree.unreadable"}),
}


@pytest.mark.parametrize("name", BESIDE)
def test_a_folder_of_organisations_is_accepted_if_each_is(name: str, tmp_path: Path) -> None:
    add, errors = BESIDE[name]
    above = make_tree(tmp_path).folder.parent
    add(above)
    outcome = check(above)
    assert (outcome.official, outcome.errors()) == ("rejected" if errors else "accepted", errors)
    assert outcome.status == STATUS[outcome.official]
    assert {e["organisation"]: e["official"] for e in outcome.report["entries"]}["ACME"] == "accepted"


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


@pytest.mark.parametrize("named", ["rack-1", "rack1 "])
def test_a_missing_description_names_the_file_of_a_similar_name(named: str, tmp_path: Path) -> None:
    tree = make_tree(tmp_path)
    tree.description().rename(tree.description(named))
    finding = check(tree.folder).of(MISSING)[0]
    assert finding["path"] == finding["expected"] == f"systems/{SYSTEM}.json"
    assert finding["actual"] == f"systems/{named}.json"


def test_logs_one_folder_too_deep_are_pointed_at(tmp_path: Path) -> None:
    tree = make_tree(tmp_path)
    deep = tree.entry() / "bert"
    deep.mkdir()
    (deep / "result_0.txt").write_text(make_log("bert").text())
    outcome = check(tree.folder)
    assert outcome.status == 0
    finding = outcome.of("tree.stray-logs")[0]
    assert (finding["kind"], finding["path"]) == ("review", f"results/{SYSTEM}/resnet/bert")


def test_logs_without_the_folder_of_the_benchmark_are_one_finding_where_there_are_no_others(tmp_path: Path) -> None:
    tree = make_tree(tmp_path)
    tree.log(0).rename(tree.entry().parent / "result_0.txt")
    shutil.rmtree(tree.entry())
    [finding] = check(tree.folder).report["findings"]
    assert (finding["rule"], finding["path"], finding["actual"]) == ("tree.no-logs", f"results/{SYSTEM}", "1 log")


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

    monkeypatch.setattr("mlsub.workspace.reading.list_package", gone)
    outcome = check(tree.folder)
    assert (outcome.status, outcome.official) == (2, "not-checked")
    assert outcome.errors() == {"tree.unreadable"}


def test_a_hidden_system_is_judged_by_its_hidden_description(tmp_path: Path) -> None:
    tree = make_tree(tmp_path, "v1.1")
    _another(tree, ".old")
    tree.description(".old").write_text("{")
    assert check(tree.folder).errors() == {"system.not-json"}


@pytest.mark.parametrize("name", ["ACME[1]", "[!A]"])
def test_an_organisation_named_like_a_pattern_is_refused(name: str, tmp_path: Path) -> None:
    tree = make_tree(tmp_path, "v1.1", org=name)
    outcome = check(tree.folder)
    assert (outcome.official, outcome.errors()) == ("rejected", {GLOB})
    assert name in str(outcome.of(GLOB)[0]["actual"])


def test_a_scaling_folder_of_hpc_that_is_hidden_stops_the_official_checker(tmp_path: Path) -> None:
    folder = tmp_path / "hpc-v3.0" / "ACME"
    (folder / "systems").mkdir(parents=True)
    (folder / "systems" / "rack1.json").write_text(str(make_description()).replace("'", '"'))
    entry = folder / "results" / "rack1" / "strong" / "cosmoflow"
    entry.mkdir(parents=True)
    (entry / "result_0.txt").touch()
    before = check(folder, "--usage", "hpc").errors()
    (folder / "results" / "rack1" / ".cache").mkdir()
    assert check(folder, "--usage", "hpc").errors() == before
    (folder / "results" / "rack1" / ".cache" / "x").mkdir()
    assert check(folder, "--usage", "hpc").errors() == {*before, "tree.unknown-scaling"}


def test_a_pattern_below_a_scaling_folder_is_found(tmp_path: Path) -> None:
    entry = tmp_path / "ACME" / "results" / "rack[1]" / "weak" / "oc20"
    entry.mkdir(parents=True)
    (entry / "result_0.txt").touch()
    assert matched_elsewhere(tmp_path / "ACME", entry, Listing()) is not None
    shutil.move(tmp_path / "ACME/results/rack[1]", tmp_path / "ACME/results/rack1")
    assert matched_elsewhere(tmp_path / "ACME", tmp_path / "ACME/results/rack1/weak/oc20", Listing()) is None


@pytest.mark.parametrize("ending", ["\n", "\r\n"])
def test_line_numbers_are_those_of_the_file_counted_from_1(ending: str, tmp_path: Path) -> None:
    tree = make_tree(tmp_path)
    log = Log.read(tree.log())
    log.put("eval_accuracy", value=0.5)
    at = log.at("eval_accuracy")
    log.lines[at:at] = ["Epoch 1: 100%", ""]
    log.lines[:0] = ["some framework output", ""] * 5
    tree.log().write_text(log.text().replace("\n", ending), newline="")
    (finding,) = check(tree.folder).of("key.eval_accuracy.target")
    assert finding["line"] == at + 13 + len(log.records("eval_accuracy")) - 1
    assert '"key": "eval_accuracy"' in tree.log().read_bytes().split(b"\n")[finding["line"] - 1].decode()


@pytest.mark.parametrize("round_folder", ["v1.0", "v1.1"])
def test_nothing_is_written_into_the_submission(
    round_folder: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tree = make_tree(tmp_path, round_folder, benchmarks=["resnet", "bert", "unet3d"])
    monkeypatch.chdir(tree.folder)
    before = snapshot(tmp_path)
    first = check(".")
    assert snapshot(tmp_path) == before
    assert check(".").report == first.report
