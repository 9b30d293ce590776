"""The expressions of claims: text that becomes a typed tree, and is computed exactly, or as an interval.

What they come to is compared with Python's own tree over exact fractions; an interval has to hold the value of each
choice of its inputs.
"""

from __future__ import annotations

import ast
import itertools
import random
import re
from collections.abc import Callable
from fractions import Fraction
from functools import cache
from typing import Any

from mlsub.commands.audit.claims import ClaimsFile, Input, Source
from mlsub.commands.audit.evaluate import World, evaluate
from mlsub.commands.audit.expression import Expression, spelled
from mlsub.commands.audit.functions import FUNCTIONS, MAX_BITS, Answer, Band, EvaluationError
from mlsub.commands.audit.kinds import BARE, Typed, type_of
from mlsub.rules.arithmetic import ExpressionError
from tests.fuzz.harness import BrokenError, Harness
from tests.fuzz.reference import ARITHMETIC, NotPythonError, Reference, drawn, python_tree

#: Inputs by name: value and uncertainty.
_INPUTS = {
    "a": (Fraction(3, 2), Fraction(1, 4)),
    "b": (Fraction(-7), Fraction(0)),
    "price": (Fraction(149_995), Fraction(1_000)),
    "zero": (Fraction(0), Fraction(1)),
}
_CHOICES = tuple(
    dict(zip(_INPUTS, values, strict=True))
    for values in itertools.product(*({value - more, value, value + more} for value, more in _INPUTS.values()))
)
_TYPES = {**dict.fromkeys(_INPUTS, Typed("number", BARE)), "r": Typed("result")}
#: What reading needs no results for.
_COMPUTED = frozenset(("min", "max", "contains"))


@cache
def _world() -> World:
    inputs = {
        name: Input(name=name, value=str(value), plus_minus=str(more), source="planted")
        for name, (value, more) in _INPUTS.items()
    }
    return World(ClaimsFile(claims_version=1, source=Source(title="planted"), inputs=inputs, claims=()), {}, ())


def _read(data: bytes) -> None:
    text = data.decode("utf-8", "replace")
    try:
        expression = Expression(text)
        if spelled(Expression(spelled(expression.tree)).tree) != spelled(expression.tree):
            raise BrokenError(f"spelled as {spelled(expression.tree)!r:.300}, which reads otherwise")
        type_of(text, _TYPES)
    except ExpressionError as error:
        if not 1 <= error.column <= len(text) + 1:
            raise BrokenError(f"column {error.column} of {len(text)}") from error
        return
    used = set(re.findall(r"[A-Za-z_]\w*(?=\s*\()", text)) & set(FUNCTIONS)
    if not used <= _COMPUTED or "r" in expression.names:
        return
    try:
        tree, source = python_tree(text)
    except NotPythonError:
        return
    _compare(expression, lambda values: _expected(tree, source, values))


def _compare(expression: Expression, expected: Callable[[dict[str, Fraction]], Any]) -> None:
    """The exact value for the inputs as they are, and the interval for all that they may be."""
    one = _answer(expression, spread=False)
    due = expected({name: value for name, (value, _) in _INPUTS.items()})
    same = one == (Band.of(due) if isinstance(due, Fraction) else due) and isinstance(one, bool) == isinstance(
        due, bool
    )
    if not same:
        raise BrokenError(f"{one!r:.200}, where Python says {due!r:.200}")
    band = _answer(expression, spread=True)
    for values in _CHOICES:
        due = expected(values)
        if isinstance(band, bool | str) and due != band:
            raise BrokenError(f"{band} for all inputs, but {due!r:.100} for {values}")
        if isinstance(band, Band) and isinstance(due, Fraction) and not band.low <= due <= band.high:
            raise BrokenError(f"{due} for {values} is not in {band}")


def _answer(expression: Expression, *, spread: bool) -> Answer | type[EvaluationError]:
    try:
        return evaluate(expression.tree, _world(), "published", spread=spread)
    except EvaluationError:
        return EvaluationError


class _Exact(Reference):
    """Where both sides of ``and`` and ``or`` need a value, and a plus sign changes nothing."""

    def value(self, node: ast.expr, source: str) -> Any:
        if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.UAdd):
            return self.value(node.operand, source)
        if isinstance(node, ast.BoolOp):
            values = [self.value(part, source) for part in node.values]
            return any(values) if isinstance(node.op, ast.Or) else all(values)
        return super().value(node, source)


def _expected(tree: ast.expr, source: str, values: dict[str, Fraction]) -> Any:
    names = {**values, "true": True, "false": False}
    try:
        return _Exact(names, _FUNCTIONS, Fraction, _number, _bounded).value(tree, source)
    except (ArithmeticError, TypeError):
        return EvaluationError


def _number(value: Any) -> Fraction:
    if not isinstance(value, Fraction):
        raise TypeError("only numbers are computed with")
    return value


def _bounded(operation: ast.operator, left: Fraction, right: Fraction) -> Fraction:
    found: Fraction = ARITHMETIC[type(operation)](left, right)
    if max(found.numerator.bit_length(), found.denominator.bit_length()) > MAX_BITS:
        raise OverflowError
    return found


_FUNCTIONS: dict[str, Callable[..., Any]] = {
    "min": min,
    "max": max,
    "contains": lambda text, part: part.lower() in text.lower(),
}
_OPERANDS = (
    *_INPUTS,
    *("a", "b", "1", "0", "2.5", "149995", "0.001", "9" * 38, "'text'", '"Text"', "true", "false", "r", "unknown"),
)
_SIGNS = ("+", "-", "*", "/", "<", "<=", "==", "!=", ">", ">=", "and", "or", "-{}", "+{}", "not {}")
_SEEDS = (
    b"a",
    b"minutes(r) * price / (minutes(r, unscaled) * 149995)",
    b"not (a < 2 or zero / 3 != 1) and min(a, b) - -1 > price",
    b"contains('A text', \"text\") == true",
    b"count('v1.0', 'ACME', division='open') / systems('v1.0', 'ACME')",
    b"field(r, 'framework') == 'x' and hyper(r, 'global_batch_size') > 1",
)
_WORDS = (b"min(", b"max(", b"contains(", b"minutes(r)", b"<=", b" and ", b" or ", b"not ", b"division='", b"9" * 30)


def _generate(rng: random.Random) -> bytes:
    names = ("min", "max", "min", "max", "contains", rng.choice(sorted(FUNCTIONS)))
    return drawn(rng, _OPERANDS, _SIGNS, names, rng.choice((2, 3, 4))).encode()


HARNESSES = (
    Harness(
        "expressions", "expressions of claims", _read, lambda: _SEEDS, _WORDS, _generate, longest=2_100, seconds=0.3
    ),
)
