"""Tensors that are no text: a list or an object in metadata.tensor is an error in every round, v1.1 included."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tools.oracle.compare import disagrees, judge_both
from tools.oracle.generate import Combination, combinations, rules_of
from tools.oracle.log import ChangedLog, generated

KEY = "weights_initialization"
ODD: tuple[Any, ...] = ([], ["a"], {}, {"name": "a"}, [["a"]])
PLAIN: tuple[Any, ...] = (1, 0.5, True, None, "a", "")


def _asked() -> list[Combination]:
    return [c for c in combinations() if (rule := rules_of(c).get(KEY)) is not None and rule.tensors is not None]


@pytest.mark.product
@pytest.mark.parametrize("combination", _asked(), ids=str)
def test_a_tensor_of_any_kind_is_judged_as_officially(combination: Combination, tmp_path: Path):
    log = generated(combination)
    places = log.places(KEY)
    for place in (places[0], places[-1]):
        for tensor in (*ODD, *PLAIN):
            mutant = ChangedLog(f"{tensor!r} as tensor", log.altered(place, metadata={"tensor": tensor}).content())
            both = judge_both(mutant, combination.round, tmp_path / "log.txt")
            assert not disagrees(both), both.describe()
            assert not (both.ours.compliant and isinstance(tensor, (list, dict))), both.describe()


def test_the_rules_ask_for_tensors_in_v10_to_v21():
    assert {c.round for c in _asked()} == {"1.0", "1.1", "2.0", "2.1"}
    assert len({c.benchmark for c in _asked() if c.round == "1.1"}) == 8
