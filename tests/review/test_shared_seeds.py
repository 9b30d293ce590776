"""Seeds that several systems of an organisation have in common."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.commands.runner import check
from tests.make_tree import Tree, make_tree

RULE = "seed.not-random"


def two_systems(above: Path, seeds: list[int], division: str = "closed") -> Tree:
    """Two systems; the runs of the first have the seeds 1000, 1001, ..., those of the second these."""
    tree = make_tree(above, division=division)
    tree.add_system("rack2", division=division)
    tree.add_entry(system="rack2", division=division)
    for run, seed in enumerate(seeds):
        tree.edit(lambda log, seed=seed: log.put("seed", value=seed), run, system="rack2")
    return tree


@pytest.mark.parametrize(
    ("seeds", "common"),
    [
        ([1000, 1001, 1002, 1003, 1004], "5 of 5 seeds (1000, 1001, 1002, 1003, 1004)"),
        ([7, 1001, 8, 1003, 9], "2 of 5 seeds (1001, 1003)"),
        ([7, 8, 1003, 9, 10], None),
        ([7, 8, 9, 10, 11], None),
    ],
)
def test_one_seed_in_common_is_chance_and_two_are_not(seeds: list[int], common: str | None, tmp_path: Path) -> None:
    outcome = check(two_systems(tmp_path, seeds).folder)
    assert outcome.status == 0
    findings = {finding["path"]: finding["actual"] for finding in outcome.of(RULE)}
    entries = sorted(path.rpartition("results/")[2] for path in findings)
    assert entries == (["rack1/resnet", "rack2/resnet"] if common else [])
    assert all(common is not None and actual.startswith(common) for actual in findings.values())


def test_open_may_use_any_seeds(tmp_path: Path) -> None:
    assert check(two_systems(tmp_path, [1000, 1001, 1002], "open").folder).of(RULE) == []


def test_entries_of_one_system_are_not_compared(tmp_path: Path) -> None:
    assert check(make_tree(tmp_path, benchmarks=["resnet", "bert"]).folder).of(RULE) == []
