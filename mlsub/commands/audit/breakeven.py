"""The values of inputs at which a claim begins or ends to hold."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from fractions import Fraction

from mlsub.commands.audit.band import Band
from mlsub.commands.audit.evaluate import EvaluationError, World, evaluate
from mlsub.commands.audit.model import Claim, Input
from mlsub.commands.audit.names import inputs_in
from mlsub.commands.audit.verdict import BreakEven, Variant
from mlsub.commands.audit.wording import Interval

#: Of more inputs than this no claim is about, and each costs a few evaluations.
MAX_INPUTS = 10

_Curve = Callable[[Fraction], Fraction]


def break_evens(variant: Variant, claim: Claim, window: Interval | None, world: World) -> tuple[BreakEven, ...]:
    """Where each uncertain input takes a reading of a claim to an end of what is accepted, the others as stated.

    Only where the figure is linear in the input, or one over it is: then the answer is exact.
    """
    expr = next((one for one in claim.expressions if one.text == variant.expr), None)
    if expr is None or window is None or not variant.deciding:
        return ()
    basis, shown = variant.deciding[0].basis, variant.deciding[0].value
    found: list[BreakEven] = []
    uncertain = [name for name in inputs_in(expr, world.file) if world.file.inputs[name].plus_minus]
    for name in uncertain[:MAX_INPUTS]:
        given = world.file.inputs[name]
        if given.value == 0:
            continue

        def curve(x: Fraction, name: str = name) -> Fraction:
            answer = evaluate(expr.tree, world, basis, instead={name: x})
            if not isinstance(answer, Band):
                raise EvaluationError("not a number")
            return answer.low

        try:
            nominal = curve(given.value)
            # A figure in another unit than its expression's, a percentage say, is a multiple of it.
            scale = Fraction(shown) / nominal if nominal else Fraction(1)
            found.extend(_solved(given, window, curve, scale))
        except EvaluationError:
            continue
    return tuple(found)


def _solved(given: Input, window: Interval, curve: _Curve, scale: Fraction) -> Iterator[BreakEven]:
    for bound in (window.low, window.high):
        if bound is None:
            continue
        at = _crossing(curve, given.value, bound / scale)
        if at is not None and at > 0:
            yield BreakEven(
                input=given.name,
                unit=given.unit,
                at=at,
                stated=given.value,
                bound=bound,
                within=given.low <= at <= given.high,
            )


def _crossing(curve: _Curve, start: Fraction, target: Fraction) -> Fraction | None:
    """Where a curve takes a value, if it is a straight line or one over such a line."""
    at = [start, 2 * start, 3 * start]
    heights = [curve(x) for x in at]
    if heights[2] - heights[1] == heights[1] - heights[0] != 0:
        return start + (target - heights[0]) * start / (heights[1] - heights[0])
    if target == 0 or not all(heights):
        return None
    turned = [1 / height for height in heights]
    if turned[2] - turned[1] == turned[1] - turned[0] != 0:
        return start + (1 / target - turned[0]) * start / (turned[1] - turned[0])
    return None
