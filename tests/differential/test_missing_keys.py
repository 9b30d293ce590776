"""Every key that the official checker calls missing is named, also where the log ends in a broken record."""

from __future__ import annotations

import random
import re
from collections.abc import Iterable
from pathlib import Path

import pytest

from mlsub.findings import Finding
from tools.oracle.compare import Both, judge_both
from tools.oracle.generate import Combination, combinations
from tools.oracle.log import Log, Mutant, content, generated, places_of
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


def without(log: Log, *keys: str) -> Log:
    return [line for line in log if line.key not in keys]


def broken(log: Log, place: int) -> Log:
    line = log[place]
    return [*log[:place], line._replace(text=line.text[: len(line.text) * 2 // 3], record=None), *log[place + 1 :]]


@pytest.mark.product
@pytest.mark.parametrize(
    "combination", [c for c in combinations() if c.benchmark in ("resnet", "bert", "oc20")], ids=str
)
def test_a_log_that_names_neither_division_nor_benchmark(combination: Combination, tmp_path: Path) -> None:
    log = without(generated(combination), "submission_division", "submission_benchmark")
    both = judge_both(Mutant("unnamed", content(log)), combination.round, tmp_path / "log.txt")
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
        gone = chance.sample(sorted({line.key for line in log if line.key}), 2)
        rest = without(log, *gone)
        rest = rest[: chance.choice((len(rest), len(rest), chance.randrange(1, len(rest))))]
        place = chance.choice((len(rest) - 1, len(rest) - 1, chance.randrange(len(rest))))
        both = judge_both(Mutant(f"{gone}", content(broken(rest, place))), combination.round, tmp_path / "log.txt")
        # The broken record has a finding of its own.
        # Nor has a key that is made of the records of another one, which is missing.
        assert official(both) - {rest[place].key, "aggregated_eval_accuracy"} <= named(both.ours.findings), (
            both.describe()
        )


def test_a_log_that_ends_in_a_broken_run_stop_lacks_nothing_behind_it(tmp_path: Path) -> None:
    combination = Combination("3.0", "resnet", "open", None)
    log = without(generated(combination), "submission_org")
    log = broken(log, places_of(log, "run_stop")[0])
    both = judge_both(Mutant("run_stop", content(log)), combination.round, tmp_path / "log.txt")
    assert both.rejecting == ["log.record-undecodable", "key.submission_org.count"]


def test_a_log_that_was_cut_has_one_finding_that_names_what_is_missing(tmp_path: Path) -> None:
    combination = Combination("3.0", "resnet", "open", None)
    log = without(generated(combination), "submission_org")
    place = places_of(log, "run_start")[0]
    both = judge_both(Mutant("cut", content(broken(log[: place + 1], place))), combination.round, tmp_path / "log.txt")
    assert both.rejecting == ["log.record-undecodable"]
    assert {"submission_org", "eval_accuracy", "run_stop"} <= named(both.ours.findings)
