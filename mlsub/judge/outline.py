"""Which packages lie in a place, of which nothing is read yet."""

from __future__ import annotations

from pathlib import Path

import msgspec

from mlsub.io.look import is_folder, is_link
from mlsub.submission.locate import Place, Target, too_deep


class Outline(msgspec.Struct, frozen=True):
    """A package that is not listed yet: its folder, or the place that is asked for by itself.

    ``deep`` is True for an organisation that lies in another folder of one.
    """

    path: Path
    place: Place | None = None
    deep: bool = False


def outlines(place: Place) -> list[Outline]:
    """The packages in a place, of which nothing is read but which they are.

    Raises:
        OSError: the place cannot be looked at.
    """
    if place.target is Target.ORGANISATIONS:
        if deep := too_deep(place.path):
            return [Outline(child, deep=True) for child in deep]
        children = [child for child in sorted(place.path.iterdir()) if not child.name.startswith(".")]
        return [outline for child in children for outline in _outlines_of(child)]
    if place.organisation is None and place.target not in (Target.LOG, Target.BENCHMARK):
        return []
    return [Outline(place.path, place)]


def _outlines_of(child: Path) -> list[Outline]:
    """The package that a folder is, or those too deep in it; one that cannot be looked at says so when read."""
    try:
        if not is_folder(child) and not is_link(child):
            return []
        return [Outline(inner, deep=True) for inner in too_deep(child)] or [Outline(child)]
    except OSError:
        return [Outline(child)]
