"""How the time of a regular expression grows with its text, in CPU time."""

from __future__ import annotations

import re
import time
from collections.abc import Iterator
from typing import Any

from tests.effort import effort
from tests.limits.attacks import attacks

#: Characters of the longest text, and of those before it: what takes minutes for that one is seen with a shorter one.
#: Time that doubles with each character is seen with the few.
SIZE = effort(8_000, 32_000)
FEW = (12, 16, 20, 24, 28, 32, 40)
SIZES = (*FEW, SIZE // 64, SIZE // 16, SIZE // 4, SIZE)
#: Seconds for the longest text that are looked at again.
SUSPICIOUS = SIZE * 5e-7
#: For 16 times the text, linear time grows 16 times, and quadratic time 256 times.
MOST = 64.0


def _time(pattern: re.Pattern[Any], attack: tuple[str, str, str], size: int, searched: bool) -> float:
    text: Any = _text(attack, size, isinstance(pattern.pattern, bytes))
    begin = time.process_time()
    if searched:
        for _ in pattern.finditer(text):
            pass
    else:
        pattern.match(text)
        pattern.fullmatch(text)
    return time.process_time() - begin


def _text(attack: tuple[str, str, str], size: int, binary: bool) -> str | bytes:
    lead, body, end = attack
    text = lead + body * (size // len(body)) + end
    return text.encode("latin-1", "replace") if binary else text


def growing(
    pattern: re.Pattern[Any], searched: bool, *, bounded: bool = True
) -> Iterator[tuple[tuple[str, str, str], float]]:
    """The texts on which an expression takes more than linear time, and how many times longer for a longer text.

    Up to its bound, a bounded repetition looks like an unbounded one; where there may be such, longer texts decide.
    """
    for attack in attacks(pattern):
        size = next((size for size in SIZES if _time(pattern, attack, size, searched) >= _suspicious(size)), None)
        if size is None:
            continue
        if size in FEW:
            ratio = _ratio(pattern, attack, (size // 2, size), searched)
        else:
            ratio = _ratio(pattern, attack, (size // 16, size), searched)
            if bounded and ratio > MOST and size * 4 >= SIZE:
                ratio = _ratio(pattern, attack, (SIZE // 2, SIZE * 8), searched)
        if ratio > MOST:
            yield attack, ratio


def _suspicious(size: int) -> float:
    """Seconds of CPU time that no linear expression takes, not even on a machine that is slow."""
    return SUSPICIOUS * max(size / SIZE, 0.125)


def _ratio(pattern: re.Pattern[Any], attack: tuple[str, str, str], sizes: tuple[int, int], searched: bool) -> float:
    """How many times longer an expression takes for the longer text: the least of some tries."""
    short, long = sizes
    base = max(min(_time(pattern, attack, short, searched) for _ in range(5)), 1e-7)
    return min(_time(pattern, attack, long, searched) for _ in range(2)) / base
