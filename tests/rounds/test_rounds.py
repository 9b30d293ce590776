"""The table of rounds, and which benchmark a folder of results holds, round by round."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from mlsub.io import MlsubError
from mlsub.io.data import load_yaml
from mlsub.rounds import get_round, known_rounds, normalise_round, usages
from mlsub.rounds.benchmarks import ResultsFolder, benchmark_of


@pytest.mark.parametrize("text", ["1.0", "1.0.0", "v1.0", "v1.0.0", " 1.0 "])
def test_spellings_of_a_round(text: str) -> None:
    assert normalise_round(text) == "1.0"


@pytest.mark.parametrize("text", ["1", "1.0.1", "one", "", "1.0x", "vv1.0", "1.0.0.0"])
def test_what_is_no_round(text: str) -> None:
    assert normalise_round(text) is None


def test_a_round_inherits_what_it_does_not_change() -> None:
    first, second = get_round("training", "1.0"), get_round("training", "1.1")
    assert first.benchmarks == second.benchmarks
    assert (first.empty_folder_ignored, second.empty_folder_ignored) == (True, False)
    assert (first.ruleset, second.ruleset) == ("1.0.0", "1.1.0")


def test_the_rehearsal_has_one_round_with_the_common_rules_of_training() -> None:
    assert "rehearsal" in usages()
    assert known_rounds("rehearsal") == ("1.0",)
    assert get_round("rehearsal", "1.0").common == ("training", "1.0")


@pytest.mark.parametrize(
    ("usage", "name", "named"), [("training", "1.7", "1.0, 1.1"), ("inference", "1.0", "training")]
)
def test_unknown_rounds_and_usages_name_the_known_ones(usage: str, name: str, named: str) -> None:
    with pytest.raises(MlsubError, match=named):
        get_round(usage, name)


@pytest.mark.parametrize(
    ("round_", "folder", "title"),
    [
        ("1.1", "ssd", "SSD"), ("2.0", "ssd", "RetinaNet"), ("5.0", "retinanet", "RetinaNet"),
        ("4.0", "gnn", "R-GAT"), ("5.0", "rgat", "R-GAT"), ("0.7", "bert", "BERT"), ("9.9", "ssd", "RetinaNet"),
        ("1.0", "unheard", None),
    ],
)  # fmt: skip
def test_benchmarks_over_the_rounds(round_: str, folder: str, title: str | None) -> None:
    found = benchmark_of("training", round_, folder)
    assert (found.title if found else None) == title


def test_every_folder_of_every_round_holds_a_benchmark() -> None:
    for usage in usages():
        for name in known_rounds(usage):
            for folder in get_round(usage, name).benchmarks:
                assert benchmark_of(usage, name, folder) is not None, (usage, name, folder)


@pytest.mark.parametrize("case", load_yaml(Path(__file__).with_name("beside.yaml")))
def test_what_may_stand_side_by_side(case: list[Any]) -> None:
    one, other, answer, *why = case
    assert ResultsFolder(*one).compatibility_with(ResultsFolder(*other)) == (answer, why[0] if why else None)
