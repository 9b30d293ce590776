"""How the time of a regular expression grows with its text, in CPU time."""

from __future__ import annotations

import re
import time
from collections.abc import Iterator
from typing import Any

from tests.effort import effort
from tests.limits.attacks import attacks

#: Characters of the long text.
SIZE = effort(8_000, 32_000)
#: Seconds that no linear expression takes for the long text, on a machine that is not ten times slower than usual ones; what takes
#: longer is looked at again.
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


def growing(pattern: re.Pattern[Any], searched: bool) -> Iterator[tuple[tuple[str, str, str], float]]:
    """The texts on which an expression takes more than linear time, and how many times longer it takes for 16 times the text."""
    for attack in attacks(pattern):
        # What would take minutes for the long text is seen before.
        if _time(pattern, attack, SIZE // 4, searched) < SUSPICIOUS / 4 and _time(pattern, attack, SIZE, searched) < SUSPICIOUS:
            continue
        # Up to its bound, a bounded repetition looks like an unbounded one.
        ratio = _ratio(pattern, attack, SIZE // 16, searched)
        if ratio > MOST and (ratio := _ratio(pattern, attack, SIZE // 2, searched)) > MOST:
            yield attack, ratio


def _ratio(pattern: re.Pattern[Any], attack: tuple[str, str, str], short: int, searched: bool) -> float:
    """How many times longer an expression takes for 16 times the text: the least of some tries."""
    base = max(min(_time(pattern, attack, short, searched) for _ in range(5)), 1e-7)
    return min(_time(pattern, attack, short * 16, searched) for _ in range(2)) / base
