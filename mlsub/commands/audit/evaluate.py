"""The value of an expression, on one basis: exact, and an interval where inputs are taken within their uncertainty."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction

import msgspec

from mlsub.commands.audit.expression import Call, Name, Negated, Node, Number, Operation, Text, Truth
from mlsub.commands.audit.facts import Facts, RoundFolder
from mlsub.commands.audit.lookups import LOOKUPS, counted, look_up
from mlsub.commands.audit.model import ClaimsFile
from mlsub.io.errors import MlsubError
from mlsub.workspace import AS_FOUND, Checked, Settings

#: A number of more bits is not a figure of a claim; the bound keeps a hostile file from using up the memory.
MAX_BITS = 8192


class TooLargeError(ArithmeticError):
    """A number with more digits than any claim has."""


class Band(msgspec.Struct, frozen=True):
    """All numbers from ``low`` to ``high``; where both are the same, a number."""

    low: Fraction
    high: Fraction

    @classmethod
    def of(cls, value: Fraction | int) -> Band:
        """A number that is certain."""
        return cls(Fraction(value), Fraction(value))

    @property
    def certain(self) -> bool:
        """Whether it is one number."""
        return self.low == self.high

    def negated(self) -> Band:
        """Minus it."""
        return Band(-self.high, -self.low)


def combine(sign: str, left: Band, right: Band) -> Band:
    """Two bands added, subtracted, multiplied or divided.

    Raises:
        ZeroDivisionError: the divisor may be zero.
        TooLargeError: a result has more digits than any claim has.
    """
    if sign == "+":
        ends = [left.low + right.low, left.high + right.high]
    elif sign == "-":
        ends = [left.low - right.high, left.high - right.low]
    else:
        if sign == "/" and right.low <= 0 <= right.high:
            raise ZeroDivisionError
        pairs = [(a, b) for a in (left.low, left.high) for b in (right.low, right.high)]
        ends = [a * b if sign == "*" else a / b for a, b in pairs]
    band = Band(min(ends), max(ends))
    if any(part.bit_length() > MAX_BITS for end in (band.low, band.high) for part in (end.numerator, end.denominator)):
        raise TooLargeError
    return band


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


#: What an expression comes to: numbers as bands; None is a truth that depends on the inputs' uncertainty.
Answer = Band | str | bool | None


class EvaluationError(ValueError):
    """An expression without a value: it divides by zero, or compares what cannot be."""


class NotThereError(LookupError):
    """A result that an expression needs is not among the results given."""


class NoBasisError(LookupError):
    """A result has no score on a basis."""


#: Basis, whether inputs are taken with their uncertainty, and values in the place of theirs.
_Question = tuple[str, bool, tuple[tuple[str, Fraction], ...]]


class World(msgspec.Struct, frozen=True):
    """All that expressions are evaluated against; ``known`` keeps the values of named expressions.

    ``settings`` and ``checked`` are what further results are read by, see facts.py; ``near`` keeps those that were.
    """

    file: ClaimsFile
    facts: Mapping[str, Facts]
    rounds: Sequence[RoundFolder]
    settings: Settings = AS_FOUND
    checked: Sequence[Checked] = ()
    near: dict[str, dict[str, Facts]] = msgspec.field(default_factory=dict)
    known: dict[_Question, dict[str, Answer | Exception]] = msgspec.field(default_factory=dict)

    def fact(self, name: str) -> Facts:
        """The facts of a result.

        Raises:
            NotThereError: there are none.
        """
        found = self.facts[name]
        if not found.shown.found:
            raise NotThereError(f"{name}: {found.shown.reason}")
        return found

    def with_results(self, facts: Mapping[str, Facts]) -> World:
        """The same with other results in the place of some."""
        return msgspec.structs.replace(self, facts={**self.facts, **facts}, known={})


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
        NotThereError, NoBasisError, NothingSaidError: a result, a score or a fact is not there.
    """
    evaluation = _Evaluation(world, basis, spread, instead or {})
    key = (basis, spread, tuple(sorted(evaluation.instead.items())))
    if key in world.known:
        evaluation.values = world.known[key]
        return evaluation.of(tree)
    for name, value in world.file.values.items():
        # Each needs only those before it, so that no chain of them costs depth; a failure counts where it is used.
        evaluation.define(name, value.tree)
    world.known[key] = evaluation.values
    return evaluation.of(tree)


