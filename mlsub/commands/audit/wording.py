"""Statements of numbers: from the words and digits that people write to exact fractions, and to what they allow."""

from __future__ import annotations

import re
from collections.abc import Mapping
from fractions import Fraction
from functools import lru_cache
from typing import Any

import msgspec

from mlsub.commands.audit.kinds import usual
from mlsub.commands.audit.model import Stated
from mlsub.io.data import shipped
from mlsub.io.problems import meant

_NUMBER = re.compile(r"[+-]?(?:[0-9]{1,3}(?:,[0-9]{3})+|[0-9]+)(?:\.(?P<digits>[0-9]+))?")
#: A longer one is not a number of a claim.
MAX_DIGITS = 40


class Interval(msgspec.Struct, frozen=True):
    """Values that are accepted; an end of None is infinite; ``low_included``, ``high_included``: it belongs to them."""

    low: Fraction | None
    high: Fraction | None
    low_included: bool = True
    high_included: bool = False

    def __contains__(self, value: object) -> bool:
        if not isinstance(value, Fraction):
            return False
        above = self.low is None or value > self.low or (self.low_included and value == self.low)
        return above and (self.high is None or value < self.high or (self.high_included and value == self.high))

    def meets(self, other: Interval) -> bool:
        """Whether some value lies in both."""
        both = (self, other)
        return not any(one._below(another) for one in both for another in both)

    def _below(self, other: Interval) -> bool:
        """Whether every value is less than every one of the other; one without values is below itself."""
        if self.high is None or other.low is None:
            return False
        return self.high < other.low or (self.high == other.low and not (self.high_included and other.low_included))

    def words(self, sign: str = "") -> str:
        """As in ``[14.45, 14.55)``; ``sign`` stands behind each end."""
        left = "(-∞" if self.low is None else f"{'[' if self.low_included else '('}{decimal(self.low)}{sign}"
        right = "∞)" if self.high is None else f"{decimal(self.high)}{sign}{']' if self.high_included else ')'}"
        return f"{left}, {right}"


class Wording(msgspec.Struct, frozen=True):
    """One wording of wording.yaml."""

    also: tuple[str, ...] = ()
    value: str | int | None = None
    tolerance: str = "0%"
    least: tuple[str | int, ...] | None = None
    above: tuple[str | int, ...] | str | None = None
    most: tuple[str | int, ...] | None = None
    below: tuple[str | int, ...] | None = None
    understated: str | None = None


def wordings() -> dict[str, Wording]:
    """Every wording by its name."""
    return shipped(__file__, "wording.yaml", dict[str, Wording])


@lru_cache(maxsize=1)
def phrases() -> dict[str, str]:
    """The name of the wording behind each phrase, names themselves included."""
    found = {name: name for name in wordings()}
    for name, wording in wordings().items():
        found.update(dict.fromkeys(wording.also, name))
    return found


class NumberError(ValueError):
    """Text that is not a number where one is needed."""


def number(text: str) -> Fraction:
    """``149995``, ``58,112`` or ``14.5`` exactly.

    Raises:
        NumberError: it is none, or longer than any number of a claim.
    """
    if len(text) > MAX_DIGITS or _NUMBER.fullmatch(text) is None:
        raise NumberError(f"{text[:40]!r} is not a number; write it in digits, such as 14.5")
    return Fraction(text.replace(",", ""))


def step_of(text: str) -> Fraction:
    """One unit in the last digit that is written: 1/10 for ``14.5``, 1 for ``9``."""
    match = _NUMBER.fullmatch(text)
    digits = match["digits"] if match else None
    return Fraction(1, 10 ** len(digits)) if digits else Fraction(1)


def plus_minus(text: str, value: Fraction) -> Fraction:
    """An uncertainty, ``15000`` or ``5%``, in the unit of its value.

    Raises:
        NumberError: it is none, or negative.
    """
    spread = number(text.strip().removesuffix("%").strip())
    if spread < 0:
        raise NumberError(f"{text[:40]!r} is negative; an uncertainty is not")
    return abs(value) * spread / 100 if text.strip().endswith("%") else spread


