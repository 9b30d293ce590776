"""How the tree that is there differs from the one that is planned."""

from __future__ import annotations

import os
import stat
from pathlib import Path

import msgspec

from mlsub.commands.pack.folder import PlanItem
from mlsub.commands.pack.plan import Plan

_CHUNK = 1 << 20


class Difference(msgspec.Struct, frozen=True):
    """Places of files, sorted: ``extra`` are there and not planned.

    ``foreign`` are those of ``changed`` and ``extra`` that pack did not write, or that were changed since.
    """

    new: tuple[str, ...] = ()
    changed: tuple[str, ...] = ()
    same: tuple[str, ...] = ()
    extra: tuple[str, ...] = ()
    foreign: tuple[str, ...] = ()

    @property
    def none(self) -> bool:
        """Whether the tree is as planned."""
        return not (self.new or self.changed or self.extra)


def compare(plan: Plan, folder: Path) -> Difference:
    """Compare a plan with a folder, which need not exist: contents, links, and what may be executed.

    Raises:
        OSError: something in the folder cannot be read.
    """
    if not folder.is_dir():
        return Difference(new=tuple(item.to for item in plan.items))
    there = _names(folder)
    planned = {item.to: item for item in plan.items}
    same = {to for to, item in planned.items() if to in there and _equal(item, folder / to)}
    return Difference(
        new=tuple(to for to in planned if to not in there),
        changed=tuple(to for to in planned if to in there and to not in same),
        same=tuple(to for to in planned if to in same),
        extra=tuple(sorted(there - planned.keys() - _above(planned))),
    )


def _names(folder: Path) -> set[str]:
    """All that lies in a folder except folders, and of those the empty ones."""
    found: set[str] = set()
    for place, folders, files in os.walk(folder, onerror=_raise):
        here = os.path.relpath(place, folder)
        prefix = "" if here == "." else f"{here}/"
        linked = [name for name in folders if Path(place, name).is_symlink()]
        found.update(prefix + name for name in (*files, *linked))
        if prefix and not folders and not files:
            found.add(here)
    return found


def _above(places: dict[str, PlanItem]) -> set[str]:
    """The folders that places lie in: where one of them is there and empty, it is nothing extra."""
    return {"/".join(parts[:n]) for to in places if (parts := to.split("/")) for n in range(1, len(parts))}


def _raise(error: OSError) -> None:
    raise error


def _equal(item: PlanItem, file: Path) -> bool:
    status = file.lstat()
    if item.link is not None:
        return stat.S_ISLNK(status.st_mode) and str(file.readlink()) == item.link
    if not stat.S_ISREG(status.st_mode) or bool(status.st_mode & stat.S_IXUSR) != item.executable:
        return False
    if item.source is None:
        return file.read_bytes() == item.content
    if item.source.stat().st_size != status.st_size:
        return False
    return item.source.samefile(file) or _same_bytes(item.source, file)


def _same_bytes(one: Path, other: Path) -> bool:
    with one.open("rb") as first, other.open("rb") as second:
        while True:
            a, b = first.read(_CHUNK), second.read(_CHUNK)
            if a != b:
                return False
            if not a:
                return True
