"""Statements of numbers: from the words and digits that people write to exact fractions, and to what they allow."""

from __future__ import annotations

import re
from fractions import Fraction
from functools import lru_cache
from typing import TYPE_CHECKING, Annotated, Literal

import msgspec
from msgspec import Meta

from mlsub.io.data import shipped
from mlsub.io.problems import did_you_mean

_NUMBER = re.compile(r"[+-]?(?:[0-9]{1,3}(?:,[0-9]{3})+|[0-9]+)(?:\.[0-9]+)?")
#: A longer one is not a number of a claim.
MAX_DIGITS = 40
#: What is farther off than this is not what was said.
MAX_TOLERANCE = Fraction(1, 4)


Words = Annotated[str, Meta(min_length=1, max_length=2000)]
# An expression is text once a file is read.
if TYPE_CHECKING:
    Expr = str
else:
    Expr = str | float | bool


class ClaimPart(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A mapping of a claims file. A word that is None was left out."""


class AcceptedRange(msgspec.Struct, frozen=True):
    """Values that are accepted; an end of None is infinite; ``low_included``, ``high_included``: it belongs to them."""

    low: Fraction | None
    high: Fraction | None
    low_included: bool = True
    high_included: bool = False

    def __contains__(self, value: Fraction) -> bool:
        above = self.low is None or value > self.low or (self.low_included and value == self.low)
        return above and (self.high is None or value < self.high or (self.high_included and value == self.high))

    def meets(self, other: AcceptedRange) -> bool:
        """Return whether some value lies in both."""
        both = (self, other)
        return not any(one._below(another) for one in both for another in both)

    def _below(self, other: AcceptedRange) -> bool:
        """Return whether every value is less than every one of the other; one without values is below itself."""
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
    above: tuple[str | int, ...] | None = None
    most: tuple[str | int, ...] | None = None
    below: tuple[str | int, ...] | None = None
    understated: str | None = None


def wordings() -> dict[str, Wording]:
    """Return every wording by its name."""
    return shipped(__file__, "wording.yaml", dict[str, Wording])


@lru_cache(maxsize=1)
def phrases() -> dict[str, str]:
    """Return the name of the wording behind each phrase, names themselves included."""
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
    return Fraction(1, 10 ** len(text.partition(".")[2]))


def plus_minus(text: str, value: Fraction) -> Fraction:
    """Return an uncertainty, ``15000`` or ``5%``, in the unit of its value.

    Raises:
        NumberError: it is none, or negative.
    """
    spread = number(text.strip().removesuffix("%").strip())
    if spread < 0:
        raise NumberError(f"{text[:40]!r} is negative; an uncertainty is not")
    return abs(value) * spread / 100 if text.strip().endswith("%") else spread


def wording_named(text: str) -> str:
    """Return the name of the wording that a phrase means.

    Raises:
        NumberError: there is none.
    """
    phrase = " ".join(text.lower().split())
    if phrase not in phrases():
        raise NumberError(f"unknown wording {phrase[:40]!r}{did_you_mean(phrase[:40], phrases())}")
    return phrases()[phrase]


_USUAL = {
    "%": ("percent", "per cent", "pct"),
    "x": ("times", "×", "fold"),
    "min": ("mins", "minute", "minutes"),
    "h": ("hr", "hrs", "hour", "hours"),
    "s": ("sec", "secs", "second", "seconds"),
}


#: Units of time that are converted, in minutes.
MINUTES = {"min": Fraction(1), "h": Fraction(60), "s": Fraction(1, 60)}


def usual_unit(text: str | None) -> str | None:
    """A unit that is stated, as ``min``, ``h``, ``s``, ``%`` and ``x`` are written where people write it otherwise."""
    words = "" if text is None else text.strip().lower()
    return next((name for name, spelled in _USUAL.items() if words in spelled), text)


_WORDINGS = (
    "How the number is said: exact, up to, just over, over, more than, under, less than, nearly, about, around, "
    "at least, at most, half, a quarter, the same, orders of magnitude."
)


class Stated(ClaimPart, frozen=True, kw_only=True):
    """What a claim states: a number, or a truth.

    ``reading`` says what a percentage of time is, None where the sentence leaves it open.
    """

    value: str | float | bool | None = None
    unit: Words | None = None
    wording: Annotated[Words, Meta(description=_WORDINGS)] = "exact"
    reading: Literal["reduction", "speedup"] | None = None
    tolerance: (
        Annotated[str | float, Meta(description="In the place of the wording's own, as a percentage.")] | None
    ) = None
    expr: Annotated[Expr | None, Meta(description="What this figure is, where it is not the claim's expr.")] = None

    def checked(self) -> Stated:
        """Return the same with the usual names of wording and unit.

        Raises:
            NumberError: the value is not a number, or the wording is unknown.
        """
        found = msgspec.structs.replace(self, wording=wording_named(self.wording), unit=usual_unit(self.unit))
        if found.value is None and found.rule.value is None:
            raise NumberError(f"a value is needed beside the wording {' '.join(self.wording.lower().split())!r}")
        if found.margin > MAX_TOLERANCE:
            raise NumberError(f"a tolerance is at most {decimal(100 * MAX_TOLERANCE)}%")
        _ = found.amount
        return found

    @property
    def rule(self) -> Wording:
        """What the wording allows."""
        return wordings()[self.wording]

    @property
    def written(self) -> str:
        """The figure as it is written, or as the wording has it."""
        value = self.rule.value if self.value is None else self.value
        return str(value).lower() if isinstance(value, bool) else str(value)

    @property
    def amount(self) -> Fraction | bool:
        """The exact number, or the truth.

        Raises:
            NumberError: the value is not a number.
        """
        if isinstance(self.value, bool):
            return self.value
        # Without a value the wording itself is the figure, such as half.
        return Fraction(self.written) if self.value is None else number(self.written)

    @property
    def step(self) -> Fraction:
        """One unit in the last digit that is written: 1/10 for ``14.5``."""
        return step_of(self.written)

    @property
    def margin(self) -> Fraction:
        """The tolerance as a part of one: the stated one, or the wording's own."""
        tolerance = self.rule.tolerance if self.tolerance is None else str(self.tolerance)
        return plus_minus(f"{tolerance.removesuffix('%')}%", Fraction(1))

    @property
    def words(self) -> str:
        """What is stated in its own words: ``over 5 x``."""
        wording = "" if self.wording == "exact" else f"{self.wording} "
        unit = "" if self.unit is None else self.unit if self.unit in ("x", "%") else f" {self.unit}"
        return f"{wording}{self.written}{unit}"


def accepted(stated: Stated) -> AcceptedRange | None:
    """Return the values a statement of a number allows, in its own unit; None for a truth."""
    if isinstance(stated.amount, bool):
        return None
    rule, value = stated.rule, stated.amount

    def end(amounts: tuple[str | int, ...] | None) -> Fraction | None:
        if amounts is None:
            return None
        of_value, of_step, of_margin = map(Fraction, amounts)
        return of_value * value + of_step * stated.step + of_margin * stated.margin * abs(value)

    low, high = (rule.above if rule.least is None else rule.least), (rule.below if rule.most is None else rule.most)
    return AcceptedRange(end(low), end(high), low_included=rule.least is not None, high_included=rule.most is not None)


def truncated(stated: Stated) -> AcceptedRange | None:
    """The values beyond those of :func:`accepted` whose digits were cut off, not rounded; None where none can be."""
    if isinstance(stated.amount, bool) or stated.wording != "exact" or stated.unit != "%":
        return None
    return AcceptedRange(stated.amount + stated.step / 2, stated.amount + stated.step)


def fits(stated: Stated, number: Fraction) -> bool:
    """Return whether a statement allows a number, rounded or with its digits cut off."""
    # Exactly between the written figure and the next, people who round half to even write the former too.
    halfway = stated.wording == "exact" and number == stated.amount + stated.step / 2
    return halfway or any(one is not None and number in one for one in (accepted(stated), truncated(stated)))


def understated(stated: Stated, value: Fraction) -> bool:
    """Return whether a value lies so far beyond that the statement does not do it justice."""
    factor = stated.rule.understated
    return factor is not None and not isinstance(stated.amount, bool) and value > Fraction(factor) * stated.amount


def decimal(value: Fraction) -> str:
    """Return a fraction as people write it: all its digits where they are few, else rounded; thousands with commas."""
    text = fixed(value)
    return text.rstrip("0").rstrip(".") if "." in text else text


def fixed(value: Fraction, digits: int = 6) -> str:
    """A fraction rounded to so many decimals; without a double between, so that no digit is lost and none too many."""
    scaled = round(abs(value) * 10**digits)
    whole, rest = divmod(scaled, 10**digits)
    sign = "-" if value < 0 and scaled else ""
    return f"{sign}{whole:,}.{rest:0{digits}d}" if digits else f"{sign}{whole:,}"
