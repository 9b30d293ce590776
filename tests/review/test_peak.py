"""Times that no hardware reaches: the least arithmetic of a benchmark over the peak of the accelerators."""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest

from mlsub.convergence.reference import history_of
from mlsub.io.data import load_yaml
from mlsub.review import entry
from mlsub.rounds import get_round, known_rounds
from mlsub.systems import names
from mlsub.systems.names import all_chips, peak_of
from tools.support.corpus import CORPUS, SHARED
from tools.support.make_tree import Tree, make_tree
from tools.support.runner import check

RULE = "entry.faster-than-peak"
B200 = "NVIDIA B200"


def trained(above: Path, minutes: float, division: str = "closed", **described: Any) -> Tree:
    """ResNet in 40 epochs, of which two runs take so many minutes."""
    tree = make_tree(above, division=division)
    tree.describe(**({"accelerator_model_name": B200} | described))
    tree.edit(lambda log: log.last(minutes), 1, 3)
    return tree


# 40 epochs of 1,281,167 images, 2.28e10 operations each, take 8 B200 of 1e16 operations a second 0.243 minutes.
@pytest.mark.parametrize(
    ("minutes", "division", "described", "found"),
    [
        (0.136, "closed", {}, 1),
        (0.242, "closed", {}, 1),
        (0.245, "closed", {}, 0),
        (0.136, "closed", {"number_of_nodes": "2"}, 0),
        (0.136, "closed", {"accelerators_per_node": "4"}, 1),
        (0.136, "closed", {"accelerator_model_name": "NVIDIA A100-SXM4-80GB"}, 1),
        (3, "closed", {"accelerator_model_name": "NVIDIA A100-SXM4-80GB"}, 1),
        (4, "closed", {"accelerator_model_name": "NVIDIA A100-SXM4-80GB"}, 0),
        # Nothing is said where nobody knows how fast, or how many; in Open the model may be another.
        (0.136, "closed", {"accelerator_model_name": "NVIDIA A40"}, 0),
        (0.136, "closed", {"accelerator_model_name": "some accelerator"}, 0),
        (0.136, "closed", {"accelerators_per_node": "eight"}, 0),
        (0.136, "open", {}, 0),
    ],
)
def test_a_time_that_the_accelerators_cannot_reach(
    minutes: float, division: str, described: dict[str, Any], found: int, tmp_path: Path
) -> None:
    outcome = check(trained(tmp_path, minutes, division, **described).folder)
    assert [one["severity"] for one in outcome.of(RULE)] == ["error"] * found


def test_what_a_finding_says(tmp_path: Path) -> None:
    [found] = check(trained(tmp_path, 0.136).folder).of(RULE)
    assert found["path"] == "results/rack1/resnet/result_1.txt"
    assert found["line"] is not None
    assert found["actual"] == (
        "0.136 minutes, for 40 epochs (1.2e+18 operations) on 8 B200 of 10,000 teraflops (FP4); "
        "2 of 5 runs are too fast"
    )
    assert found["expected"] == "0.243 minutes or more"
    assert "arXiv:1512.03385" in found["source"]
    assert "B200" in found["source"]


def figures(*rows: Iterable[dict[str, Any]]) -> list[str]:
    return [row["source"] for of in rows for row in of]


def test_every_figure_has_a_source_that_can_be_looked_up() -> None:
    peaks = load_yaml(Path(names.__file__).with_name("peaks.yaml"))
    work = load_yaml(Path(entry.__file__).with_name("operations.yaml"))
    assert peaks.keys() <= all_chips().keys()
    for source in figures(peaks.values(), work.values()):
        assert re.search(r"https?://|\w\.com|arXiv:|white paper|as MI355X", source), source
    known = {name for round_ in known_rounds("training") for name in get_round("training", round_).benchmarks}
    assert work.keys() <= known
    known_peaks = [peak for chip in all_chips().values() if (peak := peak_of(chip)) is not None]
    assert known_peaks
    assert all(peak.teraflops > 100 for peak in known_peaks)


def test_the_unit_is_that_of_the_convergence_test() -> None:
    units = load_yaml(Path(history_of.__globals__["__file__"]).with_name("benchmarks.yaml"))
    for name, work in load_yaml(Path(entry.__file__).with_name("operations.yaml")).items():
        stated = units.get(name, {}).get("unit", {"": "epochs"})
        assert work["unit"] in stated.values(), name


@pytest.mark.slow
def test_no_published_result_is_faster() -> None:
    if not CORPUS.is_dir():
        pytest.skip("published results are not there")
    for round_ in sorted(path for above in ("corpus", "cases") for path in (SHARED / above).iterdir() if path.is_dir()):
        assert check(round_).of(RULE) == [], round_
