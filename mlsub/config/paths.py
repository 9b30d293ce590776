"""Which places a path of a settings file means."""

from __future__ import annotations

import os
from collections.abc import Sequence
from fnmatch import fnmatchcase
from pathlib import Path

_ANY_DEPTH = "**"


def covers(pattern: str, place: str) -> bool:
    """Whether a pattern means a place, or a folder that it lies in.

    Args:
        pattern: relative, with ``/`` between folders; ``*``, ``?`` and ``[...]`` match within one name, ``**`` any
            number of folders.
        place: relative to the same folder; one outside of it is never meant.
    """
    names = _names(place)
    return ".." not in names and _matches(_names(pattern), names)


def fixed(pattern: str) -> str:
    """The folder or file that everything lies in which a pattern can mean."""
    names = _names(pattern)
    return "/".join(names[: next((at for at, name in enumerate(names) if any(c in name for c in "*?[")), len(names))])


def _names(path: str) -> list[str]:
    return [name for name in path.split("/") if name not in ("", ".")]


def _matches(pattern: Sequence[str], names: Sequence[str]) -> bool:
    """Whether a pattern matches the beginning of a place, whole names each. Time is that of the product of both."""
    reached = {0}
    for part in pattern:
        if part == _ANY_DEPTH:
            reached = set(range(min(reached), len(names) + 1))
        else:
            reached = {at + 1 for at in reached if at < len(names) and fnmatchcase(names[at], part)}
        if not reached:
            return False
    return True


def seen_from(folder: str, root: str, path: str) -> str:
    """A path of a report as it is seen from the folder of the settings, with ``/`` between folders."""
    return os.path.relpath(os.path.join(root, path), folder).replace(os.sep, "/")  # noqa: PTH118


def from_here(file: Path) -> str:
    """A file as seen from the current folder: relative where it lies in it or a little above."""
    try:
        relative = os.path.relpath(file)
    except (OSError, ValueError):
        return str(file)
    return relative if relative.count("..") <= 2 else str(file)
