"""Logs at the border of each demand: every part of every record with the values on which a demand turns, and others.

Borders come from the installed official checker, whose expressions are asked again with other values, and, apart from
that, from the rules here. A change is kept as an :class:`Edit`, so that two can be made to one log.
"""

from __future__ import annotations

import copy
import random
from collections.abc import Callable, Iterable, Iterator
from functools import lru_cache, partial
from pathlib import Path
from typing import Any, NamedTuple

from mlsub.rules.constraints import Constraint, Stated
from mlsub.rules.model import KeyRule
from tools.oracle.asked import (
    METADATA,
    TIME,
    VALUE,
    Asked,
    Path_,
    Question,
    asked,
    literals,
    official_texts,
    paths_in,
    put,
    stated_in,
)
from tools.oracle.edges import FEW_TYPES, TYPES, Tried, beside, turns
from tools.oracle.generate import START_MS, Combination, rules_of
from tools.oracle.log import Log, Mutant, content, places_of, record_line, show, smallest
from tools.oracle.mutate import stated_rules
from tools.oracle.occurrences import Anchors, occurrences
from tools.oracle.values import good_value, near_misses, near_misses_of

#: Where a key is put that the log does not have.
_BEFORE = "init_stop"
#: How an official rule file says that a key or another has to appear.
_GROUP = "AT_LEAST_ONE_OR("
#: Borders in the time of the parser of v0.6 are in seconds.
_SECONDS = 1000


class Cell(NamedTuple):
    """What is tried: a key, a part of its record or its place in the log, and with what kind of value or change."""

    key: str
    part: str
    kind: str


class Edit(NamedTuple):
    """One change of a log; ``make`` raises a LookupError, TypeError or AttributeError where it cannot be made."""

    cell: Cell
    words: str
    make: Callable[[Log], Log]


class Bench(NamedTuple):
    """All that edits of one combination need."""

    combination: Combination
    log: Log
    rules: dict[str, KeyRule]
    asked: Asked
    texts: dict[str, tuple[str, ...]]
    stated: dict[str, Any]


def bench(combination: Combination, file: Path) -> Bench:
    """Ask the official checker about the smallest log; ``file`` is where the log is written for it."""
    log = smallest(combination)
    file.write_bytes(content(log))
    answers = asked(file, combination.round)
    texts: dict[str, tuple[str, ...]] = {}
    for config in answers.configs:
        for key, text in official_texts(config).items():
            texts[key] = (*texts.get(key, ()), *text.codes)
    stated = {str(line.key): (line.record or {}).get("value") for line in log if line.key is not None}
    return Bench(combination, log, stated_rules(log, combination), answers, texts, stated)


@lru_cache(maxsize=2)
def edits(combination: Combination, file: Path) -> tuple[Edit, ...]:
    """Every change at a border of a combination; the same order each time."""
    at = bench(combination, file)
    found = [*_values(at), *_places(at)]
    return tuple({edit.words: edit for edit in found}.values())


def in_order(combination: Combination, seed: str, file: Path) -> list[Edit]:
    """Every change, shuffled by the seed, but so that a beginning of it has each cell once before any cell twice."""
    some = list(edits(combination, file))
    random.Random(f"{seed}/{combination}").shuffle(some)
    number: dict[Cell, int] = {}
    rank: dict[str, int] = {}
    for edit in some:
        rank[edit.words] = number[edit.cell] = number.get(edit.cell, -1) + 1
    return sorted(some, key=lambda edit: rank[edit.words])


def mutant(log: Log, changes: Iterable[Edit], name: str) -> Mutant | None:
    """The log with these changes; None where one of them cannot be made after those before it."""
    words = []
    for change in changes:
        try:
            log = change.make(log)
        except (LookupError, TypeError, AttributeError, ValueError, OverflowError):
            return None
        words.append(change.words)
    return Mutant(f"[{name}] {' and then '.join(words)}", content(log))


def pair(some: dict[str, list[Edit]], rng: random.Random) -> tuple[Edit, Edit]:
    """Two changes; keys are alike in weight, however many changes each has."""
    one, other = (rng.choice(some[rng.choice(list(some))]) for _ in range(2))
    return one, other


def by_key(some: Iterable[Edit]) -> dict[str, list[Edit]]:
    """Changes by the key that they are about."""
    found: dict[str, list[Edit]] = {}
    for edit in some:
        found.setdefault(edit.cell.key, []).append(edit)
    return found


