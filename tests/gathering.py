"""Entries to be compared, from the paths that a person would name."""

from __future__ import annotations

from collections.abc import Sequence

from mlsub.commands.review.run import Sides, read, sides_of
from mlsub.submission.result import Result
from mlsub.workspace import Checked, Context


def gather(paths: Sequence[str], context: Context, beside: Sequence[str] = ()) -> tuple[list[Result], list[Result]]:
    """The entries below some paths, and those below some others, their logs read."""
    sides = sides_of(paths, context.request, beside)
    found, others = read(sides, context)
    return _results(found, sides), _results(others, sides)


def _results(found: Sequence[Checked], sides: Sides) -> list[Result]:
    return [result for one in found for result in one.at(str(sides.root)).results if result.logs]
