"""Check an expression before anything is read: names are known, arguments are of the kinds that functions take."""

from __future__ import annotations

from collections.abc import Collection, Mapping

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
from mlsub.io.yamlfile import meant
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


class Scope(msgspec.Struct, frozen=True):
    """What names there are. ``values`` maps a named expression to its kind."""

    results: Collection[str]
    inputs: Collection[str]
    values: Mapping[str, str]

    @property
    def names(self) -> tuple[str, ...]:
        """All of them."""
        return (*self.results, *self.inputs, *self.values)


def kind_of(expression: Expression, scope: Scope) -> str:
    """The kind of an expression's value: ``number``, ``truth``, ``text`` or ``any``.

    Raises:
        ExpressionError: a name is unknown, or something is not of the kind that is due.
    """
    kind = _kind(expression.tree, scope)
    if kind == "result":
        raise ExpressionError(f"{expression.text} is a result, not a number; minutes({expression.text}) is its time")
    return kind


def _kind(node: Node, scope: Scope) -> str:
    match node:
        case Number():
            return "number"
        case Text():
            return "text"
        case Truth():
            return "truth"
        case Name():
            return _named(node, scope)
        case Negated():
            kind = "truth" if node.sign == "not" else "number"
            _demand(_kind(node.of, scope), kind, f"after {node.sign!r}", 1)
            return kind
        case Operation():
            return _operation(node, scope)
        case Call():
            _arguments(node, functions()[node.function], scope)
            return functions()[node.function].gives


def _named(node: Name, scope: Scope) -> str:
    if node.name in scope.results:
        return "result"
    if node.name in scope.inputs:
        return "number"
    if node.name in scope.values:
        return scope.values[node.name]
    if not scope.names:
        raise ExpressionError(f"there is no result, input or value {node.name!r}; the file names none", node.column)
    raise ExpressionError(
        f"there is no result, input or value {node.name!r}{meant(node.name, scope.names)}", node.column
    )


def _operation(node: Operation, scope: Scope) -> str:
    left, right = _kind(node.left, scope), _kind(node.right, scope)
    where = f"beside {node.sign!r}"
    if node.sign in ("==", "!="):
        if "result" in (left, right):
            raise ExpressionError("results cannot be compared as such; compare minutes(...) of them", node.column)
        if left != right and "any" not in (left, right):
            raise ExpressionError(f"{_SHOWN[left]} is compared with {_SHOWN[right]}", node.column)
        return "truth"
    due = "truth" if node.sign in ("and", "or") else "number"
    for kind in (left, right):
        _demand(kind, due, where, node.column)
    return "number" if node.sign in "+-*/" else "truth"


def _arguments(call: Call, function: Function, scope: Scope) -> None:
    due = _expected(call, function)
    for kind, argument in zip(due, call.arguments, strict=True):
        if kind == "basis":
            _basis(call, argument)
        elif kind in ("round", "submitter"):
            if not isinstance(argument, Text):
                raise ExpressionError(f"{call.function} takes the {kind} as text in quotes", call.column)
            if kind == "round" and normalise_round(argument.value) not in known_rounds("training"):
                known = [f"v{name}" for name in known_rounds("training")]
                raise ExpressionError(
                    f"there is no round {argument.value!r}{meant(argument.value, known)}", call.column
                )
        else:
            _demand(_kind(argument, scope), kind, f"as an argument of {call.function}", call.column)
    for name, _ in call.named:
        if name not in function.named:
            hint = meant(name, function.named) if function.named else "; it takes none by name"
            raise ExpressionError(f"{call.function} takes no {name!r}{hint}", call.column)


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
