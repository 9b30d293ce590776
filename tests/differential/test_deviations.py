"""Each log on which mlsub and the live official checker differ is named in docs/deviations.md, and does differ."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.differential.compare import KNOWN_DEVIATIONS, disagrees, judge_both, known_deviation
from tests.differential.generate import Combination
from tests.differential.log import Log, Mutant, altered, content, moved, places_of, smallest

DOCUMENT = Path(__file__).resolve().parents[2] / "docs" / "deviations.md"
DLRM = Combination("6.1", "dlrmv4", "closed", None)


def _null_before_the_base_rate(log: Log) -> Log:
    sparse, base = (places_of(log, key)[0] for key in ("opt_sparse_base_learning_rate", "opt_base_learning_rate"))
    return moved(altered(log, sparse, value=None), sparse, base)


CASES: dict[str, tuple[Combination, Callable[[Log], Log], str]] = {
    "v6.1 dlrmv4: null as sparse learning rate": (
        DLRM,
        _null_before_the_base_rate,
        "v6.1 dlrmv4: a sparse learning rate",
    ),
}


@pytest.mark.parametrize("name", KNOWN_DEVIATIONS)
def test_a_known_deviation_is_one_and_is_documented(name: str, tmp_path: Path) -> None:
    combination, change, words = CASES[name]
    changed = Mutant("changed", content(change(smallest(combination))))
    both = judge_both(changed, combination.round, tmp_path / "log.txt")
    assert disagrees(both), "no deviation any more: take it from the table and from docs/deviations.md"
    assert known_deviation(both) == name
    assert words in " ".join(DOCUMENT.read_text(encoding="utf-8").split())


def test_another_difference_is_no_known_deviation(tmp_path: Path) -> None:
    """A null that both refuse, and one beside another defect."""
    log = smallest(DLRM)
    late = altered(log, places_of(log, "opt_sparse_base_learning_rate")[0], value=None)
    both = judge_both(Mutant("late", content(late)), "6.1", tmp_path / "log.txt")
    assert not disagrees(both)
    assert known_deviation(both) is None
    worse = [line for line in _null_before_the_base_rate(log) if line.key != "seed"]
    worse = altered(worse, places_of(worse, "opt_adam_beta_1")[0], value=0)
    assert known_deviation(judge_both(Mutant("worse", content(worse)), "6.1", tmp_path / "log.txt")) is None
