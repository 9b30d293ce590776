"""The audit of a package's tree: all its rules over one listing, among them those on names, links and the top level.

All of it is review; the official verdict comes from ``results/`` and ``systems/`` alone.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Collection, Iterator, Mapping
from functools import lru_cache

from mlsub.findings import Finding
from mlsub.io.show import folded
from mlsub.rules.catalogue import finding
from mlsub.submission.code import CODE_USAGES, MAX_BYTES, audit_code
from mlsub.submission.file_tree import FileTree, ItemKind, gathered, named, parents, stray_kind, stray_paths

_TOP = ("systems", "benchmarks", "results")
#: Besides those of the rules: papers, a manifest, and what the official tools read or write there.
_WELCOME = re.compile(
    r"(readme|licen[cs]|copying|copyright|notice|contributing|citation|changelog|security|codeowners).*"
    r"|package_checker_params|(package|repo|compliance|system_desc|rcp)_check.*|(?=.*summar).*\.(csv|json|log|md|txt)"
    r"|submission\.ya?ml",
    re.IGNORECASE,
)
#: Windows paths end at 260 characters; this leaves room for the folders above a clone's organisation.
MAX_PATH = 220
_RESERVED = re.compile(r"(con|prn|aux|nul|com[0-9]|lpt[0-9])(\..*)?", re.IGNORECASE)
_NOT_ON_WINDOWS = re.compile(r'[<>:"|?*\\]')


def audit_layout(
    file_tree: FileTree,
    systems: Mapping[str, Collection[str]],
    usage: str,
    judged: Collection[str] = (),
    explained: Collection[str] = (),
) -> Iterator[Finding]:
    """Yield the findings on a tree, all audit; their paths are relative to the organisation's folder.

    Args:
        file_tree: the tree.
        systems: those with results, by their benchmarks.
        usage: ``training``, ``hpc`` or ``rehearsal``; the last asks for no code.
        judged: paths of logs and descriptions, which others read: one that cannot be read has a finding already.
        explained: paths that another finding speaks of, so that they are not reported as left over or unused.
    """
    strays = stray_paths(file_tree)
    stray = {path for paths in strays.values() for path in paths}
    if usage in CODE_USAGES:
        yield from audit_code(file_tree, systems)
        yield from audit_top(file_tree, systems, stray, explained)
    large = [item.path for item in file_tree.items if item.kind is ItemKind.FILE and (item.size or 0) > MAX_BYTES]
    yield from gathered("layout.file-size", large)
    special = [item.path for item in file_tree.items if item.kind is ItemKind.OTHER and item.path not in judged]
    yield from gathered("layout.special-file", special)
    yield from audit_names(file_tree, stray)
    yield from audit_links(file_tree, judged)
    for kind, paths in strays.items():
        fresh = [path for path in paths if path not in explained]
        yield from gathered("layout.stray", fresh, f"The package contains {kind}")
    yield from _unknown(file_tree)
    if file_tree.cut is not None:
        yield finding("layout.not-listed", ".", actual=file_tree.cut)


def _unknown(file_tree: FileTree) -> Iterator[Finding]:
    """Yield what the system did not let us look at, by the reason."""
    for unknown, message in (
        (file_tree.closed, "Folders cannot be read, so their contents are unknown"),
        (file_tree.unread, "Files cannot be accessed"),
    ):
        for reason in sorted(set(unknown.values())):
            some = [path for path, why in unknown.items() if why == reason]
            yield from gathered("layout.not-listed", some, f"{message}: {reason}")


def audit_top(
    file_tree: FileTree,
    systems: Mapping[str, Collection[str]],
    strays: Collection[str],
    explained: Collection[str] = (),
) -> Iterator[Finding]:
    """Yield names at the top that the rules do not place there, and descriptions of systems without results."""
    top = {item.path.partition("/")[0] for item in file_tree.items}
    odd = sorted(
        name
        for name in top
        if name not in _TOP
        and not _WELCOME.fullmatch(name)
        and not name.startswith(".")
        and name not in (*strays, *explained)
    )
    if "benchmarks" not in top:
        # That of a misspelled benchmarks folder is another finding.
        odd = [name for name in odd if not (name in file_tree.folders and name.lower().startswith("bench"))]
    if odd:
        yield finding("layout.top-level", odd[0] if len(odd) == 1 else ".", actual=named(odd) if len(odd) > 1 else None)
    yield from _unused_descriptions(file_tree, systems, explained)


def _unused_descriptions(
    file_tree: FileTree, systems: Mapping[str, Collection[str]], explained: Collection[str]
) -> Iterator[Finding]:
    with_results = {system for names in systems.values() for system in names}
    unused = sorted(
        item.name.removesuffix(".json")
        for item in file_tree.items
        if item.parent == "systems"
        and item.kind in (ItemKind.FILE, ItemKind.LINK)
        and item.name.endswith(".json")
        and not item.name.startswith(".")
        and item.name.removesuffix(".json") not in with_results
        and item.path not in explained
    )
    if unused and with_results:
        yield finding(
            "layout.system-unused",
            "systems" if len(unused) > 1 else f"systems/{unused[0]}.json",
            actual=named(unused) if len(unused) > 1 else None,
        )


def audit_names(file_tree: FileTree, strays: Collection[str]) -> Iterator[Finding]:
    """Yield a finding on each name by its worst trait; strays have one of their own."""
    paths = sorted(file_tree.paths)
    if strays:
        paths = [path for path in paths if path not in strays and not any(above in strays for above in parents(path))]
    worst: dict[tuple[str, str | None], list[str]] = {}
    for path in paths:
        trait = _trait(path.rpartition("/")[2])
        if trait is not None:
            worst.setdefault(trait, []).append(path)
        if len(path) > MAX_PATH:
            worst.setdefault(("layout.name-too-long", None), []).append(path)
    for (rule, message), bad in worst.items():
        yield from gathered(rule, bad, message)
    yield from gathered("layout.name-collision", _colliding(paths))


@lru_cache(maxsize=4096)
def _trait(name: str) -> tuple[str, str] | None:
    """Return the rule a name breaks, and the words for it."""
    try:
        name.encode()
    except UnicodeEncodeError:
        return "layout.name-unportable", "Names are not UTF-8"
    if not name.isprintable() and any(unicodedata.category(one) in ("Cc", "Cf", "Zl", "Zp") for one in name):
        return "layout.name-unportable", "Names contain control characters"
    if _NOT_ON_WINDOWS.search(name):
        return "layout.name-unportable", 'Names contain a character that Windows forbids (< > : " | ? * or a backslash)'
    if name.endswith((".", " ")):
        return "layout.name-unportable", "Names end with a dot or a space, which Windows drops"
    if _RESERVED.fullmatch(name):
        return "layout.name-unportable", "Names are reserved for devices on Windows"
    if " " in name:
        return "layout.name-refused", "Names contain spaces"
    if name.startswith("."):
        return "layout.name-refused", "Names start with a dot"
    return None


def _colliding(paths: list[str]) -> list[str]:
    first: dict[str, str] = {}
    colliding = []
    for path in paths:
        other = first.setdefault(folded(path), path)
        # Below two colliding folders everything collides; they are enough.
        if other != path and other.rpartition("/")[0] == path.rpartition("/")[0]:
            colliding.append(path)
    return colliding


_MAX_HOPS, _MAX_PARTS = 40, 200
LINK_ESCAPES, LINK_BROKEN, LINK_CIRCLE = "escapes", "broken", "circle"


def escaping_links(file_tree: FileTree) -> list[str]:
    """Return the links that lead out of the package."""
    return [path for path, fault in link_faults(file_tree) if fault == LINK_ESCAPES]


def audit_links(file_tree: FileTree, judged: Collection[str] = ()) -> Iterator[Finding]:
    """Yield the findings on links, by what their text says: the disk is not asked again.

    ``judged`` are paths whose reading has findings of its own; of these only those that lead out are reported, the
    logs among them by their entries.
    """
    bad: dict[str, list[str]] = {}
    logs: dict[str, list[str]] = {}
    for path, fault in link_faults(file_tree):
        if fault == LINK_ESCAPES and path in judged and path.startswith("results/"):
            logs.setdefault(path.rpartition("/")[0], []).append(path)
        elif fault == LINK_ESCAPES or path not in judged:
            bad.setdefault(fault, []).append(path)
    for entry, members in logs.items():
        yield from gathered("layout.log-link", members, within=entry)
    yield from gathered("layout.link-escapes", bad.get(LINK_ESCAPES, ()))
    yield from gathered("layout.link-broken", bad.get(LINK_BROKEN, ()))
    yield from gathered("layout.link-broken", bad.get(LINK_CIRCLE, ()), "Links are circular")


def link_faults(file_tree: FileTree) -> Iterator[tuple[str, str]]:
    """Yield each link that leads out of the tree, nowhere or in a circle, and which of these."""
    links = {
        item.path: item.target for item in file_tree.items if item.kind is ItemKind.LINK and item.target is not None
    }

    def visit(path: str) -> str | None:
        if path in file_tree.paths:
            return None
        *folders, _ = path.split("/")
        # Nobody knows what lies where the listing did not look.
        closed = file_tree.cut is not None or "/".join(folders) in file_tree.closed
        return "" if closed or any(map(stray_kind, folders)) else LINK_BROKEN

    for path in links:
        if fault := follow(path, links, visit):
            yield path, fault


def follow(path: str, links: Mapping[str, str], visit: Callable[[str], str | None]) -> str | None:
    """Return what is wrong with where a link leads in the end, on text alone; nothing or None where nothing is.

    A path without its links says nothing: ``b/..`` is elsewhere if ``b`` is a link. So links on the way are followed,
    as the system would.

    Args:
        path: the link, whose parents are no links.
        links: the links of the tree, and their targets.
        visit: gets each name on the way; what it returns but None is the answer.
    """
    done, todo, hops = path.split("/")[:-1], [path.rpartition("/")[2]], 0
    while todo:
        if len(todo) > _MAX_PARTS:
            return LINK_BROKEN
        part = todo.pop()
        if part == "..":
            if not done:
                return LINK_ESCAPES
            done.pop()
            continue
        here = "/".join((*done, part))
        if (fault := visit(here)) is not None:
            return fault
        if here in links:
            hops += 1
            if hops > _MAX_HOPS:
                return LINK_CIRCLE
            if links[here].startswith("/"):
                return LINK_ESCAPES
            todo += [part for part in reversed(links[here].split("/")) if part not in ("", ".")]
        else:
            done.append(part)
    return None
