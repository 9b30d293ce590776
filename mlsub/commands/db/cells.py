"""Values of logs as cells of a table: bounded, and nothing that a column cannot hold."""

from __future__ import annotations

import json
import math
from typing import Any

from mlsub.io.show import readable

#: Longer texts are cut: descriptions and logs are not bounded by anybody else.
MAX_TEXT = 20_000
_MAX_INTEGER = 1 << 62
#: Microseconds of the year 9999 or so; DuckDB's calendar ends later.
_MAX_MICROSECONDS = 250_000_000_000_000_000


def text(value: object) -> str | None:
    """A text, cut where it is too long; None for anything else."""
    if not isinstance(value, str):
        return None
    if value.isascii() and len(value) <= MAX_TEXT:
        return value
    return value[:MAX_TEXT].encode("utf-8", "backslashreplace").decode("utf-8")


def integer(value: object) -> int | None:
    """A whole number that fits; None for anything else."""
    return value if isinstance(value, int) and not isinstance(value, bool) and abs(value) < _MAX_INTEGER else None


def number(value: object) -> float | None:
    """A finite number, or a text that is one; None for anything else."""
    if type(value) is float:
        return value if math.isfinite(value) else None
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        return None
    try:
        found = float(value)
    except (ValueError, OverflowError):
        return None
    return found if math.isfinite(found) else None


def as_text(value: Any) -> str | None:
    """A value of a log as a text: a text as it was written, anything else as JSON."""
    if (type(value) is float and math.isfinite(value)) or (type(value) is int and abs(value) < _MAX_INTEGER):
        return repr(value)  # As JSON has it.
    return text(readable(value)) if isinstance(value, str) else as_json(value)


def as_json(value: Any) -> str | None:
    """A value as JSON; None where it cannot be: nested too deeply, or longer than a cell."""
    try:
        # Escaped, so that halves of characters do no harm; NaN and Infinity are no JSON and go as texts.
        found = json.dumps(_plain(value), ensure_ascii=False, allow_nan=False)
    except (TypeError, ValueError, RecursionError):
        return None
    return found if len(found) <= MAX_TEXT else None


def moment(time_ms: object) -> int | None:
    """Microseconds since the Unix epoch of a time in ms; None where no calendar has it."""
    found = number(time_ms) if not isinstance(time_ms, str) else None
    if found is None or abs(found) * 1000 >= _MAX_MICROSECONDS:
        return None
    return round(found * 1000)


def minutes(start: object, stop: object) -> float | None:
    """The minutes from one time in ms to another."""
    first, last = number(start), number(stop)
    return None if first is None or last is None else number((last - first) / 60_000)


def _plain(value: Any) -> Any:
    """The value with texts that a column can hold."""
    if isinstance(value, str):
        return text(value)
    if isinstance(value, float):
        return value if math.isfinite(value) else str(value)
    if isinstance(value, int) and not isinstance(value, bool):
        return value if abs(value) < _MAX_INTEGER else str(value)
    if isinstance(value, dict):
        return {text(str(key)): _plain(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_plain(item) for item in value]
    return value
