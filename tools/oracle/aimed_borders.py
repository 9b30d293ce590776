"""Changes at the border of each demand: every part of every record with the values on which a demand turns, and others.

Borders come from the installed official checker, whose expressions are asked again with other values, and, apart from
that, from the rules here; also where another key's value makes them. And how often a key is logged, and where.
"""

from __future__ import annotations

import copy
import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

from mlsub.rules.constraints import Constraint, StatedValues
from mlsub.rules.model import KeyRule
from tools.oracle.asked import (
    FEW_TYPES,
    METADATA,
    TIME,
    TYPES,
    VALUE,
    Asked,
    Path_,
    Question,
    Tried,
    asked,
    beside,
    literals,
    neighbours,
    official_texts,
    paths_in,
    put,
    set_in,
    stated_in,
    turns,
)
from tools.oracle.generate import START_MS, Combination, rules_of
from tools.oracle.log import Edit, Log, record_line, show, smallest
from tools.oracle.values import CHOICES, PHASES, good_value, near_misses_of

#: No more other values are tried of one key.
_MOST_OTHERS = 48


def occurrences(
    key: str, value: Any, others: list[Any], users: Sequence[str]
) -> Iterator[tuple[str, str, Callable[[Log], Log]]]:
    """Each change as its kind, what it is in words, and the change; ``users`` use what the key states."""
    for kind, words, change in _CHANGES:
        yield kind, words.format(key), partial(change, key)
    several = (*CHOICES.get(key, ()), *_alike(value), *others, value, None, "", 0, [value], {"value": value})
    for other in list({repr(x): x for x in several}.values())[:_MOST_OTHERS]:
        for where, step in (("before", 0), ("after", 1)):
            words = f"{key} also {show(other)}, {where}"
            yield f"contradicting {where}", words, partial(_again, key, step, value=other)
        yield "contradicting late", f"{key} also {show(other)} at the end", partial(_at_end, key, value=other)
    for anchor in (*PHASES, *users):
        if anchor != key:
            late = "late" if anchor in users or anchor in ("run_stop", "run_start") else "moved"
            yield late, f"{key} behind the first {anchor}", partial(_beside, key, anchor, 0, 1)
            yield late, f"{key} behind the last {anchor}", partial(_beside, key, anchor, -1, 1)
            yield "moved", f"{key} before the first {anchor}", partial(_beside, key, anchor, 0, 0)
            yield "again elsewhere", f"{key} also behind the first {anchor}", partial(_copied, key, anchor)
    for step in (-2, -1, 1, 2):
        yield "reordered", f"{key} {step:+} lines", partial(_shifted, key, step)


def _alike(value: Any) -> tuple[Any, ...]:
    """Other values that are as good wherever any of their kind is, so that only the contradiction is wrong."""
    if isinstance(value, int | float) and not isinstance(value, bool):
        return (value + 1, value * 2, value / 2)
    return (f"{value} 2",) if isinstance(value, str) else ()


def _again(key: str, step: int, log: Log, **fields: Any) -> Log:
    """The first record once more, before or after it, with other fields."""
    place = log.first(key)
    return log.inserted(place + step, log.like(place, **fields) if fields else log[place])


def _at_end(key: str, log: Log, **fields: Any) -> Log:
    place = log.first(key)
    return log.inserted(len(log), log.like(place, **fields) if fields else log[place])


def _as(convert: Callable[[Any], Any], key: str, log: Log) -> Log:
    """The record once more, with a value that is another to JSON and the same to Python."""
    value = log.record(log.first(key))["value"]
    if not isinstance(value, bool | int | float):
        raise LookupError("no number")
    return _again(key, 1, log, value=convert(value))


def _escaped(key: str, log: Log) -> Log:
    """The record once more, its text written in another way."""
    place = log.first(key)
    value, line = log.record(place)["value"], log[place]
    if not isinstance(value, str) or not value:
        raise LookupError("no text")
    written = "".join(f"\\u{ord(char):04x}" for char in value)
    return log.inserted(place + 1, line._replace(text=line.text.replace(json.dumps(value), f'"{written}"')))


def _beside(key: str, anchor: str, which: int, behind: int, log: Log) -> Log:
    place = log.first(key)
    rest = log.replaced(place)
    return rest.inserted(rest.places(anchor)[which] + behind, log[place])


