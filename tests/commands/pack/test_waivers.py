"""What rejects a package is found, all of it and nothing else; waivers cover what they name."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from mlsub.findings import Verdict
from mlsub.packing.manifest import Waiver
from mlsub.packing.pack import deciding, waiver_of
from mlsub.workspace import check_path
from tests.corpus import CORPUS
from tests.make_tree import Tree, make_tree, spoil


def no_run(tree: Tree) -> None:
    tree.log().write_text("")


def seed_and_no_stop(tree: Tree) -> None:
    same_seed(tree)
    tree.edit(lambda log: log.drop("run_stop"), 4)


def same_seed(tree: Tree) -> None:
    tree.edit(lambda log: log.put("seed", value=7, metadata={"lineno": 1}), 0, 1)


def undecodable(tree: Tree) -> None:
    with tree.log().open("a") as stream:
        stream.write(':::MLLOG {"key": broken}\n')


def no_description(tree: Tree) -> None:
    tree.description().unlink()


def broken_description(tree: Tree) -> None:
    tree.description().write_text("{")


def strange_folder(tree: Tree) -> None:
    tree.entry().rename(tree.entry("resnet50"))


def few_runs(tree: Tree) -> None:
    tree.log(4).unlink()


CASES: dict[str, tuple[Callable[[Tree], object], set[str]]] = {
    "nothing": (lambda tree: None, set()),
    "one forgiven run": (lambda tree: spoil(tree, 0), set()),
    "two noncompliant runs": (lambda tree: spoil(tree, 0, 1), {"entry.noncompliant-runs"}),
    "an empty log": (no_run, {"log.empty"}),
    "a seed twice": (same_seed, {"seed.shared"}),
    "a seed twice, and a forgiven run": (seed_and_no_stop, {"seed.shared"}),
    "a record that cannot be read": (undecodable, {"seed.log-undecodable"}),
    "no description": (no_description, {"tree.system-description-missing"}),
    "a broken description": (broken_description, {"system.not-json"}),
    "a folder of no benchmark": (strange_folder, {"tree.unknown-benchmark"}),
    "too few runs": (few_runs, {"entry.run-count"}),
}


@pytest.mark.parametrize(("change", "rules"), CASES.values(), ids=CASES)
def test_what_rejects_is_found(change: Callable[[Tree], object], rules: set[str], tmp_path: Path) -> None:
    tree = make_tree(tmp_path)
    change(tree)
    report = check_path(tree.folder, round="1.0")
    found = {finding.rule for finding in deciding(report)}
    assert found == rules
    assert (report.official is Verdict.ACCEPTED) is (not found)
    waivers = [Waiver(rule=rule, reason="It is known to all.", expires="never") for rule in found]
    assert all(waiver_of(finding, waivers) for finding in deciding(report))
    for left in found:
        others = [waiver for waiver in waivers if waiver.rule != left]
        assert {finding.rule for finding in deciding(report) if not waiver_of(finding, others)} == {left}


@pytest.mark.skipif(not CORPUS.is_dir(), reason="published packages are not there")
@pytest.mark.parametrize("tree", [p for p in sorted(CORPUS.glob("v[14].[01]/*")) if p.is_dir()], ids=lambda p: p.name)
def test_of_published_packages_the_rejected_ones_have_a_reason_and_the_others_none(tree: Path) -> None:
    report = check_path(tree)
    assert bool(deciding(report)) is (report.official is not Verdict.ACCEPTED)


@pytest.mark.parametrize(
    ("entry", "covered"),
    [
        (None, True),
        ("rack1", True),
        ("rack1/resnet", True),
        ("rack1/bert", False),
        ("rack2", False),
        ("resnet", False),
    ],
)
def test_a_waiver_covers_the_entry_or_system_it_names(entry: str | None, covered: bool, tmp_path: Path) -> None:
    tree = make_tree(tmp_path)
    few_runs(tree)
    waiver = Waiver(rule="entry.run-count", entry=entry, reason="It is known to all.", expires="never")
    [finding] = deciding(check_path(tree.folder))
    assert (waiver_of(finding, [waiver]) is waiver) is covered
