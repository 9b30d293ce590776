"""The closed vocabulary of constraints on a logged value, each as a test and as words.

The tests have the semantics of the official checker, which writes them as Python expressions: ``1``, ``1.0`` and
``true`` are equal, a comparison that Python refuses (text with a number) fails.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import msgspec

from mlsub.show import show

Test = Callable[[Any], bool]

#: Tolerance of the official checker for "is a whole number".
INTEGER_TOLERANCE = 1e-5


class Constraint(msgspec.Struct, frozen=True):
    """One operator with its operand, as written in a rule file."""

    operator: str
    operand: Any

    def test(self) -> Test:
        """A function that says whether a value holds; it raises where Python cannot compare."""
        return _TESTS[self.operator](self.operand)

    def words(self) -> str:
        """What is demanded, as it reads behind "expected: "."""
        return _WORDS[self.operator](self.operand)


def is_whole(number: float) -> bool:
    """Whole within the official checker's tolerance; raises for infinities and NaN, as that checker does."""
    return abs(round(number) - number) < INTEGER_TOLERANCE


def _item(operand: dict[str, Any]) -> Test:
    index = int(operand["index"])
    tests = [Constraint(name, value).test() for name, value in operand.items() if name != "index"]
    return lambda value: all(test(value[index]) for test in tests)


def _item_words(operand: dict[str, Any]) -> str:
    rest = [Constraint(name, value).words() for name, value in operand.items() if name != "index"]
    return f"item {int(operand['index']) + 1} {' and '.join(rest)}"


def _fields(operand: list[str]) -> Test:
    return lambda value: all(name in value for name in operand)


_TESTS: dict[str, Callable[[Any], Test]] = {
    "equals": lambda x: lambda v: bool(v == x),
    "not_equal": lambda x: lambda v: bool(v != x),
    "one_of": lambda x: lambda v: v in x,
    "above": lambda x: lambda v: bool(v > x),
    "at_least": lambda x: lambda v: bool(v >= x),
    "below": lambda x: lambda v: bool(v < x),
    "at_most": lambda x: lambda v: bool(v <= x),
    "multiple_of": lambda x: lambda v: is_whole(v / x),
    "power_of_two_multiple_of": lambda x: lambda v: is_whole(math.log2(v / x)),
    "tenths_of": lambda x: lambda v: is_whole(10 * (v / x - 1)),
    "length": lambda x: lambda v: len(v) == x,
    "integer": lambda x: lambda v: isinstance(v, int) is x,
    "fields": _fields,
    "item": _item,
}

_WORDS: dict[str, Callable[[Any], str]] = {
    "equals": lambda x: f"exactly {show(x)}",
    "not_equal": lambda x: "not empty" if x == "" else f"anything but {show(x)}",
    "one_of": lambda x: f"one of {', '.join(show(item) for item in x)}",
    "above": lambda x: f"above {show(x)}",
    "at_least": lambda x: f"at least {show(x)}",
    "below": lambda x: f"below {show(x)}",
    "at_most": lambda x: f"at most {show(x)}",
    "multiple_of": lambda x: f"a multiple of {show(x)}",
    "power_of_two_multiple_of": lambda x: f"{show(x)} times a power of two",
    "tenths_of": lambda x: f"a whole number of tenths of {show(x)}",
    "length": lambda x: f"{x} items",
    "integer": lambda x: "a whole number" if x else "not a whole number",
    "fields": lambda x: f"an object with {' and '.join(x)}",
    "item": _item_words,
}

OPERATORS = frozenset(_TESTS)
