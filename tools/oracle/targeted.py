"""Mutants that are each aimed at one demand: the log breaks this rule and, as far as can be, no other."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any, NamedTuple

from mlsub.rules.constraints import Constraint, Stated
from mlsub.rules.model import Entry, Gathers, KeyRule, Within
from mlsub.rules.phrases import rule_id
from tools.oracle.generate import Combination, ruleset
from tools.oracle.log import Log, Mutant, altered, content, generated, places_of, record_line, show
from tools.oracle.mutate import stated_rules
from tools.oracle.targeted_files import aimed_at_files
from tools.oracle.values import NASTY, missing_by_far, near_misses, reaching, resolved_operand

#: How many bad values are tried for each constraint: the nearest misses first, then other types.
BAD_VALUES = 4


class Aimed(NamedTuple):
    """A mutant and the rule it is meant to break."""

    rule: str
    mutant: Mutant


def aimed(combination: Combination) -> Iterator[Aimed]:
    """At least one mutant for every demand of a combination, and for every rule on logs as files."""
    log = generated(combination)
    for rule in stated_rules(log, combination).values():
        if rule.gathers is not None:
            yield from _gathered(log, rule, rule.gathers)
            continue
        if not places_of(log, rule.key):
            yield from _unused(log, rule)
            continue
        yield from _counts(log, rule)
        yield from _values(log, rule)
        yield from _metadata(log, rule)
        yield from _order(log, rule)
        yield from _nested(log, rule)
        if rule.within is not None:
            yield from _too_late(log, rule, rule.within, combination.division)
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


def _counts(log: Log, rule: KeyRule) -> Iterator[Aimed]:
    key = rule.key
    if rule.occurs.exactly_one or rule.occurs.at_least or rule.occurs.once_where:
        yield _aim(key, "count", f"drop all {key}", [line for line in log if line.key != key])
    if not rule.occurs.exactly_one:
        return
    place = places_of(log, key)[0]
    twice = [*log[: place + 1], *log[place:]]
    yield _aim(key, "repeated", f"{key} twice", twice)
    for value in _other_values(rule, (log[place].record or {})["value"]):
        yield _aim(key, "count", f"{key} a second time with {show(value)}", altered(twice, place + 1, value=value))


def _other_values(rule: KeyRule, value: Any) -> Iterator[Any]:
    """Values that the rule would allow, so that only the contradiction is wrong."""
    near = [other for constraint in rule.value for other in near_misses(constraint)]
    allowed = (other for other in (*near, *NASTY) if _all_hold(rule.value, other) and other != value)
    yield from list(allowed)[:2]


def _all_hold(constraints: tuple[Constraint, ...], value: Any) -> bool:
    return all(_holds(constraint, value) for constraint in constraints)


def _holds(constraint: Constraint, value: Any) -> bool:
    try:
        return constraint.test()(value, Stated())
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
            yield _aim(rule.key, "value", f"{rule.key} with {show(value)}", altered(log, place, value=value))


def _metadata(log: Log, rule: KeyRule) -> Iterator[Aimed]:
    place = places_of(log, rule.key)[-1]
    metadata = (log[place].record or {})["metadata"]
    for entry in rule.metadata:
        if not entry.optional:
            without = {other: value for other, value in metadata.items() if other not in entry.names}
            if not entry.when or entry.when in metadata:
                yield _aim(rule.key, "metadata", f"{rule.key} without {entry}", altered(log, place, metadata=without))
        yield from _entry_values(log, rule, entry, place)
    for entry in rule.first_metadata:
        yield from _entry_values(log, rule, entry, places_of(log, rule.key)[0])
    if len(rule.metadata) == 1:
        for metadata in (None, 1, [], "text"):
            changed = altered(log, place, metadata=metadata)
            yield _aim(rule.key, "metadata", f"{rule.key} with metadata {metadata!r}", changed)


def _entry_values(log: Log, rule: KeyRule, entry: Entry, place: int) -> Iterator[Aimed]:
    metadata, name = (log[place].record or {})["metadata"], entry.names[0]
    if name not in metadata:
        return
    for constraint in entry.constraints:
        for value in bad_values(entry.constraints, constraint):
            changed = altered(log, place, metadata={**metadata, name: value})
            yield _aim(rule.key, "metadata", f"{rule.key} with {name} {show(value)}", changed)


def _nested(log: Log, rule: KeyRule) -> Iterator[Aimed]:
    """A record about another epoch than its neighbours are."""
    if rule.nested is None:
        return
    if rule.key == "run_stop":
        place = places_of(log, "eval_stop")[-1]
        yield _aim(rule.key, "nesting", "inside an evaluation", [*log[:place], *log[place + 1 :]])
        return
    place = places_of(log, rule.key)[-1]
    record = log[place].record or {}
    if rule.key == "save_model":
        yield _aim(rule.key, "nesting", "of another epoch", altered(log, place, value={"iteration": 99}))
        return
    names = {"block_start": "first_epoch_num", "block_stop": "first_epoch_num", "eval_result": "timestamp"}
    name = names.get(rule.key, "epoch_num")
    for other in (9_999, "1", None):
        changed = altered(log, place, metadata={**record["metadata"], name: other})
        yield _aim(rule.key, "nesting", f"{name} {other!r}", changed)


def _unused(log: Log, rule: KeyRule) -> Iterator[Aimed]:
    """Rules of keys that the log has no need of: only asked for with another value, or only where they are there."""
    if rule.occurs.once_where is not None:
        line = record_line({**(log[0].record or {}), "key": rule.key, "value": 1}, old=log[0].old)
        yield _aim(rule.key, "count", "where it is not asked for", [line, *log])
        return
    for constraint in rule.value:
        for value in bad_values(rule.value, constraint):
            line = record_line({**(log[0].record or {}), "key": rule.key, "value": value}, old=log[0].old)
            yield _aim(rule.key, "value", f"{rule.key} with {show(value)}", [line, *log])
    if rule.metadata:
        line = record_line({**(log[0].record or {}), "key": rule.key, "metadata": {}}, old=log[0].old)
        yield _aim(rule.key, "metadata", f"{rule.key} without metadata", [*log, line])
    for earlier in rule.after:
        if not places_of(log, earlier) or rule.key == "staging_stop":
            line = record_line({**(log[0].record or {}), "key": rule.key, "value": None}, old=log[0].old)
            yield _aim(rule.key, "order", f"before any {earlier}", [*log, line])


def _gathered(log: Log, rule: KeyRule, gathers: Gathers) -> Iterator[Aimed]:
    """Measures that belong together: one lacking, one at another step, none good enough."""
    places = [p for p in places_of(log, gathers.key) if gathers.field in (log[p].record or {})["metadata"]]
    key, last = rule.key, places[-1]
    metadata = (log[last].record or {})["metadata"]
    yield _aim(key, "count", "one step only", [line for place, line in enumerate(log) if place not in places[:-2]])
    yield _aim(key, "value", "one measure lacking", [*log[: places[0]], *log[places[0] + 1 :]])
    moved = {**metadata, gathers.by: metadata[gathers.by] + 1}
    yield _aim(key, "value", "one measure at another step", altered(log, last, metadata=moved))
    without = {name: value for name, value in metadata.items() if name != gathers.by}
    yield _aim(key, "metadata", f"no {gathers.by}", altered(log, last, metadata=without))
    for reach in rule.reaches:
        for value in [v for c in reach.constraints for v in bad_values(reach.constraints, c) if type(v) is float]:
            changed = log
            for place in places:
                if (log[place].record or {})["metadata"][gathers.field] == reach.field:
                    changed = altered(changed, place, value=value)
            yield _aim(key, "target", f"every {reach.field} {value}", changed)


def _order(log: Log, rule: KeyRule) -> Iterator[Aimed]:
    """Repeats at a wrong place: as equal repeats are tolerated, only the order is wrong."""
    line = log[places_of(log, rule.key)[0]]
    for earlier in rule.after:
        to = places_of(log, earlier)[0]
        yield _aim(rule.key, "order", f"{rule.key} also before {earlier}", [*log[:to], line, *log[to:]])
    for later in rule.not_after:
        to = places_of(log, later)[-1] + 1
        yield _aim(rule.key, "order", f"{rule.key} also after {later}", [*log[:to], line, *log[to:]])


def _too_late(log: Log, rule: KeyRule, within: Within, division: str) -> Iterator[Aimed]:
    start = (log[places_of(log, within.of)[0]].record or {})["time_ms"]
    minutes = resolved_operand(within.minutes, {"submission_division": division})
    limit = start + minutes * 60_000
    others = () if log[0].old else (math.inf, math.nan, str(limit))
    for time_ms in (limit, limit + 1, limit + 1e9, *others):
        changed = altered(log, places_of(log, rule.key)[0], time_ms=time_ms)
        yield _aim(rule.key, "time", f"{rule.key} at {show(time_ms)}", changed)


def _targets(log: Log, rule: KeyRule) -> Iterator[Aimed]:
    """Every evaluation misses the target, or one cannot be compared with it."""
    for reach in rule.reaches:
        misses = [missing_by_far((reach,))]
        misses += [value for constraint in reach.constraints for value in bad_values(reach.constraints, constraint)]
        for miss in misses:
            if rule.value and not isinstance(miss, float):
                continue  # What is no number breaks the demand on the value, and is reported as that.
            measure = miss if reach.field is None else {**reaching(rule.reaches), reach.field: _number(miss, reach)}
            changed = log
            for place in places_of(log, rule.key):
                changed = altered(changed, place, value=measure)
            yield _aim(rule.key, "target", f"all {rule.key} with {show(measure)}", changed)
        if reach.field is None and not rule.value:
            for other in ("text", None, [0.5]):
                changed = altered(log, places_of(log, rule.key)[0], value=other)
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
        changed = altered(log, last, metadata={**metadata, "tensor": name})
        # What is no name at all is a defect of the metadata, and an error even where other names are only warned of.
        aspect = "metadata" if isinstance(name, (list, dict)) else "tensors"
        yield _aim(key, aspect, f"a tensor named {show(name)}", changed)
