"""A rule set as tests, compiled once and shared by all logs of its round, division and benchmark."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from functools import lru_cache
from typing import Any

import msgspec

from mlsub.log.event import Event
from mlsub.rules.constraints import Constraint, Test
from mlsub.rules.formula import parse
from mlsub.rules.load import explained, house_rules_for, rules_for
from mlsub.rules.model import Entry, KeyRule, Reach, RuleSet
from mlsub.rules.values import Stated


class Check(msgspec.Struct, frozen=True):
    """One demand on one record.

    ``words`` says it for every log and names the failure; ``words_in`` what it comes to with the values of one log,
    None where that is the same. ``names`` are the keys whose values it needs.
    """

    aspect: str
    words: str
    holds: Callable[[Event, Stated], bool]
    actual: Callable[[Event], Any]
    words_in: Callable[[Stated], str] | None = None
    names: tuple[str, ...] = ()


class Target(msgspec.Struct, frozen=True):
    """A quality target, tested measure by measure in the order written, stopping at the first that misses."""

    parts: tuple[tuple[str | None, tuple[Test, ...]], ...]

    def met(self, value: Any, stated: Stated) -> bool:
        """Whether an evaluation meets the target.

        Raises:
            Exception: Python cannot compare the value.
        """
        for field, tests in self.parts:
            measure = value if field is None else value[field]
            if not all(test(measure, stated) for test in tests):
                return False
        return True


class CompiledKey(msgspec.Struct, frozen=True):
    """One key's rule as tests: of the value, of the metadata, and of the metadata of the first record.

    ``minutes`` is the time limit, 0 while what it depends on (``needed``) is not logged.
    """

    rule: KeyRule
    value_checks: tuple[Check, ...]
    checks: tuple[Check, ...]
    first_checks: tuple[Check, ...]
    target: Target | None
    minutes: Callable[[Stated], float] | None
    needed: tuple[str, ...]
    lower_is_better: bool
    only_first: bool


class Plan(msgspec.Struct, frozen=True):
    """A compiled rule set.

    ``named`` are the keys whose values its formulas ask for, ``looked_back_on`` all keys that other keys' rules need.
    """

    keys: tuple[CompiledKey, ...]
    variants: tuple[tuple[str, str, tuple[CompiledKey, ...]], ...]
    alternatives: tuple[tuple[str, ...], ...]
    named: frozenset[str]
    looked_back_on: frozenset[str]
    nested: bool


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
    every = [*rules.rules, *(rule for variant in rules.variants for rule in variant.rules)]
    named = frozenset(name for rule in every for name in _named(rule))
    return Plan(
        tuple(compile_key(rule) for rule in rules.rules),
        tuple((v.key, v.value, tuple(compile_key(rule) for rule in v.rules)) for v in rules.variants),
        rules.alternatives,
        named,
        named.union(name for rule in every for name in _looked_back_on(rule)).union(v.key for v in rules.variants),
        any(rule.nested for rule in every),
    )


def compile_key(rule: KeyRule) -> CompiledKey:
    """Compile the rule of one key."""
    entries = tuple(_compile_entries(rule.metadata, ""))
    target = None
    if rule.reaches:
        target = Target(tuple((r.field, tuple(c.test() for c in r.constraints)) for r in rule.reaches))
    return CompiledKey(
        rule=rule,
        value_checks=tuple(_compile_value(constraint) for constraint in rule.value),
        checks=entries,
        first_checks=(*entries, *_compile_entries(rule.first_metadata, " on the first")),
        target=target,
        minutes=_limit(rule.within.minutes) if rule.within else None,
        needed=_limit_needs(rule),
        lower_is_better=_lower_is_better(rule.reaches),
        only_first=rule.key.startswith("submission_"),
    )


def _limit(minutes: float | str) -> Callable[[Stated], float]:
    if not isinstance(minutes, str):
        return lambda _: minutes
    formula = parse(minutes[1:])

    def compute(stated: Stated) -> float:
        return float(formula.compute(stated)) if all(name in stated for name in formula.names) else 0.0

    return compute


def _limit_needs(rule: KeyRule) -> tuple[str, ...]:
    minutes = rule.within.minutes if rule.within else None
    return parse(minutes[1:]).names if isinstance(minutes, str) else ()


def _compile_value(constraint: Constraint) -> Check:
    test = constraint.test()
    return Check(
        "value",
        constraint.words(),
        lambda event, stated: test(event.value, stated),
        lambda event: event.value,
        constraint.words if constraint.formulas() else None,
        constraint.names(),
    )


def _compile_entries(entries: Iterable[Entry], suffix: str) -> Iterator[Check]:
    for entry in entries:
        if not entry.optional:
            where = f" where it has {entry.when}" if entry.when else ""
            yield Check(
                "metadata",
                f"metadata with {' or '.join(entry.names)}{where}{suffix}",
                _presence(entry),
                lambda event: event.metadata,
            )
        for constraint in entry.constraints:
            yield _compile_entry_constraint(entry.names[0], constraint, suffix)


def _compile_entry_constraint(name: str, constraint: Constraint, suffix: str) -> Check:
    def words_in(stated: Stated) -> str:
        return f"{name} {constraint.words(stated)}{suffix}"

    return Check(
        "metadata",
        f"{name} {constraint.words()}{suffix}",
        _holds_where_present(name, constraint.test()),
        lambda event: event.metadata[name],
        words_in if constraint.formulas() else None,
        constraint.names(),
    )


def _presence(entry: Entry) -> Callable[[Event, Stated], bool]:
    names, when = entry.names, entry.when
    if len(names) == 1 and when is None:
        [only] = names
        return lambda event, _: only in event.metadata

    def present(event: Event, _: Stated) -> bool:
        metadata = event.metadata
        if when is not None and when not in metadata:
            return True
        # Every name is looked for, as in the official checker, so that metadata that is no object always fails.
        return sum(name in metadata for name in names) > 0

    return present


def _holds_where_present(name: str, test: Test) -> Callable[[Event, Stated], bool]:
    """The test of an entry that is there; that it is missing is one defect, and reported as that."""

    def holds(event: Event, stated: Stated) -> bool:
        metadata = event.metadata
        try:
            if name not in metadata:
                return True
        except TypeError:
            return True
        return test(metadata[name], stated)

    return holds


def _lower_is_better(reaches: tuple[Reach, ...]) -> bool:
    return any(c.operator == "at_most" for reach in reaches for c in reach.constraints) and not any(
        c.operator in ("at_least", "above") and c.operand != 0 for reach in reaches for c in reach.constraints
    )


def _named(rule: KeyRule) -> Iterator[str]:
    constraints = [*rule.value]
    for entry in (*rule.metadata, *rule.first_metadata):
        constraints.extend(entry.constraints)
    for reach in rule.reaches:
        constraints.extend(reach.constraints)
    for constraint in constraints:
        for formula in constraint.formulas():
            yield from formula.names
    yield from _limit_needs(rule)


def _looked_back_on(rule: KeyRule) -> Iterator[str]:
    yield from (*rule.after, *rule.not_after)
    if rule.within:
        yield rule.within.of
    if rule.occurs.once_where:
        yield rule.occurs.once_where[0]
    if rule.nested:
        yield "run_start"
