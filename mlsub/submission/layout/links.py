"""Links that lead nowhere, or out of the package."""

from __future__ import annotations

from collections.abc import Collection, Iterator

from mlsub.findings import Finding
from mlsub.submission.layout.model import ItemKind, Listing, gathered
from mlsub.submission.layout.strays import is_stray_name

_MAX_HOPS, _MAX_PARTS = 40, 200
_ESCAPES, _BROKEN, _CIRCLE = "escapes", "broken", "circle"


def escaping_links(listing: Listing) -> list[str]:
    """The links that lead out of the package."""
    return [path for path, fault in _faults(listing) if fault == _ESCAPES]


def audit_links(listing: Listing, judged: Collection[str] = ()) -> Iterator[Finding]:
    """Each link, by what its text says: the disk is not asked again.

    ``judged`` are paths whose reading has findings of its own; of these only those that lead out are reported.
    """
    bad: dict[str, list[str]] = {}
    for path, fault in _faults(listing):
        if fault == _ESCAPES or path not in judged:
            bad.setdefault(fault, []).append(path)
    yield from gathered("layout.link-escapes", bad.get(_ESCAPES, ()))
    yield from gathered("layout.link-broken", bad.get(_BROKEN, ()))
    yield from gathered("layout.link-broken", bad.get(_CIRCLE, ()), "Links are circular")


def _faults(listing: Listing) -> Iterator[tuple[str, str]]:
    links = {item.path: item.target for item in listing.items if item.kind is ItemKind.LINK and item.target is not None}
    for path in links:
        fault = _follow(path, links, listing.paths, listing)
        if fault is not None:
            yield path, fault


def _follow(path: str, links: dict[str, str], there: Collection[str], listing: Listing) -> str | None:
    """What is wrong with where a link leads in the end; None where nothing is, or where it cannot be known."""
    done: list[str] = path.split("/")[:-1]
    todo = _parts(links[path])
    if links[path].startswith("/"):
        return _ESCAPES
    hops = 1
    while todo:
        if len(todo) > _MAX_PARTS:
            return _BROKEN
        part = todo.pop(0)
        if part == "..":
            if not done:
                return _ESCAPES
            done.pop()
            continue
        done.append(part)
        here = "/".join(done)
        if here in links:
            hops += 1
            if hops > _MAX_HOPS:
                return _CIRCLE
            if links[here].startswith("/"):
                return _ESCAPES
            done.pop()
            todo = _parts(links[here]) + todo
        elif here not in there:
            return None if _unknown(here, listing) else _BROKEN
    return None


def _parts(target: str) -> list[str]:
    return [part for part in target.split("/") if part not in ("", ".")]


def _unknown(path: str, listing: Listing) -> bool:
    """Whether a path lies where the listing did not look."""
    *folders, _ = path.split("/")
    parent = "/".join(folders)
    return listing.cut is not None or parent in listing.closed or any(is_stray_name(folder) for folder in folders)
