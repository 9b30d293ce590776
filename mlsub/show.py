"""Show a value from a log in a message."""

from __future__ import annotations

import json
from typing import Any


def show(value: Any, limit: int = 80) -> str:
    """A value as it stands in the log, shortened."""
    try:
        text = json.dumps(value, ensure_ascii=False)
    except (TypeError, ValueError, RecursionError):
        text = f"a value nested too deeply to show ({type(value).__name__})"
    return text if len(text) <= limit else text[: limit - 1] + "…"
