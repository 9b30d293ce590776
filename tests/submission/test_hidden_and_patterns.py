"""Hidden folders and names that are search patterns: the official checker makes no exception for them."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import pytest

from mlsub.submission.tree import matched_elsewhere
from tests.commands.runner import check
from tests.make_tree import SYSTEM, Tree, make_description, make_tree

CRASH, MISSING, GLOB = "official.crash", "tree.system-description-missing", "entry.glob-name"


class Case(NamedTuple):
    """A change to an accepted organisation, and the official errors that come of it."""

    change: Callable[[Tree], object]
    errors: set[str]
    round: str = "1.1"


def _renamed(tree: Tree, name: str) -> None:
    tree.entry().parent.rename(tree.folder / "results" / name)
    tree.description().rename(tree.description(name))


def _another(tree: Tree, name: str, runs: int | None = None) -> None:
    tree.add_system(name)
    tree.add_entry("resnet", name, runs=runs)


def _folder(tree: Tree, *parts: str) -> None:
    tree.folder.joinpath("results", *parts).mkdir(parents=True)


CASES: dict[str, Case] = {
    # Every folder in results is a system to the official checker, hidden or not.
    "hidden system, too few logs": Case(lambda t: _another(t, ".old", 4), {"entry.run-count"}),
    "hidden system, complete": Case(lambda t: _another(t, ".old"), set()),
    "hidden system without description": Case(lambda t: t.add_entry("resnet", ".old"), {MISSING}),
    "an editor's copy": Case(lambda t: _folder(t, ".ipynb_checkpoints", "resnet"), {MISSING, "entry.run-count"}),
    "version control": Case(lambda t: _folder(t, ".git", "hooks"), {CRASH}),
    "version control, 1.0": Case(lambda t: _folder(t, ".git", "hooks"), {CRASH}, "1.0"),
    "version control, 0.7": Case(lambda t: _folder(t, ".git", "hooks"), set(), "0.7"),
    "empty hidden folder": Case(lambda t: _folder(t, ".ipynb_checkpoints"), set()),
    "hidden folder of files": Case(
        lambda t: (_folder(t, ".cache"), (t.folder / "results/.cache/a").touch()), set()
    ),
    "hidden folder in a described system": Case(lambda t: _folder(t, SYSTEM, ".ipynb_checkpoints", "x"), set()),
    "hidden folder in a system without description": Case(lambda t: _folder(t, "rack2", ".cache"), {CRASH}),
    "hidden folder in a benchmark": Case(lambda t: _folder(t, SYSTEM, "resnet", ".cache"), set()),
    "hidden link to nowhere": Case(lambda t: (t.folder / "results/.gone").symlink_to("nowhere"), set()),
    # The official tools search for the logs by a pattern that the names are parts of.
    "brackets": Case(lambda t: _renamed(t, "rack[8xH100]"), {GLOB}),
    "brackets, 1.0": Case(lambda t: _renamed(t, "rack[8xH100]"), {GLOB}, "1.0"),
    "brackets that do not match": Case(lambda t: _renamed(t, "[!r]ack"), {GLOB}),
    "an open bracket": Case(lambda t: _renamed(t, "rack[8"), set()),
    "a closing bracket": Case(lambda t: _renamed(t, "rack8]"), set()),
    "brackets that match themselves": Case(lambda t: _renamed(t, "[[]x]"), {GLOB}),
    "a star": Case(lambda t: _renamed(t, "rack*"), set()),
    "a question mark": Case(lambda t: _renamed(t, "rack?"), set()),
    "a star that finds another": Case(lambda t: (_renamed(t, "rack*"), _another(t, "rack2")), {GLOB}),
    "a star that finds another without it": Case(lambda t: (_renamed(t, "rack*"), t.add_system("rack2")), set()),
    "brackets that find another": Case(lambda t: (_renamed(t, "rack[12]"), _another(t, "rack1")), {GLOB}),
    "two stars": Case(lambda t: _renamed(t, "**"), set()),
    "two stars that find another": Case(lambda t: (_renamed(t, "**"), _another(t, "rack2")), {GLOB}),
    "two stars that find logs above": Case(
        lambda t: (_renamed(t, "**"), _folder(t, "resnet"), (t.folder / "results/resnet/result_9.txt").touch()), {GLOB}
    ),
    "a star does not find what is hidden": Case(lambda t: (_renamed(t, "*"), _another(t, ".old")), set()),
}  # fmt: skip


@pytest.mark.parametrize("name", CASES)
def test_hidden_folders_and_patterns(name: str, tmp_path: Path) -> None:
    case = CASES[name]
    tree = make_tree(tmp_path, f"v{case.round}")
    case.change(tree)
    outcome = check(tree.folder)
    assert outcome.errors() == case.errors
    assert outcome.official == ("rejected" if case.errors else "accepted")


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
    assert matched_elsewhere(tmp_path / "ACME", entry) is not None
    shutil.move(tmp_path / "ACME/results/rack[1]", tmp_path / "ACME/results/rack1")
    assert matched_elsewhere(tmp_path / "ACME", tmp_path / "ACME/results/rack1/weak/oc20") is None
