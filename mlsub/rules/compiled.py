"""A rule set as tests, compiled once and shared by all logs of its round, division and benchmark."""

from __future__ import annotations

from functools import lru_cache

import msgspec

from mlsub.rules.aspects import compile_key
from mlsub.rules.aspects.base import CompiledKey, Passes
from mlsub.rules.load import common_rules, explained, rules_for
from mlsub.rules.model import Gathers
from mlsub.rules.notes import Note, notes_of


class Plan(msgspec.Struct, frozen=True):
    """A compiled rule set.

    ``keys`` bind every log, ``every`` has those of variants after them. ``watched`` has the rules of each key that any
    rule looks at, ``notes`` what is kept of the records of a key for the rules of others, ``alone`` the rules of keys
    with one rule, and ``simple`` those of them that ask for one record and need no outcome where it passes,
    each with the test of that.
    ``due`` has the keys that a log may have to have, ``required`` the keys that every log needs, ``targets``
    the rules with a quality target, ``gathering`` those of virtual keys.
    """

    keys: tuple[CompiledKey, ...]
    every: tuple[CompiledKey, ...]
    alternatives: tuple[tuple[str, ...], ...]
    watched: dict[str, tuple[CompiledKey, ...]]
    notes: dict[str, tuple[Note, ...]]
    alone: dict[str, CompiledKey]
    simple: dict[str, tuple[CompiledKey, Passes]]
    due: frozenset[str]
    required: frozenset[str]
    targets: tuple[CompiledKey, ...]
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
    notes = notes_of(every)
    watched: dict[str, tuple[CompiledKey, ...]] = dict.fromkeys(notes, ())
    for compiled in every:
        watched[compiled.rule.key] = (*watched.get(compiled.rule.key, ()), compiled)
    alone = {key: of[0] for key, of in watched.items() if len(of) == 1}
    return Plan(
        keys=keys,
        every=every,
        alternatives=rules.alternatives,
        watched=watched,
        notes=notes,
        alone=alone,
        simple={key: (of, of.passes) for key, of in alone.items() if of.once and of.passes is not None},
        due=frozenset(compiled.rule.key for compiled in every if compiled.rule.occurs.is_required),
        required=frozenset(compiled.rule.key for compiled in keys if compiled.rule.occurs.least),
        targets=tuple(compiled for compiled in every if compiled.rule.reaches),
        gathering=tuple((compiled, compiled.rule.gathers) for compiled in every if compiled.rule.gathers),
    )


@lru_cache(maxsize=256)
def _common(
    usage: str, round_name: str, division: str | None, overlay: str | None, *, house: bool
) -> tuple[CompiledKey, ...]:
    """The compiled rules that bind the logs of all benchmarks; they come first, in this order."""
    rules = common_rules(usage, round_name, division, overlay, house=house).rules
    return tuple(compile_key(rule, place) for place, rule in enumerate(rules))
