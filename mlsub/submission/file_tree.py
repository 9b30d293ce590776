"""A listing of a tree (names, kinds and sizes), and what in it nobody means to submit."""

from __future__ import annotations

import re
import stat
from collections.abc import Iterable, Iterator
from difflib import get_close_matches
from enum import StrEnum
from functools import cached_property, lru_cache
from pathlib import Path
from typing import Literal

import msgspec

from mlsub.findings import Finding
from mlsub.io import reason_of
from mlsub.io.data import group_by_key, shipped
from mlsub.rules.catalogue import finding
from mlsub.submission.listing import FileStatus, Listing
from mlsub.submission.templates import begins_as_template, content_of, may_be_template

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


class FileTree(msgspec.Struct, frozen=True, kw_only=True, dict=True):
    """A tree's items, sorted by path.

    ``closed`` are folders that could not be read (``.`` is the whole tree), ``unread`` names of which nothing could be
    found out, or not what is asked of such a file, each with the reason. ``cut`` says that there are more files, or
    folders lie deeper, than are listed; ``unfilled`` are paths of templates nobody has filled in, ``programs`` those of
    programs among the code that their names do not give away.
    """

    items: tuple[Item, ...]
    closed: dict[str, str] = {}
    unread: dict[str, str] = {}
    cut: str | None = None
    unfilled: tuple[str, ...] = ()
    programs: tuple[str, ...] = ()

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

    @cached_property
    def code_folder(self) -> str:
        """The folder of all code: ``benchmarks``, or if that is not there, the one whose name is hardly another."""
        top = sorted({path.partition("/")[0] for path in self.folders})
        close = [] if "benchmarks" in self.paths else get_close_matches("benchmarks", top, 1, 0.9)
        return close[0] if close else "benchmarks"

    @property
    def code(self) -> tuple[str, ...]:
        """The files of the code of all benchmarks, links among them."""
        files = (item.path for item in self.items if item.kind in (ItemKind.FILE, ItemKind.LINK))
        return tuple(path for path in files if path.startswith(f"{self.code_folder}/"))


def parents(path: str) -> list[str]:
    """Return the folders above a path, the topmost first."""
    parts = path.split("/")[:-1]
    return ["/".join(parts[: count + 1]) for count in range(len(parts))]


def area(path: str) -> str:
    """Return the part of the tree a path belongs to: a benchmark's code, a system's results, or a folder at the top."""
    parts = path.split("/")
    return "/".join(parts[: 2 if parts[0] in ("benchmarks", "results") and len(parts) > 2 else 1])


def gathered(
    rule: str, paths: Iterable[str], message: str | None = None, *, within: str | None = None
) -> Iterator[Finding]:
    """Yield a finding on the path where an area has only one, otherwise one on the area that names the first of them.

    ``within`` is one area for them all.
    """
    areas = group_by_key((within or area(path), path) for path in sorted(paths))
    for place, members in areas.items():
        if len(members) == 1:
            yield finding(rule, members[0], message)
        else:
            yield finding(rule, place, message, actual=named(members, place))


def named(names: list[str], below: str = "") -> str:
    """Return how many there are, and the first of them, without the part that all share."""
    short = [_short(name.removeprefix(f"{below}/") if below else name) for name in names[:SHOWN]]
    more = [f"and {len(names) - SHOWN} more"] if len(names) > SHOWN else []
    return f"{len(names)}: {', '.join([*short, *more])}" if len(names) > 1 else short[0]


def _short(name: str) -> str:
    return name if len(name) <= _LONGEST else f"…{name[1 - _LONGEST :]}"


#: The largest published package has 2,300 files; a tree with more names than this is something else.
MAX_ITEMS = 100_000
MAX_DEPTH = 40
#: What a program of Linux begins with, and how many files are asked.
_ELF, _MOST_HEADS = b"\x7fELF", 1_000


