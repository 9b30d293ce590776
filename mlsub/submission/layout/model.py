"""A listing of a tree (names, kinds and sizes, no contents), and findings about many of its places."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from enum import StrEnum
from functools import cached_property

import msgspec

from mlsub.findings import Finding
from mlsub.rules.catalogue import finding

#: Names shown of many.
SHOWN = 3
#: A name longer than this is shortened where several are listed.
_LONGEST = 80


class ItemKind(StrEnum):
    """What lies under a name."""

    FILE = "file"
    FOLDER = "folder"
    LINK = "link"
    OTHER = "other"


class Item(msgspec.Struct, frozen=True):
    """One name of a tree.

    ``path`` is relative to the organisation's folder, with ``/``; ``size`` is in bytes, None where it is not known;
    ``target`` is what a link says, as it says it.
    """

    path: str
    kind: ItemKind = ItemKind.FILE
    size: int | None = None
    executable: bool = False
    target: str | None = None

    @property
    def name(self) -> str:
        """The last part of the path."""
        return self.path.rpartition("/")[2]

    @property
    def parent(self) -> str:
        """The path of the folder it lies in; empty at the top."""
        return self.path.rpartition("/")[0]


class Listing(msgspec.Struct, frozen=True, kw_only=True, dict=True):
    """A tree's items, sorted by path.

    ``closed`` are folders that could not be read (``.`` is the whole tree), ``unread`` names of which nothing could be
    found out, or not what is asked of such a file, and ``reasons`` say why, by the path. ``cut`` says that there are
    more files, or folders lie deeper, than are listed; ``unfilled`` are paths of templates nobody has filled in.
    """

    items: tuple[Item, ...]
    closed: tuple[str, ...] = ()
    unread: tuple[str, ...] = ()
    reasons: dict[str, str] = {}
    cut: str | None = None
    unfilled: tuple[str, ...] = ()

    @cached_property
    def folders(self) -> frozenset[str]:
        """Every folder, whether it is listed itself or only part of another path."""
        found = {item.path for item in self.items if item.kind is ItemKind.FOLDER}
        for item in self.items:
            parent = item.parent
            while parent and parent not in found:
                found.add(parent)
                parent = parent.rpartition("/")[0]
        return frozenset(found)

    @cached_property
    def paths(self) -> frozenset[str]:
        """Every item and every folder."""
        return self.folders.union(item.path for item in self.items)


class Place(msgspec.Struct, frozen=True):
    """One system and benchmark with results."""

    system: str
    benchmark: str


def parents(path: str) -> list[str]:
    """The folders above a path, the topmost first."""
    parts = path.split("/")[:-1]
    return ["/".join(parts[: count + 1]) for count in range(len(parts))]


def area(path: str) -> str:
    """The part of the tree a path belongs to: a benchmark's code, a system's results, or a folder at the top."""
    parts = path.split("/")
    return "/".join(parts[: 2 if parts[0] in ("benchmarks", "results") and len(parts) > 2 else 1])


def gathered(
    rule: str, paths: Iterable[str], message: str | None = None, *, within: str | None = None
) -> Iterator[Finding]:
    """One finding a path where an area has only that, otherwise one an area with how many there are, and the first.

    ``within`` is one area for them all.
    """
    areas: dict[str, list[str]] = {}
    for path in sorted(paths):
        areas.setdefault(within or area(path), []).append(path)
    for place, members in areas.items():
        if len(members) == 1:
            yield finding(rule, members[0], message)
        else:
            yield finding(rule, place, message, actual=named(members, place))


def named(names: list[str], below: str = "") -> str:
    """How many there are, and the first of them, without the part that all share."""
    short = [_short(name.removeprefix(f"{below}/") if below else name) for name in names[:SHOWN]]
    more = [f"and {len(names) - SHOWN} more"] if len(names) > SHOWN else []
    return f"{len(names)}: {', '.join([*short, *more])}" if len(names) > 1 else short[0]


def _short(name: str) -> str:
    return name if len(name) <= _LONGEST else f"…{name[1 - _LONGEST :]}"
