"""Every round and benchmark: what the recorder lets through passes both checkers, and what lacks a key is refused."""

from __future__ import annotations

from pathlib import Path

import pytest

from mlsub.emit import DoomedRunError
from tests.emit.drive import drive, emitted, required_before_clock
from tools.oracle.generate import Combination, rules_of, usage_and_round
from tools.oracle.oracle import official
from tools.support.judging import report_on

COMBINATIONS = emitted()


@pytest.mark.product
@pytest.mark.parametrize("combination", COMBINATIONS, ids=str)
def test_a_recorded_run_passes_here_and_at_the_official_checker(combination: Combination, tmp_path: Path) -> None:
    log = tmp_path / "result_0.txt"
    drive(log, combination)
    ours = report_on(log, *usage_and_round(combination.round))
    assert [finding for finding in ours.findings if finding.rejects] == []
    assert ours.compliant
    assert official(log, combination.round).compliant


@pytest.mark.product
@pytest.mark.parametrize(
    "combination",
    [pytest.param(c, marks=pytest.mark.long if c.division == "open" else ()) for c in COMBINATIONS],
    ids=str,
)
def test_a_run_that_lacks_a_key_is_refused_before_the_clock_starts(combination: Combination, tmp_path: Path) -> None:
    required = required_before_clock(combination)
    assert required
    # Hundreds of tensors only cost time: where they are required, they are named besides.
    tensors = {key for key, rule in rules_of(combination).items() if rule.tensors}
    for number, key in enumerate(required):
        log = tmp_path / f"result_{number}.txt"
        with pytest.raises(DoomedRunError) as refused:
            drive(log, combination, without={key, *tensors})
        assert any(key in finding.rule or key in finding.message for finding in refused.value.findings), key
        assert list(tmp_path.iterdir()) == []


def test_there_are_combinations_of_every_round() -> None:
    rounds = {combination.round for combination in COMBINATIONS}
    assert {"1.0", "6.1", "hpc-3.0"} <= rounds
    assert len(COMBINATIONS) > 150
