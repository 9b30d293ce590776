"""A small arithmetic language over logged values: parsed once into a checked tree, never run as code.

A formula reads like ``ceil(1_200_000 * 1152 / global_batch_size) - 8000``: numbers, names of logged keys, text in
single quotes, ``+ - * / // % **``, comparisons (also chained), ``and or not``, ``a if c else b`` and a few functions.
Arithmetic is Python's, so that results are bit for bit those of the official checker; it takes numbers only, so that no
logged text can be multiplied into gigabytes.
"""

from __future__ import annotations

import math
import operator
import re
from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from typing import Any

import msgspec

Values = Mapping[str, Any]

#: Bounds that no rule comes near; they keep a hostile overlay file from costing more than an error message.
MAX_LENGTH = 1_000
MAX_DEPTH = 60
MAX_EXPONENT = 1_024

_FUNCTIONS: dict[str, tuple[Callable[..., Any], int, int]] = {
    "min": (min, 2, 8),
    "max": (max, 2, 8),
    "ceil": (math.ceil, 1, 1),
    "floor": (math.floor, 1, 1),
    "sqrt": (math.sqrt, 1, 1),
    "round": (round, 1, 2),
    "int": (int, 1, 1),
    "abs": (abs, 1, 1),
}
FUNCTIONS = frozenset(_FUNCTIONS)
_WORDS = frozenset(("and", "or", "not", "if", "else"))
_TOKEN = re.compile(
    r"\s*(?:(?P<number>[0-9]+(?:_[0-9]+)*(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?)|(?P<name>[A-Za-z][A-Za-z0-9_]*)|'(?P<text>[^']*)'"
    r"|(?P<sign>\*\*|//|<=|>=|==|!=|[-+*/%<>(),]))"
)


class FormulaError(ValueError):
    """A formula that is none; the text says what is wrong and where (column from 1)."""


class UnknownValueError(LookupError):
    """A formula names a key that the log has not stated yet; ``args[0]`` is the key."""


class Formula(msgspec.Struct, frozen=True):
    """A checked formula. ``names`` are the keys it needs, in order of appearance."""

    text: str
    names: tuple[str, ...]
    compute: Callable[[Values], Any]

    def words(self) -> str:
        """The formula as it reads in a message."""
        return readable(self.text)


def readable(text: str) -> str:
    """Signs of arithmetic for people: × for ``*``, ^ for ``**``, thousands with commas."""
    text = re.sub(r"\d[\d_]*_\d+", lambda match: match[0].replace("_", ","), text)
    for sign, shown in (("**", "^"), ("*", "×"), ("==", "="), ("<=", "≤"), (">=", "≥"), ("!=", "≠")):
        text = text.replace(sign, shown)
    return text


@lru_cache(maxsize=512)
def parse(text: str) -> Formula:
    """Check a formula and make it computable.

    Raises:
        FormulaError: it does not read as a formula, or is beyond the bounds.
    """
    if len(text) > MAX_LENGTH:
        raise FormulaError(f"a formula of {len(text)} characters; {MAX_LENGTH} are the limit")
    parser = _Parser(text)
    compute = parser.whole()
    return Formula(text, tuple(dict.fromkeys(parser.names)), compute)


def is_formula(operand: object) -> bool:
    """Whether an operand of a rule file is a formula: text that begins with ``=``."""
    return isinstance(operand, str) and operand.startswith("=")


Compute = Callable[[Values], Any]


def _number(value: Any) -> Any:
    if isinstance(value, (int, float)):
        return value
    raise TypeError(f"a number is needed, not {type(value).__name__}")


def _power(base: Any, exponent: Any) -> Any:
    if abs(exponent) > MAX_EXPONENT:
        raise OverflowError("exponent out of bounds")
    return base**exponent


_ARITHMETIC: dict[str, Callable[[Any, Any], Any]] = {
    "+": operator.add,
    "-": operator.sub,
    "*": operator.mul,
    "/": operator.truediv,
    "//": operator.floordiv,
    "%": operator.mod,
    "**": _power,
}
_COMPARISONS: dict[str, Callable[[Any, Any], Any]] = {
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
    "==": operator.eq,
    "!=": operator.ne,
}


def _arithmetic(sign: str, left: Compute, right: Compute) -> Compute:
    apply = _ARITHMETIC[sign]
    return lambda values: apply(_number(left(values)), _number(right(values)))


def _compared(first: Compute, rest: Sequence[tuple[str, Compute]]) -> Compute:
    def compute(values: Values) -> bool:
        left = first(values)
        for sign, operand in rest:
            right = operand(values)
            if not _COMPARISONS[sign](left, right):
                return False
            left = right
        return True

    return compute


def _looked_up(name: str) -> Compute:
    def compute(values: Values) -> Any:
        try:
            return values[name]
        except KeyError:
            raise UnknownValueError(name) from None

    return compute


