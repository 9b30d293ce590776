"""Every key has a description, and the list of a benchmark is in the order of a run."""

from __future__ import annotations

import pytest

from docs.reference import keys_with_pages
from mlsub.commands.rules.keys import KeyLine, descriptions, key_list
from mlsub.divisions import DIVISIONS
from mlsub.log.event import STEPS, event_type
from mlsub.rounds import all_rounds, get_round, usages


def line(benchmark: str, round_: str, key: str, division: str = "closed", usage: str = "training") -> KeyLine:
    keys = key_list(get_round(usage, round_), division, benchmark).keys
    return next(line for line in keys if line.key == key)


def test_every_key_is_described_in_one_line() -> None:
    about = descriptions()
    assert keys_with_pages().keys() == about.keys()
    for key, text in about.items():
        assert 5 <= len(text) <= 120 and "\n" not in text and not text.endswith("."), key


@pytest.mark.parametrize("usage", usages())
def test_the_list_is_in_the_order_of_a_run(usage: str) -> None:
    for round_ in all_rounds(usage):
        for name in round_.benchmarks:
            for division in DIVISIONS:
                keys = key_list(round_, division, name).keys
                steps = [line.step for line in keys]
                assert steps == sorted(steps, key=list(STEPS).index)
                names = [line.key for line in keys]
                assert names.index("init_start") < names.index("init_stop") < names.index("run_start")
                assert names[-1] == "run_stop"
                assert all(line.description for line in keys)


@pytest.mark.parametrize(
    ("key", "kind"),
    [
        ("run_start", "INTERVAL_START"),
        ("block_stop", "INTERVAL_END"),
        ("staging_stop", "INTERVAL_END"),
        ("eval_accuracy", "POINT_IN_TIME"),
        ("opt_learning_rate_decay_start_step", "POINT_IN_TIME"),
    ],
)
def test_the_type_of_an_event(key: str, kind: str) -> None:
    assert event_type(key) == kind


def test_what_stands_for_another_key_is_a_must_without_it() -> None:
    assert line("bert", "1.0", "epoch_start").need == "must, unless block_start is logged"
    assert line("bert", "1.0", "block_start").need == "must, unless epoch_start and eval_start are logged"


def test_a_list_of_names_comes_down_to_the_one_asked_for() -> None:
    assert line("bert", "1.0", "submission_benchmark").value == ('exactly "bert"',)
    assert line("bert", "1.0", "submission_division", "open").value == ('exactly "open"',)


@pytest.mark.parametrize(
    ("round_", "division", "need"),
    [
        ("1.0", "closed", "may"),
        ("4.1", "closed", "must"),
        ("4.1", "open", None),
        ("0.7", "closed", None),
    ],
)
def test_the_seed_is_told_although_no_rule_of_one_log_names_it(round_: str, division: str, need: str | None) -> None:
    keys = key_list(get_round("training", round_), division, "bert").keys
    assert [line.need for line in keys if line.key == "seed"] == ([need] if need else [])


@pytest.mark.parametrize("round_", ["0.6", "2.1"])
def test_a_key_that_hangs_on_another_says_so(round_: str) -> None:
    found = line("resnet", round_, "lars_epsilon")
    assert (found.need, found.where, found.when) == ("must", "where opt_name is lars", "exactly once")
