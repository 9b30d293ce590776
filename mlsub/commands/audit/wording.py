"""What a wording allows: from the words and the digits of a statement to an interval."""

from __future__ import annotations

from fractions import Fraction
from functools import lru_cache
from typing import Any

import msgspec

from mlsub.commands.audit.model import Stated
from mlsub.io.data import shipped


class Interval(msgspec.Struct, frozen=True):
    """Values that are accepted; an end of None is infinite; ``low_in``, ``high_in``: it belongs to them."""

    low: Fraction | None
    high: Fraction | None
    low_in: bool = True
    high_in: bool = False

    def __contains__(self, value: object) -> bool:
        if not isinstance(value, Fraction):
            return False
        above = self.low is None or value > self.low or (self.low_in and value == self.low)
        return above and (self.high is None or value < self.high or (self.high_in and value == self.high))

    def meets(self, other: Interval) -> bool:
        """Whether some value lies in both."""
        low, low_in = max(
            ((i.low, i.low_in) for i in (self, other) if i.low is not None), default=(None, True), key=_low
        )
        ends = [(i.high, i.high_in) for i in (self, other) if i.high is not None]
        high, high_in = min(ends, default=(None, True), key=lambda end: (end[0], end[1]))
        if low is None or high is None:
            return True
        return low < high or (low == high and low_in and high_in)

    def words(self) -> str:
        """As in ``[14.45, 14.55)``."""
        left = "(-∞" if self.low is None else f"{'[' if self.low_in else '('}{decimal(self.low)}"
        right = "∞)" if self.high is None else f"{decimal(self.high)}{']' if self.high_in else ')'}"
        return f"{left}, {right}"


def _low(end: tuple[Fraction | None, bool]) -> tuple[Fraction, bool]:
    return end[0] or Fraction(0), not end[1]


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
        low_in=wording.least is not None,
        high_in=wording.most is not None,
    )


def truncated(stated: Stated) -> Interval | None:
    """The values beyond those of :func:`accepted` whose digits were cut off, not rounded; None where that is no way."""
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
        ValueError: it is no percentage.
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
