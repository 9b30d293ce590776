"""The closed vocabulary of constraints on a logged value, each as a test and as words.

The tests have the semantics of the official checker, which writes them as Python expressions: ``1``, ``1.0`` and
``true`` are equal, a comparison that Python refuses (text with a number) fails. An operand may be a formula over the
values of other keys, as last logged before the record in question.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType
from typing import Any

import msgspec

from mlsub.io.show import show
from mlsub.rules.formula import Formula, UnknownValueError, Values, formulas_in, is_formula, parse

Series = tuple[str, str]
Test = Callable[[Any, Values], bool]

#: Tolerance of the official checker for "is a whole number".
INTEGER_TOLERANCE = 1e-5


class StatedValues(dict[str, Any]):
    """The last logged value of each key that a formula names, and how far each series of evaluations got."""

    def __init__(self, logged: Mapping[str, Any] = MappingProxyType({})) -> None:
        super().__init__()
        self._progress: dict[Series, int] = {}
        self._depends: dict[str, set[Series]] = {}
        for key, value in logged.items():
            self.state(key, value)

    def state(self, key: str, value: Any) -> None:
        """Take a logged value. A series that is computed from it starts anew, as in the official checker."""
        if key.startswith("submission_"):
            self.setdefault(key, value)
            return
        self[key] = value
        for series in self._depends.get(key, ()):
            self._progress[series] = 0

    def match_count(self, series: Series, names: tuple[str, ...]) -> int:
        """How many records of a series have matched since the values it is computed from were stated."""
        if series not in self._progress:
            self._progress[series] = 0
            for name in names:
                self._depends.setdefault(name, set()).add(series)
        return self._progress[series]

    def count_match(self, series: Series) -> None:
        """Note that the next record of a series was there."""
        self._progress[series] += 1


class Constraint(msgspec.Struct, frozen=True):
    """One operator with its operand, as written in a rule file."""

    operator: str
    operand: Any

    def test(self) -> Test:
        """A function that says whether a value holds; it raises where Python cannot compare."""
        return _OPERATORS[self.operator][0](self.operand)

    def words(self, values: Values | None = None) -> str:
        """What is demanded, as it reads behind "expected: "; with ``values``, what that is in this log."""
        return _OPERATORS[self.operator][1](self.operand, values)

    def formulas(self) -> tuple[Formula, ...]:
        """Every formula the constraint holds, at any depth."""
        if isinstance(self.operand, (int, float)):
            return ()
        return tuple(parse(text) for _, _, text in formulas_in({self.operator: self.operand}))

    def names(self) -> tuple[str, ...]:
        """The keys whose values its formulas need."""
        return tuple(name for formula in self.formulas() for name in formula.names if name != "value")


def constraints_of(fields: dict[str, Any]) -> tuple[Constraint, ...]:
    """The constraints that a mapping of a rule file names."""
    return tuple(Constraint(name, operand) for name, operand in fields.items())


def is_whole(number: float) -> bool:
    """Whole within the official checker's tolerance; raises for infinities and NaN, as that checker does."""
    return abs(round(number) - number) < INTEGER_TOLERANCE


def operand_words(operand: Any, values: Values | None = None) -> str:
    """An operand for people: a value as it is, a formula with its result where that is known."""
    if not is_formula(operand):
        return show(operand)
    formula = parse(operand[1:])
    if values is None:
        return formula.words()
    try:
        return f"{show(formula.compute(values))}, which is {formula.words()}"
    except UnknownValueError as missing:
        return f"{formula.words()}, with {missing.args[0]} logged before it"
    except Exception:
        stated = ", ".join(f"{name} {show(values[name])}" for name in formula.names if name in values)
        return f"{formula.words()}, which cannot be computed from {stated}"


def _against(test: Callable[[Any, Any], Any]) -> Callable[[Any], Test]:
    """A test of the value against an operand that may be a formula."""

    def make(operand: Any) -> Test:
        if is_formula(operand):
            compute = parse(operand[1:]).compute
            return lambda value, values: bool(test(value, compute(values)))
        return lambda value, _: test(value, operand)

    return make


def _all_of(fields: dict[str, Any]) -> Test:
    return all_pass([constraint.test() for constraint in constraints_of(fields)])


def all_pass(tests: Sequence[Test]) -> Test:
    """A test of what several tests ask, in their order, up to the first that fails."""
    if len(tests) > 1:
        first, rest = tests[0], all_pass(tests[1:])
        return lambda value, values: first(value, values) and rest(value, values)
    return tests[0] if tests else lambda value, values: True


def _all_words(fields: dict[str, Any], values: Values | None) -> str:
    return " and ".join(constraint.words(values) for constraint in constraints_of(fields))


def _without(fields: dict[str, Any], name: str) -> dict[str, Any]:
    return {key: value for key, value in fields.items() if key != name}


def _test_part(of: Callable[[Any], Any], fields: dict[str, Any]) -> Test:
    """A test of something that is computed from the value."""
    test = _all_of(fields)
    return lambda value, values: test(of(value), values)


def _near(operand: dict[str, Any]) -> Test:
    within = operand["within"]
    return _against(lambda value, middle: abs(value - middle) < within)(operand["value"])


