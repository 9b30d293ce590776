"""Folder names that the official tools take for search patterns: they glob for an entry's logs by its whole path."""

from __future__ import annotations

from collections.abc import Iterable
from fnmatch import fnmatchcase
from pathlib import Path

from mlsub.io.look import names_in

RESULT_PATTERN = "result_*.txt"
_RECURSIVE = "**"


def is_pattern(name: str) -> bool:
    """Whether a name contains a character that makes it a search pattern: ``*``, ``?`` or ``[``."""
    return any(character in name for character in "*?[")


def names_matching(pattern: str, names: Iterable[str]) -> list[str]:
    """The names a pattern finds; as in the official tools only one that begins with a dot finds hidden names."""
    hidden = pattern.startswith(".")
    return [name for name in names if fnmatchcase(name, pattern) and (hidden or not name.startswith("."))]


def finds_others(organisation: Path, folder: Path) -> str | None:
    """What the official tools find in place of an entry's own logs; None where they find these and nothing else.

    Args:
        organisation: the organisation's folder.
        folder: the benchmark's, below its ``results``.

    Raises:
        OSError: a folder cannot be listed.
    """
    results, system, *below = folder.relative_to(organisation).parts
    name = next((name for name in (organisation.name, system) if is_pattern(name)), None)
    if name is None:
        return None
    if not fnmatchcase(organisation.name, organisation.name):
        return f"{organisation.name} is a pattern that does not match itself, so it finds no log"
    found = names_matching(system, names_in(organisation / results)) if is_pattern(system) else [system]
    others = [other for other in found if other != system and _logs(organisation.joinpath(results, other, *below))]
    if system == _RECURSIVE and _logs(organisation.joinpath(results, *below)):
        others.append("/".join(below))
    if others:
        return f"{system} is a pattern that finds the logs of {', '.join(sorted(others)[:3])}"
    if system in found or not _logs(folder):
        return None
    return f"{system} is a pattern that does not match itself, so it finds no log"


def _logs(folder: Path) -> list[str]:
    return [name for name in names_in(folder) if fnmatchcase(name, RESULT_PATTERN)]
