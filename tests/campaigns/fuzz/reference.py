"""Expressions as Python reads and computes them, for the two languages of mlsub that are a part of Python's.

Nothing is run: the tree of Python's parser is walked, with Python's own operators.
"""

from __future__ import annotations

import ast
import keyword
import operator
import random
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

_TEXT_OR_SPACE = re.compile(r"('[^'\n]*'|\"[^\"\n]*\")|\s")
_WORDS = frozenset(("and", "or", "not", "if", "else"))
_LEADING_ZERO = re.compile(r"(?<![\w.])0[0-9_]")

ARITHMETIC: dict[type[ast.operator], Callable[[Any, Any], Any]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.FloorDiv: operator.floordiv,
    ast.Mod: operator.mod,
    ast.Pow: operator.pow,
}
SIGNS: dict[type[ast.unaryop], Callable[[Any], Any]] = {ast.UAdd: operator.pos, ast.USub: operator.neg}
COMPARISONS: dict[type[ast.cmpop], Callable[[Any, Any], Any]] = {
    ast.Lt: operator.lt,
    ast.LtE: operator.le,
    ast.Gt: operator.gt,
    ast.GtE: operator.ge,
    ast.Eq: operator.eq,
    ast.NotEq: operator.ne,
}


class NotPythonError(ValueError):
    """Text that Python does not read as the languages of mlsub do, for a reason that is known."""


def python_tree(text: str) -> tuple[ast.expr, str]:
    """The tree of an expression, and the text that it was made of.

    Raises:
        NotPythonError: Python reads it otherwise.
        SyntaxError: Python cannot read it.
    """
    source = _TEXT_OR_SPACE.sub(lambda match: match[1] or " ", text).strip()
    bare = _TEXT_OR_SPACE.sub(" ", source)
    words = set(re.findall(r"[A-Za-z_]\w*", bare))
    if _LEADING_ZERO.search(bare) or any(keyword.iskeyword(word) and word not in _WORDS for word in words):
        raise NotPythonError("a leading zero, or a word of Python")
    if "\\" in source or "__debug__" in words or any(ord(sign) < 32 or ord(sign) == 127 for sign in source):
        raise NotPythonError("an escape or a control character")
    return ast.parse(source, mode="eval").body, source


class Reference:
    """Computes trees.

    Args:
        names: values by name.
        functions: by name.
        number: of the text of a literal.
        checked: gives a number back, and raises TypeError for what is no number.
        arithmetic: applies an operator to two numbers.
    """

    def __init__(
        self,
        names: Mapping[str, Any],
        functions: Mapping[str, Callable[..., Any]],
        number: Callable[[str], Any],
        checked: Callable[[Any], Any],
        arithmetic: Callable[[ast.operator, Any, Any], Any],
    ) -> None:
        self.names = names
        self.functions = functions
        self.number = number
        self.checked = checked
        self.arithmetic = arithmetic

    def value(self, node: ast.expr, source: str) -> Any:
        """The value of a tree.

        Raises:
            KeyError: a name or function is not known.
        """
        match node:
            case ast.Constant(value=value):
                return value if isinstance(value, str) else self.number(str(ast.get_source_segment(source, node)))
            case ast.Name(id=name):
                return self.names[name]
            case ast.UnaryOp(op=ast.Not(), operand=operand):
                return not self.value(operand, source)
            case ast.UnaryOp(op=op, operand=operand):
                return SIGNS[type(op)](self.checked(self.value(operand, source)))
            case ast.BinOp(left=left, op=op, right=right):
                return self.arithmetic(op, *(self.checked(self.value(side, source)) for side in (left, right)))
            case ast.BoolOp(op=op, values=values):
                found = None
                for part in values:
                    found = self.value(part, source)
                    if bool(found) is isinstance(op, ast.Or):
                        break
                return found
            case ast.Compare(left=left, ops=ops, comparators=comparators):
                before = self.value(left, source)
                for op, part in zip(ops, comparators, strict=True):
                    after = self.value(part, source)
                    if not COMPARISONS[type(op)](before, after):
                        return False
                    before = after
                return True
            case ast.IfExp(test=test, body=body, orelse=orelse):
                return self.value(body if self.value(test, source) else orelse, source)
            case ast.Call(func=ast.Name(id=name), args=arguments, keywords=[]):
                return self.functions[name](*(self.value(argument, source) for argument in arguments))
        raise KeyError(type(node).__name__)


def drawn(
    rng: random.Random, operands: Sequence[str], signs: Sequence[str], functions: Sequence[str], depth: int = 4
) -> str:
    """An expression; ``signs`` with a ``{}`` take one operand or three."""
    if depth == 0 or rng.random() < 0.2:
        return rng.choice(operands)

    def inner() -> str:
        return drawn(rng, operands, signs, functions, depth - 1)

    chance = rng.random()
    if chance < 0.2:
        return f"{rng.choice(functions)}({', '.join(inner() for _ in range(rng.choice((1, 2, 2, 3))))})"
    sign = rng.choice(signs)
    text = sign.format(*(inner() for _ in range(3))) if "{" in sign else f"{inner()} {sign} {inner()}"
    return f"({text})" if chance < 0.6 else text
