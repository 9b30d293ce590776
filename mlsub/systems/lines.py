"""Where in the file a field stands."""

from __future__ import annotations


class Lines:
    """The lines of a system description."""

    def __init__(self, raw: bytes) -> None:
        self._text = raw.decode("utf-8", "replace")

    def of(self, field: str) -> int | None:
        """The 1-based line of the first place a field's name stands at; None where it stands nowhere."""
        at = self._text.find(f'"{field}"')
        return None if at < 0 else self._text.count("\n", 0, at) + 1
