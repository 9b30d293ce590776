"""The long search notices a rule that is wrong by a little: by one float, one operator, one word, one record."""

from __future__ import annotations

from pathlib import Path

import pytest

from mlsub.rules.model import KeyRule
from tests.differential.compare import judged
from tests.differential.generate import Combination, ruleset
from tests.differential.log import content, smallest
from tests.differential.wrong_rules import in_force, unnoticed, wrong_rules
from tests.effort import LONG

FLUX = Combination("5.1", "flux1", "closed", None)
KEYS = {"eval_accuracy", "init_stop"}
MORE = {"block_start", "gradient_accumulation_steps", "opt_name", "global_batch_size"}


def test_each_wrong_rule_is_noticed(tmp_path: Path) -> None:
    number, left = unnoticed(FLUX, tmp_path / "log.txt", {*KEYS, *MORE} if LONG else {"init_stop"})
    assert number >= 6
    assert left == []


def test_a_wrong_rule_set_is_the_right_one_but_for_one_key() -> None:
    right = ruleset(FLUX)
    by_key: dict[str, KeyRule] = {rule.key: rule for rule in right.rules}
    every = list(wrong_rules(right))
    assert len(every) > 50
    for wrong in every:
        changed = [rule.key for rule in wrong.rules.rules if by_key[rule.key] != rule]
        assert changed == [wrong.key] or (not changed and wrong.rules.alternatives != right.alternatives), wrong.words


@pytest.mark.parametrize("key", sorted(KEYS))
def test_logs_are_judged_by_the_rules_in_force_only_as_long_as_they_are(key: str, tmp_path: Path) -> None:
    file = tmp_path / "log.txt"
    file.write_bytes(content([line for line in smallest(FLUX) if line.key != key]))
    lax = next(wrong for wrong in wrong_rules(ruleset(FLUX)) if wrong.words == f"{key}: not asked for")
    with in_force(lax.rules):
        rejecting = {finding.rule for finding in judged(file, "5.1").findings if finding.rejects}
        assert f"key.{key}.count" not in rejecting
    assert f"key.{key}.count" in {finding.rule for finding in judged(file, "5.1").findings if finding.rejects}
