"""Numbers as people write them, exactly: from the text of a file to fractions."""

from __future__ import annotations

import re
from collections.abc import Mapping
from fractions import Fraction

from mlsub.commands.audit.model import Stated
from mlsub.commands.audit.wording import phrases, wordings
from mlsub.io.yamlfile import meant

_NUMBER = re.compile(r"[+-]?(?:[0-9]{1,3}(?:,[0-9]{3})+|[0-9]+)(?:\.(?P<digits>[0-9]+))?")
#: A longer one is not a number of a claim.
MAX_DIGITS = 40


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
        value=written.lower() in ("true", "yes", "on") if truth else _value(written, from_words="value" not in said),
        written=written,
        step=step_of(written),
        unit=said.get("unit"),
        wording=wording,
        reading=said.get("reading"),
        tolerance=plus_minus(f"{around.removesuffix('%')}%", Fraction(1)) if around is not None else None,
        line=line,
    )


def _value(written: str, *, from_words: bool) -> Fraction:
    return Fraction(written) if from_words else number(written)
