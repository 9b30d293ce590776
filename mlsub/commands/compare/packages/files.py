"""Compare the files of two folders by content."""

from __future__ import annotations

import hashlib
from pathlib import Path

from mlsub.commands.compare.packages.model import FileChanges
from mlsub.submission.layout.model import Item, ItemKind
from mlsub.submission.layout.walk import list_tree


def compare_files(old: Path, new: Path) -> FileChanges:
    """What differs between the files below two folders; nothing is followed out of them, and nothing is raised."""
    before, after = list_tree(old), list_tree(new)
    ours, theirs = _contents(old, before.items), _contents(new, after.items)
    changed, unknown, same = [], [*before.closed, *before.unread, *after.closed, *after.unread], 0
    for path in sorted(ours.keys() & theirs.keys()):
        equal = _equal(old, ours[path], new, theirs[path])
        if equal is None:
            unknown.append(path)
        elif equal:
            same += 1
        else:
            changed.append(path)
    added, removed = sorted(theirs.keys() - ours.keys()), sorted(ours.keys() - theirs.keys())
    moved = _moved(old, [ours[path] for path in removed], new, [theirs[path] for path in added])
    was, now = {pair[0] for pair in moved}, {pair[1] for pair in moved}
    return FileChanges(
        same=same,
        added=tuple(path for path in added if path not in now),
        removed=tuple(path for path in removed if path not in was),
        changed=tuple(changed),
        moved=tuple(moved),
        unknown=tuple(sorted(set(unknown))),
        cut=before.cut or after.cut,
    )


def _contents(folder: Path, items: tuple[Item, ...]) -> dict[str, Item]:
    """Everything but folders, by path; an empty folder does not count."""
    return {item.path: item for item in items if item.kind is not ItemKind.FOLDER}


def _equal(old: Path, ours: Item, new: Path, theirs: Item) -> bool | None:
    """Whether two are the same; None where that cannot be found out."""
    if (ours.kind, ours.executable) != (theirs.kind, theirs.executable):
        return False
    if ours.kind is ItemKind.LINK:
        return ours.target == theirs.target
    if ours.kind is not ItemKind.FILE:
        return None
    if ours.size is not None and theirs.size is not None and ours.size != theirs.size:
        return False
    one, other = digest(old / ours.path), digest(new / theirs.path)
    return None if one is None or other is None else one == other


def digest(file: Path) -> bytes | None:
    """The SHA-256 of a regular file's content; None where it cannot be read."""
    try:
        if not file.is_file():
            return None
        with file.open("rb") as stream:
            return hashlib.file_digest(stream, "sha256").digest()
    except (OSError, ValueError):
        return None


def _moved(old: Path, removed: list[Item], new: Path, added: list[Item]) -> list[tuple[str, str]]:
    """Pairs of the same content, each file in one pair at most. Empty files are no evidence of a move."""
    sizes = {item.size for item in removed if item.size} & {item.size for item in added}
    origin: dict[bytes, list[str]] = {}
    for item in reversed(removed):
        if item.size in sizes and item.kind is ItemKind.FILE and (content := digest(old / item.path)):
            origin.setdefault(content, []).append(item.path)
    moved = []
    for item in added:
        content = digest(new / item.path) if item.size in sizes and item.kind is ItemKind.FILE else None
        if content and origin.get(content):
            moved.append((origin[content].pop(), item.path))
    return moved
