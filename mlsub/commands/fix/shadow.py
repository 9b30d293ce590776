"""A tree as it would be after repairs, made of links and the few changed files, so that it can be judged beforehand."""

from __future__ import annotations

import os
from collections.abc import Iterable
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
    touched = {parent for path in by_path for parent in path.parents}
    _fill(root, top, by_path, touched)
    return top


def renamed(path: Path, changes: Iterable[Change]) -> Path:
    """Where a path leads after the changes of names."""
    targets = {change.path: change.target for change in changes if change.target is not None}
    found = Path(path.anchor)
    old = Path(path.anchor)
    for part in path.parts[1:]:
        old = old / part
        target = targets.get(old)
        found = found / (part if target is None else target.name)
    return found


def _fill(real: Path, made: Path, changes: dict[Path, Change], touched: set[Path]) -> None:
    made.mkdir()
    for entry in os.scandir(real):
        path = Path(real, entry.name)
        change = changes.get(path)
        name = change.target.name if change is not None and change.target is not None else entry.name
        if change is not None and change.content is not None:
            (made / name).symlink_to(change.content)
        elif path in touched:
            _fill(path, made / name, changes, touched)
        else:
            (made / name).symlink_to(path)