def _copied(key: str, anchor: str, log: Log) -> Log:
    return log.inserted(log.first(anchor) + 1, log[log.first(key)])


def _shifted(key: str, step: int, log: Log) -> Log:
    place = log.first(key)
    return log.moved(place, max(0, place + step))


def _dropped(key: str, log: Log) -> Log:
    log.first(key)
    return log.without(key)


#: What is done to any key, by its kind and in words.
_CHANGES: tuple[tuple[str, str, Callable[[str, Log], Log]], ...] = (
    ("missing", "no {}", _dropped),
    ("missing", "no first {}", lambda key, log: log.replaced(log.first(key))),
    ("missing", "no last {}", lambda key, log: log.replaced(log.places(key)[-1])),
    ("twice", "{} twice", lambda key, log: _again(key, 0, log)),
    ("twice", "{} three times", lambda key, log: _again(key, 0, _again(key, 0, log))),
    ("twice, equal to Python", "{} twice, the second one as float", partial(_as, float)),
    ("twice, equal to Python", "{} twice, the second one as bool", partial(_as, bool)),
    ("twice, equal to Python", "{} twice, the second one as int", partial(_as, int)),
    ("twice, equal to Python", "{} twice, the second one escaped", _escaped),
    ("early", "{} first of all", lambda key, log: log.moved(log.first(key), 0)),
    ("late", "{} last of all", lambda key, log: log.moved(log.first(key), len(log))),
    ("late", "{} also last of all", lambda key, log: _at_end(key, log)),
)


#: Where a key is put that the log does not have.
_BEFORE = "init_stop"
#: How an official rule file says that a key or another has to appear.
_GROUP = "AT_LEAST_ONE_OR("
#: Borders in the time of the parser of v0.6 are in seconds.
_SECONDS = 1000
#: Keys whose values have to keep their ratio to that of another.
COMPANIONS = {("qwen35_397b_grpo", "global_batch_size"): ("num_prompts_per_step",)}
#: Values of the key that others are computed from which no formula can work with, or works with differently.
_ODD: tuple[Any, ...] = (0, -1, True, 0.5, 1e308, "text", None)
#: One repair may be the cause of another.
_REPAIRS = 3
#: In a state that a key makes, no more values are tried of each part of a record.
_MOST = 40

Make = Callable[[Log], Log]


class Bench(NamedTuple):
    """A log of a combination, what the official checker asks of it, and all else that its changes need.

    ``texts`` are the official expressions on each key, ``rules`` those here as the log states them.
    """

    combination: Combination
    log: Log
    rules: dict[str, KeyRule]
    asked: Asked
    texts: dict[str, tuple[str, ...]]
    stated: dict[str, Any]

    @property
    def keys(self) -> tuple[str, ...]:
        """The keys of the official rules and of the log."""
        return tuple(dict.fromkeys([*self.texts, *self.log.distinct_keys()]))

    def asked_of(self, key: str, path: Path_) -> list[Question]:
        """The questions on a part of a key's records."""
        return [q for q in self.asked.questions if q.key == key and path in paths_in(q.code)]

    def read(self, key: str) -> tuple[Path_, ...]:
        """The parts of a key's records that the official checker reads, and those that rules here name."""
        rule = self.rules.get(key)
        ours: list[Path_] = []
        if rule is not None:
            entries = (*rule.metadata, *rule.first_metadata)
            ours = [("metadata", name) for entry in entries for name in entry.names]
            ours += [("value", reach.field) for reach in rule.reaches if reach.field]
            ours += [TIME] if rule.within else []
        official = [path for code in self.texts.get(key, ()) for path in paths_in(code)]
        return tuple(dict.fromkeys([*official, *ours]))

    def entries(self, key: str) -> tuple[str, ...]:
        """The entries of metadata that are read of a key."""
        return tuple(path[1] for path in self.read(key) if path[0] == "metadata" and len(path) > 1)

    def users(self, key: str, names_in: Callable[[str], frozenset[str]] = stated_in) -> list[str]:
        """Keys whose expressions read what this key leaves in the checker's state."""
        left = {name for code in self.texts.get(key, ()) for name in names_in(code)}
        return [k for k, codes in self.texts.items() if k != key and any(stated_in(code) & left for code in codes)]

    def unit(self, path: Path_) -> int:
        """What makes milliseconds of the checker's time."""
        return _SECONDS if path == TIME and self.combination.round == "0.6" else 1


