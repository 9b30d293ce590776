"""What the rules demand of a log, as rule ids: the list that aimed mutants have to go through."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from mlsub.findings import Kind, Severity
from mlsub.rules.catalogue import catalogue
from mlsub.rules.model import KeyRule
from mlsub.rules.phrases import rule_id
from tools.oracle.generate import Combination, rules_of, ruleset

#: The checker reads on where mlsub bounds its memory, so no log shows this rule on both sides.
WITHOUT_OFFICIAL_TWIN = frozenset({"log.record-too-long"})


class Demand(NamedTuple):
    """One rule in force. ``rejects`` is False where breaking it is only warned of."""

    rule: str
    rejects: bool


def demands(combination: Combination) -> frozenset[Demand]:
    """Every demand on a key in a log of this combination."""
    found = {
        demand
        for rule in rules_of(combination).values()
        for demand in demands_of_key(rule)
        if not (demand.rule.endswith(".value") and _not_asked_for(rule, combination))
    }
    for group in ruleset(combination).alternatives:
        found.add(Demand(rule_id(group[0], "any-of"), rejects=True))
    return frozenset(found)


def _not_asked_for(rule: KeyRule, combination: Combination) -> bool:
    """Whether the key should not be there at all, which is what is told of it then, and not its value."""
    where = rule.occurs.once_where
    return where is not None and where[1] not in combination.chosen


def demands_of_key(rule: KeyRule) -> Iterator[Demand]:
    """The demands of one key's rule."""
    has = {
        "count": rule.occurs.exactly_one or rule.occurs.at_least or rule.occurs.once_where,
        "value": rule.value,
        "metadata": rule.metadata or rule.first_metadata or rule.gathers,
        "nesting": rule.nested,
        "order": rule.after or rule.not_after,
        "time": rule.within,
        "target": rule.reaches,
        "tensors": rule.tensors,
    }
    for aspect, there in has.items():
        if there:
            yield Demand(rule_id(rule.key, aspect), rejects=aspect not in rule.warn_only)
    if rule.occurs.exactly_one:
        yield Demand(rule_id(rule.key, "repeated"), rejects=False)


def log_rules() -> frozenset[str]:
    """The rules of the catalogue that reject a log as a file."""
    return frozenset(
        name
        for name, info in catalogue().items()
        if name.startswith("log.") and info.severity is Severity.ERROR and info.kind is Kind.OFFICIAL
    )
