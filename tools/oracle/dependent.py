"""Logs at borders that another key's value makes: this key is changed, and formulas that use it are asked again."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from tools.oracle.asked import TIME, VALUE, Path_, Question, asked, literals, paths_in, set_in, stated_in
from tools.oracle.boundary import Bench, Cell, Edit, bench, setter, turns_of
from tools.oracle.edges import beside
from tools.oracle.generate import Combination
from tools.oracle.log import Log, content, places_of, show, smallest

Change = Callable[[Log], Log]

#: Keys whose values have to keep their ratio to that of another.
COMPANIONS = {("qwen35_397b_grpo", "global_batch_size"): ("num_prompts_per_step",)}

#: Values of the key that others are computed from which no formula can work with, or works with differently.
_ODD: tuple[Any, ...] = (0, -1, True, 0.5, 1e308, "text", None)
#: One repair may be the cause of another.
_REPAIRS = 3
#: In a state that a key makes, no more values are tried of each part of a record.
_MOST = 40


def _put(log: Log) -> Change:
    """A change that puts a log in place of the one it is given."""
    return lambda _: log


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
        if left and users:
            found[key] = users
    return found


def dependent(combination: Combination, file: Path) -> Iterator[Edit]:
    """Each value of such a key with each border that it makes."""
    at = bench(combination, file)
    for key, users in sources_of(at).items():
        for value in _values_of(at, key, users):
            log = _repaired(at, _log_with(at, key, value), key, file)
            source = Edit(Cell(key, "value", "source"), f"{key} {show(value)}", _put(log))
            file.write_bytes(content(log))
            questions = asked(file, combination.round).questions
            for user in users:
                yield from _of_user(at, source, questions, user)


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
        file.write_bytes(content(log))
        asked_of: dict[str, list[Question]] = {}
        for question in asked(file, at.combination.round).questions:
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


def _values_of(at: Bench, key: str, users: list[str]) -> list[Any]:
    """Multiples of what the log states, borders of its own, constants of its users, what no formula can work with."""
    places = places_of(at.log, key)
    here = (at.log[places[0]].record or {})["value"] if places else 1
    near: list[Any] = [here]
    if isinstance(here, int | float):
        near += [here * 2, here * 3, here / 2, here // 2, here + 1, here - 1, -here, float(here), str(here), here * 64]
        codes = [code for user in users for code in at.texts.get(user, ())]
        near += [
            x + step for code in codes for x in literals(code) if isinstance(x, int | float) for step in (-1, 0, 1)
        ]
    near += [x for code in at.texts[key] for x in literals(code) if isinstance(x, str)]
    for question in at.asked.questions:
        if question.key == key and VALUE in paths_in(question.code):
            near += turns_of(question, VALUE, question.constants())
    return list({repr(value): value for value in (*near, *_ODD)}.values())


def _of_user(at: Bench, source: Edit, questions: tuple[Question, ...], user: str) -> Iterator[Edit]:
    asked_of = [question for question in questions if question.key == user]
    paths: dict[Path_, None] = {path: None for question in asked_of for path in paths_in(question.code)}
    for path in paths:
        for value in _borders(at, asked_of, path)[:_MOST]:
            cell = Cell(user, ".".join(map(str, path)), f"border with {source.cell.key}")
            words = f"{source.words}, {user} with {cell.part} {show(value)}"
            then = setter(at, user, path, value, "every")
            yield Edit(cell, words, _both(source, then))


def _both(source: Edit, then: Change) -> Change:
    def make(log: Log) -> Log:
        return then(source.make(log))

    return make


def _borders(at: Bench, questions: list[Question], path: Path_) -> list[Any]:
    """Values on which an answer turns, and those beside what the expressions compute from the state."""
    unit = 1000 if path == TIME and at.combination.round == "0.6" else 1
    found: list[Any] = []
    for question in questions:
        if path in paths_in(question.code) and stated_in(question.code):
            constants = question.constants()
            found += [place * unit for place in turns_of(question, path, constants)]
            if path != TIME:
                found += [tried.value for constant in constants[:3] for tried in beside(constant)]
    return list({repr(value): value for value in found}.values())
