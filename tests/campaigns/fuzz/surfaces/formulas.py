"""The formulas of rule files: text that becomes a checked tree and is computed over logged values.

They promise Python's arithmetic bit for bit, so each value is compared with that of Python's own tree and operators.
"""

from __future__ import annotations

import ast
import math
import random
from typing import Any

from mlsub.rules.arithmetic import ExpressionError
from mlsub.rules.formula import MAX_BITS, MAX_EXPONENT, Formula, UnknownValueError, parse
from tests.campaigns.fuzz.harness import BrokenError, Harness
from tests.campaigns.fuzz.reference import ARITHMETIC, NotPythonError, Reference, drawn, python_tree

#: What a rule allows a formula to raise for the values of a log; constraints.py makes findings of them.
_ALLOWED = (UnknownValueError, ArithmeticError, ValueError, TypeError)
_VALUES: tuple[Any, ...] = (1, 0, -3, 0.5, float("inf"), float("nan"), 10**30, "text", True, None, [1], {"a": 1})


def _read(data: bytes) -> None:
    text = data.decode("utf-8", "replace")
    try:
        formula = parse.__wrapped__(text)
    except ExpressionError as error:
        if not 1 <= error.column <= len(text) + 1:
            raise BrokenError(f"column {error.column} of {len(text)}") from error
        return
    try:
        tree, source = python_tree(text)
    except NotPythonError:
        tree = None
    for shift in range(3):
        values = {name: _VALUES[(at + shift) % len(_VALUES)] for at, name in enumerate(formula.names)}
        found = _outcome(formula, values)
        if isinstance(found, int) and found.bit_length() > MAX_BITS:
            raise BrokenError(f"a number of {found.bit_length()} bits")
        if tree is not None:
            _compare(found, _expected(tree, source, values))
    formula.words()


def _outcome(formula: Formula, values: dict[str, Any]) -> Any:
    try:
        return formula.compute(values)
    except _ALLOWED as error:
        return type(error)


def _compare(found: Any, expected: Any) -> None:
    """The same value of the same type, or an error in both; NaN is the same as NaN."""
    if isinstance(found, type) or isinstance(expected, type):
        same = isinstance(found, type) and isinstance(expected, type)
    elif isinstance(found, float | complex) and isinstance(expected, float | complex):
        same = repr(found) == repr(expected)
    else:
        same = type(found) is type(expected) and found == expected
    if not same:
        raise BrokenError(f"{found!r:.100}, where Python says {expected!r:.100}")


def _expected(tree: ast.expr, source: str, values: dict[str, Any]) -> Any:
    reference = Reference(values, _FUNCTIONS, _literal, _number, _bounded)
    try:
        return reference.value(tree, source)
    except _ALLOWED as error:
        return type(error)


def _literal(text: str) -> int | float:
    found: int | float = ast.literal_eval(text)
    return found


def _number(value: Any) -> Any:
    if not isinstance(value, int | float):
        raise TypeError("text is not computed with")
    return value


def _bounded(operation: ast.operator, left: Any, right: Any) -> Any:
    """Python's operator on numbers, within the bounds that formulas promise."""
    if isinstance(operation, ast.Pow) and (
        abs(right) > MAX_EXPONENT or (isinstance(left, int) and left.bit_length() * right > MAX_BITS)
    ):
        raise OverflowError
    found = ARITHMETIC[type(operation)](left, right)
    if isinstance(found, int) and found.bit_length() > MAX_BITS:
        raise OverflowError
    return found


def _round(number: Any, digits: Any = None) -> Any:
    if digits is not None and abs(_number(digits)) > MAX_EXPONENT:
        raise OverflowError
    return round(_number(number), digits)


def _of_numbers(function: Any) -> Any:
    return lambda *numbers: function(*map(_number, numbers))


_FUNCTIONS = {
    **{name: _of_numbers(function) for name, function in (("abs", abs), ("int", int), ("max", max), ("min", min))},
    **{name: _of_numbers(getattr(math, name)) for name in ("ceil", "floor", "sqrt")},
    "round": _round,
}
_OPERANDS = (
    *("a", "b", "global_batch_size", "'text'", "0", "1", "2", "3.5", "1e300", "1_000", "9" * 30, "0.1", "64", "1e-300"),
    *("1024", "nan_or_so", '"b"'),
)
_SIGNS = ("+", "-", "*", "/", "//", "%", "**", "<", "<=", "==", "!=", ">", ">=", "and", "or")
_MORE_SIGNS = ("-{}", "+{}", "not {}", "{} if {} else {}", "{} < {} <= {}")
_SEEDS = (
    b"global_batch_size",
    b"ceil(1_200_000 * 1152 / global_batch_size) - 8000",
    b"a if 1 < b <= 2e3 else 'text'",
    b"not (value % 2 == 0 or value // 3 != 1) and min(a, b) ** 2 > -1",
)
_WORDS = (b"ceil(", b"min(", b"max(", b"**", b"//", b"<=", b" if ", b" else ", b" and ", b"not ", b"9" * 40, b"1e400")


def _generate(rng: random.Random) -> bytes:
    return drawn(rng, _OPERANDS, (*_SIGNS, *_MORE_SIGNS), (*_FUNCTIONS, "no_function"), rng.choice((2, 3, 4))).encode()


HARNESSES = (
    Harness("formulas", "formulas of rule files", _read, lambda: _SEEDS, _WORDS, _generate, longest=2_000, seconds=0.2),
)
