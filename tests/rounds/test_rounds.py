"""The table of rounds."""

from __future__ import annotations

import pytest

from mlsub.io.errors import MlsubError
from mlsub.rounds import get_round, known_rounds, normalise_round, usages


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