def bench(combination: Combination, file: Path) -> Bench:
    """Ask the official checker about the smallest log; ``file`` is where the log is written for it."""
    log = smallest(combination)
    answers = _asked(log, combination, file)
    texts: dict[str, tuple[str, ...]] = {}
    for config in answers.configs:
        for key, text in official_texts(config).items():
            texts[key] = (*texts.get(key, ()), *text.codes)
    return Bench(combination, log, log.rules(combination), answers, texts, log.stated())


def _asked(log: Log, combination: Combination, file: Path) -> Asked:
    file.write_bytes(log.content())
    return asked(file, combination.round)


def borders(combination: Combination, file: Path) -> Iterable[Edit]:
    """Every change at a border of a combination."""
    at = bench(combination, file)
    found = [*_values(at), *_occurrences(at), *_groups(at)]
    return {edit.words: edit for edit in found}.values()


def _values(at: Bench) -> Iterator[Edit]:
    for key in dict.fromkeys([*at.texts, *at.rules, *at.log.distinct_keys()]):
        demanded = (VALUE, *at.read(key))
        for path in dict.fromkeys([*demanded, METADATA, TIME]):
            part = _part(path)
            for tried in _tried(at, key, path):
                for which in _which(at, key, path) if path in demanded else ("every",):
                    words = f"{which} {key} with {part} {show(tried.value)} ({tried.kind})"
                    yield Edit(key, f"{part}: {tried.kind}", words, setter(at, key, path, tried.value, which))


def _part(path: Path_) -> str:
    return ".".join(map(str, path))


def _which(at: Bench, key: str, path: Path_) -> tuple[str, ...]:
    """Which records of a key are changed; "complete" ones have all entries of metadata that are asked for together."""
    gathered = key in at.rules and at.rules[key].gathers is not None
    several = gathered or len(at.log.places(key)) > 1
    complete = path[0] == "metadata" and not gathered and len(at.entries(key)) > 1
    return ("every", *(("first", "last") if several else ()), *(("complete",) if complete else ()))


def _tried(at: Bench, key: str, path: Path_) -> Iterator[Tried]:
    """The values for one part of a record."""
    rule, questions = at.rules.get(key), at.asked_of(key, path)
    found = [constant for question in questions for constant in question.constants()]
    found += [x for code in at.texts.get(key, ()) if path in paths_in(code) for x in literals(code)]
    if path == VALUE:
        # Constants in other keys' expressions that read what this key leaves in the checker's state.
        left = {name for code in at.texts.get(key, ()) for name in stated_in(code)}
        codes = [q.code for q in at.asked.questions if q.key != key and stated_in(q.code) & left]
        found += [x for code in codes for x in literals(code) if isinstance(x, int | float)]
        found += _operands(rule) if rule is not None else ()
        yield from (Tried("near miss", value) for value in (near_misses_of(rule) if rule is not None else ()))
    constants = {repr(constant): constant for constant in found}.values()
    for question in questions:
        yield from (Tried("turn", place * at.unit(path)) for place in turns_of(question, path, constants))
    if path == VALUE and rule is not None:
        yield from (Tried("turn", place) for place in _our_turns(rule, at.stated))
    for constant in (*constants, *([START_MS] if path == TIME else [])):
        yield from beside(constant)
    yield from TYPES if questions or path in at.read(key) else FEW_TYPES


def turns_of(question: Question, path: Path_, constants: Iterable[Any]) -> list[float]:
    """The numbers on which the official answer turns, in the unit of the checker."""
    try:
        here = question.at(path)
    except (LookupError, TypeError):
        return []
    return turns(lambda value: question.holds(path, value), [here, *constants])


def _our_turns(rule: KeyRule, stated: dict[str, Any]) -> Iterator[float]:
    targets = [c for reach in rule.reaches if reach.field is None for c in reach.constraints]
    for constraint in (*rule.value, *targets):
        yield from turns(_holding(constraint, StatedValues(stated)), _numbers(constraint))


def _holding(constraint: Constraint, values: StatedValues) -> Callable[[Any], bool]:
    test = constraint.test()

    def holds(value: Any) -> bool:
        try:
            return bool(test(value, values))
        except Exception:
            return False

    return holds


