"""On which line of a system description a field stands."""

from __future__ import annotations

import re
from functools import cached_property

_TEXT = re.compile(r'"((?:[^"\\]|\\.)*)"|\n')


class Lines:
    """The lines of a system description."""

    def __init__(self, raw: bytes) -> None:
        self._text = raw.decode("utf-8", "replace")

    def of(self, field: str) -> int | None:
        """The 1-based line of the first place a field's name stands at; None where it stands nowhere."""
        return self._first.get(field)

    @cached_property
    def _first(self) -> dict[str, int]:
        """The first line of each text; found in one pass, for a hostile description may name fields by the thousand."""
        first: dict[str, int] = {}
        line = 1
        for match in _TEXT.finditer(self._text):
            if match[1] is None:
                line += 1
            else:
                first.setdefault(match[1], line)
                line += match[1].count("\n")
        return first
