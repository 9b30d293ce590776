"""Names in the order in which people count."""

from __future__ import annotations

import re

_PARTS = re.compile(r"([0-9]{1,18})|([^0-9]+)")


def counted(name: str) -> list[tuple[int, str]]:
    """A key that sorts numbers in a name by their value: ``result_2`` comes before ``result_10``."""
    return [(int(digits) if digits else -1, text) for digits, text in _PARTS.findall(name)]