class _Evaluation:
    def __init__(self, world: World, basis: str, spread: bool, instead: Mapping[str, Fraction]) -> None:
        self.world, self.basis, self.spread, self.instead = world, basis, spread, instead
        self.values: dict[str, Answer | Exception] = {}

    def define(self, name: str, tree: Node) -> None:
        try:
            self.values[name] = self.of(tree)
        except (EvaluationError, LookupError) as error:
            self.values[name] = error

    def of(self, node: Node) -> Answer:
        match node:
            case Number():
                return Band.of(node.value)
            case Text() | Truth():
                return node.value
            case Name():
                return self._named(node.name)
            case Negated():
                return self._negated(node)
            case Operation():
                return self._operation(node)
            case Call():
                return self._call(node)

    def _named(self, name: str) -> Answer:
        if name in self.values:
            value = self.values[name]
            if isinstance(value, Exception):
                raise value
            return value
        given = self.world.file.inputs[name]
        if name in self.instead:
            return Band.of(self.instead[name])
        return Band(given.low, given.high) if self.spread else Band.of(given.value)

    def _negated(self, node: Negated) -> Answer:
        inner = self.of(node.of)
        if node.sign == "-":
            return _number(inner).negated()
        return None if inner is None else not _truth(inner)

    def _operation(self, node: Operation) -> Answer:
        left = self.of(node.left)
        if node.sign in ("and", "or"):
            return _joined(node.sign, _truth(left), _truth(self.of(node.right)))
        right = self.of(node.right)
        if node.sign in ("==", "!=") and not (isinstance(left, Band) and isinstance(right, Band)):
            if type(left) is not type(right):
                raise EvaluationError(f"column {node.column}: text or truth is compared with a number")
            return (left == right) == (node.sign == "==")
        if node.sign in ("+", "-", "*", "/"):
            return _computed(node.sign, _number(left), _number(right), f"column {node.column}: ")
        return compare(node.sign, _number(left), _number(right))

    def _call(self, node: Call) -> Answer:
        name, arguments = node.function, node.arguments
        if name in ("count", "systems", "benchmarks"):
            texts = [argument.value for argument in arguments if isinstance(argument, Text)]
            try:
                return Band.of(
                    counted(name, texts[0], texts[1], {key: one.value for key, one in node.named}, self.world.rounds)
                )
            except MlsubError as error:
                raise NotThereError(str(error)) from error
        if name in LOOKUPS:
            return self._looked_up(name, arguments)
        if name in _OF_TIMES:
            return self._of_times(node)
        values = [self.of(argument) for argument in arguments]
        if name == "contains":
            first, second = (value if isinstance(value, str) else "" for value in values)
            return second.lower() in first.lower()
        bands = [_number(value) for value in values]
        choose = max if name == "max" else min
        return Band(choose(band.low for band in bands), choose(band.high for band in bands))

    def _looked_up(self, name: str, arguments: Sequence[Node]) -> Answer:
        facts = self.world.fact(_name(arguments[0]))
        said = self.of(arguments[1]) if len(arguments) > 1 else None
        value = look_up(name, facts, said if isinstance(said, str) else "")
        return Band.of(value) if isinstance(value, Fraction) else value

    def _of_times(self, node: Call) -> Answer:
        """Functions of times to train."""
        name, arguments, where = node.function, node.arguments, f"column {node.column}: "
        if name == "minutes":
            return self._minutes(arguments[0], _name(arguments[1]) if len(arguments) > 1 else self.basis)
        if name == "best":
            return Band.of(min(self._minutes(argument).low for argument in arguments))
        first = self._minutes(arguments[0])
        if name in ("per_dollar", "per_chip"):
            by = _number(self.of(arguments[1]) if name == "per_dollar" else self._looked_up("chips", arguments))
            return _computed("/", Band.of(1), _computed("*", first, by, where), where)
        second, one = self._minutes(arguments[1]), Band.of(1)
        if name == "reduction":
            return combine("-", one, _computed("/", second, first, where))
        ratio = _computed("/", first, second, where)
        return combine("-", ratio, one) if name == "speedup" else ratio

    def _minutes(self, argument: Node, basis: str | None = None) -> Band:
        facts = self.world.fact(_name(argument))
        score = facts.shown.minutes[basis or self.basis]
        if score is None:
            raise NoBasisError(f"{facts.result.name} has no score: too few of its runs count")
        return Band.of(score)


_OF_TIMES = frozenset(("minutes", "best", "ratio", "reduction", "speedup", "per_dollar", "per_chip"))


def _name(node: Node) -> str:
    assert isinstance(node, Name)  # noqa: S101  (kinds.py lets nothing else pass)
    return node.name


def _computed(sign: str, left: Band, right: Band, where: str) -> Band:
    try:
        return combine(sign, left, right)
    except ZeroDivisionError:
        raise EvaluationError(f"{where}division by zero") from None
    except TooLargeError:
        raise EvaluationError(f"{where}the number grows beyond any figure") from None


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