def _any_of(operand: list[dict[str, Any]]) -> Test:
    """Alternatives in the order written, the condition of one before its test, as the official checker does."""
    parts: list[tuple[Callable[[Values], Any], Test]] = []
    for fields in operand:
        where = fields.get("where")
        condition = parse(where[1:]).compute if where else lambda values: True
        parts.append((condition, _all_of(_without(fields, "where"))))
    return lambda value, values: any(condition(values) and test(value, values) for condition, test in parts)


def _any_words(operand: list[dict[str, Any]], values: Values | None) -> str:
    parts = []
    for fields in operand:
        where = fields.get("where")
        words = _all_words(_without(fields, "where"), values)
        parts.append(f"{words} where {parse(where[1:]).words()}" if where else words)
    return ", or ".join(parts)


def _satisfies(operand: dict[str, str]) -> Test:
    compute = parse(operand["equation"]).compute
    return lambda value, values: bool(compute({**values, "value": value}))


def _next_in_series(operand: dict[str, str], values: Any) -> Any:
    """The next value of a series; ``values`` keeps how far it got."""
    start, step = parse(operand["from"][1:]), parse(operand["by"][1:])
    count = values.match_count((operand["from"], operand["by"]), start.names + step.names)
    return start.compute(values) + count * step.compute(values)


def _counts_up(operand: dict[str, str]) -> Test:
    """The next of a series; where it matches, the series moves on."""

    def test(value: Any, values: Any) -> bool:
        if value != _next_in_series(operand, values):
            return False
        values.count_match((operand["from"], operand["by"]))
        return True

    return test


def _counts_up_words(operand: dict[str, str], values: Any) -> str:
    words = f"{operand_words(operand['from'])}, and {operand_words(operand['by'])} more at each further one"
    if values is None:
        return words
    try:
        wanted = _next_in_series(operand, values)
    except UnknownValueError as missing:
        return f"{words}, with {missing.args[0]} logged before it"
    except Exception:
        return words
    return f"{show(wanted)}: {words}"


def _property(test: Callable[[Any], bool], yes: str, no: str) -> tuple[Callable[[Any], Test], Callable[..., str]]:
    """A property that a value must have, or must not have where the operand is false."""
    return _against(lambda value, due: test(value) is due), lambda due, _: yes if due else no


def _comparison(words: str, test: Callable[[Any, Any], Any]) -> tuple[Callable[[Any], Test], Callable[..., str]]:
    return _against(test), lambda operand, values=None: words.format(operand_words(operand, values))


_OPERATORS: dict[str, tuple[Callable[[Any], Test], Callable[[Any, Values | None], str]]] = {
    "equals": _comparison("exactly {}", operator.eq),
    "not_equal": (_against(operator.ne), lambda x, _: "not empty" if x == "" else f"anything but {operand_words(x)}"),
    "one_of": (_against(lambda v, x: v in x), lambda x, _: f"one of {', '.join(show(item) for item in x)}"),
    "above": _comparison("above {}", operator.gt),
    "at_least": _comparison("at least {}", operator.ge),
    "below": _comparison("below {}", operator.lt),
    "at_most": _comparison("at most {}", operator.le),
    "multiple_of": _comparison("a multiple of {}", lambda v, x: is_whole(v / x)),
    "divides": _comparison("{} divided by a whole number", lambda v, x: is_whole(x / v)),
    "divisible_by": _comparison("an exact multiple of {}", lambda v, x: v % x == 0),
    "power_of_two_multiple_of": _comparison("{} times a power of two", lambda v, x: is_whole(math.log2(v / x))),
    "tenths_of": _comparison("a whole number of tenths of {}", lambda v, x: is_whole(10 * (v / x - 1))),
    "close_to": _comparison("{}, to nine digits", math.isclose),
    "near": (_near, lambda x, values: f"{operand_words(x['value'], values)}, within {show(x['within'])}"),
    "whole": _property(is_whole, "a whole number", "not a whole number"),
    "integer": _property(lambda v: isinstance(v, int), "an integer", "not an integer"),
    "boolean": _property(lambda v: type(v) is bool, "true or false", "not true or false"),
    "truthy": _property(bool, "switched on", "switched off"),
    "length": (
        lambda x: _test_part(len, x if isinstance(x, dict) else {"equals": x}),
        lambda x, values: f"{_all_words(x, values)} items" if isinstance(x, dict) else f"{x} items",
    ),
    "fields": (
        lambda names: lambda value, _: all(name in value for name in names),
        lambda names, _: f"an object with {' and '.join(names)}",
    ),
    "item": (
        lambda x: _test_part(operator.itemgetter(int(x["index"])), _without(x, "index")),
        lambda x, values: f"item {int(x['index']) + 1} {_all_words(_without(x, 'index'), values)}",
    ),
    "whole_part": (lambda x: _test_part(int, x), lambda x, values: f"{_all_words(x, values)}, rounded down"),
    "any_of": (_any_of, _any_words),
    "satisfies": (_satisfies, lambda x, values: f"exactly {operand_words('=' + x['value'], values)}"),
    "counts_up": (_counts_up, _counts_up_words),
}

OPERATORS = frozenset(_OPERATORS)
