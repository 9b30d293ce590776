"""The value of an expression, on one basis: exact, and an interval where inputs are taken within their uncertainty."""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction

import msgspec

from mlsub.commands.audit.claims import ClaimsFile
from mlsub.commands.audit.expression import Call, Constant, Name, Negated, Node, Operation, parse
from mlsub.commands.audit.facts import Facts
from mlsub.commands.audit.functions import (
    FUNCTIONS,
    NO_VALUE,
    Answer,
    Band,
    EvaluationError,
    NothingSaidError,
    NotThereError,
)
from mlsub.commands.audit.places import RoundFolder
from mlsub.workspace import AS_FOUND, Checked, Settings

#: The signs of arithmetic.
ARITHMETIC: dict[str, Callable[[Band, Band], Band]] = {
    "+": operator.add,
    "-": operator.sub,
    "*": operator.mul,
    "/": operator.truediv,
}


def compare(sign: str, left: Band, right: Band) -> bool | None:
    """Whether a comparison is true; None where it depends on the inputs' uncertainty."""
    if sign in (">", ">="):
        return compare("<" if sign == ">" else "<=", right, left)
    if sign in ("==", "!="):
        apart = left.high < right.low or right.high < left.low
        same = left.certain and left == right
        return None if not apart and not same else same == (sign == "==")
    surely = left.high < right.low or (sign == "<=" and left.high == right.low)
    never = left.low > right.high or (sign == "<" and left.low == right.high)
    return True if surely else False if never else None


#: Basis, whether inputs are taken with their uncertainty, and values in the place of theirs.
_Question = tuple[str, bool, tuple[tuple[str, Fraction], ...]]


class World(msgspec.Struct, frozen=True):
    """All that expressions are evaluated against, and on which ``question``.

    ``settings`` and ``checked`` are what further results are read by, see facts.py; ``near`` keeps those that were.
    ``known`` keeps the values of named expressions by question.
    """

    file: ClaimsFile
    facts: Mapping[str, Facts]
    rounds: Sequence[RoundFolder]
    settings: Settings = AS_FOUND
    checked: Sequence[Checked] = ()
    near: dict[str, dict[str, Facts]] = msgspec.field(default_factory=dict)
    known: dict[_Question, dict[str, Answer | Exception]] = msgspec.field(default_factory=dict)
    question: _Question = ("published", False, ())

    def fact(self, name: str) -> Facts:
        """The facts of a result.

        Raises:
            NotThereError: there are none.
        """
        found = self.facts.get(name)
        if found is None or not found.found:
            raise NotThereError(f"{name}: {found.reason if found else 'not looked for'}")
        return found

    def facts_in(self, expression: str) -> list[Facts]:
        """The facts of the results that an expression rests on, found or not."""
        return [self.facts[name] for name in self.file.results_in(expression)]

    def with_results(self, facts: Mapping[str, Facts]) -> World:
        """The same with other results in the place of some."""
        return msgspec.structs.replace(self, facts={**self.facts, **facts}, known={})

    def minutes(self, of: Facts, basis: str | None = None) -> Band:
        """The time to train of a result on a basis, usually that of the question.

        Raises:
            NothingSaidError: it has no score.
        """
        score = of.minutes[basis or self.question[0]]
        if score is None:
            raise NothingSaidError(f"{of.name} has no score: too few of its runs count")
        return Band(score, score)

    def value(self, node: Node) -> Answer:
        """The value of a part of an expression; errors are those of :func:`evaluate`."""
        match node:
            case Constant(value):
                return Band(value, value) if isinstance(value, Fraction) else value
            case Name(name):
                return self._named(name)
            case Negated("-", of):
                return -_number(self.value(of))
            case Negated(_, of):
                truth = _truth(self.value(of))
                return None if truth is None else not truth
        try:
            return self._call(node) if isinstance(node, Call) else self._operation(node)
        except ZeroDivisionError:
            raise EvaluationError(f"column {node.column}: division by zero") from None
        except OverflowError:
            raise EvaluationError(f"column {node.column}: the number grows beyond any figure") from None

    def _named(self, name: str) -> Answer:
        _, spread, instead = self.question
        if name in self.file.values:
            value = self.known[self.question][name]
            if isinstance(value, Exception):
                raise value
            return value
        given = self.file.inputs[name]
        exact = dict(instead).get(name, given.amount)
        return Band(given.low, given.high) if spread and name not in dict(instead) else Band(exact, exact)

    def _operation(self, node: Operation) -> Answer:
        left, right = self.value(node.left), self.value(node.right)
        if node.sign in ("and", "or"):
            return _joined(node.sign, _truth(left), _truth(right))
        if node.sign in ("==", "!=") and not (isinstance(left, Band) and isinstance(right, Band)):
            if type(left) is not type(right):
                raise EvaluationError(f"column {node.column}: text or truth is compared with a number")
            return (left == right) == (node.sign == "==")
        if node.sign in ARITHMETIC:
            return ARITHMETIC[node.sign](_number(left), _number(right))
        return compare(node.sign, _number(left), _number(right))

    def _call(self, node: Call) -> Answer:
        function = FUNCTIONS[node.function]
        kinds = function.takes.replace("?", "").split()
        arguments = [self._argument(kinds[min(at, len(kinds) - 1)], one) for at, one in enumerate(node.arguments)]
        value = function.how(self, *arguments, **dict(node.named))
        return Band.of(value) if isinstance(value, Fraction) else value

    def _argument(self, kind: str, node: Node) -> Facts | Answer:
        if isinstance(node, Name) and (kind == "basis" or node.name in self.file.results):
            return node.name if kind == "basis" else self.fact(node.name)
        value = self.value(node)
        if kind == "text":
            return value if isinstance(value, str) else ""
        return _number(value) if kind in ("number", "...") else value


def evaluate(
    tree: Node, world: World, basis: str, *, spread: bool = False, instead: Mapping[str, Fraction] | None = None
) -> Answer:
    """The value of an expression.

    Args:
        tree: checked before, see kinds.py.
        world: the facts and inputs.
        basis: the score that minutes() are, where an expression asks for none itself.
        spread: inputs within their uncertainty, in place of their values.
        instead: other values of inputs, by name.

    Raises:
        EvaluationError: there is no value; so with ``spread`` where a divisor may be zero.
        NotThereError, NothingSaidError: a result, a score or a fact is not there.
    """
    at = msgspec.structs.replace(world, question=(basis, spread, tuple(sorted((instead or {}).items()))))
    if at.question not in world.known:
        values = world.known[at.question] = {}
        for name, text in world.file.values.items():
            # Each needs only those before it, so that no chain of them costs depth; a failure counts where it is used.
            try:
                values[name] = at.value(parse(text))
            except NO_VALUE as error:
                values[name] = error
    return at.value(tree)


def _number(value: Answer) -> Band:
    if isinstance(value, Band):
        return value
    raise EvaluationError("a number is needed where text or truth stands")


def _truth(value: Answer) -> bool | None:
    if value is None or isinstance(value, bool):
        return value
    raise EvaluationError("true or false is needed where a number or text stands")


def _joined(sign: str, left: bool | None, right: bool | None) -> bool | None:
    decides = sign == "or"
    if left is decides or right is decides:
        return decides
    return None if left is None or right is None else not decides
