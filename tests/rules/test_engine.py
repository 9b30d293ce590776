"""The rules of one log: what takes its records, and what comes of keys that must appear once."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import mlsub.rules.aspects.base
import mlsub.rules.aspects.records
from mlsub.divisions import CLOSED
from mlsub.io.data import load_yaml
from mlsub.judge.log import LogJudge
from mlsub.judge.rules import LogRules
from mlsub.log.event import Event
from mlsub.rounds import get_round
from mlsub.rules import load
from mlsub.rules.engine import compiled_rules
from tools.oracle.generate import Combination
from tools.oracle.log import Log, generated

ROUND = "4.0"
RESNET = Combination(ROUND, "resnet", "closed", "sgd")
OLD_RESNET = Combination("0.6", "resnet", "closed", "sgd")
_NOTHING: frozenset[str] = frozenset()


def rules() -> LogRules:
    return LogRules(get_round("training", ROUND), CLOSED, "resnet")


def events(of: Combination = RESNET) -> list[Event]:
    """The records of a compliant log."""
    records = [(number, line.record) for number, line in enumerate(generated(of), 1) if line.record]
    return [
        Event(line=number, **{name: record[name] for name in ("time_ms", "key", "value", "metadata")})
        for number, record in records
    ]


def found(of: LogRules) -> list[tuple[str, str | None, int | None]]:
    return [(one.rule, one.actual, one.line) for one in of.findings("log", _NOTHING, cut_off=False)]


def test_nobody_asks_for_a_key_without_a_rule() -> None:
    assert rules().handler("my_own_key") is None
    assert rules().handler(None) is None


def test_a_log_without_a_defect_makes_no_text_of_values(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(value: object) -> str:
        raise AssertionError(value)

    log = events()
    of = rules()
    monkeypatch.setattr(mlsub.rules.aspects.base, "show", refuse)
    monkeypatch.setattr(mlsub.rules.aspects.records, "show", refuse)
    of.add(log)
    assert found(of) == []


def test_a_handler_that_is_asked_for_again_goes_on_counting() -> None:
    log = events()
    at_once, by_key = rules(), rules()
    log.append(Event(line=900, time_ms=1.0, key="seed", value=1, metadata={}))
    log.append(Event(line=901, time_ms=1.0, key="eval_start", value=None, metadata={}))
    # Metadata of another type lacks each name; what a value must be is not asked besides.
    log.append(Event(line=902, time_ms=1.0, key="block_start", value=None, metadata=5))
    at_once.add(log)
    for event in log:
        handle = by_key.handler(event.key)
        if handle is not None:
            handle(event)
            list(by_key.certain("log", _NOTHING))
    assert found(by_key) == found(at_once)
    assert [rule for rule, *_ in found(at_once)] == [*["key.block_start.metadata"] * 2, "key.eval_start.metadata"]


class Asked:
    """A fold that notes what it is asked."""

    def __init__(self) -> None:
        self.keys: list[str | None] = []

    def handler(self, key: str | None) -> None:
        self.keys.append(key)


def test_a_log_that_names_itself_soon_is_asked_for_each_key_once() -> None:
    asked, lines = Asked(), generated(RESNET)
    judge = LogJudge("log", get_round("training", ROUND), [asked])
    judge.feed(Log([*lines[5:], *lines[:5]]).content())
    judge.close()
    assert {"submission_division", "submission_benchmark"} <= {line.key for line in lines[:5]}
    assert sorted(map(str, asked.keys)) == sorted(lines.distinct_keys())
    assert judge.report().benchmark == "resnet"


@pytest.mark.parametrize(("values", "expected"), load_yaml(Path(__file__).with_name("once.yaml")), ids=str)
def test_the_records_of_a_key_that_must_appear_once(values: list[Any], expected: list[Any]) -> None:
    of = rules()
    of.add(event for event in events() if event.key != "global_batch_size")
    of.add(
        Event(line=line, time_ms=1.0, key="global_batch_size", value=value, metadata={})
        for line, value in enumerate(values, 900)
    )
    here = [[rule.partition("batch_size.")[2], *more] for rule, *more in found(of) if "key.global_batch_size." in rule]
    assert here == expected
    assert of.in_trouble("global_batch_size") is (len(values) > 1 or values in ([0], ["x"]))


@pytest.mark.parametrize(
    ("usage", "round_", "benchmark", "key", "best"),
    [
        ("training", "4.0", "resnet", "eval_accuracy", "0.3"),  # At least 0.759.
        ("hpc", "3.0", "openfold", "eval_accuracy", "0.3"),  # At least 0.8, and at most 1.
        ("training", "2.1", "rnnt", "eval_accuracy", "0.1"),  # At most 0.058, and above 0.
        ("training", "4.0", "gpt3", "eval_accuracy", "0.1"),  # At most 2.69, and above 2.6.
        ("hpc", "2.0", "oc20", "eval_error", "0.1"),  # At most 0.036, and above 0.
    ],
)
def test_a_missed_target_names_the_best_value(usage: str, round_: str, benchmark: str, key: str, best: str) -> None:
    of = LogRules(get_round(usage, round_), CLOSED, benchmark)
    values = [0.2, 0.1, 0.3, 0.2]
    of.add([Event(line=n, time_ms=1.0, key=key, value=value, metadata={}) for n, value in enumerate(values, 7)])
    assert (f"key.{key}.target", f"{best} at best, in 4 evaluations", 10) in found(of)


@pytest.mark.parametrize(
    ("value", "fix"), [("bf16", "Did you mean bfloat16?"), ("FP8", "Did you mean fp8?"), ("bf8", None)]
)
def test_a_number_format_is_advised_by_its_other_name(value: str, fix: str | None) -> None:
    of, key = LogRules(get_round("training", "6.0"), CLOSED, "llama31_8b"), "lowest_numerical_precision_in_attn"
    of.add([Event(line=7, time_ms=1.0, key=key, value=value, metadata={})])
    [advice] = [one.fix for one in of.findings("log", _NOTHING, cut_off=False) if one.rule == f"key.{key}.value"]
    assert advice == fix if fix else advice.startswith(f"Run with {key} one of ")


@pytest.mark.parametrize(("times", "words"), [(0, "is missing"), (2, "appears too often")])
def test_a_key_that_must_appear_once_where_another_has_a_value(times: int, words: str) -> None:
    key = "opt_learning_rate_decay_boundary_epochs"
    of = LogRules(get_round("training", "0.6"), CLOSED, "resnet")
    of.add([one for one in events(OLD_RESNET) for _ in range(times if one.key == key else 1)])
    messages = {one.message for one in of.findings("log", _NOTHING, cut_off=False)}
    assert {message for message in messages if key in message} == {f"{key} {words}"}
    assert not any(key in one.message for one in of.certain("log", _NOTHING))


def test_plans_of_a_round_share_the_rules_of_all_benchmarks() -> None:
    # Rules that the tests before this one pushed out of a cache would be others.
    compiled_rules.cache_clear()
    load._rules_for.cache_clear()
    resnet, bert = (compiled_rules("training", ROUND, "closed", name) for name in ("resnet", "bert"))
    shared = [one for one, other in zip(resnet.keys, bert.keys, strict=False) if one is other]
    assert len(shared) > 10
