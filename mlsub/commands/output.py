"""Print an answer, or say in one line why there is none."""

from __future__ import annotations

import io
import shutil
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


def terminal_width() -> int:
    """The terminal's width; 100 where there is none, so that a file reads the same everywhere."""
    from mlsub.present.columns import WIDTH

    return max(60, shutil.get_terminal_size((WIDTH, 24)).columns) if sys.stdout.isatty() else WIDTH
