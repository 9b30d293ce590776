"""A small arithmetic language over logged values: parsed once into a checked tree, never run as code.

A formula reads like ``ceil(1_200_000 * 1152 / global_batch_size) - 8000``: numbers, names of logged keys, text in
quotes, ``+ - * / // % **``, comparisons (also chained), ``and or not``, ``a if c else b`` and a few functions.
Arithmetic is Python's, so that results are bit for bit those of the official checker; it takes numbers only, so that
logged text cannot be multiplied into gigabytes.
"""

from __future__ import annotations

import ast
import math
import operator
import re
from collections.abc import Callable, Iterator, Mapping
from functools import lru_cache
from typing import Any

import msgspec

from mlsub.rules.arithmetic import ExpressionError, Language, Skeleton

Values = Mapping[str, Any]
Compute = Callable[[Values], Any]

#: Bounds on what formulas compute with; a number of 64 Kibit is more than any rule comes near.
MAX_EXPONENT = 1_024
MAX_BITS = 1 << 16

FORMULAS = Language(
    number=r"[0-9]+(?:_[0-9]+)*(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?",
    signs=("**", "//", "<=", ">=", "==", "!=", *"-+*/%<>"),
    words=frozenset(("and", "or", "not", "if", "else")),
    operand="a number or a key",
    max_length=1_000,
    max_depth=60,
    max_digits=400,
)


class UnknownValueError(LookupError):
    """A formula names a key that the log has not stated yet; ``args[0]`` is the key."""


class Formula(msgspec.Struct, frozen=True):
    """A checked formula. ``names`` are the keys it needs, in order of appearance."""

    text: str
    names: tuple[str, ...]
    compute: Compute

    def words(self) -> str:
        """The formula as it reads in a message."""
        return readable(self.text)


def readable(text: str) -> str:
    """Signs of arithmetic for people: × for ``*``, ^ for ``**``, thousands with commas."""
    text = re.sub(r"(?<!\d)\d[\d_]*_\d++", lambda match: match[0].replace("_", ","), text)
    for sign, shown in (("**", "^"), ("*", "×"), ("==", "="), ("<=", "≤"), (">=", "≥"), ("!=", "≠")):
        text = text.replace(sign, shown)
    return text


@lru_cache(maxsize=512)
def parse(text: str) -> Formula:
    """Check a formula and make it computable.

    Raises:
        ExpressionError: it does not read as a formula, or is beyond the bounds.
    """
    compiler = _Compiler(Skeleton(text, FORMULAS))
    compute = compiler.compile(compiler.skeleton.tree)
    return Formula(text, tuple(compiler.names), compute)


def is_formula(operand: object) -> bool:
    """Whether an operand of a rule file is a formula: text that begins with ``=``."""
    return isinstance(operand, str) and operand.startswith("=")


def formulas_in(
    content: Any, path: tuple[str | int, ...] = (), *, bare: bool = False
) -> Iterator[tuple[tuple[str | int, ...], str, str]]:
    """The formulas of a demand, at any depth: path, text as written, and the same without ``=``.

    Those under ``satisfies`` are ``bare``: they have no such sign.
    """
    if isinstance(content, dict):
        for key, value in content.items():
            yield from formulas_in(value, (*path, key), bare=bare or key == "satisfies")
    elif isinstance(content, list):
        for position, item in enumerate(content):
            yield from formulas_in(item, (*path, position), bare=bare)
    elif isinstance(content, str) and (bare or is_formula(content)):
        yield path, content, content if bare else content[1:]


def _number(value: Any) -> Any:
    if isinstance(value, (int, float)):
        return value
    raise TypeError(f"a number is needed, not {type(value).__name__}")


def _power(base: Any, exponent: Any) -> Any:
    if abs(exponent) > MAX_EXPONENT or (isinstance(base, int) and base.bit_length() * exponent > MAX_BITS):
        raise OverflowError("power out of bounds")
    return base**exponent


def _round(number: Any, digits: Any = None) -> Any:
    if digits is not None and abs(digits) > MAX_EXPONENT:
        raise OverflowError("digits out of bounds")
    return round(number, digits)


