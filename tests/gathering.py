"""Entries for inspection, from the paths that a person would name."""

from __future__ import annotations

from collections.abc import Sequence

from mlsub.commands.inspect.run import Gathered, read_sides, sides_of
from mlsub.workspace import Settings


def gather(paths: Sequence[str], settings: Settings, beside: Sequence[str] = ()) -> Gathered:
    """The entries below some paths, and those below some others, their logs read."""
    return read_sides(sides_of(paths, settings, beside), settings)