def stated(said: Mapping[str, str], line: int, *, truth: bool = False) -> Stated:
    """What a claim states.

    Args:
        said: value, unit, wording, reading and tolerance as they are written, as far as they are.
        line: where it is stated.
        truth: the value is true or false.

    Raises:
        NumberError: the value is not a number, or the wording is unknown.
    """
    phrase = " ".join(said.get("wording", "exact").lower().split())
    if phrase not in phrases():
        raise NumberError(f"unknown wording {phrase[:40]!r}{meant(phrase[:40], phrases())}")
    wording = phrases()[phrase]
    own = wordings()[wording].value
    written = said.get("value", None if own is None else str(own))
    if written is None:
        raise NumberError(f"a value is needed beside the wording {phrase!r}")
    around = said.get("tolerance")
    return Stated(
        value=_value(written, truth=truth, from_words="value" not in said),
        written=written,
        step=step_of(written),
        unit=usual(said.get("unit")),
        wording=wording,
        reading=said.get("reading"),
        tolerance=plus_minus(f"{around.removesuffix('%')}%", Fraction(1)) if around is not None else None,
        line=line,
        from_words="value" not in said,
    )


def _value(written: str, *, truth: bool, from_words: bool) -> Fraction | bool:
    if truth:
        return written.lower() in ("true", "yes", "on")
    return Fraction(written) if from_words else number(written)


def accepted(stated: Stated) -> Interval:
    """The values a statement of a number allows, in its own unit.

    Raises:
        TypeError: it states no number.
    """
    if isinstance(stated.value, bool):
        raise TypeError("a truth has no interval")
    wording = wordings()[stated.wording]
    tolerance = percent(wording.tolerance) if stated.tolerance is None else stated.tolerance
    value, step = stated.value, stated.step

    def end(amounts: Any) -> Fraction:
        if amounts == "zero":
            return Fraction(0)
        of_value, of_step, of_tolerance = (Fraction(amount) for amount in amounts)
        return of_value * value + of_step * step + of_tolerance * tolerance * abs(value)

    low = wording.least if wording.least is not None else wording.above
    high = wording.most if wording.most is not None else wording.below
    return Interval(
        low=None if low is None else end(low),
        high=None if high is None else end(high),
        low_included=wording.least is not None,
        high_included=wording.most is not None,
    )


def truncated(stated: Stated) -> Interval | None:
    """The values beyond those of :func:`accepted` whose digits were cut off, not rounded; None where none can be."""
    if isinstance(stated.value, bool) or stated.wording != "exact" or stated.unit != "%":
        return None
    return Interval(stated.value + stated.step / 2, stated.value + stated.step)


def halfway(stated: Stated) -> Fraction | None:
    """The figure exactly between the written one and the next, which people who round half to even write so too."""
    return None if isinstance(stated.value, bool) or stated.wording != "exact" else stated.value + stated.step / 2


def understated(stated: Stated, value: Fraction) -> bool:
    """Whether a value lies so far beyond that the statement does not do it justice."""
    factor = wordings()[stated.wording].understated
    return factor is not None and not isinstance(stated.value, bool) and value > Fraction(factor) * stated.value


def percent(text: str) -> Fraction:
    """``5%`` as a part of one.

    Raises:
        ValueError: it is not a percentage.
    """
    return Fraction(text.strip().removesuffix("%").strip()) / 100


def decimal(value: Fraction, digits: int = 6) -> str:
    """A fraction as people write it: all its digits where they are few, else rounded; thousands with commas."""
    text = fixed(value, digits)
    return text.rstrip("0").rstrip(".") if "." in text else text


def fixed(value: Fraction, digits: int = 6) -> str:
    """A fraction rounded to so many decimals; without a double between, so that no digit is lost and none too many."""
    scaled = round(abs(value) * 10**digits)
    whole, rest = divmod(scaled, 10**digits)
    sign = "-" if value < 0 and scaled else ""
    return f"{sign}{whole:,}.{rest:0{digits}d}" if digits else f"{sign}{whole:,}"
