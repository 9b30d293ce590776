"""The tree of an expression: what the parser makes, and what is evaluated."""

from __future__ import annotations

from fractions import Fraction

import msgspec


class Number(msgspec.Struct, frozen=True):
    """A number as written, exactly."""

    value: Fraction


class Text(msgspec.Struct, frozen=True):
    """A text in quotes."""

    value: str


class Truth(msgspec.Struct, frozen=True):
    """``true`` or ``false``."""

    value: bool


class Name(msgspec.Struct, frozen=True):
    """A name: of a result, an input or a value; where a basis is due, of a basis. ``column`` is from 1."""

    name: str
    column: int


class Negated(msgspec.Struct, frozen=True):
    """Minus something, or not something, by ``sign``."""

    sign: str
    of: Node


class Operation(msgspec.Struct, frozen=True):
    """Two sides and one of ``+ - * / < <= > >= == != and or``."""

    sign: str
    left: Node
    right: Node
    column: int


class Call(msgspec.Struct, frozen=True):
    """A function, its arguments, and those given by name."""

    function: str
    arguments: tuple[Node, ...]
    named: tuple[tuple[str, Text], ...]
    column: int


Node = Number | Text | Truth | Name | Negated | Operation | Call
