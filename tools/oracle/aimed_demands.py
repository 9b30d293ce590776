"""Changes that are each aimed at one demand: the log breaks this rule and, as far as can be, no other."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from mlsub.rules.constraints import Constraint, StatedValues
from mlsub.rules.engine import rule_id
from mlsub.rules.model import KeyRule, MetadataEntry
from tools.oracle.generate import Combination, ruleset
from tools.oracle.log import Edit, Line, Log, generated, show
from tools.oracle.values import NASTY, missing_by_far, near_misses, reaching, resolved_operand

#: How many bad values are tried for each constraint: the nearest misses first, then other types.
BAD_VALUES = 4
#: Records that are spoiled, the first that is there; ones that no other record depends on.
_SPOILED = ("submission_platform", "eval_samples", "train_samples")
#: The rules on files that only the format of v0.6 has, and those it does not have.
OLD_ONLY = frozenset({"log.record-format"})
NEW_ONLY = frozenset({"log.text-after-record", "log.record-incomplete", "log.record-edited"})
#: The entry of metadata by which a record is about the same epoch as its neighbours; of others it is ``epoch_num``.
_NESTED_BY = {"block_start": "first_epoch_num", "block_stop": "first_epoch_num", "eval_result": "timestamp"}

#: A rule broken: what it is told by, in words how, and the log.
Broken = Iterator[tuple[str, str, Log]]


def demands(combination: Combination, file: Path) -> Iterator[Edit]:
    """At least one change for every demand of a combination, and for every rule on logs as files."""
    log = generated(combination)
    for rule in log.rules(combination).values():
        for breaks in (_gathered,) if rule.gathers is not None else _USED if log.places(rule.key) else (_unused,):
            for aspect, words, changed in breaks(log, rule):
                yield _aimed(rule.key, rule_id(rule.key, aspect), words, changed)
    for group in ruleset(combination).alternatives:
        aim = rule_id(group[0], "any-of")
        yield _aimed(group[0], aim, f"drop all {' and '.join(group)}", log.without(*group))
    for rule_name, words, changed in _files(log):
        yield _aimed("", rule_name, words, changed)


def _aimed(key: str, rule: str, words: str, changed: Log) -> Edit:
    return Edit(key, rule, words, lambda log: changed)


def _counts(log: Log, rule: KeyRule) -> Broken:
    key = rule.key
    if rule.occurs.exactly_one or rule.occurs.at_least or rule.occurs.once_where:
        yield "count", f"drop all {key}", log.without(key)
    if rule.occurs.exactly_one:
        place = log.first(key)
        yield "repeated", f"{key} twice", log.inserted(place, log[place])
        for value in _other_values(rule, log.record(place)["value"]):
            twice = log.inserted(place + 1, log.like(place, value=value))
            yield "count", f"{key} a second time with {show(value)}", twice


def _other_values(rule: KeyRule, value: Any) -> list[Any]:
    """Values that the rule would allow, so that only the contradiction is wrong."""
    near = [other for constraint in rule.value for other in near_misses(constraint)]
    return [other for other in (*near, *NASTY) if _all_hold(rule.value, other) and other != value][:2]


def _all_hold(constraints: tuple[Constraint, ...], value: Any) -> bool:
    return all(_holds(constraint, value) for constraint in constraints)


def _holds(constraint: Constraint, value: Any) -> bool:
    try:
        return constraint.test()(value, StatedValues())
    except Exception:
        return False


def _bad_values(constraints: tuple[Constraint, ...]) -> Iterator[Any]:
    """Values that break one constraint and no other, or where there is none, this one and others; of each some."""
    for constraint in constraints:
        broken = [value for value in (*near_misses(constraint), *NASTY) if not _holds(constraint, value)]
        others = tuple(other for other in constraints if other is not constraint)
        alone = [value for value in broken if _all_hold(others, value)]
        yield from (alone or broken)[:BAD_VALUES]


def _values(log: Log, rule: KeyRule) -> Broken:
    for value in _bad_values(rule.value):
        yield "value", f"{rule.key} with {show(value)}", log.altered(log.first(rule.key), value=value)


def _metadata(log: Log, rule: KeyRule) -> Broken:
    places = log.places(rule.key)
    first, last = places[0], places[-1]
    metadata = log.metadata(last)
    for entry in rule.metadata:
        if not entry.optional and (not entry.when or entry.when in metadata):
            rest = {other: value for other, value in metadata.items() if other not in entry.names}
            yield "metadata", f"{rule.key} without {entry}", log.altered(last, metadata=rest)
        yield from _entry(log, last, entry)
    for entry in rule.first_metadata:
        yield from _entry(log, first, entry)
    wrong: tuple[Any, ...] = (None, 1, [], "text")
    for other in wrong if len(rule.metadata) == 1 else ():
        yield "metadata", f"{rule.key} with metadata {other!r}", log.altered(last, metadata=other)


def _entry(log: Log, place: int, entry: MetadataEntry) -> Broken:
    metadata, name = log.metadata(place), entry.names[0]
    for value in _bad_values(entry.constraints) if name in metadata else ():
        changed = log.altered(place, metadata={**metadata, name: value})
        yield "metadata", f"{log[place].key} with {name} {show(value)}", changed


def _order(log: Log, rule: KeyRule) -> Broken:
    """Repeats at a wrong place: as equal repeats are tolerated, only the order is wrong."""
    line = log[log.first(rule.key)]
    for earlier in rule.after:
        yield "order", f"{rule.key} also before {earlier}", log.inserted(log.first(earlier), line)
    for later in rule.not_after:
        yield "order", f"{rule.key} also after {later}", log.inserted(log.places(later)[-1] + 1, line)


def _nested(log: Log, rule: KeyRule) -> Broken:
    """A record about another epoch than its neighbours are."""
    if rule.nested is None:
        return
    place = log.places(rule.key)[-1]
    if rule.key == "run_stop":
        yield "nesting", "inside an evaluation", log.replaced(log.places("eval_stop")[-1])
    elif rule.key == "save_model":
        yield "nesting", "of another epoch", log.altered(place, value={"iteration": 99})
    else:
        name = _NESTED_BY.get(rule.key, "epoch_num")
        for other in (9_999, "1", None):
            changed = log.altered(place, metadata={**log.metadata(place), name: other})
            yield "nesting", f"{name} {other!r}", changed


def _too_late(log: Log, rule: KeyRule) -> Broken:
    if rule.within is None:
        return
    start = log.record(log.first(rule.within.of))["time_ms"]
    division = log.record(log.first("submission_division"))["value"]
    limit = start + resolved_operand(rule.within.minutes, {"submission_division": division}) * 60_000
    others = () if log[0].old else (math.inf, math.nan, str(limit))
    for time_ms in (limit, limit + 1, limit + 1e9, *others):
        yield "time", f"{rule.key} at {show(time_ms)}", log.altered(log.first(rule.key), time_ms=time_ms)


def _targets(log: Log, rule: KeyRule) -> Broken:
    """Every evaluation misses the target, or one cannot be compared with it."""
    for reach in rule.reaches:
        for miss in (missing_by_far((reach,)), *_bad_values(reach.constraints)):
            if rule.value and not isinstance(miss, float):
                continue  # What is no number breaks the demand on the value, and is reported as that.
            missed = miss.get(reach.field, miss) if isinstance(miss, dict) else miss
            measure = missed if reach.field is None else {**reaching(rule.reaches), reach.field: missed}
            changed = log.altered(log.places(rule.key), value=measure)
            yield "target", f"all {rule.key} with {show(measure)}", changed
        for other in ("text", None, [0.5]) if reach.field is None and not rule.value else ():
            changed = log.altered(log.first(rule.key), value=other)
            yield "target", f"the first {rule.key} with {show(other)}", changed


def _tensors(log: Log, rule: KeyRule) -> Broken:
    if rule.tensors is None:
        return
    last = log.places(rule.key)[-1]
    metadata = log.metadata(last)
    yield "tensors", "one tensor lacking", log.replaced(last)
    yield "tensors", "one tensor twice", log.inserted(last, log[last])
    for name in ("another", None, 1, ["a"], {"a": 1}, str(metadata["tensor"]).upper()):
        # What is no name at all is a defect of the metadata, and an error even where other names are only warned of.
        aspect = "metadata" if isinstance(name, (list, dict)) else "tensors"
        yield aspect, f"a tensor named {show(name)}", log.altered(last, metadata={**metadata, "tensor": name})


def _unused(log: Log, rule: KeyRule) -> Broken:
    """Rules of keys that the log has no need of: only asked for with another value, or only where they are there."""
    if rule.occurs.once_where is not None:
        yield "count", "where it is not asked for", log.inserted(0, log.like(0, key=rule.key, value=1))
        return
    for value in _bad_values(rule.value):
        yield "value", f"{rule.key} with {show(value)}", log.inserted(0, log.like(0, key=rule.key, value=value))
    if rule.metadata:
        yield "metadata", f"{rule.key} without metadata", log.inserted(len(log), log.like(0, key=rule.key, metadata={}))
    for earlier in rule.after:
        if not log.places(earlier) or rule.key == "staging_stop":
            yield "order", f"before any {earlier}", log.inserted(len(log), log.like(0, key=rule.key, value=None))


def _gathered(log: Log, rule: KeyRule) -> Broken:
    """Measures that belong together: one lacking, one at another step, none good enough."""
    assert rule.gathers is not None
    field, by = rule.gathers.field, rule.gathers.by
    places = [place for place in log.places(rule.gathers.key) if field in log.metadata(place)]
    last = places[-1]
    metadata = log.metadata(last)
    yield "count", "one step only", log.without_lines(places[:-2])
    yield "value", "one measure lacking", log.replaced(places[0])
    yield "value", "one measure at another step", log.altered(last, metadata={**metadata, by: metadata[by] + 1})
    rest = {name: value for name, value in metadata.items() if name != by}
    yield "metadata", f"no {by}", log.altered(last, metadata=rest)
    for reach in rule.reaches:
        named = [place for place in places if log.metadata(place)[field] == reach.field]
        for value in _bad_values(reach.constraints):
            if type(value) is float:
                yield "target", f"every {reach.field} {value}", log.altered(named, value=value)


Breaks = Callable[[Log, KeyRule], Broken]
_USED: tuple[Breaks, ...] = (_counts, _values, _metadata, _order, _nested, _too_late, _targets, _tensors)


def _files(log: Log) -> Broken:
    """Breaks of the rules on logs as files. A log that cannot be opened is no change of content: see test_mutants."""
    yield "log.empty", "an empty file", Log()
    yield "log.no-records", "free text only", Log([Line("Epoch 1"), Line("Epoch 2")])
    yield "log.no-records", "line feeds only", Log([Line(""), Line("")])
    for encoding in ("utf-16", "utf-32"):
        wide = log.content().decode("latin-1").encode(encoding)
        yield "log.wide-encoding", encoding, Log([Line(wide.decode("latin-1"))])
    place = next(log.first(key) for key in _SPOILED if log.places(key))
    for rule, words, text in (_spoiled_old if log[place].old else _spoiled)(log[place]):
        yield rule, words, log.replaced(place, Line(text))


def _spoiled(line: Line) -> Iterator[tuple[str, str, str]]:
    text, record = line.text, line.record or {}
    yield "log.record-undecodable", "half a record", text[: text.index('"value"')]
    for broken in ("", "[1, 2]", "null", "{'key': 1}", "[" * 5000):
        yield "log.record-undecodable", f"a broken record {broken[:10]!r} more", f"{text}\n:::MLLOG {broken}"
    edited = text.replace(', "metadata"', 'orkspace/code/train.py, "metadata"')
    yield "log.record-edited", "text inside a record", edited
    yield "log.text-after-record", "a progress bar behind a record", f"{text} Epoch 3: 100%|####|"
    yield "log.text-after-record", "a stray brace behind a record", text + "}"
    for field in ("time_ms", "key", "value", "metadata"):
        rest = {name: value for name, value in record.items() if name != field}
        spoiled = f":::MLLOG {json.dumps(rest)}"
        # A record without its key is one more: nobody can tell that it was the one that is missed.
        yield "log.record-incomplete", f"no {field}", f"{text}\n{spoiled}" if field == "key" else spoiled
    for time_ms in ("12:30", None, [1], 10**400):
        bad = {**record, "time_ms": time_ms}
        yield "log.record-time", f"time_ms {str(time_ms)[:20]}", f":::MLLOG {json.dumps(bad)}"


def _spoiled_old(line: Line) -> Iterator[tuple[str, str, str]]:
    """The same for the format of v0.6."""
    text, (_, seconds, rest) = line.text, line.text.split(" ", 2)
    yield "log.record-undecodable", "half a record", text[: text.index('"value"')]
    yield "log.record-undecodable", "text behind a record", text + "}"
    yield "log.record-undecodable", "nested too deeply", f"{text}\n:::MLL {seconds} seed: " + "[" * 100_000
    yield "log.record-time", "two points", f":::MLL 1.2.3 {rest}"
    others = (f"{text}\n:::MLL", f"{text}\n:::MLL 1 a:")
    for bad in (f":::MLLOG {text[7:]}", f":::MLL -{seconds} {rest}", f":::MLL  {seconds} {rest}", *others):
        yield "log.record-format", bad[:20], bad
