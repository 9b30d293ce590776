"""Every key that the official checker calls missing is named, also where the log ends in a broken record."""

from __future__ import annotations

import random
import re
from collections.abc import Iterable
from pathlib import Path

import pytest

from mlsub.findings import Finding
from tools.oracle.compare import Both, judge_log
from tools.oracle.generate import Combination, combinations
from tools.oracle.log import Line, Log, generated
from tools.support.effort import effort

_OFFICIAL = re.compile(r"Required \S+ occurrence of '([^']+)' but found 0")
_CUT = re.compile(r"; missing: (.+)$")
SEED = "missing-1"
TRIES = effort(3, 20)


def named(findings: Iterable[Finding]) -> set[str]:
    """The keys that findings call missing: by one of their own, or in that on the record that the log ends with."""
    keys = set()
    for found in findings:
        if found.rule.endswith((".count", ".any-of")):
            keys.add(found.rule.split(".")[1])
        elif found.rule == "log.record-undecodable" and (match := _CUT.search(found.actual or "")):
            keys |= set(match[1].split(", "))
    return keys


def official(both: Both) -> set[str]:
    return {key for text in both.theirs.messages for key in _OFFICIAL.findall(text)}


def broken(log: Log, place: int) -> Log:
    return log.replaced(place, Line(log[place].text[: len(log[place].text) * 2 // 3], None, log[place].old))


@pytest.mark.product
@pytest.mark.parametrize(
    "combination", [c for c in combinations() if c.benchmark in ("resnet", "bert", "oc20")], ids=str
)
def test_a_log_that_names_neither_division_nor_benchmark(combination: Combination, tmp_path: Path) -> None:
    log = generated(combination).without("submission_division", "submission_benchmark")
    both = judge_log(log, combination.round, tmp_path)
    expected = {"submission_division", "submission_benchmark"}
    # From v1.0 on the files of a division ask for the benchmark, and without a division there are none.
    assert official(both) == (expected if combination.round in ("0.6", "0.7") else {"submission_division"})
    assert named(both.ours.findings) == official(both)


@pytest.mark.product
@pytest.mark.parametrize("combination", combinations()[::3], ids=str)
def test_missing_keys_beside_a_broken_record_are_named(combination: Combination, tmp_path: Path) -> None:
    chance = random.Random(f"{SEED} {combination}")
    log = generated(combination)
    for _ in range(TRIES):
        gone = chance.sample(sorted(log.distinct_keys()), 2)
        rest = log.without(*gone)
        rest = Log(rest[: chance.choice((len(rest), len(rest), chance.randrange(1, len(rest))))])
        place = chance.choice((len(rest) - 1, len(rest) - 1, chance.randrange(len(rest))))
        both = judge_log(broken(rest, place), combination.round, tmp_path, f"{gone}")
        # The broken record has a finding of its own.
        # Nor has a key that is made of the records of another one, which is missing.
        assert official(both) - {rest[place].key, "aggregated_eval_accuracy"} <= named(both.ours.findings), (
            both.describe()
        )


def test_a_log_that_ends_in_a_broken_run_stop_lacks_nothing_behind_it(tmp_path: Path) -> None:
    combination = Combination("3.0", "resnet", "open", None)
    log = generated(combination).without("submission_org")
    log = broken(log, log.first("run_stop"))
    both = judge_log(log, combination.round, tmp_path)
    assert both.rejecting == ["log.record-undecodable", "key.submission_org.count"]


def test_a_log_that_was_cut_has_one_finding_that_names_what_is_missing(tmp_path: Path) -> None:
    combination = Combination("3.0", "resnet", "open", None)
    log = generated(combination).without("submission_org")
    place = log.first("run_start")
    both = judge_log(broken(Log(log[: place + 1]), place), combination.round, tmp_path)
    assert both.rejecting == ["log.record-undecodable"]
    assert {"submission_org", "eval_accuracy", "run_stop"} <= named(both.ours.findings)