def read_file_tree(
    folder: Path, listing: Listing | None = None, *, max_items: int = MAX_ITEMS, max_depth: int = MAX_DEPTH
) -> FileTree:
    """Return the listing of an organisation's folder. It says what cannot be looked at; nothing is raised.

    Folders of caches and of version control are items, but what lies in them is not listed.
    """
    listing = listing or Listing()
    items: list[Item] = []
    closed: dict[str, str] = {}
    unread: dict[str, str] = {}
    cut = None
    waiting = [("", 0)]
    while waiting:
        path, depth = waiting.pop()
        try:
            statuses = listing.items_in(f"{folder}/{path}" if path else folder)
        except (OSError, ValueError) as error:
            closed[path or "."] = reason_of(error)
            continue
        above = f"{path}/" if path else ""
        found = [_item(above + name, status, unread) for name, status in statuses.items()]
        items += found
        if len(items) > max_items:
            cut = f"more than {max_items:,} names"
            break
        below = [item.path for item in found if item.kind is ItemKind.FOLDER and not is_stray_folder(item)]
        if below and depth >= max_depth:
            cut = f"folders nested more than {max_depth} deep"
            continue
        waiting += [(child, depth + 1) for child in below]
    items.sort(key=lambda item: item.path)
    unfilled = tuple(item.path for item in items if _is_unfilled_template(folder, item, unread))
    asked = [item.path for item in items if _may_be_program(item) and item.path not in unread][:_MOST_HEADS]
    programs = tuple(path for path in asked if _begins_as_program(folder / path))
    closed, unread = (dict(sorted(known.items())) for known in (closed, unread))
    return FileTree(items=tuple(items), closed=closed, unread=unread, cut=cut, unfilled=unfilled, programs=programs)


def _item(path: str, found: FileStatus, unread: dict[str, str]) -> Item:
    if found.is_folder:
        return Item(path, ItemKind.FOLDER)
    if found.problem is not None:
        unread[path] = found.problem
        return Item(path)
    if found.target is not None:
        return Item(path, ItemKind.LINK, target=found.target)
    if not stat.S_ISREG(found.mode):
        return Item(path, ItemKind.OTHER)
    return Item(path, ItemKind.FILE, found.size, bool(found.mode & 0o111))


def _is_unfilled_template(folder: Path, item: Item, unread: dict[str, str]) -> bool:
    if item.kind is not ItemKind.FILE or not may_be_template(item.path) or item.path in unread:
        return False
    try:
        return begins_as_template(folder / item.path)
    except OSError as error:
        unread[item.path] = reason_of(error)
        return False


def _may_be_program(item: Item) -> bool:
    """Return whether a file among the code has a name without ending, or with one that says nothing of it."""
    ending = item.name.rpartition(".")[2].lower() if "." in item.name else ""
    is_code = item.kind is ItemKind.FILE and item.path.startswith("benchmarks/") and (item.size or 0) > len(_ELF)
    return is_code and ending in ("", "bin", "elf", "run", "x")


def _begins_as_program(file: Path) -> bool:
    try:
        return content_of(file, len(_ELF), follow=False) == _ELF
    except OSError:
        return False  # Nothing else is asked of it.


def is_stray_folder(item: Item) -> bool:
    """Return whether a folder is one that nobody means to submit, whatever lies in it."""
    return item.kind is ItemKind.FOLDER and stray_kind(item.name) is not None


@lru_cache(maxsize=4096)
def stray_kind(name: str, table: Literal["files", "folders", "code"] = "folders") -> str | None:
    """Return what a folder or a file is by its name, such as ``caches``, where nobody means to submit it; else None."""
    kinds = shipped(__file__, "strays.yaml", dict[str, dict[str, str]])[table]
    return next((kind for kind, pattern in kinds.items() if re.fullmatch(pattern, name)), None)


def stray_paths(file_tree: FileTree) -> dict[str, list[str]]:
    """Return the strays by what they are; what lies in a stray folder is not named again."""
    strays: dict[str, dict[str, None]] = {}
    for item in file_tree.items:
        # The topmost stray folder stands for all in it, whether or not it is listed.
        outer = next((above for above in parents(item.path) if stray_kind(above.rpartition("/")[2])), None)
        if outer is not None:
            kind = stray_kind(outer.rpartition("/")[2])
        elif item.kind in (ItemKind.FILE, ItemKind.FOLDER):
            kind = stray_kind(item.name, "files" if item.kind is ItemKind.FILE else "folders")
        else:
            kind = None
        if kind is not None:
            strays.setdefault(kind, {})[outer or item.path] = None
    return {kind: list(paths) for kind, paths in strays.items()}
