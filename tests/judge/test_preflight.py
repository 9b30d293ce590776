"""Hyperparameters before a run: what every round would accept passes, and every mistake is found at once."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given as drawn
from hypothesis import strategies as st

from mlsub.findings import Finding, Severity
from mlsub.io.documents import Pair
from mlsub.judge.keys import ELSEWHERE
from mlsub.judge.preflight import preflight
from mlsub.log.event import step_of
from mlsub.rounds import get_round
from tests.emit.drive import emitted
from tools.oracle.generate import Combination, compliant_log, usage_and_round
from tools.support.digits import HYPERPARAMETERS
from tools.support.effort import effort


def of(combination: Combination, values: dict[str, Any]) -> list[Finding]:
    given = [Pair(key, value, line) for line, (key, value) in enumerate(values.items(), 1)]
    round_ = get_round(*usage_and_round(combination.round))
    return list(preflight(round_, combination.division, combination.benchmark, given, "hp.yaml").findings)


def digits(values: dict[str, Any], division: str = "closed") -> list[tuple[int | None, str, str | None]]:
    found = of(Combination("rehearsal-1.0", "digits", division, None), values)
    return [(finding.line, finding.rule, finding.fix) for finding in found]


@pytest.mark.product
@pytest.mark.parametrize("combination", emitted(), ids=str)
def test_every_round_lets_its_own_pass_and_misses_each_key(combination: Combination) -> None:
    log = compliant_log(combination)
    start = [record["key"] for record in log].index("run_start")
    records = [record for record in log[:start] if step_of(record["key"]) == "hyperparameters"]
    values = {record["key"]: record["value"] for record in records}
    assert [found for found in of(combination, values) if found.severity is Severity.ERROR] == []
    bare = of(combination, {})
    missed = {found.rule.split(".")[1] for found in bare if found.severity is Severity.ERROR}
    assert missed <= values.keys() - ELSEWHERE
    # One finding each, whatever else is missing.
    assert len(bare) == len({found.rule for found in bare})
    for key in sorted(missed)[: effort(2, len(missed))]:
        slip = {f"{name}s" if name == key else name: value for name, value in values.items()}
        errors = [found for found in of(combination, slip) if found.severity is Severity.ERROR]
        assert [(found.rule, found.line, found.fix) for found in errors] == [
            (f"key.{key}.count", list(values).index(key) + 1, f"Did you mean {key}? Rename the key.")
        ]


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        *((written, "opt_momentum") for written in ("momentum", "OPT_MOMENTUM", "opt-momentum", "opt_momentun")),
        *(("batch_size", "global_batch_size"), ("learning_rate", "opt_base_learning_rate")),
        *(("weight_decay", "opt_weight_decay"), ("optimizer", None)),
    ],
)
def test_names_that_training_codes_use_are_understood(written: str, meant: str | None) -> None:
    key = meant or "opt_name"
    values = {written if name == key else name: value for name, value in HYPERPARAMETERS.items()}
    line = list(values).index(written) + 1
    if meant is None:
        assert {(found[0], found[1]) for found in digits(values)} == {
            (line, "preflight.unknown-key"),
            (None, "key.opt_name.count"),
        }
    else:
        assert digits(values) == [(line, f"key.{key}.count", f"Did you mean {key}? Rename the key.")]


def test_a_misspelled_key_with_a_wrong_value_is_two_problems_at_one_place() -> None:
    values = {**HYPERPARAMETERS, "batch_size": 48}
    del values["global_batch_size"]
    assert [(line, rule) for line, rule, _ in digits(values)] == [
        (7, "key.global_batch_size.count"),
        (7, "key.global_batch_size.value"),
    ]


def test_the_optimizers_own_keys_are_asked_for_by_a_name_that_is_misspelled_itself() -> None:
    resnet = Combination("2.1", "resnet", "closed", "lars")
    missed = {found.rule for found in of(resnet, {"opt_nam": "lars"})}
    assert {"key.opt_name.count", "key.lars_epsilon.count"} <= missed
    assert not any("sgd_" in rule for rule in missed)


def test_what_a_formula_needs_is_asked_for_alone() -> None:
    """The frequency of evaluations is computed from the batch size."""
    flux1 = Combination("6.1", "flux1", "closed", None)
    found = {finding.rule for finding in of(flux1, {"evaluation_frequency": 5})}
    assert "key.global_batch_size.count" in found
    assert "key.evaluation_frequency.value" not in found
    found = {finding.rule for finding in of(flux1, {"evaluation_frequency": 5, "global_batch_size": 64})}
    assert "key.evaluation_frequency.value" in found


@pytest.mark.parametrize(
    ("value", "meant", "fix"),
    [
        ("0.9", None, "Write it as a number: 0.9"),
        ("9e-1", "9.0e-1", "YAML reads 9e-1 as text; write 9.0e-1."),
        ("much", None, "Run with opt_momentum exactly 0.9, and log the value that was used."),
        (float("nan"), None, "Run with opt_momentum exactly 0.9, and log the value that was used."),
        ([0.9], None, "Run with opt_momentum exactly 0.9, and log the value that was used."),
        (None, None, "Run with opt_momentum exactly 0.9, and log the value that was used."),
    ],
)
def test_a_value_of_the_wrong_type_is_told_as_such(value: Any, meant: str | None, fix: str) -> None:
    values = {**HYPERPARAMETERS, "opt_momentum": value}
    given = [Pair(key, each, n, meant) for n, (key, each) in enumerate(values.items(), 1)]
    found = preflight(get_round("rehearsal", "1.0"), "closed", "digits", given, "hp.yaml").findings
    assert [(one.line, one.rule, one.fix) for one in found] == [(5, "key.opt_momentum.value", fix)]


def test_a_number_as_text_is_told_where_no_rule_looks_at_it() -> None:
    found = of(
        Combination("1.0", "resnet", "closed", "sgd"), {"opt_name": "sgd", "sgd_opt_momentum": "0.9", "nan": "x"}
    )
    told = [one for one in found if one.line is not None and one.rule.startswith("preflight.")]
    assert [(one.line, one.rule, one.message) for one in told] == [
        (2, "preflight.number-as-text", "sgd_opt_momentum is a number given as text"),
        (3, "preflight.unknown-key", "No rule of the benchmark names the key"),
    ]


def test_what_a_run_logs_at_its_time_is_no_hyperparameter() -> None:
    found = digits({**HYPERPARAMETERS, "run_start": None, "init_stop": None, "eval_accuracy": 0.99})
    assert [(line, rule) for line, rule, _ in found] == [(line, "preflight.cannot-log") for line in (8, 9, 10)]


def test_open_asks_for_less() -> None:
    assert digits({}, "open") == []
    assert digits({**HYPERPARAMETERS, "opt_name": "mine"}, "open") == []
    assert digits({"opt_momentun": 0.5}, "open") == [(1, "preflight.misspelled", "Did you mean opt_momentum?")]


def test_what_is_still_to_log_is_named_in_the_order_of_a_run() -> None:
    round_ = get_round("training", "5.1")
    given = [Pair("seed", 3), Pair("submission_org", "ACME")]
    found = preflight(round_, "closed", "llama31_8b", given, "hp.yaml").still_to_log
    assert found == (
        *("submission_platform", "cache_clear", "init_start", "init_stop", "eval_samples", "train_samples"),
    )


TEXT = st.text(max_size=30) | st.sampled_from([*HYPERPARAMETERS, "seed", "train_samples", "run_start", "house.x", ""])
VALUES = st.recursive(st.none() | st.booleans() | st.integers() | st.floats() | TEXT, st.lists, max_leaves=3)


@drawn(st.dictionaries(TEXT, VALUES, max_size=8))
def test_whatever_is_given_each_key_has_its_line_or_none(values: dict[str, Any]) -> None:
    for finding in of(Combination("5.0", "bert", "closed", None), values):
        assert finding.line is None or 1 <= finding.line <= len(values)


def test_a_hostile_number_of_keys_has_few_findings() -> None:
    values = {f"opt_momentun{'x' * 200}{n}": n for n in range(5_000)}
    found = digits(values)
    assert len(found) < 500
    assert found[-1][0] is None or found[-1][0] <= 5_000
