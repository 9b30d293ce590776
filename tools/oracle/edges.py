"""Values around the borders of a demand: those on which its answer turns, those beside a constant, other types."""

from __future__ import annotations

import math
import struct
from collections.abc import Callable, Iterable, Iterator
from typing import Any, NamedTuple

from tools.oracle.log import raw
from tools.oracle.values import RAW_VALUES

#: Raw JSON texts up to so many characters are tried everywhere.
_LONGEST = 6000

Holds = Callable[[Any], bool]

#: No more turns are looked for in one demand; one with a tolerance has a turn at every multiple.
MOST_TURNS = 6


class Tried(NamedTuple):
    """A value to be tried, and which kind of value it is."""

    kind: str
    value: Any


#: What every part of a record is tried with, whatever it should hold.
TYPES: tuple[Tried, ...] = (
    *(Tried("bool", value) for value in (True, False)),
    *(Tried("int", value) for value in (0, 1, -1)),
    *(Tried("float", value) for value in (0.5, -0.0, 1.0)),
    *(Tried("numeric string", value) for value in ("1", "0.5", "1e3")),
    *(Tried("string", value) for value in ("", " ", "text", "None")),
    Tried("null", None),
    *(Tried("list", value) for value in ([], [1], [None])),
    *(Tried("object", value) for value in ({}, {"value": 1})),
    Tried("NaN", math.nan),
    *(Tried("Infinity", value) for value in (math.inf, -math.inf)),
    *(Tried("huge", value) for value in (2**53 + 1, 2**64, -(2**63) - 1, 1e308, 10**400)),
    *(Tried("raw", raw(place)) for place, text in enumerate(RAW_VALUES) if len(text) <= _LONGEST),
)
#: The same, shortened: for parts that no demand is known of.
FEW_TYPES = tuple({tried.kind: tried for tried in TYPES}.values())


def beside_number(number: float) -> Iterator[Tried]:
    """A number, what lies just beside it, and what looks like it."""
    yield Tried("at", number)
    if isinstance(number, bool):
        yield from (Tried("string", str(number).lower()), Tried("int", int(number)))
        return
    if not _is_real(number):
        return
    yield from (Tried("far below", number - 1), Tried("far above", number + 1))
    as_float = float(number)
    yield Tried("below", math.nextafter(as_float, -math.inf))
    yield Tried("above", math.nextafter(as_float, math.inf))
    yield from (Tried("below", number - 1e-9), Tried("above", number + 1e-9))
    yield from (Tried("below", number * (1 - 1e-9)), Tried("above", number * (1 + 1e-9)))
    yield Tried("float", as_float)
    if as_float.is_integer():
        yield Tried("int", int(number))
    yield from (Tried("numeric string", str(number)), Tried("list", [number]), Tried("object", {"value": number}))
    yield from (Tried("mirrored", -number), Tried("doubled", 2 * number), Tried("halved", number / 2))


def beside_text(text: str) -> Iterator[Tried]:
    """A text, and texts that people take for the same."""
    yield Tried("at", text)
    for other in (text.upper(), text.lower(), text.capitalize(), text.swapcase()):
        yield Tried("other case", other)
    yield from (Tried("space", f"{text} "), Tried("space", f" {text}"), Tried("space", f"{text}\n"))
    yield from (Tried("shorter", text[:-1]), Tried("longer", f"{text}s"), Tried("list", [text]))
    yield from (Tried("object", {text: text}), Tried("string", f'"{text}"'))


def beside(constant: Any) -> Iterator[Tried]:
    """What is near a constant of a demand."""
    if isinstance(constant, int | float):
        yield from beside_number(constant)
    elif isinstance(constant, str):
        yield from beside_text(constant)
    else:
        yield Tried("at", constant)


def neighbours(constant: Any) -> list[Any]:
    """A constant and what is nearest to it: the numbers on both sides, or the text in another case."""
    nearest = {tried.kind: tried.value for tried in reversed([*beside(constant)])}
    return [nearest[kind] for kind in ("at", "below", "above", "other case") if kind in nearest]


def turns(holds: Holds, near: Iterable[Any]) -> list[float]:
    """Pairs of neighbouring floats of which a demand allows one alone, found by halving between the numbers given."""
    numbers = {float(x) for x in near if isinstance(x, int | float) and _is_real(x)}
    around = {near for x in numbers for near in _around(x) if math.isfinite(near)}
    places = sorted(around | {-1e300, 0.0, 1e300})
    answers = [holds(place) for place in places]
    found: list[float] = []
    for number in range(len(places) - 1):
        if answers[number] is not answers[number + 1] and len(found) < 2 * MOST_TURNS:
            found += _halved(holds, places[number], places[number + 1], answers[number])
    return list(dict.fromkeys(found))


def _around(number: float) -> tuple[float, ...]:
    beside_it = (math.nextafter(number, -math.inf), number, math.nextafter(number, math.inf))
    return (*beside_it, number / 2, number * 2, number * 1.4, number * 3, number - 1, number + 1, -number)


def _halved(holds: Holds, low: float, high: float, answer: bool) -> tuple[float, float]:
    first, last = _order(low), _order(high)
    while last - first > 1:
        middle = (first + last) // 2
        if holds(_float(middle)) is answer:
            first = middle
        else:
            last = middle
    return _float(first), _float(last)


def _order(number: float) -> int:
    """The place of a float among all floats."""
    bits = int.from_bytes(struct.pack("<d", number), "little", signed=True)
    return bits if bits >= 0 else -(bits & 0x7FFF_FFFF_FFFF_FFFF)


def _float(order: int) -> float:
    number: float = struct.unpack("<d", struct.pack("<q", abs(order)))[0]
    return number if order >= 0 else -number


def _is_real(number: float) -> bool:
    """Whether the neighbours of a number can be computed."""
    try:
        return math.isfinite(float(number))
    except OverflowError:
        return False
