"""Small compliant logs, made from the rule data, for every benchmark, round and division."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any, NamedTuple

from mlsub.rounds import get_round, known_rounds
from mlsub.rules.formula import parse
from mlsub.rules.load import rules_for
from mlsub.rules.model import KeyRule, MetadataEntry, RuleSet
from tools.oracle.values import good_value, missing_by_far, reaching, resolved, resolved_rule

USAGES = ("training", "hpc")
#: Every round by name; those of HPC with the usage before it.
ROUNDS = tuple(name if usage == "training" else f"{usage}-{name}" for usage in USAGES for name in known_rounds(usage))
DIVISIONS = ("closed", "open")
#: Values that choose between rules, for benchmarks with variants in Closed.
CHOICES: dict[str, tuple[str, ...]] = {
    "resnet": ("sgd", "lars"),
    "deepcam": ("Adam+multistep", "LAMB+cosine_annealing"),
}
#: Open logs that cannot pass, by round and benchmark, and what the official checker says of each.
NO_OPEN: dict[tuple[str, str], str] = {
    ("3.0", "gpt3"): "training_3.0.0/open_gpt3.yaml",  # open_common lists it, but there is no such file
    ("3.1", "gpt3"): "training_3.1.0/open_gpt3.yaml",
    ("4.0", "llama2_70b_lora"): "CHECK for 'submission_benchmark' failed",  # open_common does not list it
    ("4.1", "llama2_70b_lora"): "CHECK for 'submission_benchmark' failed",
}
#: Values that several keys have to agree on.
FIRM: dict[str, Any] = {
    "bert": {"global_batch_size": 448},
    "deepseekv3_671b": {"global_batch_size": 16_384, "opt_learning_rate_warmup_steps": 4},
    "dlrmv4": {"global_batch_size": 16_384, "opt_base_learning_rate": 2e-6},
    "flux1": {"global_batch_size": 1000},
    "gpt_oss_20b": {"global_batch_size": 16},
    "llama31_405b": {"global_batch_size": 1152},
    "maskrcnn": {"global_batch_size": 96},
    "qwen35_397b_grpo": {"global_batch_size": 256, "num_prompts_per_step": 16},
}
#: Keys in the order in which a run logs them; hyperparameters and weights come behind init_start.
HEAD = (
    *("submission_benchmark", "submission_org", "submission_division", "submission_status", "submission_platform"),
    *("submission_poc_name", "submission_entry", "cache_clear", "init_start"),
)
#: Hyperparameters that others are computed from come first.
FIRST = ("global_batch_size", "opt_learning_rate_warmup_steps", "num_prompts_per_step", "opt_base_learning_rate")
CYCLE = (
    *("block_start", "epoch_start", "save_model", "epoch_stop", "block_stop"),
    *("eval_start", "eval_accuracy", "eval_error", "averaged_validation_loss", "eval_stop"),
)
TAIL = ("init_stop", "run_start", "run_stop", "eval_result", "staging_start", "staging_stop")
MEASURES = ("eval_accuracy", "eval_error", "averaged_validation_loss")
#: What a log has of these even where no rule asks for it.
ALWAYS = ("block_start", "epoch_start", "epoch_stop", "block_stop", "eval_start", "eval_accuracy", "eval_stop")
EVALUATIONS = 3
START_MS = 1_620_000_000_000

Record = dict[str, Any]
Planned = tuple[str, Any, dict[str, Any]]


class Combination(NamedTuple):
    """What a log is of: it decides which rules hold. ``choice`` are the values that choose variants, joined by +."""

    round: str
    benchmark: str
    division: str
    choice: str | None

    def __str__(self) -> str:
        name = f"{self.round}-{self.benchmark}-{self.division}"
        return f"{name}-{self.choice}" if self.choice else name

    @property
    def chosen(self) -> tuple[str, ...]:
        """The values that choose variants."""
        return tuple(self.choice.split("+")) if self.choice else ()


def usage_and_round(round_id: str) -> tuple[str, str]:
    """``1.0`` is of training, ``hpc-1.0`` of HPC."""
    usage, dash, name = round_id.partition("-")
    return (usage, name) if dash else ("training", round_id)


def combinations() -> list[Combination]:
    """All that a log can be of and pass. Variants are of Closed, so their benchmarks come once in Open."""
    return [
        Combination(round_, benchmark, division, choice)
        for round_ in ROUNDS
        for division in DIVISIONS
        for benchmark in get_round(*usage_and_round(round_)).benchmarks
        if division == "closed" or (round_, benchmark) not in NO_OPEN
        for choice in (CHOICES.get(benchmark) if division == "closed" or round_ == "0.6" else None) or (None,)
    ]


def ruleset(combination: Combination) -> RuleSet:
    """The rule data of a combination."""
    usage, name = usage_and_round(combination.round)
    return rules_for(usage, name, combination.division, combination.benchmark)


def rules_of(combination: Combination) -> dict[str, KeyRule]:
    """Each key's rule, that of the chosen variant last (it is the one that decides of the value)."""
    rules = ruleset(combination)
    found = {rule.key: rule for rule in rules.rules}
    found.update({rule.key: rule for rule in rules.variants if rule.where and rule.where[1] in combination.chosen})
    return found


def compliant_log(
    combination: Combination, evaluations: int = EVALUATIONS, stated: dict[str, Any] | None = None
) -> list[Record]:
    """The records of a run that reaches its target at the last of its evaluations.

    ``stated`` are values that keys are to have; those of other keys that follow from them follow.
    """
    maker = _Maker(combination, evaluations, stated or {})
    plan = list(maker.plan())
    records = [_record(place, *planned) for place, planned in enumerate(plan)]
    maker.date_the_result(records)
    return records


