"""Expressions over results: parsed into a checked tree, never run as code.

``minutes(a) * price / (minutes(b) * 149995)``: numbers, names, text in quotes, ``+ - * /``, comparisons, ``and or not``
and the functions of functions.yaml. Numbers are exact fractions.
"""

from __future__ import annotations

import re
from fractions import Fraction

import msgspec

from mlsub.commands.audit.tree import Call, Name, Negated, Node, Number, Operation, Text, Truth
from mlsub.io.data import shipped
from mlsub.io.yamlfile import meant

#: Bounds that no claim comes near; they keep a hostile file from costing more than an error message.
MAX_LENGTH = 2_000
MAX_DEPTH = 40
MAX_OPERATIONS = 150
MAX_DIGITS = 40

_WORDS = frozenset(("and", "or", "not", "true", "false"))
_COMPARISONS = ("<=", ">=", "==", "!=", "<", ">")
_TOKEN = re.compile(
    r"\s*(?:(?P<number>[0-9]+(?:\.[0-9]+)?)(?![A-Za-z0-9_.])|(?P<name>[A-Za-z_][A-Za-z0-9_]*)"
    r"|'(?P<single>[^'\n]*)'|\"(?P<double>[^\"\n]*)\"|(?P<sign><=|>=|==|!=|[-+*/<>=(),]))"
)


class ExpressionError(ValueError):
    """Text that is no expression; ``column`` is where, from 1."""

    def __init__(self, message: str, column: int = 1) -> None:
        self.column = column
        super().__init__(f"column {column}: {message}")


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
    if len(text) > MAX_LENGTH:
        raise ExpressionError(f"an expression of {len(text)} characters; {MAX_LENGTH} are the limit")
    parser = _Parser(text)
    tree = parser.whole()
    return Expression(text, tree, tuple({name.name: name for name in reversed(parser.names)}.values())[::-1])


class _Parser:
    """Recursive descent, loosest binding first: or, and, not, comparison, sum, product, sign, atom."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.names: list[Name] = []
        self.tokens = self._split()
        self.at = 0
        self.depth = 0
        self.operations = 0

    def _split(self) -> list[tuple[str, str, int]]:
        tokens = []
        position, end = 0, len(self.text.rstrip())
        while position < end:
            match = _TOKEN.match(self.text, position)
            if match is None:
                rest = self.text[position:].lstrip()
                raise ExpressionError(f"cannot read {rest[:20].rstrip()!r}", len(self.text) - len(rest) + 1)
            kind = match.lastgroup or "sign"
            tokens.append((kind, match[kind], match.start(kind) + 1))
            position = match.end()
        return tokens

    def whole(self) -> Node:
        tree = self._either()
        if self.at < len(self.tokens):
            raise ExpressionError(f"{self.tokens[self.at][1]!r} is not expected here", self.tokens[self.at][2])
        return tree

    @property
    def column(self) -> int:
        return self.tokens[self.at][2] if self.at < len(self.tokens) else len(self.text) + 1

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
            raise ExpressionError(f"{sign!r} is missing", self.column)

    def _deeper(self) -> None:
        self.depth += 1
        if self.depth > MAX_DEPTH:
            raise ExpressionError(f"nested too deeply; {MAX_DEPTH} levels are the limit", self.column)

    def _either(self) -> Node:
        self._deeper()
        left = self._both()
        while self._peek() == "or":
            column = self.column
            self.at += 1
            left = self._joined("or", left, self._both(), column)
        self.depth -= 1
        return left

    def _both(self) -> Node:
        left = self._negation()
        while self._peek() == "and":
            column = self.column
            self.at += 1
            left = self._joined("and", left, self._negation(), column)
        return left

    def _joined(self, sign: str, left: Node, right: Node, column: int) -> Operation:
        self.operations += 1
        if self.operations > MAX_OPERATIONS:
            raise ExpressionError(f"more than {MAX_OPERATIONS} operations", column)
        return Operation(sign, left, right, column)

    def _negation(self) -> Node:
        count = 0
        while self._take("not"):
            count += 1
        inner = self._comparison()
        return Negated("not", inner) if count % 2 else inner

    def _comparison(self) -> Node:
        left, column = self._sum(), self.column
        sign = self._take(*_COMPARISONS)
        if not sign:
            return left
        compared = self._joined(sign, left, self._sum(), column)
        if self._peek() in _COMPARISONS:
            raise ExpressionError("comparisons cannot be chained; join two with 'and'", self.column)
        return compared

    def _sum(self) -> Node:
        left = self._product()
        while True:
            column = self.column
            sign = self._take("+", "-")
            if not sign:
                return left
            left = self._joined(sign, left, self._product(), column)

    def _product(self) -> Node:
        left = self._signed()
        while True:
            column = self.column
            sign = self._take("*", "/")
            if not sign:
                return left
            left = self._joined(sign, left, self._signed(), column)

    def _signed(self) -> Node:
        negative = False
        while sign := self._take("-", "+"):
            negative ^= sign == "-"
        inner = self._atom()
        return Negated("-", inner) if negative else inner

    def _atom(self) -> Node:
        if self._take("("):
            inner = self._either()
            self._expect(")")
            return inner
        if word := self._take("true", "false"):
            return Truth(word == "true")
        if self.at >= len(self.tokens):
            raise ExpressionError("it ends where a number or a name should stand", self.column)
        kind, token, column = self.tokens[self.at]
        if self._peek():
            raise ExpressionError(f"{token!r} is not expected here", column)
        self.at += 1
        if kind == "number":
            if len(token) > MAX_DIGITS:
                raise ExpressionError(f"a number of more than {MAX_DIGITS} digits", column)
            return Number(Fraction(token))
        if kind in ("single", "double"):
            return Text(token)
        if self._take("("):
            return self._call(token, column)
        name = Name(token, column)
        self.names.append(name)
        return name

    def _call(self, function: str, column: int) -> Call:
        if function not in functions():
            raise ExpressionError(f"no function {function!r}{meant(function, functions())}", column)
        arguments: list[Node] = []
        named: list[tuple[str, Text]] = []
        while not self._take(")"):
            if arguments or named:
                self._expect(",")
            if (name := self._named()) is not None:
                named.append((name, self._text(function)))
            elif named:
                raise ExpressionError(f"{function}: what is given by name comes last", self.column)
            else:
                arguments.append(self._either())
        return Call(function, tuple(arguments), tuple(named), column)

    def _named(self) -> str | None:
        """The name of an argument given by name, which this takes with its sign."""
        ahead = self.tokens[self.at : self.at + 2]
        if [kind for kind, _, _ in ahead] == ["name", "sign"] and ahead[1][1] == "=":
            self.at += 2
            return ahead[0][1]
        return None

    def _text(self, function: str) -> Text:
        if self.at < len(self.tokens) and self.tokens[self.at][0] in ("single", "double"):
            self.at += 1
            return Text(self.tokens[self.at - 1][1])
        raise ExpressionError(f"{function}: what is given by name is text in quotes", self.column)
