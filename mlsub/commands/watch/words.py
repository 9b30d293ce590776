"""Numbers and values of a log as they stand in a line or a cell."""

from __future__ import annotations

import math
from typing import Any

from mlsub.io.show import readable, show

#: What is shown of a text that a log gives.
WIDTH = 80
#: Entries of an object of measures that are handed on.
_MAX_MEASURES = 16
#: Beyond this a time in ms is nonsense.
_BEYOND = 1e14


def duration(milliseconds: float | None) -> str:
    """A duration in hours, minutes and seconds, below a minute with tenths, rounded down; ``-`` for none."""
    if milliseconds is None or not abs(milliseconds) < _BEYOND:
        return "-"
    sign = "-" if milliseconds < 0 else ""
    tenths = int(abs(milliseconds) / 100)
    if tenths < 600:
        return f"{sign}0:00:{tenths // 10:02d}.{tenths % 10}"
    seconds = tenths // 10
    return f"{sign}{seconds // 3600}:{seconds // 60 % 60:02d}:{seconds % 60:02d}"


def number(value: float) -> str:
    """A measure, a count or a mean with as many digits as help: whole numbers in full."""
    if not math.isfinite(value):
        return str(value)
    if abs(value) < 1e15 and value == int(value):
        return str(int(value))
    return f"{value:.5g}" if abs(value) < 1e5 else f"{value:.0f}" if abs(value) < 1e15 else f"{value:.4g}"


def text(value: Any) -> str:
    """A text of a log, shortened; any other value as it stands there."""
    if not isinstance(value, str):
        return show(value, WIDTH)
    short = readable(value[: 4 * WIDTH])
    return short if len(short) <= WIDTH and len(value) <= 4 * WIDTH else short[: WIDTH - 1] + "…"


def plain_value(value: Any) -> Any:
    """A logged value for a document: a finite number, an object of such, or the text that stands for anything else."""
    if is_measure(value):
        return value
    if isinstance(value, dict) and 0 < len(value) <= _MAX_MEASURES and all(map(is_measure, value.values())):
        return {text(name): measure for name, measure in value.items()}
    return text(value)


def value_words(value: Any) -> str:
    """What :func:`plain_value` gives, in a sentence."""
    if isinstance(value, dict):
        return ", ".join(f"{name} {value_words(part)}" for name, part in value.items())
    return number(value) if is_measure(value) else str(value)


def is_measure(value: Any) -> bool:
    """Whether a value is a finite number, and not a truth value."""
    if not isinstance(value, (int, float)) or isinstance(value, bool):
        return False
    return abs(value) < 1e300
