"""An expression as a function of its inputs: break-even values, and what is left of it when all else is computed."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction
from typing import TypeAlias

from mlsub.commands.audit.claims import Input
from mlsub.commands.audit.evaluate import World, evaluate
from mlsub.commands.audit.expression import Call, Name, Negated, Node, Operation, parse
from mlsub.commands.audit.functions import Band, EvaluationError
from mlsub.commands.audit.verdict import BreakEven, Outcome
from mlsub.commands.audit.wording import Interval

#: No claim is about more inputs than this, and each costs a few evaluations.
MAX_INPUTS = 10
#: A number, a truth, the name of an input (in a list of its own), or a sign and what it joins.
Folded: TypeAlias = "float | bool | list[str | Folded]"
#: Parts of an expression that is folded, those in the values it names among them.
_MOST = 200
_Curve = Callable[[Fraction], Fraction]


def break_even(expr: str, headline: Outcome, window: Interval | None, world: World) -> tuple[BreakEven, ...]:
    """Where each uncertain input takes a reading of a claim to an end of what is accepted, the others as stated.

    Only where the figure is linear in the input, or one over it is: then the answer is exact.
    """
    found: list[BreakEven] = []
    uncertain = [given for given in world.file.inputs_in(expr) if given.spread]
    for given in uncertain[:MAX_INPUTS]:

        def curve(x: Fraction, name: str = given.name) -> Fraction:
            answer = evaluate(parse(expr).tree, world, headline.basis, instead={name: x})
            if not isinstance(answer, Band):
                raise EvaluationError("not a number")
            return answer.low

        try:
            if window is not None and given.amount != 0:
                nominal = curve(given.amount)
                # A figure in another unit than its expression's, a percentage say, is a multiple of it.
                scale = Fraction(headline.value) / nominal if nominal else Fraction(1)
                found.extend(_solved(given, window, curve, scale))
        except EvaluationError:
            continue
    return tuple(found)


def _solved(given: Input, window: Interval, curve: _Curve, scale: Fraction) -> Iterator[BreakEven]:
    for bound in (window.low, window.high):
        at = None if bound is None else _crossing(curve, given.amount, bound / scale)
        if bound is not None and at is not None and at > 0:
            yield BreakEven(
                input=given.name,
                unit=given.unit,
                at=at,
                stated=given.amount,
                bound=bound,
                within_uncertainty=given.low <= at <= given.high,
            )


def _crossing(curve: _Curve, start: Fraction, target: Fraction) -> Fraction | None:
    """Where a curve takes a value, if it is a straight line or one over such a line."""
    heights = [curve(x) for x in (start, 2 * start, 3 * start)]
    if heights[2] - heights[1] == heights[1] - heights[0] != 0:
        return start + (target - heights[0]) * start / (heights[1] - heights[0])
    if target == 0 or not all(heights):
        return None
    turned = [1 / height for height in heights]
    if turned[2] - turned[1] == turned[1] - turned[0] != 0:
        return start + (1 / target - turned[0]) * start / (turned[1] - turned[0])
    return None


def folded(tree: Node, world: World, basis: str) -> Folded | None:
    """What is left of an expression on one basis; None where it has no inputs, or is too long.

    ``["usd"]`` is an input, ``["*", 2.5, ["usd"]]`` a product; the signs are those of expressions, ``max``, ``min``,
    ``neg`` and ``not``.

    Raises:
        EvaluationError, NotThereError, NoBasisError, NothingSaidError: as for the whole expression.
    """
    try:
        found = _Folding(world, basis).of(tree)
    except OverflowError:
        return None
    return found if isinstance(found, list) else None


class _Folding:
    def __init__(self, world: World, basis: str) -> None:
        self._world, self._basis, self._left = world, basis, _MOST

    def of(self, node: Node) -> Folded:
        self._left -= 1
        if self._left < 0:
            raise OverflowError
        match node:
            case Name(name) if name in self._world.file.inputs:
                return [name]
            case Name(name) if name in self._world.file.values:
                return self.of(parse(self._world.file.values[name]).tree)
            case Negated(sign, of):
                return self._joined("neg" if sign == "-" else sign, node, [of])
            case Operation(sign, left, right):
                return self._joined(sign, node, [left, right])
            case Call(function, arguments) if function in ("max", "min"):
                return self._joined(function, node, arguments)
            case Call("per_dollar", (result, price)):
                return ["/", 1.0, ["*", self._value(Call("minutes", (result,), (), 1)), self.of(price)]]
        return self._value(node)

    def _joined(self, sign: str, node: Node, parts: Sequence[Node]) -> Folded:
        """The parts, or where no input is in any of them what they come to."""
        kept = [self.of(one) for one in parts]
        return [sign, *kept] if any(isinstance(one, list) for one in kept) else self._value(node)

    def _value(self, node: Node) -> float | bool:
        value = evaluate(node, self._world, self._basis)
        if isinstance(value, Band):
            return float(value.low)
        if isinstance(value, bool):
            return value
        raise OverflowError
