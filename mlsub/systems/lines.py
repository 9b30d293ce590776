"""On which line of a system description a field stands, and findings on it."""

from __future__ import annotations

import re
from functools import cached_property

from mlsub.findings import Finding
from mlsub.rules.catalogue import finding

_TEXT = re.compile(r'"([^"\\]*(?:\\.[^"\\]*)*)"|\n')


class Lines:
    """The lines of a system description, and the path that findings call it by."""

    def __init__(self, raw: bytes, path: str = "") -> None:
        self._text, self._path = raw.decode("utf-8", "replace"), path

    def finding(
        self,
        rule: str,
        field: str | None,
        message: str,
        *,
        expected: str | None = None,
        actual: str | None = None,
        fix: str | None = None,
        source: str | None = None,
    ) -> Finding:
        """A finding on a field; None for one on the description as a whole."""
        line = None if field is None else self.of(field)
        return finding(rule, self._path, message, line=line, expected=expected, actual=actual, fix=fix, source=source)

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