def _operands(rule: KeyRule) -> list[Any]:
    """The numbers and texts in the rule here."""
    constraints = (*rule.value, *(c for reach in rule.reaches for c in reach.constraints))
    return [number for constraint in constraints for number in _numbers(constraint)]


def _numbers(constraint: Constraint) -> list[Any]:
    operand = constraint.operand
    some = (
        operand.values() if isinstance(operand, dict) else operand if isinstance(operand, list | tuple) else [operand]
    )
    return [x for x in some if isinstance(x, bool | int | float) or (isinstance(x, str) and not x.startswith("="))]


def setter(at: Bench, key: str, path: Path_, value: Any, which: str) -> Make:
    """A change that sets a part of every, the first or the last record of a key; one that is not there is put in."""
    rule = at.rules.get(key)
    gathers = rule.gathers if rule is not None else None

    def make(log: Log) -> Log:
        if gathers is not None:
            if len(path) < 2 or path[1] == gathers.by:
                there = path if len(path) < 2 else ("metadata", gathers.by)
                return _set(log, _only(log.places(gathers.key), which), there, value)
            every = log.places(gathers.key)
            named = [place for place in every if log.metadata(place).get(gathers.field) == path[1]]
            return _set(log, _only(named, which), VALUE, value)
        log = _with_record(log, key, rule)
        places = log.places(key)
        if which == "complete":
            for name in at.entries(key):
                log = _set(log, places, ("metadata", name), 1)
            return _set(log, places, path, value)
        return _set(log, _only(places, which), path, value)

    return make


def _only(places: list[int], which: str) -> list[int]:
    if not places:
        raise LookupError("no such record")
    return {"every": places, "first": places[:1], "last": places[-1:]}[which]


def _set(log: Log, places: list[int], path: Path_, value: Any) -> Log:
    changed = Log(log)
    for place in places:
        record = copy.deepcopy(log.record(place))
        put(record, path, value)
        changed[place] = record_line(record, old=log[place].old)
    return changed


def _good(rule: KeyRule | None) -> Any:
    return good_value(rule.value) if rule is not None else 1


def _with_record(log: Log, key: str, rule: KeyRule | None) -> Log:
    """The log, with a record of a key if it has none."""
    if log.places(key):
        return log
    to = log.first(_BEFORE)
    return log.inserted(to, log.like(to, key=key, value=_good(rule)))


def _occurrences(at: Bench) -> Iterator[Edit]:
    """Records that are missing, twice, late, early, or contradict one another."""
    for key in at.keys:
        others = [tried.value for tried in _tried(at, key, VALUE) if tried.kind in ("at", "far above", "other case")]
        rule = rules_of(at.combination).get(key)
        for kind, words, make in occurrences(key, _good(rule), others, at.users(key)):
            yield Edit(key, f"record: {kind}", words, _where_there(key, rule, make))


def _where_there(key: str, rule: KeyRule | None, make: Make) -> Make:
    return lambda log: make(_with_record(log, key, rule))


def _groups(at: Bench) -> Iterator[Edit]:
    """Without any of the keys of which one has to appear."""
    for config in at.asked.configs:
        for key, text in official_texts(config).items():
            if text.required.startswith(_GROUP):
                keys = (key, *(other.strip() for other in text.required[len(_GROUP) : -1].split(",")))
                yield Edit(key, "record: missing with its group", f"no {' and no '.join(keys)}", _dropping(keys))


def _dropping(keys: tuple[str, ...]) -> Make:
    return lambda log: log.without(*keys)


def at_literals(combination: Combination, file: Path) -> Iterator[Edit]:
    """Every value that stands in the official rules of a log, and what is next to it, in all records of the key."""
    at = bench(combination, file)
    for key, codes in at.texts.items():
        gathers = at.rules[key].gathers if key in at.rules else None
        records = [at.log.metadata(place) for place in at.log.places(gathers.key)] if gathers else []
        for path in dict.fromkeys(("value", record[gathers.field]) for record in records if gathers) or [VALUE]:
            for literal in {repr(x): x for code in codes for x in literals(code)}.values():
                for value in neighbours(literal):
                    words = f"every {key} with {_part(path)} {value!r}"
                    yield Edit(key, f"{_part(path)}: literal", words, setter(at, key, path, value, "every"))


