"""Small compliant logs, made from the rule data, for every benchmark, round and division."""

from __future__ import annotations

import json
from typing import Any, NamedTuple

from mlsub.rules.load import rules_for
from mlsub.rules.model import KeyRule, RuleSet
from tests.differential.values import good_value, missing_by_far, reaching

USAGE = "training"
ROUNDS = ("1.0", "1.1")
DIVISIONS = ("closed", "open")
#: Each benchmark, with the values of opt_name that choose between rules.
BENCHMARKS: tuple[tuple[str, str | None], ...] = (
    ("resnet", "sgd"),
    ("resnet", "lars"),
    ("ssd", None),
    ("maskrcnn", None),
    ("bert", None),
    ("dlrm", None),
    ("rnnt", None),
    ("unet3d", None),
    ("minigo", None),
)
#: Keys in the order in which a run logs them; hyperparameters and weights come behind init_start.
HEAD = (
    "submission_benchmark",
    "submission_org",
    "submission_division",
    "submission_status",
    "submission_platform",
    "cache_clear",
    "init_start",
)
CYCLE = ("block_start", "epoch_start", "epoch_stop", "block_stop", "eval_start", "eval_accuracy", "eval_stop")
EVALUATIONS = 3
START_MS = 1_620_000_000_000

Record = dict[str, Any]


class Combination(NamedTuple):
    """What a log is of: it decides which rules hold."""

    round: str
    benchmark: str
    division: str
    optimizer: str | None

    def __str__(self) -> str:
        name = f"{self.round}-{self.benchmark}-{self.division}"
        return f"{name}-{self.optimizer}" if self.optimizer else name


def combinations() -> list[Combination]:
    """All of them. The optimizer is free in Open, so resnet comes once there."""
    return [
        Combination(round_, benchmark, division, optimizer if division == "closed" else None)
        for round_ in ROUNDS
        for division in DIVISIONS
        for benchmark, optimizer in BENCHMARKS
        if division == "closed" or optimizer in (None, "sgd")
    ]


def ruleset(combination: Combination) -> RuleSet:
    """The rule data of a combination."""
    return rules_for(USAGE, combination.round, combination.division, combination.benchmark)


def rules_of(combination: Combination) -> dict[str, KeyRule]:
    """Each key's rule, that of the chosen variant last (it is the one that decides of the value)."""
    rules = ruleset(combination)
    found = {rule.key: rule for rule in rules.rules}
    for variant in rules.variants:
        if variant.value == combination.optimizer:
            found.update({rule.key: rule for rule in variant.rules})
    return found


def compliant_log(combination: Combination) -> list[Record]:
    """The records of a run that reaches its target at the last of its evaluations."""
    rules = rules_of(combination)
    around = {*HEAD, *CYCLE, "init_stop", "run_start", "run_stop"}
    plan: list[tuple[str, Any, dict[str, Any]]] = [_plain(key, rules, combination) for key in HEAD]
    for key, rule in rules.items():
        if key not in around:
            tensors = rule.tensors or (None,)
            plan += [_plain(key, rules, combination, tensor) for tensor in tensors]
    plan += [_plain("init_stop", rules, combination), _plain("run_start", rules, combination)]
    for number in range(1, EVALUATIONS + 1):
        plan += [_in_cycle(key, rules, number) for key in CYCLE]
    plan.append(("run_stop", None, {"status": "success"}))
    return [_record(place, *planned) for place, planned in enumerate(plan)]


def _plain(
    key: str, rules: dict[str, KeyRule], combination: Combination, tensor: str | None = None
) -> tuple[str, Any, dict[str, Any]]:
    rule = rules[key]
    metadata = {name: good_value(demand) for name, demand in rule.metadata}
    if tensor is not None:
        metadata["tensor"] = tensor
    fixed = {
        "submission_benchmark": combination.benchmark,
        "submission_division": combination.division,
        "submission_status": "onprem",
    }
    if key == "opt_name" and combination.optimizer:
        return key, combination.optimizer, metadata
    value = good_value(rule.value) if rule.value or rule.occurs.exactly_one else None
    return key, fixed.get(key, value), metadata


def _in_cycle(key: str, rules: dict[str, KeyRule], number: int) -> tuple[str, Any, dict[str, Any]]:
    value = None
    if key == "eval_accuracy":
        reaches = rules[key].reaches
        value = reaching(reaches) if number == EVALUATIONS else missing_by_far(reaches)
    if key.startswith("block"):
        return key, value, {"first_epoch_num": number, "epoch_count": 1}
    return key, value, {"epoch_num": number}


def _record(place: int, key: str, value: Any, metadata: dict[str, Any]) -> Record:
    kind = "INTERVAL_START" if key.endswith("_start") else "INTERVAL_END" if key.endswith("_stop") else "POINT_IN_TIME"
    return {
        "namespace": "",
        "time_ms": START_MS + 1000 * place,
        "event_type": kind,
        "key": key,
        "value": value,
        "metadata": {"file": "train.py", "lineno": 10 + place, **metadata},
    }


def line_of(record: Record) -> str:
    """A record as it stands in a log."""
    return f":::MLLOG {json.dumps(record)}"
