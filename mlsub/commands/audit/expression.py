"""Expressions over results: parsed into a checked tree, never run as code; and the numbers that they come to.

``minutes(a) * price / (minutes(b) * 149995)``: numbers, names, text in quotes, ``+ - * /``, comparisons, ``and or not``
and the functions of :mod:`mlsub.commands.audit.evaluate`. Numbers are exact fractions.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from fractions import Fraction
from functools import lru_cache
from itertools import pairwise
from typing import Any

import msgspec

from mlsub.rules.arithmetic import ExpressionError, Language, Skeleton, Token

MAX_LENGTH = 2_000
_CLAIMS = Language(
    number=r"[0-9]+(?:\.[0-9]+)?",
    signs=("<=", ">=", "==", "!=", *"-+*/<>="),
    words=frozenset(("and", "or", "not")),
    operand="a number or a name",
    max_length=MAX_LENGTH,
    max_depth=40,
)


class Constant(msgspec.Struct, frozen=True):
    """A number as written, exactly, a text in quotes, or ``true`` or ``false``."""

    value: Fraction | str | bool


class Name(msgspec.Struct, frozen=True):
    """The name of a result, an input or a value, or of a basis where a function takes one; ``column`` is from 1."""

    name: str
    column: int


class Call(msgspec.Struct, frozen=True):
    """A function or the sign of an operation, its arguments, the texts given by name, and how it is ``written``.

    ``-`` and ``not`` with one argument stand before it; the other signs stand between two.
    """

    function: str
    arguments: tuple[Node, ...]
    named: tuple[tuple[str, str], ...] = ()
    column: int = 1
    written: str = ""


Node = Constant | Name | Call


def nodes(root: Node) -> Iterator[Node]:
    """Yield a tree and all parts of it, in order of appearance."""
    todo = [root]
    while todo:
        node = todo.pop()
        yield node
        if isinstance(node, Call):
            todo += reversed(node.arguments)


def conditions(root: Node, values: Mapping[str, str]) -> Iterator[Node]:
    """Yield the conditions that ``and`` joins, also behind the names of some values, the last first."""
    todo = [root]
    while todo:
        match todo.pop():
            case Call("and", arguments):
                todo += arguments
            case Name(name) if name in values:
                todo.append(parse(values[name]))
            case node:
                yield node


@lru_cache(maxsize=4096)
def parse(text: str) -> Node:
    """Return the tree of an expression; names, functions and kinds are checked by :mod:`mlsub.commands.audit.kinds`.

    Raises:
        ExpressionError: the text does not read as an expression, or is beyond the bounds.
    """
    skeleton = Skeleton(text, _CLAIMS)
    return _node(skeleton, skeleton.tree)


def _node(skeleton: Skeleton, node: ast.expr) -> Node:
    """Take a node that claims may hold into the tree, and refuse all others."""
    match node:
        case ast.Name():
            return _operand(skeleton.token(node))
        case ast.UnaryOp(op=ast.UAdd(), operand=operand):
            return _node(skeleton, operand)
        case ast.UnaryOp(op=op, operand=operand):
            sign = "not" if isinstance(op, ast.Not) else "-"
            return Call(sign, (_node(skeleton, operand),), written=skeleton.text(node))
        case ast.BoolOp(values=values):
            return _joined(skeleton, node, values)
        case ast.Compare(comparators=[right, _, *_]):
            raise ExpressionError("comparisons cannot be chained; join two with 'and'", skeleton.sign(right).column)
        case ast.BinOp(left=left, right=right) | ast.Compare(left=left, comparators=[right]):
            return _joined(skeleton, node, [left, right])
        case ast.Call():
            name = skeleton.function(node)
            arguments = tuple(_node(skeleton, argument) for argument in node.args)
            named = tuple(_parse_named(skeleton, name.text, argument) for argument in node.keywords)
            return Call(name.text, arguments, named, name.column, skeleton.text(node))
    raise skeleton.refusal(node)


def _operand(token: Token) -> Node:
    if token.kind == "number":
        return Constant(Fraction(token.text))
    if token.kind == "text":
        return Constant(token.text[1:-1])
    return Constant(token.text == "true") if token.text in ("true", "false") else Name(token.text, token.column)


def _joined(skeleton: Skeleton, whole: ast.expr, operands: list[ast.expr]) -> Node:
    tree = _node(skeleton, operands[0])
    for before, after in pairwise(operands):
        sign = skeleton.sign(before)
        tree = Call(sign.text, (tree, _node(skeleton, after)), (), sign.column, skeleton.text(whole))
    return tree


def _parse_named(skeleton: Skeleton, function: str, argument: ast.keyword) -> tuple[str, str]:
    token = skeleton.token(argument.value)
    if token.kind != "text" or not isinstance(argument.value, ast.Name):
        raise ExpressionError(f"{function}: what is given by name is text in quotes", token.column)
    return skeleton.token(argument).text, token.text[1:-1]


#: A number of more bits is not a figure of a claim; the bound keeps a hostile file from using up the memory.
MAX_BITS = 8192


class Band(msgspec.Struct, frozen=True):
    """All numbers from ``low`` to ``high``; where both are the same, a number.

    Operations raise ZeroDivisionError where a divisor may be zero, OverflowError where there are too many digits.
    """

    low: Fraction
    high: Fraction

    @classmethod
    def of(cls, *values: Fraction) -> Band:
        """Return the band from the least to the greatest of some numbers."""
        band = cls(min(values), max(values))
        if any(part.bit_length() > MAX_BITS for end in (band.low, band.high) for part in end.as_integer_ratio()):
            raise OverflowError
        return band

    @property
    def certain(self) -> bool:
        """Whether it is one number."""
        return self.low == self.high

    def __neg__(self) -> Band:
        return Band(-self.high, -self.low)

    def __add__(self, other: Band) -> Band:
        return Band.of(self.low + other.low, self.high + other.high)

    def __sub__(self, other: Band) -> Band:
        return Band.of(self.low - other.high, self.high - other.low)

    def __mul__(self, other: Band) -> Band:
        return Band.of(*(one * another for one in (self.low, self.high) for another in (other.low, other.high)))

    def __truediv__(self, other: Band) -> Band:
        if other.low <= 0 <= other.high:
            raise ZeroDivisionError
        return Band.of(*(one / another for one in (self.low, self.high) for another in (other.low, other.high)))


#: What an expression comes to: numbers as bands; None is a truth that depends on the inputs' uncertainty.
Answer = Band | str | bool | None
ONE = Band(Fraction(1), Fraction(1))


def compare(sign: str, left: Any, right: Any) -> bool | None:
    """Return whether a comparison is true; None where it depends on the inputs' uncertainty."""
    if sign in (">", ">="):
        return compare("<" if sign == ">" else "<=", right, left)
    if not isinstance(left, Band):
        return bool(left == right) == (sign == "==")
    if sign in ("==", "!="):
        apart = left.high < right.low or right.high < left.low
        same = left.certain and left == right
        return None if not apart and not same else same == (sign == "==")
    surely = left.high < right.low or (sign == "<=" and left.high == right.low)
    never = left.low > right.high or (sign == "<" and left.low == right.high)
    return True if surely else False if never else None
