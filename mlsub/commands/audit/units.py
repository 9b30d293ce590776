"""Units: what an expression is measured in, so that chips are not stated in minutes, nor minutes added to chips.

A number that is written out may stand for anything: ``minutes(a) / 11.69`` is minutes, or the ratio to 11.69 minutes.
What has no known unit (fields, hyperparameters, inputs without one) fits everywhere.
"""

from __future__ import annotations

import re
from difflib import get_close_matches
from fractions import Fraction
from functools import lru_cache

import msgspec

from mlsub.commands.audit.model import Stated
from mlsub.io.data import shipped
from mlsub.rules.arithmetic import ExpressionError

#: Quantities and their exponents, sorted: minutes a chip is ``(("chips", -1), ("time", 1))``. Nothing is a plain ratio.
Powers = tuple[tuple[str, int], ...]

#: More meanings than this an expression does not need; it is then compared with nothing.
_MOST = 16
#: Stated units that a value in minutes is converted to.
_CONVERTED = ("min", "s", "h")
_PLAIN = ("x", "%")
_USUAL = {
    "%": ("percent", "per cent", "pct"),
    "x": ("times", "×", "fold"),
    "min": ("mins", "minute", "minutes"),
    "h": ("hr", "hrs", "hour", "hours"),
    "s": ("sec", "secs", "second", "seconds"),
}
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
    """Every quantity by its name."""
    return shipped(__file__, "units.yaml", dict[str, Quantity])


@lru_cache(maxsize=1)
def _words() -> dict[str, Unit]:
    return {
        word: Unit(frozenset({((name, 1),)}), Fraction(scale))
        for name, quantity in quantities().items()
        for word, scale in quantity.units.items()
    } | {
        "w": Unit(frozenset({(("energy", 1), ("time", -1))}), Fraction(60)),
        "kw": Unit(frozenset({(("energy", 1), ("time", -1))}), Fraction(60_000)),
    }


def usual(text: str | None) -> str | None:
    """A unit that is stated, as ``min``, ``h``, ``s``, ``%`` and ``x`` are written where people write it otherwise."""
    words = "" if text is None else text.strip().lower()
    return next((name for name, spelled in _USUAL.items() if words in spelled), text)


def misspelt(text: str | None) -> str | None:
    """What was probably meant by a unit with a word in it that is not known; None where nothing is near."""
    for word in re.findall(r"[^\W\d]{4,40}", (text or "").lower()[:200]):
        close = [] if word in _words() else get_close_matches(word, _words(), n=1, cutoff=0.8)
        if close:
            return f"there is no unit {word!r}. Did you mean {close[0]}?"
    return None


def unit_named(text: str | None) -> Unit | None:
    """The unit that people write so; None for one that is not known."""
    if text is None:
        return None
    above, *below = re.split(r"(?:(?<!\s)\s++)?/\s*+|(?<!\s)\s++per\s++", text.strip().lower())
    found: Unit | None = RATIO
    for part, sign in ((above, "*"), *((part, "/") for part in below)):
        for word in re.split(r"[-*·\s]+", part):
            if word != "1":
                found = combined(sign, found, _words().get(word))
    return found


def check_stated(unit: Unit | None, stated: Stated) -> None:
    """Whether what an expression is measured in is the unit that is stated.

    Raises:
        ExpressionError: it is another.
    """
    due = RATIO if stated.unit in _PLAIN else unit_named(stated.unit)
    if due is None and (hint := misspelt(stated.unit)) is not None:
        raise ExpressionError(hint)
    if unit is None or unit.bare or due is None or isinstance(stated.value, bool):
        return
    if not any(powers in due.choices or (due is RATIO and _cancels(powers)) for powers in unit.choices):
        raise ExpressionError(f"the expression is {_measured(unit)}, and what is stated in {stated.unit}")
    scale = Fraction(1) if stated.unit in (*_PLAIN, *_CONVERTED) else due.scale or Fraction(1)
    if unit.scale is not None and unit.scale != scale:
        own = "minutes" if stated.unit in _CONVERTED else stated.unit
        raise ExpressionError(f"the expression is {_measured(unit)}; convert it to {own}: times {unit.scale / scale}")


def same(sign: str, left: Unit | None, right: Unit | None, column: int) -> Unit | None:
    """What two values that are added or compared are measured in.

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


def combined(sign: str, left: Unit | None, right: Unit | None) -> Unit | None:
    """What a product or a quotient is measured in."""
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
    powers = dict(one)
    for name, power in other:
        powers[name] = powers.get(name, 0) + turn * power
    return tuple(sorted((name, power) for name, power in powers.items() if power))


def _cancels(powers: Powers) -> bool:
    """Whether it is a ratio of counts: chips to processors, runs to epochs."""
    return all(quantities()[name].count for name, _ in powers) and not sum(power for _, power in powers)


def _measured(unit: Unit) -> str:
    """The unit in words."""
    powers = min(unit.choices, key=lambda one: (-len(one), one))
    if not powers:
        return "a plain ratio" if unit.scale in (None, 1) else f"a plain ratio times {1 / unit.scale}"
    if len(powers) == 1 and powers[0][1] == 1:
        return f"in {_name(powers[0][0], unit.scale)}"
    above = "*".join(_power(name, power) for name, power in powers if power > 0) or "1"
    return f"in {above}{''.join(f'/{_power(name, -power)}' for name, power in powers if power < 0)}"


def _power(name: str, power: int) -> str:
    return quantities()[name].own + (f"^{power}" if power > 1 else "")


def _name(name: str, scale: Fraction | None) -> str:
    quantity = quantities()[name]
    if scale in (None, 1):
        return quantity.own
    return next((word for word, own in quantity.units.items() if Fraction(own) == scale), quantity.own)
