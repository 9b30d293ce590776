"""What rejects a package is found, all of it and nothing else; waivers cover what they name."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from mlsub.findings import Verdict
from mlsub.packing.manifest import Waiver
from mlsub.packing.pack import deciding, waiver_of
from mlsub.workspace import check_path
from tools.support.corpus import CORPUS
from tools.support.make_tree import Tree, make_tree, spoil


def same_seed(tree: Tree) -> None:
    tree.edit(lambda log: log.put("seed", value=7, metadata={"lineno": 1}), 0, 1)


def undecodable(tree: Tree) -> None:
    with tree.log().open("a") as stream:
        stream.write(':::MLLOG {"key": broken}\n')


CASES: dict[str, tuple[Callable[[Tree], object], set[str]]] = {
    "nothing": (lambda tree: None, set()),
    "one forgiven run": (lambda tree: spoil(tree, 0), set()),
    "two noncompliant runs": (lambda tree: spoil(tree, 0, 1), {"entry.noncompliant-runs"}),
    "an empty log": (lambda tree: tree.log().write_text(""), {"log.empty"}),
    "a seed twice": (same_seed, {"seed.shared"}),
    "a seed twice, and a forgiven run": (
        lambda tree: (same_seed(tree), tree.edit(lambda log: log.drop("run_stop"), 4)), {"seed.shared"}
    ),
    "a record that cannot be read": (undecodable, {"seed.log-undecodable"}),
    "no description": (lambda tree: tree.description().unlink(), {"tree.system-description-missing"}),
    "a broken description": (lambda tree: tree.description().write_text("{"), {"system.not-json"}),
    "a folder of no benchmark": (
        lambda tree: tree.entry().rename(tree.entry("resnet50")), {"tree.unknown-benchmark"}
    ),
    "too few runs": (lambda tree: tree.log(4).unlink(), {"entry.run-count"}),
}  # fmt: skip


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


#: What a waiver names, and whether it covers too few runs of rack1/resnet.
COVERS = {None: True, "rack1": True, "rack1/resnet": True, "rack1/bert": False, "rack2": False, "resnet": False}


def test_a_waiver_covers_the_entry_or_system_it_names(tmp_path: Path) -> None:
    tree = make_tree(tmp_path)
    tree.log(4).unlink()
    [finding] = deciding(check_path(tree.folder))
    for entry, covered in COVERS.items():
        waiver = Waiver(rule="entry.run-count", entry=entry, reason="It is known to all.", expires="never")
        assert (waiver_of(finding, [waiver]) is waiver) is covered, entry
