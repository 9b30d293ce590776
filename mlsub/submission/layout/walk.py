"""List a tree: bounded, following no link, opening nothing but what may be a template of ours."""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Iterator
from pathlib import Path

from mlsub.io.errors import reason_of
from mlsub.io.look import is_nothing
from mlsub.submission.layout.code import README, SCRIPTS
from mlsub.submission.layout.model import Item, ItemKind, Listing
from mlsub.submission.layout.strays import is_stray_folder
from mlsub.submission.layout.templates import MOST, is_unfilled

#: The largest published package has 2,300 files; a tree with more names than this is something else.
MAX_ITEMS = 100_000
MAX_DEPTH = 40


def list_tree(folder: Path, *, max_items: int = MAX_ITEMS, max_depth: int = MAX_DEPTH) -> Listing:
    """The listing of an organisation's folder. It says what cannot be looked at; nothing is raised.

    Folders of caches and of version control are items, but what lies in them is not listed.
    """
    items: list[Item] = []
    closed: list[str] = []
    unread: dict[str, str] = {}
    reasons: dict[str, str] = {}
    cut = None
    waiting = [("", 0)]
    while waiting:
        path, depth = waiting.pop()
        try:
            found = list(_scan(folder, path, unread))
        except (OSError, ValueError) as error:
            closed.append(path or ".")
            reasons[path or "."] = reason_of(error)
            continue
        items += found
        if len(items) > max_items:
            cut = f"more than {max_items:,} names"
            break
        below = sorted(item.path for item in found if item.kind is ItemKind.FOLDER and not is_stray_folder(item))
        if below and depth >= max_depth:
            cut = f"folders nested more than {max_depth} deep"
            continue
        waiting += [(child, depth + 1) for child in below]
    items.sort(key=lambda item: item.path)
    unfilled = tuple(item.path for item in items if _is_unfilled_template(folder, item, unread))
    return Listing(
        items=tuple(items),
        closed=tuple(sorted(closed)),
        unread=tuple(sorted(unread)),
        reasons=reasons | unread,
        cut=cut,
        unfilled=unfilled,
    )


def _scan(folder: Path, path: str, unread: dict[str, str]) -> Iterator[Item]:
    start = f"{path}/" if path else ""
    with os.scandir(f"{folder}/{path}") as entries:
        for entry in entries:
            yield _item(entry, start + entry.name, unread)


def _item(entry: os.DirEntry[str], path: str, unread: dict[str, str]) -> Item:
    try:
        if entry.is_symlink():
            return Item(path, ItemKind.LINK, target=os.readlink(entry.path))  # noqa: PTH115  (a path object would normalise it)
        if entry.is_dir(follow_symlinks=False):
            return Item(path, ItemKind.FOLDER)
        status = entry.stat(follow_symlinks=False)
    except OSError as error:
        # What is gone meanwhile, too, is a name without facts.
        unread[path] = reason_of(error)
        return Item(path)
    if not stat.S_ISREG(status.st_mode):
        return Item(path, ItemKind.OTHER)
    return Item(path, ItemKind.FILE, status.st_size, bool(status.st_mode & 0o111))


def _is_unfilled_template(folder: Path, item: Item, unread: dict[str, str]) -> bool:
    if item.kind is not ItemKind.FILE or not may_be_template(item.path) or item.path in unread:
        return False
    try:
        return begins_as_template(folder / item.path)
    except OSError as error:
        unread[item.path] = reason_of(error)
        return False


def may_be_template(path: str) -> bool:
    """Whether templates are put at a place of the tree: benchmarks/<benchmark>/<system>/<name>."""
    parts = path.split("/")
    return (
        len(parts) == 4 and parts[0] == "benchmarks" and (parts[3] in (README, *SCRIPTS) or parts[3].endswith(".json"))
    )


def begins_as_template(file: Path) -> bool:
    """Whether a file is a template that nobody has filled in; a link is none.

    Raises:
        OSError: it cannot be read.
    """
    try:
        # Not even a FIFO that was put there meanwhile may hold up the check.
        descriptor = os.open(file, os.O_RDONLY | os.O_NONBLOCK | os.O_NOFOLLOW)
    except ValueError:
        return False
    except OSError as error:
        # ENXIO is that of a socket.
        if is_nothing(error) or error.errno == errno.ENXIO:
            return False
        raise
    try:
        return is_unfilled(os.read(descriptor, MOST))
    finally:
        os.close(descriptor)
