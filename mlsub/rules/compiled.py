"""A rule set as tests, compiled once and shared by all logs of its round, division and benchmark."""

from __future__ import annotations

from functools import lru_cache

import msgspec

from mlsub.rules.aspects import compile_key
from mlsub.rules.aspects.base import CompiledKey
from mlsub.rules.load import explained, house_rules_for, rules_for
from mlsub.rules.model import RuleSet


class Plan(msgspec.Struct, frozen=True):
    """A compiled rule set.

    ``named`` are the keys whose values its formulas ask for, ``looked_back_on`` all keys that other keys' rules need,
    ``starts`` those after which time is measured.
    """

    keys: tuple[CompiledKey, ...]
    variants: tuple[tuple[str, str, tuple[CompiledKey, ...]], ...]
    alternatives: tuple[tuple[str, ...], ...]
    named: frozenset[str]
    looked_back_on: frozenset[str]
    starts: frozenset[str]


@lru_cache(maxsize=256)
def plan_for(
    usage: str, round_name: str, division: str | None, benchmark: str | None, overlay: str | None = None
) -> Plan:
    """The compiled rules for a log that says it is of this division and benchmark.

    Raises:
        FileProblemsError: a rule file is broken.
    """
    with explained(usage, overlay, "common", "common_hpc", *([benchmark] if benchmark else [])):
        return compile_rules(rules_for(usage, round_name, division, benchmark, overlay))


@lru_cache(maxsize=256)
def house_plan_for(usage: str, round_name: str, division: str | None, benchmark: str | None, overlay: str) -> Plan:
    """The compiled rules of an overlay file for such a log.

    Raises:
        FileProblemsError: the overlay file is broken.
    """
    with explained(usage, overlay):
        return compile_rules(house_rules_for(usage, round_name, division, benchmark, overlay))


def compile_rules(rules: RuleSet) -> Plan:
    """Compile a rule set."""
    keys = tuple(compile_key(rule) for rule in rules.rules)
    variants = tuple((v.key, v.value, tuple(compile_key(rule) for rule in v.rules)) for v in rules.variants)
    aspects = [aspect for key in (*keys, *(key for *_, chosen in variants for key in chosen)) for aspect in key.aspects]
    named = frozenset(name for aspect in aspects for name in aspect.named())
    looked_back_on = frozenset(name for aspect in aspects for name in aspect.looked_back_on())
    return Plan(
        keys=keys,
        variants=variants,
        alternatives=rules.alternatives,
        named=named,
        looked_back_on=named | looked_back_on | {variant.key for variant in rules.variants},
        starts=frozenset(key.rule.within.of for key in keys if key.rule.within),
    )
