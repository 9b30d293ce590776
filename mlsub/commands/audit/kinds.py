"""Check an expression before anything is read: names are known, and values are of the kinds and units that are due."""

from __future__ import annotations

from collections.abc import Mapping

import msgspec

from mlsub.commands.audit.expression import (
    Call,
    Expression,
    Function,
    Name,
    Negated,
    Node,
    Number,
    Operation,
    Text,
    Truth,
    functions,
)
from mlsub.commands.audit.units import BARE, RATIO, Unit, combined, same, unit_named
from mlsub.io.problems import meant
from mlsub.rounds import known_rounds, normalise_round
from mlsub.rules.arithmetic import ExpressionError

#: The scores a result may have; facts.py says what each is.
BASES = ("published", "unscaled", "expected", "rcp_mean")
_SHOWN = {
    "any": "a number or text",
    "truth": "true or false",
    "result": "a result",
    "number": "a number",
    "text": "text",
}


class Typed(msgspec.Struct, frozen=True):
    """What a value is: ``result``, ``number``, ``truth``, ``text`` or ``any``, and its unit, None where not known."""

    kind: str
    unit: Unit | None = None


def type_of(expression: Expression, names: Mapping[str, Typed]) -> Typed:
    """What an expression's value is.

    Args:
        expression: as it is written.
        names: the results, inputs and values that it may use.

    Raises:
        ExpressionError: a name is unknown, something is not of the kind that is due, or what is measured in different
            units is added or compared.
    """
    found = _typed(expression.tree, names)
    if found.kind == "result":
        raise ExpressionError(f"{expression.text} is a result, not a number; minutes({expression.text}) is its time")
    return found


def _typed(node: Node, names: Mapping[str, Typed]) -> Typed:
    match node:
        case Number():
            return Typed("number", BARE)
        case Text():
            return Typed("text")
        case Truth():
            return Typed("truth")
        case Name():
            if node.name in names:
                return names[node.name]
            hint = meant(node.name, names) if names else "; the file names none"
            raise ExpressionError(f"there is no result, input or value {node.name!r}{hint}", node.column)
        case Negated():
            kind, inner = "truth" if node.sign == "not" else "number", _typed(node.of, names)
            _demand(inner.kind, kind, f"after {node.sign!r}", 1)
            return Typed(kind, inner.unit)
        case Operation():
            return _operation(node, _typed(node.left, names), _typed(node.right, names))
        case Call():
            function = functions()[node.function]
            return Typed(function.gives, _unit_of_call(node, function, _arguments(node, function, names)))


def _operation(node: Operation, left: Typed, right: Typed) -> Typed:
    if node.sign in ("==", "!="):
        kinds = (left.kind, right.kind)
        if "result" in kinds:
            raise ExpressionError("results cannot be compared as such; compare minutes(...) of them", node.column)
        if left.kind != right.kind and "any" not in kinds:
            raise ExpressionError(f"{_SHOWN[left.kind]} is compared with {_SHOWN[right.kind]}", node.column)
    else:
        due = "truth" if node.sign in ("and", "or") else "number"
        for side in (left, right):
            _demand(side.kind, due, f"beside {node.sign!r}", node.column)
    if node.sign in ("*", "/"):
        return Typed("number", combined(node.sign, left.unit, right.unit))
    unit = same(node.sign, left.unit, right.unit, node.column)
    return Typed("number", unit) if node.sign in ("+", "-") else Typed("truth")


def _arguments(call: Call, function: Function, names: Mapping[str, Typed]) -> list[Unit | None]:
    """The units of the arguments, which have to be of the kinds that are due."""
    units: list[Unit | None] = []
    for kind, argument in zip(_expected(call, function), call.arguments, strict=True):
        if kind == "basis":
            _basis(call, argument)
        elif kind in ("round", "submitter"):
            _name_of(kind, call, argument)
        else:
            found = _typed(argument, names)
            _demand(found.kind, kind, f"as an argument of {call.function}", call.column)
            units.append(found.unit)
    for name, _ in call.named:
        if name not in function.named:
            hint = meant(name, function.named) if function.named else "; it takes none by name"
            raise ExpressionError(f"{call.function} takes no {name!r}{hint}", call.column)
    return units


def _unit_of_call(call: Call, function: Function, arguments: list[Unit | None]) -> Unit | None:
    if function.unit == "same":
        found, *others = arguments
        for argument in others:
            found = same("", found, argument, call.column)
        return found
    if function.unit == "trainings/price":
        return combined("/", combined("/", RATIO, unit_named("min")), arguments[1])
    return RATIO if function.unit == "x" else unit_named(function.unit)


def _name_of(kind: str, call: Call, argument: Node) -> None:
    if not isinstance(argument, Text):
        raise ExpressionError(f"{call.function} takes the {kind} as text in quotes", call.column)
    if kind == "round" and normalise_round(argument.value) not in known_rounds("training"):
        known = [f"v{name}" for name in known_rounds("training")]
        raise ExpressionError(f"there is no round {argument.value!r}{meant(argument.value, known)}", call.column)


def _basis(call: Call, argument: Node) -> None:
    if not isinstance(argument, Name) or argument.name not in BASES:
        name = argument.name if isinstance(argument, Name) else ""
        raise ExpressionError(f"{call.function} takes a basis second{meant(name, BASES)}", call.column)


def _expected(call: Call, function: Function) -> list[str]:
    """The kinds that are due, one for each argument given."""
    fixed = [kind.lstrip("?") for kind in function.takes if kind != "..."]
    least = sum(not kind.startswith("?") for kind in function.takes if kind != "...")
    given = len(call.arguments)
    repeats = function.takes[-1] == "..."
    if given < least or (given > len(fixed) and not repeats):
        most = "or more" if repeats else f"to {len(fixed)}" if least < len(fixed) else ""
        asked = " ".join(part for part in (str(least), most) if part)
        raise ExpressionError(
            f"{call.function} takes {asked} arguments ({', '.join(function.takes)}), not {given}", call.column
        )
    return [*fixed[:given], *fixed[-1:] * (given - len(fixed))]


def _demand(found: str, due: str, where: str, column: int) -> None:
    if found != due and found != "any":
        hint = "; minutes(...) is its time" if found == "result" and due == "number" else ""
        raise ExpressionError(f"{_SHOWN[due]} is needed {where}, not {_SHOWN[found]}{hint}", column)
