"""Which names can travel, and where links lead: decided on text alone, so that sealing and opening agree."""

from __future__ import annotations

from collections.abc import Mapping

#: Bytes of a whole path, of one name (the limit of most file systems), and folders in folders.
MAX_PATH = 1024
MAX_NAME = 255
MAX_DEPTH = 64
#: Links followed from one name; the limit of Linux.
MAX_LINKS = 40
#: The manifest's place in an archive; so no tree can be called this.
MANIFEST = "MANIFEST.sha256"


def name_problem(path: str) -> str | None:
    """What keeps a relative path (``/`` between its parts) from being sealed or unpacked anywhere; None if nothing."""
    if path.startswith("/"):
        return "the path is absolute"
    parts = path.split("/")
    if ".." in parts:
        return "the path leads upwards (..)"
    if "" in parts or "." in parts:
        return "the path has an empty part"
    if "\\" in path:
        return "the name has a backslash, which is a path elsewhere"
    try:
        encoded = [part.encode() for part in parts]
    except UnicodeEncodeError:
        return "the name is not UTF-8"
    if any(ord(character) < 32 or 127 <= ord(character) < 160 or character in "\u2028\u2029" for character in path):
        return "the name has control characters"
    if any(len(part) > MAX_NAME for part in encoded):
        return f"the name is longer than {MAX_NAME} bytes"
    if len("/".join(parts).encode()) > MAX_PATH:
        return f"the path is longer than {MAX_PATH} bytes"
    return f"the path is deeper than {MAX_DEPTH} folders" if len(parts) > MAX_DEPTH else None


def target_problem(target: str) -> str | None:
    """What is wrong with the text of a link; None if nothing is."""
    if target.startswith("/"):
        return "the link is absolute"
    if not target:
        return "the link is empty"
    rest = "/".join(part for part in target.split("/") if part not in ("", ".", ".."))
    problem = name_problem(rest) if rest else None
    return problem and f"of the link's target, {problem}"


def link_problem(path: str, links: Mapping[str, str]) -> str | None:
    """Whether following the link at ``path`` leaves the tree, which is the first part of ``path``.

    A path without its links says nothing: ``b/..`` is elsewhere if ``b`` is a link. So links on the way are followed,
    as the system would. What is not there counts as a folder.

    Args:
        path: of a link; its first part is the tree.
        links: every link of the tree: path and target.
    """
    top, *todo = path.split("/")
    todo.reverse()
    at: list[str] = []
    followed = 0
    while todo:
        part = todo.pop()
        if part in ("", "."):
            continue
        if part == "..":
            if not at:
                return "the link leads out of the tree"
            at.pop()
            continue
        at.append(part)
        target = links.get("/".join([top, *at]))
        if target is None:
            continue
        followed += 1
        if followed > MAX_LINKS:
            return "the link leads in a circle"
        problem = target_problem(target)
        if problem:
            return problem
        at.pop()
        todo += reversed(target.split("/"))
    return None


def folded_twice(paths: list[str]) -> list[tuple[str, str]]:
    """Pairs of paths that are one where upper and lower case are the same."""
    seen: dict[str, str] = {}
    pairs = []
    for path in paths:
        other = seen.setdefault(path.casefold(), path)
        if other != path:
            pairs.append((other, path))
    return pairs
