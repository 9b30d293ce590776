"""The comparison in every kind of round: old logs, other units of progress, weak scaling."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.commands.runner import answer_schema, run
from tests.judge.test_package_rounds import ROUNDS, make_round


def pair(*arguments: object) -> dict[str, Any]:
    outcome = run("compare", "--trainings", *arguments, "--format", "json")
    answer_schema("compare").validate(outcome.document)
    (found,) = outcome.document["pairs"]
    return dict(found)


@pytest.mark.parametrize(
    ("round_id", "benchmark"), [*ROUNDS, ("hpc-1.0", "oc20"), ("hpc-2.0", "deepcam"), ("hpc-3.0", "openfold")]
)
def test_every_round(round_id: str, benchmark: str, tmp_path: Path) -> None:
    below = "strong" if round_id.startswith("hpc") else ""
    tree = make_round(tmp_path, round_id, benchmark, below=below, number_of_nodes="2", accelerators_per_node="8")
    found = pair(tree, tree)
    assert found["answer"].startswith("B takes as long as A (")
    assert found["undivided"] is None
    assert found["old"]["accelerator_minutes"] == pytest.approx(16 * found["old"]["minutes"])
    assert all(part["minutes"] == 0 for part in found["parts"])
    assert found["same"] > 3
    # Training is told apart into how far and how fast wherever a log says how far.
    assert {"work", "pace"} <= {part["name"] for part in found["parts"]}


def test_models_of_weak_scaling_are_compared_and_not_divided(tmp_path: Path) -> None:
    tree = make_round(tmp_path, "hpc-3.0", "cosmoflow", below="weak", runs=25)
    found = pair(tree, tree)
    assert (found["parts"], found["undivided"]) == ([], "models of weak scaling train side by side")
    assert (found["old"]["counted"], found["ratio"]) == (25, 1)


def test_an_entry_of_strong_and_one_of_weak_scaling_are_two(tmp_path: Path) -> None:
    tree = make_round(tmp_path, "hpc-3.0", "cosmoflow", below="weak", runs=25)
    other = make_round(tmp_path / "other", "hpc-3.0", "cosmoflow", below="strong")
    (other / "results" / "rack1" / "strong").rename(tree / "results" / "rack1" / "strong")
    text = run("compare", "--trainings", tree, tree).stdout
    assert text.count("B takes as long as A") == 2
    forced = "rack1/strong/cosmoflow=rack1/weak/cosmoflow"
    document = run("compare", "--trainings", tree, tree, "--pair", forced, "--format", "json").document
    assert len(document["pairs"]) == 1
    assert document["only_old"] == ["ACME/rack1/weak/cosmoflow"]
    assert document["only_new"] == ["ACME/rack1/strong/cosmoflow"]
