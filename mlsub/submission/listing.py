"""A listing of a tree (names, kinds and sizes), what in it nobody means to submit, and templates left unfilled."""

from __future__ import annotations

import errno
import json
import os
import re
import stat
from collections.abc import Iterable, Iterator
from enum import StrEnum
from functools import cache, cached_property, lru_cache
from pathlib import Path

import msgspec

from mlsub.findings import Finding
from mlsub.io.data import shipped
from mlsub.io.errors import reason_of
from mlsub.io.look import is_nothing, open_regular
from mlsub.rules.catalogue import finding

#: While a file contains this, it is a template; the audit looks for it.
MARKER = "mlsub-template"
#: What people fill in is some kilobytes.
_MAX_BYTES = 1 << 20
#: Nobody fills in a template with more bytes than these.
MOST = 1 << 16
#: What a line of a template says that asks to be filled in, and the lines that any script may have.
_ASK, _COMMON = ("TODO", "nobody has filled in"), {"", "#!/bin/bash", "set -euo pipefail"}
_NAME = re.compile(r"\{[a-z]+\}")


class _TemplateFile(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A file beside a benchmark's code: a word on it, and its template."""

    word: str
    content: str


class _Shipped(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    files: dict[str, _TemplateFile]
    metadata: dict[str, str]


class Template(msgspec.Struct, frozen=True):
    """A file to begin with: its path relative to the organisation's folder, its content, whether it is a script."""

    path: str
    content: str
    executable: bool


def templates(system: str, benchmark: str, implementation: str) -> tuple[Template, ...]:
    """The files of ``benchmarks/<benchmark>/<system>/``, each marked as not filled in; its scripts refuse to run.

    The fields of the JSON file are the metadata that MLCommons' submission rules list for an implementation on a
    system, spelled as the Inference checker spells them: no tool of Training reads the file.
    """
    names = {"system": system, "benchmark": benchmark, "implementation": implementation, "marker": MARKER}
    folder = f"benchmarks/{benchmark}/{system}"
    shapes = shipped(__file__, "templates.yaml", _Shipped)
    found = [
        Template(f"{folder}/{name}", file.content.format(**names), executable=name.endswith(".sh"))
        for name, file in shapes.files.items()
    ]
    metadata = {MARKER: "fill in every TODO, then remove this field", **shapes.metadata}
    content = json.dumps(metadata, indent=2) + "\n"
    return (*found, Template(f"{folder}/{system}_{implementation}.json", content, executable=False))


def template_words() -> dict[str, str]:
    """A word on each file that has a template, by its name."""
    return {name: file.word for name, file in shipped(__file__, "templates.yaml", _Shipped).files.items()}


def is_unfilled(content: bytes) -> bool:
    """Whether a file is a template that is to be filled in: it has a line of its own left, or refuses to run.

    Headings may stay, as they are no sentences; a file with nothing else is a template all the same.
    """
    if any(piece in content for piece in _asking()):
        return True
    lines = [line.strip() for line in content[:MOST].decode("utf-8", "replace").splitlines()]
    lines = [line for line in lines if line not in _COMMON]
    own = [line for line in lines if _line().fullmatch(line)]
    done = [line for line in lines if not line.startswith("#")]
    return any(line.endswith(".") for line in own) or done[:1] == ["exit 1"] or (bool(own) and own == lines)


@cache
def _asking() -> tuple[bytes, ...]:
    """What the lines of templates say that ask to be filled in, without the names in them."""
    lines = (line for text in _texts() for line in text.splitlines() if any(word in line for word in _ASK))
    lines = (line.strip().removesuffix(" >&2") for line in lines)
    return (MARKER.encode(), *(max(_NAME.split(line), key=len).encode() for line in lines))


@cache
def _line() -> re.Pattern[str]:
    """Any line of a template, whatever the names in it."""
    lines = dict.fromkeys(line.strip() for text in _texts() for line in text.splitlines())
    return re.compile("|".join(".{1,200}".join(map(re.escape, _NAME.split(line))) for line in lines if line))


def _texts() -> tuple[str, ...]:
    shapes = shipped(__file__, "templates.yaml", _Shipped)
    return (*(file.content for file in shapes.files.values()), "\n".join(map(json.dumps, shapes.metadata.values())))


def begins_as_template(file: Path) -> bool:
    """Whether a file is a template that nobody has filled in; a link is none.

    Raises:
        OSError: it cannot be read.
    """
    return is_unfilled(content_of(file, MOST, follow=False))


def content_of(file: Path, limit: int = _MAX_BYTES, *, follow: bool = True) -> bytes:
    """Return the first megabyte of a file, or as many bytes as asked for; nothing of what is not a file.

    Raises:
        OSError: it cannot be read.
    """
    try:
        with open_regular(file, follow=follow) as stream:
            return stream.read(limit)
    except OSError as error:
        # ENXIO is that of a socket.
        if is_nothing(error) or error.errno == errno.ENXIO:
            return b""
        raise


#: The files beside a benchmark's code that templates are made of.
README = "README.md"
SCRIPTS = ("setup.sh", "init_datasets.sh", "run_and_time.sh")
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


def may_be_template(path: str) -> bool:
    """Whether templates are put at a place of the tree: benchmarks/<benchmark>/<system>/<name>."""
    parts = path.split("/")
    return (
        len(parts) == 4 and parts[0] == "benchmarks" and (parts[3] in (README, *SCRIPTS) or parts[3].endswith(".json"))
    )


def _is_unfilled_template(folder: Path, item: Item, unread: dict[str, str]) -> bool:
    if item.kind is not ItemKind.FILE or not may_be_template(item.path) or item.path in unread:
        return False
    from mlsub.submission.listing import begins_as_template

    try:
        return begins_as_template(folder / item.path)
    except OSError as error:
        unread[item.path] = reason_of(error)
        return False


def is_stray_folder(item: Item) -> bool:
    """Whether a folder is one that nobody means to submit, whatever lies in it."""
    return item.kind is ItemKind.FOLDER and is_stray_name(item.name)


def is_stray_name(folder: str) -> bool:
    """The same by a folder's name."""
    return _folder_kind(folder) is not None


def stray_paths(listing: Listing) -> dict[str, list[str]]:
    """The strays by what they are; what lies in a stray folder is not named again."""
    strays: dict[str, dict[str, None]] = {}
    above: dict[str, str | None] = {}
    for item in listing.items:
        folder = item.parent
        if folder not in above:
            # The topmost stray folder stands for all in it, whether or not it is listed.
            outer = (parent for parent in parents(item.path) if is_stray_name(parent.rpartition("/")[2]))
            above[folder] = next(outer, None)
        path = above[folder] or item.path
        kind = _folder_kind(path.rpartition("/")[2]) if above[folder] else _stray_kind(item)
        if kind is not None:
            strays.setdefault(kind, {})[path] = None
    return {kind: list(paths) for kind, paths in strays.items()}


def audit_strays(strays: dict[str, list[str]]) -> Iterator[Finding]:
    """What was left lying about, one finding a kind and area of the tree."""
    for kind, paths in strays.items():
        yield from gathered("layout.stray", paths, f"The package contains {kind}")


def _stray_kind(item: Item) -> str | None:
    if item.kind is ItemKind.FOLDER:
        return _folder_kind(item.name)
    return _matching_kind("files", item.name) if item.kind is ItemKind.FILE else None


def _folder_kind(name: str) -> str | None:
    return _matching_kind("folders", name)


@lru_cache(maxsize=4096)
def _matching_kind(table: str, name: str) -> str | None:
    return next((kind for kind, pattern in _patterns(table).items() if pattern.fullmatch(name)), None)


@cache
def _patterns(table: str) -> dict[str, re.Pattern[str]]:
    kinds = shipped(__file__, "strays.yaml", dict[str, dict[str, str]])[table]
    return {kind: re.compile(pattern) for kind, pattern in kinds.items()}