class _Maker:
    """Makes the records of one log."""

    def __init__(self, combination: Combination, evaluations: int, stated: dict[str, Any]) -> None:
        self.combination = combination
        self.evaluations = evaluations
        self.rules = rules_of(combination)
        self.pair = next((rule for rule in self.rules.values() if rule.gathers), None)
        self.values: dict[str, Any] = {}
        self.fixed = {
            "submission_benchmark": combination.benchmark,
            "submission_division": combination.division,
            "submission_status": "onprem",
            **FIRM.get(combination.benchmark, {}),
        }
        for rule in self.rules.values():
            allowed = [value for c in rule.value if c.operator == "one_of" for value in c.operand]
            for value in combination.chosen:
                if value in allowed:
                    self.fixed[rule.key] = value
        self.fixed |= stated

    def plan(self) -> Iterator[Planned]:
        around = {*HEAD, *CYCLE, *TAIL}
        for key in HEAD:
            if key in self.rules:
                yield self._plain(key)
        others = [key for key, rule in self.rules.items() if key not in around and not rule.gathers]
        for key in sorted(others, key=lambda key: FIRST.index(key) if key in FIRST else len(FIRST)):
            rule = self.rules[key]
            where = rule.occurs.once_where
            if where is None or where[1] in self.combination.chosen:
                for tensor in rule.tensors or (None,):
                    yield self._plain(key, tensor)
        for key in ("init_stop", "run_start", *(key for key in TAIL[4:] if key in self.rules)):
            yield self._plain(key)
        for number in range(1, self.evaluations + 1):
            yield from self._cycle(number)
        yield "run_stop", None, {"status": "success"}
        if "eval_result" in self.rules:
            yield "eval_result", None, {"iteration": self.evaluations, "timestamp": 0.0}

    def _plain(self, key: str, tensor: str | None = None) -> Planned:
        rule = self.rules[key]
        metadata = {} if tensor is None else {"tensor": tensor}
        for entry in rule.metadata:
            if not entry.optional and entry.names[0] not in metadata:
                metadata[entry.names[0]] = good_value(entry.constraints)
        known = rule.value or rule.occurs.exactly_one or rule.occurs.at_least
        value = good_value([resolved(c, self.values) for c in rule.value]) if known else None
        value = self.values[key] = self.fixed.get(key, value)
        return key, value, metadata

    def _cycle(self, number: int) -> Iterator[Planned]:
        for key in CYCLE:
            rule = self.rules.get(key)
            if rule is None and key not in ALWAYS:
                continue
            if self.pair is not None and self.pair.gathers is not None and self.pair.gathers.key == key:
                yield from self._pair_of(number)
                continue
            value: Any = {"iteration": number} if key == "save_model" else None
            if rule is not None and key in MEASURES:
                measure = reaching if number == self.evaluations else missing_by_far
                value = measure(resolved_rule(rule, self.values).reaches)
                if any(c.operator == "at_least" for c in rule.value) and value is not None:
                    value = min(1.0, max(0.0, value))
            yield key, value, self._metadata(rule, number)

    def _pair_of(self, number: int) -> Iterator[Planned]:
        """The measures of one step, logged one by one."""
        pair = self.pair
        assert pair is not None and pair.gathers is not None
        measures = reaching(pair.reaches) if number == self.evaluations else missing_by_far(pair.reaches)
        for name, value in measures.items():
            yield "eval_accuracy", value, {pair.gathers.field: name, pair.gathers.by: 1000 * number}

    def _metadata(self, rule: KeyRule | None, number: int) -> dict[str, Any]:
        metadata: dict[str, Any] = {}
        if rule is not None and (self.combination.round == "0.6" or not rule.metadata):
            return {"epoch_num": number, "first_epoch_num": number, "epoch_count": 1}
        for entry in rule.metadata if rule is not None else ():
            if entry.optional or entry.when:
                continue
            name = entry.names[-1] if self.combination.benchmark in FIRM else entry.names[0]
            metadata[name] = self._progress(entry, rule, number)
        if "epoch_count" in metadata:
            metadata = {"epoch_count": 1, "first_epoch_num": number}
        return metadata

    def _progress(self, entry: MetadataEntry, rule: KeyRule | None, number: int) -> Any:
        """The number of an evaluation: a plain count, or what formulas of the batch size make of it."""
        start, step = number, 0
        for first in rule.first_metadata if rule is not None else ():
            for constraint in first.constraints:
                start = parse(constraint.operand["equals"][1:]).compute(self.values)
                step = self.values["global_batch_size"]
        for constraint in entry.constraints:
            if constraint.operator == "divisible_by":
                step = parse(constraint.operand[1:]).compute(self.values)
            elif constraint.operator == "counts_up":
                start = parse(constraint.operand["from"][1:]).compute(self.values)
                step = parse(constraint.operand["by"][1:]).compute(self.values)
        return start + (number - 1) * step if step else start

    def date_the_result(self, records: list[Record]) -> None:
        """Minigo's result of v0.6 says when the model it names was saved, in seconds after run_start."""
        times = {record["key"]: record["time_ms"] for record in records}
        for record in records:
            if record["key"] == "eval_result":
                record["metadata"]["timestamp"] = (times["save_model"] - times["run_start"]) / 1000


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


def line_of_mll(record: Record) -> str:
    """A record as it stands in a log of v0.6, as far as its format can say it."""
    time_ms: Any = record.get("time_ms")
    real = type(time_ms) in (int, float) and -1e300 < time_ms < 1e300
    seconds = f"{time_ms / 1000:.9f}".rstrip("0") if real else str(time_ms)
    outside = ("time_ms", "key", "event_type", "namespace")
    content = {name: value for name, value in record.items() if name not in outside}
    return f":::MLL {seconds} {record.get('key')}: {json.dumps(content)}"
