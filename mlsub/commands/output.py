"""Print an answer, or say in one line why there is none."""

from __future__ import annotations

import io
import shutil
import sys
from typing import NoReturn


def write_text(text: str) -> None:
    """Print a text on standard output."""
    if isinstance(sys.stdout, io.TextIOWrapper):
        # An output that knows few characters costs those characters, never the answer.
        sys.stdout.reconfigure(errors="backslashreplace")
    sys.stdout.write(text)


def overlay_of(command: str, rules: str | None) -> str | None:
    """The rule file of the user's own that was asked for; ends with status 2 where it is broken."""
    if rules is None:
        return None
    from pathlib import Path

    from mlsub.rules.overlay import check_overlay
    from mlsub.rules.problems import RuleFileError

    try:
        return check_overlay(Path(rules))
    except RuleFileError as error:
        could_not(command, error)


def could_not(command: str, *errors: object) -> NoReturn:
    """End with status 2, and one line on standard error for each thing that is wrong."""
    from mlsub.io.plain import plain

    for error in errors:
        sys.stderr.write(f"mlsub {command}: {plain(str(error))}\n")
    sys.exit(2)


def terminal_width() -> int:
    """The terminal's width; 100 where there is none, so that a file reads the same everywhere."""
    from mlsub.present.columns import WIDTH

    return max(60, shutil.get_terminal_size((WIDTH, 24)).columns) if sys.stdout.isatty() else WIDTH
