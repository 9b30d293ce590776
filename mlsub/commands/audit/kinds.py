"""Check an expression before anything is read: names are known, and values are of the kinds and units that are due.

A number that is written out may stand for anything: ``minutes(a) / 11.69`` is minutes, or the ratio to 11.69 minutes.
What has no known unit (fields, hyperparameters, inputs without one) fits everywhere.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from difflib import get_close_matches
from fractions import Fraction
from functools import lru_cache, reduce

import msgspec

from mlsub.commands.audit.expression import Call, Constant, Name, Node, parse
from mlsub.commands.audit.functions import (
    FUNCTIONS,
    OPERATIONS,
    Function,
    accelerators_meant,
    function_of,
    rounds_meant,
)
from mlsub.commands.audit.verdict import BASES
from mlsub.commands.audit.wording import MINUTES, Stated
from mlsub.divisions import DIVISIONS
from mlsub.io.data import shipped
from mlsub.io.problems import did_you_mean
from mlsub.rounds import known_rounds
from mlsub.rounds.benchmarks import benchmarks_in
from mlsub.rules.arithmetic import ExpressionError

#: Quantities and their exponents, sorted: minutes a chip is ``(("chips", -1), ("time", 1))``. Nothing is a plain ratio.
Powers = tuple[tuple[str, int], ...]

#: More meanings than this an expression does not need; it is then compared with nothing.
_MOST = 16
_PLAIN = ("x", "%")
_VERBS = {"+": "added to", "-": "subtracted from"}


class Quantity(msgspec.Struct, frozen=True, rename={"own": "in"}):
    """One quantity of units.yaml."""

    own: str
    units: dict[str, str | int]
    count: bool = False


class Unit(msgspec.Struct, frozen=True):
    """What a value may be measured in.

    ``choices`` are its possible powers; ``scale`` says how many of the quantities' own units one is, None where a
    number that is written out came in; ``bare`` is such a number by itself.
    """

    choices: frozenset[Powers]
    scale: Fraction | None = Fraction(1)
    bare: bool = False


BARE = Unit(frozenset({()}), None, bare=True)
RATIO = Unit(frozenset({()}))


def quantities() -> dict[str, Quantity]:
    """Return every quantity by its name."""
    return shipped(__file__, "units.yaml", dict[str, Quantity])


@lru_cache(maxsize=1)
def _units_by_word() -> dict[str, Unit]:
    return {
        word: Unit(frozenset({((name, 1),)}), Fraction(scale))
        for name, quantity in quantities().items()
        for word, scale in quantity.units.items()
    } | {
        "w": Unit(frozenset({(("energy", 1), ("time", -1))}), Fraction(60)),
        "kw": Unit(frozenset({(("energy", 1), ("time", -1))}), Fraction(60_000)),
    }


def parse_unit(text: str | None) -> Unit | None:
    """Return the unit that people write so; None for one that is not known.

    Raises:
        ExpressionError: a word of it is nearly that of a unit.
    """
    if text is None:
        return None
    above, *below = re.split(r"(?:(?<!\s)\s++)?/\s*+|(?<!\s)\s++per\s++", text.strip().lower())
    found: Unit | None = RATIO
    for part, sign in ((above, "*"), *((part, "/") for part in below)):
        for word in re.split(r"[-*·\s]+", part):
            if word != "1":
                found = combine_units(sign, found, _units_by_word().get(word))
    for word in re.findall(r"[^\W\d]{4,40}", text.lower()[:200]) if found is None else ():
        close = [] if word in _units_by_word() else get_close_matches(word, _units_by_word(), n=1, cutoff=0.8)
        if close:
            raise ExpressionError(f"there is no unit {word!r}. Did you mean {close[0]}?")
    return found


def check_stated(unit: Unit | None, stated: Stated) -> None:
    """Whether what an expression is measured in is the unit that is stated.

    Raises:
        ExpressionError: it is another, or nearly the word of one.
    """
    due = RATIO if stated.unit in _PLAIN else parse_unit(stated.unit)
    if unit is None or unit.bare or due is None or isinstance(stated.amount, bool):
        return
    if not any(powers in due.choices or (due is RATIO and _cancels(powers)) for powers in unit.choices):
        raise ExpressionError(f"the expression is {_measured(unit)}, and what is stated in {stated.unit}")
    scale = Fraction(1) if stated.unit in (*_PLAIN, *MINUTES) else due.scale or Fraction(1)
    if unit.scale is not None and unit.scale != scale:
        own = "minutes" if stated.unit in MINUTES else stated.unit
        raise ExpressionError(f"the expression is {_measured(unit)}; convert it to {own}: times {unit.scale / scale}")


def same_unit(sign: str, left: Unit | None, right: Unit | None, column: int) -> Unit | None:
    """Return what two values that are added or compared are measured in.

    Raises:
        ExpressionError: the one in something else than the other.
    """
    if left is None or right is None:
        return None
    if left.bare or right.bare:
        return right if left.bare else left
    common = left.choices & right.choices
    scales = {one.scale for one in (left, right)} - {None}
    if not common or len(scales) > 1:
        verb = _VERBS.get(sign, "compared with")
        first, second = (right, left) if sign == "-" else (left, right)
        raise ExpressionError(f"what is {_measured(first)} cannot be {verb} what is {_measured(second)}", column)
    return Unit(common, left.scale if left.scale == right.scale else None)


def combine_units(sign: str, left: Unit | None, right: Unit | None) -> Unit | None:
    """Return what a product or a quotient is measured in."""
    if left is None or right is None:
        return None
    if left.bare and right.bare:
        return BARE
    turn = 1 if sign == "*" else -1
    choices = {_product(one, other, turn) for one in left.choices for other in right.choices}
    if sign == "/" and (left.bare or right.bare):
        # A number that is written out may be measured in the other's unit: then this is a plain ratio.
        choices.add(())
    if len(choices) > _MOST:
        return None
    scale = left.scale * right.scale**turn if left.scale is not None and right.scale is not None else None
    return Unit(frozenset(choices), scale)


def _product(one: Powers, other: Powers, turn: int) -> Powers:
    powers = Counter(dict(one))
    for name, power in other:
        powers[name] += turn * power
    return tuple(sorted((name, power) for name, power in powers.items() if power))


def _cancels(powers: Powers) -> bool:
    """Return whether it is a ratio of counts: chips to processors, runs to epochs."""
    return all(quantities()[name].count for name, _ in powers) and not sum(power for _, power in powers)


def _measured(unit: Unit) -> str:
    """Return the unit in words."""
    powers = min(unit.choices, key=lambda one: (-len(one), one))
    if not powers:
        return "a plain ratio" if unit.scale in (None, 1) else f"a plain ratio times {1 / unit.scale}"
    if len(powers) == 1 and powers[0][1] == 1:
        quantity = quantities()[powers[0][0]]
        words = (word for word, scale in quantity.units.items() if Fraction(scale) == unit.scale != 1)
        return f"in {next(words, quantity.own)}"
    above = "*".join(_power(name, power) for name, power in powers if power > 0) or "1"
    return f"in {above}{''.join(f'/{_power(name, -power)}' for name, power in powers if power < 0)}"


def _power(name: str, power: int) -> str:
    return quantities()[name].own + (f"^{power}" if power > 1 else "")


_SHOWN = {
    "any": "a number or text",
    "truth": "true or false",
    "result": "a result",
    "number": "a number",
    "text": "text",
}


def _choice_problem(name: str, value: str) -> str | None:
    """Return what is wrong with a value that results are chosen by; None for one that may be."""
    if name in ("round", "rounds") and not rounds_meant(value):
        known = [f"v{name}" for name in known_rounds("training")]
        return f"there is no round {value!r}{did_you_mean(value.rpartition(' ')[2], known)}"
    if name == "division" and value not in DIVISIONS:
        return f"there is no division {value!r}{did_you_mean(value, DIVISIONS)}"
    if name == "accelerator" and not accelerators_meant(value):
        return f"there is no accelerator {value!r}"
    if name == "benchmark" and not benchmarks_in("training", value):
        return f"there is no benchmark {value!r}; name its folder, such as resnet"
    if name in ("chips", "nodes") and not (value.isascii() and value.isdigit()):
        return f"{value!r} is no number; write it in digits without commas"
    return None


class Typed(msgspec.Struct, frozen=True):
    """What a value is: ``result``, ``number``, ``truth``, ``text`` or ``any``, and its unit, None where not known."""

    kind: str
    unit: Unit | None = None


def type_of(text: str, names: Mapping[str, Typed]) -> Typed:
    """Return what an expression's value is.

    Args:
        text: as it is written.
        names: the results, inputs and values that it may use.

    Raises:
        ExpressionError: it is no expression, a name is unknown, something is not of the kind that is due, or what is
            measured in different units is added or compared.
    """
    found = _typed(parse(text), names)
    if found.kind == "result":
        raise ExpressionError(f"{text} is a result, not a number; minutes({text}) is its time")
    return found


def _typed(node: Node, names: Mapping[str, Typed]) -> Typed:
    match node:
        case Constant(value):
            kind = "truth" if isinstance(value, bool) else "text" if isinstance(value, str) else "number"
            return Typed(kind, BARE if kind == "number" else None)
        case Name(name, column):
            if name in names:
                return names[name]
            raise ExpressionError(f"there is no result, input or value {name!r}{meant_name(name, names)}", column)
    return _call(node, names)


def meant_name(text: str, known: Iterable[str]) -> str:
    """Return which name of a claims file was probably meant."""
    return did_you_mean(text, known) if known else "; the file names none"


def _call(call: Call, names: Mapping[str, Typed]) -> Typed:
    """Return what a call gives; its arguments have to be of the kinds that are due."""
    if call.function not in OPERATIONS and call.function not in FUNCTIONS:
        raise ExpressionError(f"no function {call.function!r}{did_you_mean(call.function, FUNCTIONS)}", call.column)
    function = function_of(call)
    pairs = zip(_expected(call, function), call.arguments, strict=True)
    found = [_argument(call, kind, argument, names) for kind, argument in pairs]
    for name, value in call.named:
        if name not in function.named:
            hint = did_you_mean(name, function.named) if function.named else "; it takes none by name"
            raise ExpressionError(f"{call.function} takes no {name!r}{hint}", call.column)
        if (problem := _choice_problem(name, value)) is not None:
            raise ExpressionError(problem, call.column)
    if call.function in ("==", "!="):
        left, right = (one.kind for one in found)
        if "result" in (left, right):
            raise ExpressionError("results cannot be compared as such; compare minutes(...) of them", call.column)
        if left != right and "any" not in (left, right):
            raise ExpressionError(f"{_SHOWN[left]} is compared with {_SHOWN[right]}", call.column)
    unit = _unit(call, function.unit, [one.unit for one in found])
    return Typed(function.gives, unit if function.gives == "number" else None)


def _unit(call: Call, due: str | None, units: Sequence[Unit | None]) -> Unit | None:
    """Return the unit of what a call gives, by that of its arguments."""
    if due == "same":
        return reduce(lambda one, other: same_unit(call.function, one, other, call.column), units)
    if due in ("*", "/"):
        return combine_units(due, *units)
    if due == "trainings/price":
        return combine_units("/", combine_units("/", RATIO, parse_unit("min")), units[1])
    return RATIO if due == "x" else parse_unit(due)


def _argument(call: Call, kind: str, argument: Node, names: Mapping[str, Typed]) -> Typed:
    """Return an argument, which has to be of the kind that is due."""
    if kind == "basis":
        if not isinstance(argument, Name) or argument.name not in BASES:
            name = argument.name if isinstance(argument, Name) else ""
            raise ExpressionError(f"{call.function} takes a basis second{did_you_mean(name, BASES)}", call.column)
        return Typed("text")
    if kind in ("round", "submitter", "benchmark", "fact"):
        if not isinstance(argument, Constant) or not isinstance(argument.value, str):
            raise ExpressionError(f"{call.function} takes the {kind} as text in quotes", call.column)
        if (problem := _choice_problem(kind, argument.value)) is not None:
            raise ExpressionError(problem, call.column)
        return Typed("text")
    found = _typed(argument, names)
    if kind not in (found.kind, "any") and (found.kind != "any" or kind == "result"):
        signed = "after" if len(call.arguments) == 1 else "beside"
        where = f"{signed} {call.function!r}" if call.function in OPERATIONS else f"as an argument of {call.function}"
        hint = "; minutes(...) is its time" if found.kind == "result" and kind == "number" else ""
        raise ExpressionError(f"{_SHOWN[kind]} is needed {where}, not {_SHOWN[found.kind]}{hint}", call.column)
    return found


def _expected(call: Call, function: Function) -> list[str]:
    """Return the kinds that are due, one for each argument given."""
    kinds = function.kinds(len(call.arguments))
    if kinds is None:
        takes, least = function.takes.split(), function.least
        most = "or more" if takes[-1] == "..." else f"to {len(takes)}" if least < len(takes) else ""
        asked = " ".join(part for part in (str(least), most) if part)
        given = f"({', '.join(takes)}), not {len(call.arguments)}"
        raise ExpressionError(f"{call.function} takes {asked} arguments {given}", call.column)
    return kinds
