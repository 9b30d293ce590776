"""An expression as a function of its inputs: break-even values, and what is left of it when all else is computed."""

from __future__ import annotations

from collections.abc import Callable, Iterator
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
            answer = evaluate(parse(expr), world, headline.basis, instead={name: x})
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
        found = _fold(tree, world, basis, iter(range(_MOST)))
    except OverflowError:
        return None
    return found if isinstance(found, list) else None


def _fold(node: Node, world: World, basis: str, budget: Iterator[int]) -> Folded:
    """What is left of a part: its value, or a list where an input is in it; ``budget`` has an item for each part."""
    if next(budget, None) is None:
        raise OverflowError
    match node:
        case Name(name) if name in world.file.inputs:
            return [name]
        case Name(name) if name in world.file.values:
            return _fold(parse(world.file.values[name]), world, basis, budget)
        case Call("per_dollar", (result, price)):
            minutes = _fold(Call("minutes", (result,), (), 1), world, basis, budget)
            return ["/", 1.0, ["*", minutes, _fold(price, world, basis, budget)]]
        case Negated(sign, of):
            joined = "neg" if sign == "-" else sign, [of]
        case Operation(sign, left, right):
            joined = sign, [left, right]
        case Call("max" | "min" as sign, arguments):
            joined = sign, [*arguments]
        case _:
            joined = "", []
    parts = [_fold(one, world, basis, budget) for one in joined[1]]
    if any(isinstance(one, list) for one in parts):
        return [joined[0], *parts]
    value = evaluate(node, world, basis)
    if isinstance(value, Band):
        return float(value.low)
    if isinstance(value, bool):
        return value
    raise OverflowError