def sources_of(at: Bench) -> dict[str, list[str]]:
    """Keys whose values others' expressions use, with those others; phases of a run are no values."""
    found: dict[str, list[str]] = {}
    for key, codes in at.texts.items():
        left = {name for code in codes if VALUE in paths_in(code) for name in set_in(code)}
        users = [
            other
            for other, theirs in at.texts.items()
            if other != key and any(stated_in(code) & left and paths_in(code) for code in theirs)
        ]
        if users:
            found[key] = users
    return found


def dependent(combination: Combination, file: Path) -> Iterator[Edit]:
    """Each value of a key that others are computed from, with each border that it makes."""
    at = bench(combination, file)
    for key, users in sources_of(at).items():
        for value in _source_values(at, key, users):
            log = _repaired(at, _log_with(at, key, value), key, file)
            there = at._replace(log=log, asked=_asked(log, combination, file))
            for user in users:
                paths = [path for q in there.asked.questions if q.key == user for path in paths_in(q.code)]
                for path in dict.fromkeys(paths):
                    for border in _borders_in_state(there, user, path)[:_MOST]:
                        words = f"{key} {show(value)}, {user} with {_part(path)} {show(border)}"
                        make = _in_place(log, setter(at, user, path, border, "every"))
                        yield Edit(user, f"{_part(path)}: border with {key}", words, make)


def _in_place(log: Log, then: Make) -> Make:
    """A change of a log, made to that in the place of the one that is given."""
    return lambda _: then(log)


def _log_with(at: Bench, key: str, value: Any) -> Log:
    """The log with this value, and with what follows from it, so that no formula fails but the one that is tried."""
    stated = {key: value}
    try:
        for other in COMPANIONS.get((at.combination.benchmark, key), ()):
            ratio = value / at.stated[key]
            stated[other] = int(at.stated[other] * ratio) if (at.stated[other] * ratio) % 1 == 0 else value
        return smallest(at.combination, stated)
    except (TypeError, ValueError, ArithmeticError, LookupError):
        return setter(at, key, VALUE, value, "every")(at.log)


def _repaired(at: Bench, log: Log, source: str, file: Path) -> Log:
    """The log with values for other keys that their expressions accept in its state, as far as there are any."""
    for _ in range(_REPAIRS):
        asked_of: dict[str, list[Question]] = {}
        for question in _asked(log, at.combination, file).questions:
            if question.key != source and VALUE in paths_in(question.code):
                asked_of.setdefault(question.key, []).append(question)
        for key, questions in asked_of.items():
            if not all(question.holds(VALUE, question.at(VALUE)) for question in questions):
                good = _accepted(questions)
                log = log if good is None else setter(at, key, VALUE, good, "every")(log)
    return log


def _accepted(questions: list[Question]) -> Any:
    """A value that all expressions accept; None where none is found."""
    numbers = [x for q in questions for x in (*q.constants(), *turns_of(q, VALUE, q.constants()))]
    whole = [round(x) for x in numbers if isinstance(x, int | float) and abs(x) < 1e300]
    return next((x for x in (*whole, *numbers) if all(q.holds(VALUE, x) for q in questions)), None)


def _source_values(at: Bench, key: str, users: list[str]) -> list[Any]:
    """Multiples of what the log states, borders of its own, constants of its users, what no formula can work with."""
    places = at.log.places(key)
    here = at.log.record(places[0])["value"] if places else 1
    near: list[Any] = [here]
    if isinstance(here, int | float):
        near += [here * 2, here * 3, here / 2, here // 2, here + 1, here - 1, -here, float(here), str(here), here * 64]
        theirs = [x for user in users for code in at.texts.get(user, ()) for x in literals(code)]
        near += [x + step for x in theirs if isinstance(x, int | float) for step in (-1, 0, 1)]
    near += [x for code in at.texts[key] for x in literals(code) if isinstance(x, str)]
    near += [x for question in at.asked_of(key, VALUE) for x in turns_of(question, VALUE, question.constants())]
    return list({repr(value): value for value in (*near, *_ODD)}.values())


def _borders_in_state(at: Bench, key: str, path: Path_) -> list[Any]:
    """Values on which an answer turns, and those beside what the expressions compute from the state."""
    found: list[Any] = []
    for question in at.asked_of(key, path):
        if stated_in(question.code):
            constants = question.constants()
            found += [place * at.unit(path) for place in turns_of(question, path, constants)]
            found += [t.value for constant in constants[:3] for t in beside(constant)] if path != TIME else []
    return list({repr(value): value for value in found}.values())
