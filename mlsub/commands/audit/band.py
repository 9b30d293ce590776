"""Interval arithmetic with exact fractions: what a value may be where its inputs are uncertain."""

from __future__ import annotations

from fractions import Fraction

import msgspec

#: A number of more bits is no figure of a claim, but a file that wants to eat memory.
MAX_BITS = 8192


class TooLargeError(ArithmeticError):
    """A number with more digits than any claim has."""


class Band(msgspec.Struct, frozen=True):
    """All numbers from ``low`` to ``high``; where both are the same, a number."""

    low: Fraction
    high: Fraction

    @classmethod
    def of(cls, value: Fraction | int) -> Band:
        """A number that is certain."""
        return cls(Fraction(value), Fraction(value))

    @property
    def certain(self) -> bool:
        """Whether it is one number."""
        return self.low == self.high

    def negated(self) -> Band:
        """Minus it."""
        return Band(-self.high, -self.low)


def combine(sign: str, left: Band, right: Band) -> Band:
    """Two bands added, subtracted, multiplied or divided.

    Raises:
        ZeroDivisionError: the divisor may be zero.
        TooLargeError: a result has more digits than any claim has.
    """
    if sign == "+":
        ends = [left.low + right.low, left.high + right.high]
    elif sign == "-":
        ends = [left.low - right.high, left.high - right.low]
    else:
        if sign == "/" and right.low <= 0 <= right.high:
            raise ZeroDivisionError
        pairs = [(a, b) for a in (left.low, left.high) for b in (right.low, right.high)]
        ends = [a * b if sign == "*" else a / b for a, b in pairs]
    band = Band(min(ends), max(ends))
    if any(part.bit_length() > MAX_BITS for end in (band.low, band.high) for part in (end.numerator, end.denominator)):
        raise TooLargeError
    return band


def compare(sign: str, left: Band, right: Band) -> bool | None:
    """Whether a comparison is true; None where it hangs on the inputs' uncertainty."""
    if sign in (">", ">="):
        return compare("<" if sign == ">" else "<=", right, left)
    if sign in ("==", "!="):
        apart = left.high < right.low or right.high < left.low
        same = left.certain and left == right
        return None if not apart and not same else same == (sign == "==")
    surely = left.high < right.low or (sign == "<=" and left.high == right.low)
    never = left.low > right.high or (sign == "<" and left.low == right.high)
    return True if surely else False if never else None
