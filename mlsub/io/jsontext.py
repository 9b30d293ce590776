"""JSON from outside, read to a fixed depth: how deep :mod:`json` itself goes depends on Python and on who calls it."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from typing import Any

#: The most objects and arrays within each other, the outermost one included. Real logs and files stay below ten.
MAX_LEVELS = 500
#: No shorter text is deeper: each level has a bracket at either end.
SHALLOW = 2 * MAX_LEVELS

_STRINGS = re.compile(r'"[^"\\]*(?:\\.[^"\\]*)*"?', re.DOTALL)
_BRACKETS = re.compile(r"[\[{]|[\]}]")


def loads(text: str | bytes, pairs: Callable[[list[tuple[str, Any]]], Any] | None = None) -> Any:
    """What :func:`json.loads` reads, if it has no more than `MAX_LEVELS` levels.

    Args:
        text: of bytes the encoding is guessed as :mod:`json` guesses it.
        pairs: makes an object of its members, see ``object_pairs_hook``.

    Raises:
        RecursionError: it is deeper, up to where it is JSON.
        ValueError: it is not JSON, or a number in it has too many digits.
    """
    if isinstance(text, bytes):
        text = text.decode(json.detect_encoding(text), "surrogatepass")
    try:
        content = json.loads(text, object_pairs_hook=pairs)
    except ValueError as error:
        if too_deep(text[: getattr(error, "pos", len(text))]):
            raise RecursionError from error
        raise
    if too_deep(text):
        raise RecursionError
    return content


def too_deep(text: str) -> bool:
    """Whether a text, which is JSON or the beginning of it, has more than `MAX_LEVELS` levels."""
    if text.count("[") + text.count("{") <= MAX_LEVELS:
        return False
    levels = 0
    for bracket in _BRACKETS.finditer(_STRINGS.sub("", text)):
        levels += 1 if bracket[0] in "[{" else -1
        if levels > MAX_LEVELS:
            return True
    return False
