"""What the commands share besides options."""

from __future__ import annotations

import io
import sys


def write_text(text: str) -> None:
    """Print a text on standard output."""
    if isinstance(sys.stdout, io.TextIOWrapper):
        # An output that knows few characters costs those characters, never the answer.
        sys.stdout.reconfigure(errors="backslashreplace")
    sys.stdout.write(text)


def overlay_of(rules: str | None) -> str | None:
    """The path of the user's own rule file, which is checked first."""
    if rules is None:
        return None
    from pathlib import Path

    from mlsub.rules.overlay import check_overlay

    return check_overlay(Path(rules))
