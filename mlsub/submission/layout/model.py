"""A listing of a tree: names, kinds and sizes, no contents."""

from __future__ import annotations

from enum import StrEnum

import msgspec


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


class Listing(msgspec.Struct, frozen=True, kw_only=True):
    """A tree's items, sorted by path.

    ``closed`` are folders nobody looked into, for they could not be read (``.`` is the whole tree); ``cut`` says that
    there are more files, or folders lie deeper, than anybody lists; ``unfilled`` are paths of templates nobody has
    filled in.
    """

    items: tuple[Item, ...]
    closed: tuple[str, ...] = ()
    cut: str | None = None
    unfilled: tuple[str, ...] = ()


class Place(msgspec.Struct, frozen=True):
    """One system and benchmark with results."""

    system: str
    benchmark: str


def folder_paths(items: tuple[Item, ...]) -> set[str]:
    """Every folder of a listing, be it named itself or only a part of another path."""
    folders = {item.path for item in items if item.kind is ItemKind.FOLDER}
    for item in items:
        parent = item.parent
        while parent and parent not in folders:
            folders.add(parent)
            parent = parent.rpartition("/")[0]
    return folders


def parents(path: str) -> list[str]:
    """The folders above a path, the topmost first."""
    parts = path.split("/")[:-1]
    return ["/".join(parts[: count + 1]) for count in range(len(parts))]
