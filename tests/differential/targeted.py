"""Mutants that are each aimed at one demand: the log breaks this rule and, as far as can be, no other."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any, NamedTuple

from mlsub.rules.constraints import Constraint
from mlsub.rules.model import KeyRule, Within
from mlsub.rules.phrases import rule_id
from tests.differential.generate import Combination, rules_of, ruleset
from tests.differential.log import Log, Mutant, content, generated, places_of, record_line, show
from tests.differential.targeted_files import aimed_at_files
from tests.differential.values import NASTY, missing_by_far, near_misses, reaching

#: How many bad values are tried for each constraint: the nearest misses first, then other types.
BAD_VALUES = 6


class Aimed(NamedTuple):
    """A mutant and the rule it is meant to break."""

    rule: str
    mutant: Mutant


def aimed(combination: Combination) -> Iterator[Aimed]:
    """At least one mutant for every demand of a combination, and for every rule on logs as files."""
    log = generated(combination)
    for rule in rules_of(combination).values():
        yield from _counts(log, rule)
        yield from _values(log, rule)
        yield from _metadata(log, rule)
        yield from _order(log, rule)
        if rule.within is not None:
            yield from _too_late(log, rule, rule.within)
        yield from _targets(log, rule)
        yield from _tensors(log, rule)
    for group in ruleset(combination).alternatives:
        rest = [line for line in log if line.key not in group]
        yield _aim(group[0], "any-of", f"drop all {' and '.join(group)}", rest)
    for rule_name, mutant in aimed_at_files(log):
        yield Aimed(rule_name, mutant)


def _aim(key: str, aspect: str, description: str, log: Log) -> Aimed:
    rule = rule_id(key, aspect)
    return Aimed(rule, Mutant(f"aimed at {rule}: {description}", content(log)))


def _changed(log: Log, place: int, **fields: Any) -> Log:
    record = {**(log[place].record or {}), **fields}
    return [*log[:place], record_line(record), *log[place + 1 :]]


def _counts(log: Log, rule: KeyRule) -> Iterator[Aimed]:
    key = rule.key
    if rule.occurs.exactly_one or rule.occurs.at_least:
        yield _aim(key, "count", f"drop all {key}", [line for line in log if line.key != key])
    if not rule.occurs.exactly_one:
        return
    place = places_of(log, key)[0]
    twice = [*log[: place + 1], *log[place:]]
    yield _aim(key, "repeated", f"{key} twice", twice)
    for value in _other_values(rule, (log[place].record or {})["value"]):
        yield _aim(key, "count", f"{key} a second time with {show(value)}", _changed(twice, place + 1, value=value))


def _other_values(rule: KeyRule, value: Any) -> Iterator[Any]:
    """Values that the rule would allow, so that only the contradiction is wrong."""
    near = [other for constraint in rule.value for other in near_misses(constraint)]
    allowed = (other for other in (*near, *NASTY) if _all_hold(rule.value, other) and other != value)
    yield from list(allowed)[:2]


def _all_hold(constraints: tuple[Constraint, ...], value: Any) -> bool:
    return all(_holds(constraint, value) for constraint in constraints)


def _holds(constraint: Constraint, value: Any) -> bool:
    try:
        return constraint.test()(value)
    except Exception:
        return False


def bad_values(constraints: tuple[Constraint, ...], constraint: Constraint) -> list[Any]:
    """Values that break this constraint and no other, or where there is none, this one and others."""
    broken = [value for value in (*near_misses(constraint), *NASTY) if not _holds(constraint, value)]
    others = tuple(other for other in constraints if other is not constraint)
    alone = [value for value in broken if _all_hold(others, value)]
    return (alone or broken)[:BAD_VALUES]


def _values(log: Log, rule: KeyRule) -> Iterator[Aimed]:
    place = places_of(log, rule.key)[0]
    for constraint in rule.value:
        for value in bad_values(rule.value, constraint):
            yield _aim(rule.key, "value", f"{rule.key} with {show(value)}", _changed(log, place, value=value))


def _metadata(log: Log, rule: KeyRule) -> Iterator[Aimed]:
    place = places_of(log, rule.key)[-1]
    metadata = (log[place].record or {})["metadata"]
    for name, constraints in rule.metadata:
        without = {other: value for other, value in metadata.items() if other != name}
        yield _aim(rule.key, "metadata", f"{rule.key} without {name}", _changed(log, place, metadata=without))
        for constraint in constraints:
            for value in bad_values(constraints, constraint):
                changed = _changed(log, place, metadata={**metadata, name: value})
                yield _aim(rule.key, "metadata", f"{rule.key} with {name} {show(value)}", changed)
    if len(rule.metadata) == 1:
        for metadata in (None, 1, [], "text"):
            changed = _changed(log, place, metadata=metadata)
            yield _aim(rule.key, "metadata", f"{rule.key} with metadata {metadata!r}", changed)


def _order(log: Log, rule: KeyRule) -> Iterator[Aimed]:
    """Repeats at a wrong place: as equal repeats are tolerated, only the order is wrong."""
    line = log[places_of(log, rule.key)[0]]
    for earlier in rule.after:
        to = places_of(log, earlier)[0]
        yield _aim(rule.key, "order", f"{rule.key} also before {earlier}", [*log[:to], line, *log[to:]])
    for later in rule.not_after:
        to = places_of(log, later)[-1] + 1
        yield _aim(rule.key, "order", f"{rule.key} also after {later}", [*log[:to], line, *log[to:]])


def _too_late(log: Log, rule: KeyRule, within: Within) -> Iterator[Aimed]:
    start = (log[places_of(log, within.of)[0]].record or {})["time_ms"]
    limit = start + within.minutes * 60_000
    for time_ms in (limit, limit + 1, limit + 1e9, math.inf, math.nan, str(limit)):
        changed = _changed(log, places_of(log, rule.key)[0], time_ms=time_ms)
        yield _aim(rule.key, "time", f"{rule.key} at {show(time_ms)}", changed)


def _targets(log: Log, rule: KeyRule) -> Iterator[Aimed]:
    """Every evaluation misses the target, or one cannot be compared with it."""
    for reach in rule.reaches:
        misses = [missing_by_far((reach,))]
        misses += [value for constraint in reach.constraints for value in bad_values(reach.constraints, constraint)]
        for miss in misses:
            measure = miss if reach.field is None else {**reaching(rule.reaches), reach.field: _number(miss, reach)}
            changed = log
            for place in places_of(log, rule.key):
                changed = _changed(changed, place, value=measure)
            yield _aim(rule.key, "target", f"all {rule.key} with {show(measure)}", changed)
        if reach.field is None:
            for other in ("text", None, [0.5]):
                changed = _changed(log, places_of(log, rule.key)[0], value=other)
                yield _aim(rule.key, "target", f"the first {rule.key} with {show(other)}", changed)


def _number(miss: Any, reach: Any) -> Any:
    return miss[reach.field] if isinstance(miss, dict) and reach.field in miss else miss


def _tensors(log: Log, rule: KeyRule) -> Iterator[Aimed]:
    if rule.tensors is None:
        return
    key, places = rule.key, places_of(log, rule.key)
    last = places[-1]
    metadata = (log[last].record or {})["metadata"]
    yield _aim(key, "tensors", "one tensor lacking", [*log[:last], *log[last + 1 :]])
    yield _aim(key, "tensors", "one tensor twice", [*log[: last + 1], log[last], *log[last + 1 :]])
    for name in ("another", None, 1, ["a"], {"a": 1}, str(metadata["tensor"]).upper()):
        changed = _changed(log, last, metadata={**metadata, "tensor": name})
        yield _aim(key, "tensors", f"a tensor named {show(name)}", changed)
