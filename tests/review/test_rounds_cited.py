"""No finding cites rules that came after the round that it is about."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from mlsub.io.data import load_yaml
from mlsub.review import cadence
from mlsub.rounds import get_round, known_rounds, round_age
from mlsub.rules.catalogue import catalogue

ROOM = Path(cadence.__file__).parent
CITED = re.compile(r"rules v(\d+\.\d+)")


@pytest.mark.parametrize("file", ["cadence.yaml", "dataset.yaml"])
def test_what_holds_from_a_round_on_cites_none_later(file: str) -> None:
    facts = [(name, fact) for of in load_yaml(ROOM / file).values() for name in of for fact in of[name]]
    cited = [(name, fact["since"], one) for name, fact in facts for one in CITED.findall(fact["source"])]
    assert len(cited) > 15
    assert [one for one in cited if round_age(one[2]) > round_age(one[1])] == []


def test_operations_cite_no_round_after_the_first_of_their_benchmark() -> None:
    known: dict[str, Any] = {
        name: [one for one in known_rounds("training") if name in get_round("training", one).benchmarks]
        for name in load_yaml(ROOM / "operations.yaml")
    }
    for name, fact in load_yaml(ROOM / "operations.yaml").items():
        assert all(round_age(one) <= round_age(known[name][0]) for one in CITED.findall(fact["source"])), name


def test_rules_that_hold_in_every_round_cite_the_rules_of_none() -> None:
    rules = {rule: info.source for rule, info in catalogue().items() if info.room == "review"}
    dated = {rule for rule, source in rules.items() if re.search(r"\bv\d\.\d", source)}
    # They say from which round on.
    assert dated == {"entry.resubmitted", "run.records-only"}
