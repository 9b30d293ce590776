"""What all rule files demand, by rule id: the ground of ``mlsub explain`` and of the reference pages."""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache

from mlsub.divisions import DIVISIONS
from mlsub.findings import Blocks
from mlsub.rounds import Round, get_round, known_rounds, usages
from mlsub.rules.load import rules_for
from mlsub.rules.model import KeyRule
from mlsub.rules.phrases import ASPECTS, rule_id

ASPECT_TITLES = {
    "count": "{key} must appear {words}",
    "repeated": "{key} should appear only once",
    "value": "{key} must have an allowed value",
    "metadata": "the metadata of {key} must say what is needed",
    "order": "{key} must come in the right order",
    "nesting": "{key} must fit the sequence of epochs, blocks and evaluations",
    "time": "{key} must come in time",
    "target": "an evaluation must reach the quality target",
    "tensors": "each weight tensor of the reference model must be named once",
    "any-of": "{key}, or the key that may stand for it, must appear",
}
ASPECT_WHY = {
    "count": "A reviewer, and every tool, has to find the fact in the log: once if there can be only one.",
    "repeated": "Several processes that log the same fact make logs hard to read; equal values are tolerated.",
    "value": "In Closed hyperparameters are part of the benchmark's definition; elsewhere values must mean something.",
    "metadata": "The record says nothing without: which epoch, which status, which tensor.",
    "order": "Time to train is only comparable if everybody starts and stops the clock at the same point.",
    "nesting": "v0.6 asked for epochs one after the other, and for each evaluation printed before the next.",
    "time": "Initialisation is not timed, so its length is bounded.",
    "target": "The benchmark is to train to this quality; a run that does not get there has not converged.",
    "tensors": "A reviewer has to see that every weight was initialised anew.",
    "any-of": "Runs are cut into blocks or into epochs; one of the two must be logged to follow the run.",
}
ASPECT_FIX = {
    "count": "Log the key as often as demanded.",
    "repeated": "Log from one process only.",
    "value": "Run with an allowed value, and log the value that was used.",
    "metadata": "Pass the missing entry as metadata of the record.",
    "order": "Emit the record at the point in time it stands for.",
    "nesting": "Log each start before its stop, with the number of its epoch.",
    "time": "Move work that touches no training data out of the init phase, or make it faster.",
    "target": "Train longer, or count the run among the few that may fail.",
    "tensors": "Log one record for each tensor, with the reference's name in metadata.",
    "any-of": "Log one of the keys.",
}


class Demand:
    """One aspect of a key as some rounds, benchmarks and divisions demand it."""

    def __init__(self, rule: KeyRule, words: str) -> None:
        self.rule = rule
        self.words = words
        self.logs: dict[Round, list[tuple[str, str]]] = {}
        self.sources: set[tuple[str, str]] = set()

    def add(self, round_: Round, benchmark: str, division: str, origin: str) -> None:
        """Note that a round demands this of a benchmark's logs of a division."""
        self.logs.setdefault(round_, []).append((benchmark, division))
        self.sources.add((round_.checker, origin))

    def places(self) -> Iterator[str]:
        """Which logs it binds, rounds with the same logs together."""
        groups: dict[tuple[str, str], list[str]] = {}
        for round_, logs in self.logs.items():
            groups.setdefault((round_.usage, which_logs(round_, logs)), []).append(round_.name)
        for (usage, which), rounds in groups.items():
            yield f"{usage} {', '.join(rounds)}: {which}"


def rules_out(demands: list[Demand]) -> Blocks:
    """The division that breaking a demand rules out, by what the newest rounds say.

    What Open refuses, Closed would not take either. (v0.6 had no divisions, so there everything rules out both.)
    """
    newest = demands[-1].logs.values()
    return Blocks.BOTH if any(division == "open" for logs in newest for _, division in logs) else Blocks.CLOSED


def which_logs(round_: Round, logs: list[tuple[str, str]]) -> str:
    """The logs in words, as short as they can be told."""
    parts = []
    for division in dict.fromkeys(division for _, division in logs):
        names = [name for name, of in logs if of == division]
        everyone = len(names) == len(round_.benchmarks)
        parts.append(f"every {division} log" if everyone else f"{division} {', '.join(names)}")
    return "every log" if parts == ["every closed log", "every open log"] else "; ".join(parts)


@lru_cache(maxsize=1)
def all_demands() -> dict[str, list[Demand]]:
    """Every demand of every rule file, by rule id; equal demands are one, with all their places."""
    found: dict[str, dict[str, Demand]] = {}

    def add(round_: Round, benchmark: str, division: str, rule: KeyRule, aspect: str, words: str, origin: str) -> None:
        demands = found.setdefault(rule_id(rule.key, aspect), {})
        demands.setdefault(words, Demand(rule, words)).add(round_, benchmark, division, origin)

    for round_, benchmark, division in _combinations():
        rules = rules_for(round_.usage, round_.name, division, benchmark)
        variants = [rule for variant in rules.variants for rule in variant.rules]
        for rule in (*rules.rules, *variants):
            for aspect, words in aspects_of(rule):
                add(round_, benchmark, division, rule, aspect, words, rule.origin)
        for group in rules.alternatives:
            rule = next(rule for rule in rules.rules if rule.key == group[0])
            add(round_, benchmark, division, rule, "any-of", f"at least one of {' and '.join(group)}", "common.yaml")
    return {name: list(demands.values()) for name, demands in found.items()}


def _combinations() -> Iterator[tuple[Round, str, str]]:
    for usage in usages():
        for name in known_rounds(usage):
            round_ = get_round(usage, name)
            for benchmark in round_.benchmarks:
                for division in DIVISIONS:
                    yield round_, benchmark, division


def aspects_of(rule: KeyRule) -> Iterator[tuple[str, str]]:
    """The aspects a rule demands, each with its words."""
    words: dict[str, list[str]] = {aspect: [] for aspect in ASPECTS}
    if rule.occurs.exactly_one or rule.occurs.at_least or rule.occurs.once_where:
        words["count"].append(rule.occurs.words())
    if rule.occurs.exactly_one:
        words["repeated"].append("exactly once; repeats with the same value only warn")
    words["value"] += [constraint.words() for constraint in rule.value]
    words["metadata"] += [entry.words() for entry in rule.metadata]
    words["metadata"] += [f"on the first record {entry.words()}" for entry in rule.first_metadata]
    if rule.gathers is not None:
        words["metadata"].append(
            f"{rule.gathers.field} and {rule.gathers.by} on each {rule.gathers.key} that is part of it"
        )
    words["order"] += [f"after {key}" for key in rule.after] + [f"before {key}" for key in rule.not_after]
    if rule.nested is not None:
        words["nesting"].append("the sequence of epochs, blocks and evaluations")
    if rule.within is not None:
        words["time"].append(rule.within.words())
    words["target"] += [reach.words() for reach in rule.reaches]
    if rule.tensors is not None:
        words["tensors"].append(f"{len(rule.tensors)} tensors, each once")
    for aspect, parts in words.items():
        if parts:
            note = " (only a warning)" if aspect in rule.warn_only else ""
            yield aspect, "; ".join(parts) + note
