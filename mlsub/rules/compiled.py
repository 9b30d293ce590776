"""A rule set as tests, compiled once and shared by all logs of its round, division and benchmark."""

from __future__ import annotations

from functools import lru_cache

import msgspec

from mlsub.rules.aspects import compile_key
from mlsub.rules.aspects.base import CompiledKey
from mlsub.rules.load import explained, rules_for


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


@lru_cache(maxsize=512)
def plan_for(
    usage: str,
    round_name: str,
    division: str | None,
    benchmark: str | None,
    overlay: str | None = None,
    *,
    house: bool = False,
) -> Plan:
    """The compiled rules for a log that says it is of this division and benchmark.

    ``house`` asks for those of the overlay file that bind it beside the official ones.

    Raises:
        FileProblemsError: a rule file is broken.
    """
    files = () if house else ("common", "common_hpc", *([benchmark] if benchmark else []))
    with explained(overlay, *files):
        rules = rules_for(usage, round_name, division, benchmark, overlay, house=house)
        keys = tuple(compile_key(rule) for rule in rules.rules)
        variants = tuple((v.key, v.value, tuple(compile_key(rule) for rule in v.rules)) for v in rules.variants)
    every = (*keys, *(key for *_, chosen in variants for key in chosen))
    aspects = [aspect for key in every for aspect in key.aspects]
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
