"""The oracle is the installed checker: made fast, made to end, and kept to what the round's day said, and no more."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
import yaml

from tools.oracle.generate import ROUNDS, Combination, combinations, usage_and_round
from tools.oracle.log import generated
from tools.oracle.oracle import DAY_DIFFERS, OFFICIAL, cut, official
from tools.oracle.random_changes import mutants

#: One combination a round: enough, for the shortcuts do not depend on the rules.
ONE_EACH = [next(c for c in combinations() if c.round == round_) for round_ in ROUNDS]
LINES = (
    *("", "\n", "a", ":::MLL", ":::MLLOG", ":::MLLOG \n", "x:::MLLOG {}", ":::MLLOG :::MLLOG {}\n", ":::MLLOG{}"),
    *("::::MLLOG 1 :::MLL 2", ":::MLL :::MLLOG :::MLLOG 3", "a\x85:::MLLOG b", "a\n:::MLLOG b\n:::MLLOG c\nd"),
)


@pytest.mark.product
@pytest.mark.parametrize("combination", ONE_EACH, ids=str)
def test_the_shortcuts_change_no_answer(combination: Combination, tmp_path: Path):
    file = tmp_path / "log.txt"
    for mutant in mutants(generated(combination), combination, "shortcuts", 40):
        # What is nested deeply takes the slow one half a minute.
        if len(mutant.content) < 100_000:
            file.write_bytes(mutant.content)
            assert official(file, combination.round) == official(file, combination.round, fast=False), mutant


@pytest.mark.parametrize("line", LINES)
@pytest.mark.parametrize("token", [":::MLL", ":::MLLOG ", "a"])
def test_a_line_is_cut_as_the_parsers_cut_it(line: str, token: str):
    assert cut(f".*{token}", token, line) == re.sub(f".*{token}", token, line)


def test_the_oracle_forgets_what_a_crash_leaves_behind(tmp_path: Path):
    combination = Combination("1.0", "bert", "closed", None)
    good, bad = generated(combination).content(), generated(combination).content().replace(b'"bert"', b'"BERT"')
    file = tmp_path / "log.txt"
    file.write_bytes(bad)
    assert not official(file, "1.0").compliant
    file.write_bytes(good)
    assert official(file, "1.0").compliant


@pytest.mark.parametrize("round_name", DAY_DIFFERS)
def test_each_difference_of_the_day_still_changes_the_installed_rules(round_name: str):
    """A release that says what the day said needs no line of its own here any more."""
    usage, name = usage_and_round(round_name)
    for change in DAY_DIFFERS[round_name]:
        records = [
            record
            for file in (OFFICIAL / f"{usage}_{name}.0").glob("*.yaml")
            for record in yaml.load(file.read_text(), Loader=yaml.BaseLoader)  # noqa: S506
        ]
        assert [change(record) for record in records] != records
