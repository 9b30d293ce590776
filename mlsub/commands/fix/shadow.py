"""A tree as it would be after repairs, made of links and the few changed files, so that it can be judged beforehand."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from pathlib import Path

from mlsub.commands.fix.model import Change


def shadow(root: Path, changes: Iterable[Change], above: Path) -> Path:
    """Build it.

    Args:
        root: the folder that is changed.
        changes: of what lies in it.
        above: an empty folder to build in.

    Returns:
        The folder that stands for ``root`` and has its name.
    """
    top = above / (root.name or "root")
    by_path = {change.path: change for change in changes}
    targets = targets_of(by_path.values())
    places = {*by_path, *targets.values()}
    touched = {parent for path in places for parent in path.parents}

    def fill(folder: Path) -> None:
        made_of(folder).mkdir(parents=True, exist_ok=True)
        for entry in os.scandir(folder):
            path = folder / entry.name
            change = by_path.get(path)
            if change is not None and change.content is not None:
                link(path, change.content)
            elif path in touched:
                fill(path)
            else:
                link(path, path)

    def made_of(path: Path) -> Path:
        return top / renamed(path, targets).relative_to(root)

    def link(path: Path, to: Path) -> None:
        place = made_of(path)
        place.parent.mkdir(parents=True, exist_ok=True)
        place.symlink_to(to)

    fill(root)
    return top


def targets_of(changes: Iterable[Change]) -> dict[Path, Path]:
    """The new path of everything that is renamed or moved."""
    return {change.path: change.target for change in changes if change.target is not None}


def renamed(path: Path, targets: Mapping[Path, Path]) -> Path:
    """Where a path leads after the changes of names."""
    names = []
    while path != path.parent:
        path = targets.get(path, path)
        names.append(path.name)
        path = path.parent
    return path.joinpath(*reversed(names))
