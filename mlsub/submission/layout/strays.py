"""What editors, systems, compilers and crashes leave behind."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache, lru_cache

from mlsub.findings import Finding
from mlsub.io.data import shipped
from mlsub.submission.layout.model import Item, ItemKind, Listing, gathered, parents


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
        kind = _folder_kind(path.rpartition("/")[2]) if above[folder] else _kind(item)
        if kind is not None:
            strays.setdefault(kind, {})[path] = None
    return {kind: list(paths) for kind, paths in strays.items()}


def audit_strays(strays: dict[str, list[str]]) -> Iterator[Finding]:
    """What was left lying about, one finding a kind and area of the tree."""
    for kind, paths in strays.items():
        yield from gathered("layout.stray", paths, f"The package contains {kind}")


def _kind(item: Item) -> str | None:
    if item.kind is ItemKind.FOLDER:
        return _folder_kind(item.name)
    return _match("files", item.name) if item.kind is ItemKind.FILE else None


def _folder_kind(name: str) -> str | None:
    return _match("folders", name)


@lru_cache(maxsize=4096)
def _match(table: str, name: str) -> str | None:
    return next((kind for kind, pattern in _patterns(table).items() if pattern.fullmatch(name)), None)


@cache
def _patterns(table: str) -> dict[str, re.Pattern[str]]:
    kinds = shipped(__file__, "strays.yaml", dict[str, dict[str, str]])[table]
    return {kind: re.compile(pattern) for kind, pattern in kinds.items()}
