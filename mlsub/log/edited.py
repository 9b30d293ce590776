"""Tell a record that was edited from one that another process wrote into, or that was cut."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import islice
from json import JSONDecodeError

from mlsub.io.data import loads

#: Where a record may go on behind other text, and where another object may begin.
_BREAKS, _BRACES = re.compile("[,}]"), re.compile("[{]")
#: Records are shorter; so many places in one are tried.
_MOST, _TRIED = 2048, 8


def has_text_inside(error: JSONDecodeError, parts: Sequence[str]) -> bool:
    """Return whether a record that begins and ends as one has other text behind one of its values.

    Another process writes whole lines: what it leaves is a record that was cut, or that an object follows. Here the
    record is whole without the text, or the text stands in the place of its own. Quotes that a program forgot to escape
    come in pairs.

    Args:
        error: why it cannot be decoded.
        parts: what every record has.
    """
    text = error.doc.rstrip()
    head, rest = text[: error.pos], text[error.pos :]
    is_record = '"time_ms"' in head and text.endswith("}") and "\0" not in text and len(text) <= _MOST
    if not is_record or not error.msg.startswith("Expecting ',' delimiter"):
        return False
    if any(_is_whole(text[brace.start() :]) for brace in islice(_BRACES.finditer(text, 1), _TRIED)):
        return False
    if not all(f'"{part}"' in text for part in parts):
        return rest.count('"') % 2 == 1 or text.count("}") > text.count("{")
    ends = [match.start() for match in islice(_BREAKS.finditer(rest, 1), _TRIED)]
    quotes = [rest.count('"', 0, end) for end in ends]
    return any(
        (not count or count % 2) and _is_whole(head + rest[end:], parts)
        for end, count in zip(ends, quotes, strict=True)
    )


def _is_whole(text: str, parts: Sequence[str] = ()) -> bool:
    """Return whether text is an object that has these parts."""
    try:
        fields = loads(text)
    except (ValueError, RecursionError):
        return False
    return isinstance(fields, dict) and all(part in fields for part in parts)
