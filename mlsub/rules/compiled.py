"""A rule set as tests, compiled once and shared by all logs of its round, division and benchmark."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

import msgspec

from mlsub.rules.aspects import compile_key
from mlsub.rules.aspects.base import CompiledKey, Note
from mlsub.rules.load import common_rules, explained, rules_for
from mlsub.rules.model import Gathers


class Plan(msgspec.Struct, frozen=True):
    """A compiled rule set.

    ``keys`` bind every log, ``every`` has those of variants after them. ``watched`` has the rules of each key that any
    rule looks at, ``notes`` what is kept of the records of a key for the rules of others. ``due`` has the keys that a
    log may have to have, ``required`` the keys that every log needs, ``gathering`` the rules of virtual keys.
    """

    keys: tuple[CompiledKey, ...]
    every: tuple[CompiledKey, ...]
    alternatives: tuple[tuple[str, ...], ...]
    watched: dict[str, tuple[CompiledKey, ...]]
    notes: dict[str, Note]
    due: frozenset[str]
    required: frozenset[str]
    gathering: tuple[tuple[CompiledKey, Gathers], ...]


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
        shared = _common(usage, round_name, division, overlay, house=house)
        keys = tuple(
            shared[place] if place < len(shared) and shared[place].rule is rule else compile_key(rule, place)
            for place, rule in enumerate(rules.rules)
        )
        chosen = [((variant.key, variant.value), rule) for variant in rules.variants for rule in variant.rules]
        variants = tuple(compile_key(rule, place, where) for place, (where, rule) in enumerate(chosen, len(keys)))
    every = keys + variants
    notes = _notes(every)
    watched: dict[str, tuple[CompiledKey, ...]] = dict.fromkeys(notes, ())
    for compiled in every:
        watched[compiled.rule.key] = (*watched.get(compiled.rule.key, ()), compiled)
    return Plan(
        keys=keys,
        every=every,
        alternatives=rules.alternatives,
        watched=watched,
        notes=notes,
        due=frozenset(compiled.rule.key for compiled in every if compiled.rule.occurs.is_required),
        required=frozenset(compiled.rule.key for compiled in keys if compiled.rule.occurs.least),
        gathering=tuple((compiled, compiled.rule.gathers) for compiled in every if compiled.rule.gathers),
    )


@lru_cache(maxsize=256)
def _common(
    usage: str, round_name: str, division: str | None, overlay: str | None, *, house: bool
) -> tuple[CompiledKey, ...]:
    """The compiled rules that bind the logs of all benchmarks; they come first, in this order."""
    rules = common_rules(usage, round_name, division, overlay, house=house).rules
    return tuple(compile_key(rule, place) for place, rule in enumerate(rules))


def _notes(keys: Sequence[CompiledKey]) -> dict[str, Note]:
    """What the rules of a log ask of the records of each key, beside the rule of the key itself."""
    rules, aspects = [compiled.rule for compiled in keys], [aspect for one in keys for aspect in one.aspects]
    stated = {name for aspect in aspects for name in aspect.named()}
    starts = {compiled.rule.within.of for compiled in keys if compiled.rule.within and not compiled.where}
    choices: dict[str, frozenset[str]] = {}
    for key, value in filter(None, (compiled.where or compiled.rule.occurs.once_where for compiled in keys)):
        choices[key] = choices.get(key, frozenset()) | {value}
    kept = {name for aspect in aspects for name in aspect.looked_back_on()}
    kept.update(stated, choices, (rule.gathers.key for rule in rules if rule.gathers))
    nested = any(rule.nested for rule in rules)
    return {
        key: Note(key in starts, choices.get(key, frozenset()), key in stated, nested and key == "run_start")
        for key in kept
    }