#: Functions with the least and the largest number of their arguments.
_FUNCTIONS: dict[str, tuple[Callable[..., Any], int, int]] = {
    "abs": (abs, 1, 1),
    "ceil": (math.ceil, 1, 1),
    "floor": (math.floor, 1, 1),
    "int": (int, 1, 1),
    "max": (max, 2, 8),
    "min": (min, 2, 8),
    "round": (_round, 1, 2),
    "sqrt": (math.sqrt, 1, 1),
}
_ARITHMETIC: dict[type[ast.operator], Callable[[Any, Any], Any]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.FloorDiv: operator.floordiv,
    ast.Mod: operator.mod,
    ast.Pow: _power,
}
_COMPARISONS: dict[type[ast.cmpop], Callable[[Any, Any], Any]] = {
    ast.Lt: operator.lt,
    ast.LtE: operator.le,
    ast.Gt: operator.gt,
    ast.GtE: operator.ge,
    ast.Eq: operator.eq,
    ast.NotEq: operator.ne,
}


class _Compiler:
    """Makes each node that formulas may hold computable, and refuses all others."""

    def __init__(self, skeleton: Skeleton) -> None:
        self.skeleton = skeleton
        self.names: dict[str, None] = {}

    def compile(self, node: ast.expr) -> Compute:
        match node:
            case ast.Name():
                return self._operand(node)
            case ast.UnaryOp(op=op, operand=operand):
                return _apply_sign(op, self.compile(operand))
            case ast.BinOp(left=left, op=op, right=right):
                return _apply_operation(_ARITHMETIC[type(op)], self.compile(left), self.compile(right))
            case ast.BoolOp(op=op, values=values):
                return _join(isinstance(op, ast.Or), [self.compile(value) for value in values])
            case ast.Compare(left=left, ops=ops, comparators=comparators):
                first, tests = self.compile(left), [_COMPARISONS[type(op)] for op in ops]
                return _compare(first, list(zip(tests, map(self.compile, comparators), strict=True)))
            case ast.IfExp(test=test, body=body, orelse=orelse):
                yes, condition, no = self.compile(body), self.compile(test), self.compile(orelse)
                return lambda values: yes(values) if condition(values) else no(values)
            case ast.Call(keywords=[]):
                return self._call(node)
        raise self.skeleton.refusal(node)

    def _operand(self, node: ast.Name) -> Compute:
        kind, text, _ = self.skeleton.token(node)
        if kind == "name":
            self.names[text] = None
            return _look_up(text)
        value = text[1:-1] if kind == "text" else float(text) if re.search(r"[.eE]", text) else int(text)
        return lambda _: value

    def _call(self, node: ast.Call) -> Compute:
        _, name, column = self.skeleton.function(node, _FUNCTIONS)
        function, least, most = _FUNCTIONS[name]
        arguments = [self.compile(argument) for argument in node.args]
        if not least <= len(arguments) <= most:
            raise ExpressionError(f"{name} takes {least} to {most} arguments, not {len(arguments)}", column)
        return lambda values: function(*(_number(argument(values)) for argument in arguments))


def _look_up(name: str) -> Compute:
    def compute(values: Values) -> Any:
        try:
            return values[name]
        except KeyError:
            raise UnknownValueError(name) from None

    return compute


def _apply_sign(sign: ast.unaryop, inner: Compute) -> Compute:
    if isinstance(sign, ast.Not):
        return lambda values: not inner(values)
    apply = operator.neg if isinstance(sign, ast.USub) else operator.pos
    return lambda values: apply(_number(inner(values)))


def _apply_operation(apply: Callable[[Any, Any], Any], left: Compute, right: Compute) -> Compute:
    def compute(values: Values) -> Any:
        result = apply(_number(left(values)), _number(right(values)))
        if isinstance(result, int) and result.bit_length() > MAX_BITS:
            raise OverflowError("number out of bounds")
        return result

    return compute


def _join(is_or: bool, operands: list[Compute]) -> Compute:
    def compute(values: Values) -> Any:
        result = None
        for operand in operands:
            result = operand(values)
            if bool(result) is is_or:
                break
        return result

    return compute


def _compare(first: Compute, rest: list[tuple[Callable[[Any, Any], Any], Compute]]) -> Compute:
    def compute(values: Values) -> bool:
        left = first(values)
        for holds, operand in rest:
            right = operand(values)
            if not holds(left, right):
                return False
            left = right
        return True

    return compute
