"""An expression with everything but its inputs computed, for whoever tries other values of them: a site's sliders."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeAlias

from mlsub.commands.audit.evaluate import Band, World, evaluate
from mlsub.commands.audit.expression import Call, Name, Negated, Node, Operation, Truth

#: A number, a truth, the name of an input (in a list of its own), or a sign and what it joins.
Folded: TypeAlias = "float | bool | list[str | Folded]"
#: Parts of an expression that is folded, those in the values it names among them.
_MOST = 200


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
                return self.of(self._world.file.values[name].tree)
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
        found = [one if isinstance(one, Truth) else self.of(one) for one in parts]
        kept = [one.value if isinstance(one, Truth) else one for one in found]
        return [sign, *kept] if any(isinstance(one, list) for one in kept) else self._value(node)

    def _value(self, node: Node) -> float | bool:
        value = evaluate(node, self._world, self._basis)
        if isinstance(value, Band):
            return float(value.low)
        if isinstance(value, bool):
            return value
        raise OverflowError