def _values(at: Bench) -> Iterator[Edit]:
    for key in dict.fromkeys([*at.texts, *at.rules, *(line.key for line in at.log if line.key)]):
        rule = at.rules.get(key)
        for path in _paths(at, key):
            demanded = path in (VALUE, *_read(at, key))
            for tried in _tried(at, key, path):
                cell = Cell(key, ".".join(map(str, path)), tried.kind)
                for which in _which(at, rule, key, path) if demanded else ("every",):
                    words = f"{which} {key} with {cell.part} {show(tried.value)} ({tried.kind})"
                    yield Edit(cell, words, setter(at, key, path, tried.value, which))


def _read(at: Bench, key: str) -> tuple[Path_, ...]:
    """The parts of a key's records that the official checker reads, and those that rules here name."""
    rule = at.rules.get(key)
    ours: list[Path_] = []
    if rule is not None:
        entries = (*rule.metadata, *rule.first_metadata)
        ours = [("metadata", name) for entry in entries for name in entry.names]
        ours += [("value", reach.field) for reach in rule.reaches if reach.field]
        ours += [TIME] if rule.within else []
    official = [path for code in at.texts.get(key, ()) for path in paths_in(code)]
    return tuple(dict.fromkeys([*official, *ours]))


def _paths(at: Bench, key: str) -> tuple[Path_, ...]:
    return tuple(dict.fromkeys([VALUE, *_read(at, key), METADATA, TIME]))


def _which(at: Bench, rule: KeyRule | None, key: str, path: Path_) -> tuple[str, ...]:
    """Which records of a key are changed; "complete" ones have all entries of metadata that are asked for together."""
    gathered = rule is not None and rule.gathers is not None
    several = gathered or len(places_of(at.log, key)) > 1
    complete = path[0] == "metadata" and not gathered and len(_entries(at, key)) > 1
    return ("every", *(("first", "last") if several else ()), *(("complete",) if complete else ()))


def _entries(at: Bench, key: str) -> tuple[str, ...]:
    """The entries of metadata that are read of a key."""
    return tuple(path[1] for path in _read(at, key) if path[0] == "metadata" and len(path) > 1)


def _tried(at: Bench, key: str, path: Path_) -> Iterator[Tried]:
    """The values for one part of a record."""
    questions = [q for q in at.asked.questions if q.key == key and path in paths_in(q.code)]
    constants: dict[str, Any] = {}
    for question in questions:
        constants |= {repr(constant): constant for constant in question.constants()}
    for code in at.texts.get(key, ()):
        if path in paths_in(code):
            constants |= {repr(constant): constant for constant in literals(code)}
    if path == VALUE:
        constants |= {repr(x): x for x in (*_through_state(at, key), *_operands(at.rules.get(key)))}
        yield from (Tried("near miss", value) for value in _near(at.rules.get(key)))
    unit = _SECONDS if path == TIME and at.combination.round == "0.6" else 1
    for question in questions:
        yield from (Tried("turn", place * unit) for place in turns_of(question, path, constants.values()))
    if path == VALUE and (rule := at.rules.get(key)) is not None:
        yield from (Tried("turn", place) for place in _our_turns(rule, at.stated))
    for constant in constants.values():
        yield from beside(constant)
    if path == TIME:
        yield from beside(START_MS)
    yield from TYPES if questions or path in _read(at, key) else FEW_TYPES


def turns_of(question: Question, path: Path_, constants: Iterable[Any]) -> list[float]:
    """The numbers on which the official answer turns, in the unit of the checker."""
    try:
        here = question.at(path)
    except (LookupError, TypeError):
        return []
    return turns(lambda value: question.holds(path, value), [here, *constants])


def _our_turns(rule: KeyRule, stated: dict[str, Any]) -> Iterator[float]:
    targets = [c for reach in rule.reaches if reach.field is None for c in reach.constraints]
    values = Stated(stated)
    for constraint in (*rule.value, *targets):
        yield from turns(_holding(constraint, values), _numbers(constraint))


def _holding(constraint: Constraint, values: Stated) -> Callable[[Any], bool]:
    test = constraint.test()

    def holds(value: Any) -> bool:
        try:
            return bool(test(value, values))
        except Exception:
            return False

    return holds


def _operands(rule: KeyRule | None) -> Iterator[Any]:
    """The numbers and texts in the rule here."""
    if rule is None:
        return
    for constraint in (*rule.value, *(c for reach in rule.reaches for c in reach.constraints)):
        yield from _numbers(constraint)


def _numbers(constraint: Constraint) -> list[Any]:
    operand = constraint.operand
    some = (
        operand if isinstance(operand, list | tuple) else operand.values() if isinstance(operand, dict) else [operand]
    )
    return [x for x in some if isinstance(x, bool | int | float) or (isinstance(x, str) and not x.startswith("="))]