class _Parser:
    """Recursive descent, loosest binding first: if-else, or, and, not, comparison, sum, product, sign, power."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.names: list[str] = []
        self.tokens = self._split()
        self.at = 0
        self.depth = 0

    def _split(self) -> list[tuple[str, str, int]]:
        tokens = []
        position = 0
        while self.text[position:].strip():
            match = _TOKEN.match(self.text, position)
            if match is None:
                rest = self.text[position:].lstrip()
                raise FormulaError(f"column {len(self.text) - len(rest) + 1}: cannot read {rest[:20].rstrip()!r}")
            kind = match.lastgroup or "text"
            tokens.append((kind, match[kind], match.start(kind) + 1))
            position = match.end()
        return tokens

    def whole(self) -> Compute:
        result = self._choice()
        if self.at < len(self.tokens):
            raise FormulaError(f"column {self.tokens[self.at][2]}: {self.tokens[self.at][1]!r} is not expected here")
        return result

    def _peek(self) -> str:
        if self.at >= len(self.tokens):
            return ""
        kind, token, _ = self.tokens[self.at]
        return token if kind == "sign" or (kind == "name" and token in _WORDS) else ""

    def _take(self, *signs: str) -> str:
        token = self._peek()
        if token and token in signs:
            self.at += 1
            return token
        return ""

    def _expect(self, sign: str) -> None:
        if not self._take(sign):
            where = f"column {self.tokens[self.at][2]}" if self.at < len(self.tokens) else "the end"
            raise FormulaError(f"{where}: {sign!r} is missing")

    def _choice(self) -> Compute:
        self.depth += 1
        if self.depth > MAX_DEPTH:
            raise FormulaError("nested too deeply")
        yes = self._either()
        if self._take("if"):
            condition = self._either()
            self._expect("else")
            no = self._choice()
            self.depth -= 1
            return lambda values: yes(values) if condition(values) else no(values)
        self.depth -= 1
        return yes

    def _either(self) -> Compute:
        left = self._both()
        while self._take("or"):
            left = (lambda a, b: lambda values: a(values) or b(values))(left, self._both())
        return left

    def _both(self) -> Compute:
        left = self._negation()
        while self._take("and"):
            left = (lambda a, b: lambda values: a(values) and b(values))(left, self._negation())
        return left

    def _negation(self) -> Compute:
        count = 0
        while self._take("not"):
            count += 1
        inner = self._comparison()
        if not count:
            return inner
        return (lambda values: not inner(values)) if count % 2 else (lambda values: bool(inner(values)))

    def _comparison(self) -> Compute:
        first = self._sum()
        rest = []
        while sign := self._take(*_COMPARISONS):
            rest.append((sign, self._sum()))
        return _compared(first, rest) if rest else first

    def _sum(self) -> Compute:
        left = self._product()
        while sign := self._take("+", "-"):
            left = _arithmetic(sign, left, self._product())
        return left

    def _product(self) -> Compute:
        left = self._signed()
        while sign := self._take("*", "/", "//", "%"):
            left = _arithmetic(sign, left, self._signed())
        return left

    def _signed(self) -> Compute:
        negative = False
        while sign := self._take("-", "+"):
            negative ^= sign == "-"
        inner = self._raised()
        return (lambda values: -_number(inner(values))) if negative else inner

    def _raised(self) -> Compute:
        base = self._atom()
        if self._take("**"):
            self.depth += 1
            if self.depth > MAX_DEPTH:
                raise FormulaError("nested too deeply")
            raised = _arithmetic("**", base, self._signed())
            self.depth -= 1
            return raised
        return base

    def _atom(self) -> Compute:
        if self._take("("):
            inner = self._choice()
            self._expect(")")
            return inner
        if self.at >= len(self.tokens):
            raise FormulaError("it ends where a number or a key should stand")
        kind, token, column = self.tokens[self.at]
        if kind == "sign" or (token in _WORDS and kind == "name"):
            raise FormulaError(f"column {column}: {token!r} is not expected here")
        self.at += 1
        if kind == "number":
            number = float(token) if any(sign in token for sign in ".eE") else int(token)
            return lambda values: number
        if kind == "text":
            return lambda values: token
        if self._take("("):
            return self._call(token, column)
        self.names.append(token)
        return _looked_up(token)

    def _call(self, name: str, column: int) -> Compute:
        if name not in _FUNCTIONS:
            raise FormulaError(f"column {column}: no function {name!r}; there are {', '.join(sorted(_FUNCTIONS))}")
        function, least, most = _FUNCTIONS[name]
        arguments = [self._choice()]
        while self._take(","):
            arguments.append(self._choice())
        self._expect(")")
        if not least <= len(arguments) <= most:
            raise FormulaError(f"column {column}: {name} takes {least} to {most} arguments, not {len(arguments)}")
        return lambda values: function(*(_number(argument(values)) for argument in arguments))
