"""Entries to be compared, from the paths that a person would name."""

from __future__ import annotations

from collections.abc import Sequence

from mlsub.commands.review.run import read, sides_of
from mlsub.review.runs.model import Entry
from mlsub.workspace import Settings
from mlsub.workspace.compared import entries_of


def gather(paths: Sequence[str], settings: Settings, beside: Sequence[str] = ()) -> tuple[list[Entry], list[Entry]]:
    """The entries below some paths, and those below some others, their logs read."""
    sides = sides_of(paths, settings, beside)
    found, others = read(sides, settings)
    return entries_of(found, str(sides.root)), entries_of(others, str(sides.root))