def _near(rule: KeyRule | None) -> Iterator[Any]:
    if rule is None:
        return
    yield from near_misses_of(rule)
    for constraint in rule.value:
        yield from near_misses(constraint)


def _through_state(at: Bench, key: str) -> Iterator[Any]:
    """Constants in other keys' expressions that read what this key leaves in the checker's state."""
    left = {name for code in at.texts.get(key, ()) for name in stated_in(code)}
    for question in at.asked.questions:
        if question.key != key and stated_in(question.code) & left:
            yield from (x for x in literals(question.code) if isinstance(x, int | float))


def setter(at: Bench, key: str, path: Path_, value: Any, which: str) -> Callable[[Log], Log]:
    """A change that sets a part of every, the first or the last record of a key; one that is not there is put in."""
    rule = at.rules.get(key)
    gathers = rule.gathers if rule is not None else None

    def make(log: Log) -> Log:
        if gathers is not None:
            return _gathered(log, gathers.key, gathers.field, gathers.by, path, value, which)
        log = log if places_of(log, key) else with_record(log, key, _good(rule))
        places = places_of(log, key)
        if which == "complete":
            for name in _entries(at, key):
                log = _set(log, places, ("metadata", name), 1)
            return _set(log, places, path, value)
        return _set(log, _only(places, which), path, value)

    return make


def _gathered(log: Log, key: str, field: str, by: str, path: Path_, value: Any, which: str) -> Log:
    """A part of a virtual record: one measure, or what the measures are gathered by."""
    if len(path) < 2:
        return _set(log, _only(places_of(log, key), which), path, value)
    if path[1] == by:
        return _set(log, _only(places_of(log, key), which), ("metadata", by), value)
    named = [p for p in places_of(log, key) if (log[p].record or {})["metadata"].get(field) == path[1]]
    return _set(log, _only(named, which), VALUE, value)


def _only(places: list[int], which: str) -> list[int]:
    if not places:
        raise LookupError("no such record")
    return {"every": places, "first": places[:1], "last": places[-1:]}[which]


def _set(log: Log, places: list[int], path: Path_, value: Any) -> Log:
    changed = list(log)
    for place in places:
        record = copy.deepcopy(log[place].record or {})
        put(record, path, value)
        changed[place] = record_line(record, old=log[place].old)
    return changed


def _good(rule: KeyRule | None) -> Any:
    return good_value(rule.value) if rule is not None else 1


def with_record(log: Log, key: str, value: Any) -> Log:
    """The log with a record of a key that it does not have."""
    to = places_of(log, _BEFORE)[0]
    record = {**(log[to].record or {}), "key": key, "value": value}
    return [*log[:to], record_line(record, old=log[to].old), *log[to:]]


def _places(at: Bench) -> Iterator[Edit]:
    """Records that are missing, twice, late, early, or contradict one another."""
    users = {key: tuple(_users(at, key)) for key in at.texts}
    for key in dict.fromkeys([*at.texts, *(line.key for line in at.log if line.key)]):
        others = [tried.value for tried in _tried(at, key, VALUE) if tried.kind in ("at", "far above", "other case")]
        anchors = Anchors(users.get(key, ()))
        rule = rules_of(at.combination).get(key)
        for kind, words, make in occurrences(key, _good(rule), others, anchors):
            yield Edit(Cell(key, "record", kind), words, partial(_where_there, key, _good(rule), make))

    yield from _groups(at)


def _groups(at: Bench) -> Iterator[Edit]:
    """Without any of the keys of which one has to appear."""
    for config in at.asked.configs:
        for key, text in official_texts(config).items():
            if text.required.startswith(_GROUP):
                keys = (key, *(other.strip() for other in text.required[len(_GROUP) : -1].split(",")))
                make = partial(_without, keys)
                yield Edit(Cell(key, "record", "missing with its group"), f"no {' and no '.join(keys)}", make)


def _without(keys: tuple[str, ...], log: Log) -> Log:
    return [line for line in log if line.key not in keys]


def _where_there(key: str, value: Any, make: Callable[[Log], Log], log: Log) -> Log:
    return make(log if places_of(log, key) else with_record(log, key, value))


def _users(at: Bench, key: str) -> Iterator[str]:
    """Keys whose expressions read what this key leaves in the checker's state."""
    left = {name for code in at.texts.get(key, ()) for name in stated_in(code)}
    for other, codes in at.texts.items():
        if other != key and any(stated_in(code) & left for code in codes):
            yield other
