"""Oddities of the official rules: mlsub says the same, though the rules are hardly right."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import pytest

import mlsub
from tools.oracle.compare import judge_log
from tools.oracle.generate import Combination
from tools.oracle.log import Log, generated
from tools.oracle.official_rcp import official_test
from tools.oracle.shared import ABSENT, folder, present, recorded_entries

MINUTE = 60_000


class Case(NamedTuple):
    """A log by a change, and whether both sides accept it."""

    combination: Combination
    change: Callable[[Log], Log]
    accepted: bool


def _initialised_in(minutes: float) -> Callable[[Log], Log]:
    def change(log: Log) -> Log:
        later = log.record(log.first("init_start"))["time_ms"] + minutes * MINUTE
        return log.altered(log.first("init_stop"), time_ms=later)

    return change


def _open(log: Log) -> Log:
    return log.altered(log.first("submission_division"), value="open")


def _without_organisation(log: Log) -> Log:
    return log.without("submission_org", "submission_platform")


def _early_result(log: Log) -> Log:
    place = log.first("eval_result")
    metadata = log.metadata(place)
    return log.altered(place, metadata={**metadata, "timestamp": metadata["timestamp"] - 1000})


def _late_division(log: Log) -> Log:
    return log.moved(log.first("submission_division"), log.first("init_stop"))


GPT3 = Combination("3.0", "gpt3", "closed", None)
LORA = Combination("4.0", "llama2_70b_lora", "closed", None)
SSD = Combination("5.0", "retinanet", "open", None)
CASES: dict[str, tuple[Case, ...]] = {
    "gpt3-initialisation": (Case(GPT3, _initialised_in(29), True), Case(GPT3, _initialised_in(31), False)),
    "open-without-rules": (
        *(Case(GPT3._replace(round=name), _open, False) for name in ("3.0", "3.1")),
        *(Case(LORA._replace(round=name), _open, False) for name in ("4.0", "4.1")),
    ),
    "no-organisation": (
        Case(SSD, _without_organisation, True),
        Case(SSD._replace(round="5.1"), _without_organisation, False),
        Case(SSD._replace(round="4.1", benchmark="ssd"), _without_organisation, False),
    ),
    "eval-result": (Case(Combination("0.6", "minigo", "open", None), _early_result, True),),
    "late-division": (
        Case(SSD._replace(round="1.1", benchmark="ssd"), _late_division, True),
        Case(SSD._replace(round="2.0", benchmark="ssd"), _late_division, False),
        Case(SSD, _late_division, False),
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_an_oddity_of_a_log(name: str, tmp_path: Path) -> None:
    for combination, change, accepted in CASES[name]:
        both = judge_log(change(generated(combination)), combination.round, tmp_path)
        assert (both.theirs.compliant, both.ours.compliant) == (accepted, accepted), both.describe()


PUBLISHED = {
    "4.0": "Google/results/cloud-tpu-v5p-12288-maxtext/gpt3",
    "2.0": "Graphcore/results/ipu-pod256-POPART-closed/bert",
}


@pytest.mark.skipif(not present(), reason=ABSENT)
@pytest.mark.parametrize("round_name", PUBLISHED)
def test_a_published_entry_that_fails_is_rejected_as_recorded(round_name: str) -> None:
    path = PUBLISHED[round_name]
    assert recorded_entries(round_name)[path]["rcp"]["epochs"]["passed"] is False
    assert not official_test(folder(round_name) / path, "training", round_name).passed
    (entry,) = mlsub.check(folder(round_name) / path, round=round_name, jobs=1).entries
    assert entry.rcp.verdict == "fail"
