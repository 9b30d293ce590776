"""Expressions over results: parsed into a checked tree, never run as code.

``minutes(a) * price / (minutes(b) * 149995)``: numbers, names, text in quotes, ``+ - * /``, comparisons, ``and or not``
and the functions of functions.yaml. Numbers are exact fractions.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from fractions import Fraction
from itertools import pairwise

import msgspec

from mlsub.commands.audit.tree import Call, Name, Negated, Node, Number, Operation, Text, Truth
from mlsub.io.data import shipped
from mlsub.rules.arithmetic import ExpressionError, Language, Skeleton, Token

__all__ = ["MAX_LENGTH", "Expression", "ExpressionError", "Function", "functions", "parse"]

MAX_LENGTH = 2_000
_CLAIMS = Language(
    number=r"[0-9]+(?:\.[0-9]+)?",
    signs=("<=", ">=", "==", "!=", *"-+*/<>="),
    words=frozenset(("and", "or", "not")),
    operand="a number or a name",
    max_length=MAX_LENGTH,
    max_depth=40,
)


class Function(msgspec.Struct, frozen=True):
    """What a function takes and gives, see functions.yaml; ``unit`` is None where the value may have any or none."""

    takes: tuple[str, ...]
    gives: str
    title: str
    named: tuple[str, ...] = ()
    unit: str | None = None


class Expression(msgspec.Struct, frozen=True):
    """An expression and its tree; ``names`` are those it uses with their columns, in order of appearance."""

    text: str
    tree: Node
    names: tuple[Name, ...]


def functions() -> dict[str, Function]:
    """Every function by its name."""
    return shipped(__file__, "functions.yaml", dict[str, Function])


def parse(text: str) -> Expression:
    """Read an expression; names and kinds are checked by :mod:`mlsub.commands.audit.kinds`.

    Raises:
        ExpressionError: it does not read as one, or is beyond the bounds.
    """
    walker = _Walker(Skeleton(text, _CLAIMS))
    tree = walker.of(walker.skeleton.tree)
    return Expression(text, tree, tuple(walker.names.values()))


class _Walker:
    """Takes each node that claims may hold into their tree, and refuses all others."""

    def __init__(self, skeleton: Skeleton) -> None:
        self.skeleton = skeleton
        self.names: dict[str, Name] = {}

    def of(self, node: ast.expr) -> Node:
        match node:
            case ast.Name():
                return self._operand(self.skeleton.token(node))
            case ast.UnaryOp(op=ast.UAdd(), operand=operand):
                return self.of(operand)
            case ast.UnaryOp(op=op, operand=operand):
                return Negated("not" if isinstance(op, ast.Not) else "-", self.of(operand))
            case ast.BinOp(left=left, right=right):
                return self._joined([left, right])
            case ast.BoolOp(values=values):
                return self._joined(values)
            case ast.Compare(left=left, comparators=[right, *more]):
                if more:
                    column = self.skeleton.sign(right).column
                    raise ExpressionError("comparisons cannot be chained; join two with 'and'", column)
                return self._joined([left, right])
            case ast.Call():
                name = self.skeleton.function(node, functions())
                arguments = tuple(self.of(argument) for argument in node.args)
                return Call(name.text, arguments, tuple(self._named(name.text, node)), name.column)
        raise self.skeleton.refusal(node)

    def _operand(self, token: Token) -> Node:
        if token.kind == "number":
            return Number(Fraction(token.text))
        if token.kind == "text":
            return Text(token.text[1:-1])
        if token.text in ("true", "false"):
            return Truth(token.text == "true")
        name = Name(token.text, token.column)
        self.names.setdefault(token.text, name)
        return name

    def _joined(self, operands: list[ast.expr]) -> Node:
        tree = self.of(operands[0])
        for before, after in pairwise(operands):
            sign = self.skeleton.sign(before)
            tree = Operation(sign.text, tree, self.of(after), sign.column)
        return tree

    def _named(self, function: str, node: ast.Call) -> Iterator[tuple[str, Text]]:
        for argument in node.keywords:
            value = self.of(argument.value)
            if not isinstance(value, Text):
                column = self.skeleton.token(argument.value).column
                raise ExpressionError(f"{function}: what is given by name is text in quotes", column)
            yield self.skeleton.token(argument).text, value
