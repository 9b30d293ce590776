"""What the arithmetic of rule files and that of claims files share: text becomes a checked tree, and is never run.

The text is cut into the few kinds of tokens that its language has. Python's own parser then reads only their skeleton,
``_0 * ( _3 + _5 )``: a placeholder stands for each number, name and text, so that nothing but signs, the words of the
language and placeholders reaches it. Each language takes the nodes it knows from that tree, and refuses the rest.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Collection, Iterator
from itertools import pairwise
from typing import NamedTuple

import msgspec

_OPERANDS = ("number", "name", "text")
_NO_OPERATION = ("(", ")", ",", "=")


class ExpressionError(ValueError):
    """Text that is not an expression; ``column`` is where, from 1."""

    def __init__(self, message: str, column: int = 1) -> None:
        self.column = column
        super().__init__(f"column {column}: {message}")


class Language(msgspec.Struct, frozen=True):
    """The tokens of a language, and bounds that keep a hostile file from costing more than an error message.

    Args:
        number: the pattern of a number.
        signs: the signs of its operations, the longer ones first.
        words: those of ``and or not if else`` that it has.
        operand: what an expression is about, in words.
    """

    number: str
    signs: tuple[str, ...]
    words: frozenset[str]
    operand: str
    max_length: int
    max_depth: int
    max_operations: int = 150
    max_digits: int = 40

    def token(self) -> re.Pattern[str]:
        """The pattern of one token and the space before it."""
        signs = "|".join(re.escape(sign) for sign in (*self.signs, "(", ")", ","))
        return re.compile(
            rf"\s*(?:(?P<number>{self.number})(?![A-Za-z0-9_.])|(?P<name>[A-Za-z_][A-Za-z0-9_]*)"
            rf"|(?P<text>'[^'\n]*'|\"[^\"\n]*\")|(?P<sign>{signs}))"
        )


class Token(NamedTuple):
    """A number, name, text (with its quotes), sign or word of an expression, and where it begins."""

    kind: str
    text: str
    column: int

    @property
    def ends_operand(self) -> bool:
        """Whether an operation may follow."""
        return self.kind in _OPERANDS or self.text == ")"


class Skeleton:
    """An expression as Python's parser reads it; ``tree`` is made of placeholders, which :meth:`token` resolves.

    Raises:
        ExpressionError: the text is not an expression, or is beyond the bounds.
    """

    def __init__(self, text: str, language: Language) -> None:
        if len(text) > language.max_length:
            raise ExpressionError(f"an expression of {len(text)} characters; {language.max_length} are the limit")
        self._written = text
        self._tokens = (*_tokenize(text, language), Token("end", "", len(text) + 1))
        _check_bounds(self._tokens, language)
        self._at: dict[int, Token] = {}
        source = ""
        for number, token in enumerate(self._tokens):
            self._at[len(source)] = token
            source += f"_{number} " if token.kind in _OPERANDS else f"{token.text} "
        try:
            self.tree = ast.parse(source.strip(), mode="eval").body
        except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
            raise self._explain_syntax_error(error, language) from None

    def token(self, node: ast.expr | ast.keyword) -> Token:
        """The token that a node begins with: what a placeholder stands for."""
        return self._at[node.col_offset]

    def text(self, node: ast.expr) -> str:
        """What stands in the text for a node."""
        last = [token for offset, token in self._at.items() if offset < (node.end_col_offset or 0)][-1]
        return self._written[self.token(node).column - 1 : last.column - 1 + len(last.text)]

    def sign(self, left: ast.expr) -> Token:
        """The sign that follows the left side of an operation."""
        return next(
            token for offset, token in self._at.items() if offset >= (left.end_col_offset or 0) and token.text != ")"
        )

    def function(self, node: ast.Call, functions: Collection[str] | None = None) -> Token:
        """The name of the function that is called, one of some where these are given.

        Raises:
            ExpressionError: there is no such function, or what is called is not a name.
        """
        token = self.token(node)
        if not isinstance(node.func, ast.Name) or token.kind != "name":
            raise unexpected(self.sign(node.func))
        if functions is not None and token.text not in functions:
            from mlsub.io.problems import did_you_mean

            raise ExpressionError(f"no function {token.text!r}{did_you_mean(token.text, functions)}", token.column)
        return token

    def refusal(self, node: ast.expr | ast.keyword) -> ExpressionError:
        """That a language does not know a node."""
        if isinstance(node, ast.Tuple) and node.elts:
            return unexpected(self.sign(node.elts[0]))
        return unexpected(self.token(node))

    def _explain_syntax_error(self, error: Exception, language: Language) -> ExpressionError:
        """What Python's parser stumbled over, in the words of the language."""
        *before, end = self._tokens
        texts = [token.text for token in before]
        if not before or not before[-1].ends_operand:
            return ExpressionError(f"it ends where {language.operand} should stand", end.column)
        for opening, closing in (("(", ")"), ("if", "else")):
            if texts.count(opening) > texts.count(closing):
                return ExpressionError(f"{closing!r} is missing", end.column)
        offset = (error.offset if isinstance(error, SyntaxError) else None) or 1
        token = next(token for start, token in reversed(self._at.items()) if start < offset)
        if "follows keyword" in str(error):
            return ExpressionError("what is given by name comes last", token.column)
        return unexpected(token)


def unexpected(token: Token) -> ExpressionError:
    """That a token stands where another one is due."""
    return ExpressionError(f"{token.text!r} is not expected here", token.column)


def _tokenize(text: str, language: Language) -> Iterator[Token]:
    pattern, position, end = language.token(), 0, len(text.rstrip())
    while position < end:
        match = pattern.match(text, position)
        if match is None:
            rest = text[position:].lstrip()
            raise ExpressionError(f"cannot read {rest[:20].rstrip()!r}", len(text) - len(rest) + 1)
        kind = str(match.lastgroup)
        yield Token("word" if match[kind] in language.words else kind, match[kind], match.start(kind) + 1)
        position = match.end()


def _check_bounds(tokens: tuple[Token, ...], language: Language) -> None:
    """Depth and number of operations, before Python's parser sees any of it; and operands side by side."""
    depth, operations = 1, 0
    for token, following in pairwise(tokens):
        if token.ends_operand and following.kind in _OPERANDS:
            raise unexpected(following)
        if token.kind == "number" and len(token.text) > language.max_digits:
            raise ExpressionError(f"a number of more than {language.max_digits} digits", token.column)
        depth += (token.text == "(") - (token.text == ")")
        if depth > language.max_depth:
            raise ExpressionError(f"nested too deeply; {language.max_depth} levels are the limit", following.column)
        operations += token.kind in ("sign", "word") and token.text not in _NO_OPERATION
        if operations > language.max_operations:
            raise ExpressionError(f"more than {language.max_operations} operations", token.column)
