"""Decide which names can be sealed, and where links lead, on text alone: sealing and opening have to agree."""

from __future__ import annotations

from collections.abc import Mapping

from mlsub.io.show import folded
from mlsub.submission.audit import LINK_BROKEN, LINK_CIRCLE, LINK_ESCAPES, follow
from mlsub.submission.find import SEALED

#: Bytes of a whole path, of one name (the limit of most file systems), and folders in folders.
MAX_PATH = 1024
MAX_NAME = 255
MAX_DEPTH = 64
#: Names that links lead through in one tree: four for each link that it may have.
MAX_STEPS = 2_000_000
_LINKS = {
    LINK_ESCAPES: "the link leads out of the tree",
    LINK_CIRCLE: "the link leads in a circle",
    LINK_BROKEN: "there are too many links to follow",
}
SAME_NAME = "another member has this name, but for case, form of accents or invisible characters"
#: The manifest's place in an archive; so no tree can be called this.
MANIFEST = SEALED
#: What lies beside a sealed file is named like it, and ends so.
RECEIPT_SUFFIX, MANIFEST_SUFFIX, SHA1_SUFFIX = ".receipt.txt", f".{MANIFEST}", ".sha1"


def name_problem(path: str) -> str | None:
    """Return what keeps a relative path (``/`` between its parts) from being sealed or unpacked; None if nothing."""
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
    if len(path.encode()) > MAX_PATH:
        return f"the path is longer than {MAX_PATH} bytes"
    return f"the path is deeper than {MAX_DEPTH} folders" if len(parts) > MAX_DEPTH else None


def target_problem(target: str) -> str | None:
    """Return what is wrong with the text of a link; None if nothing is."""
    if target.startswith("/"):
        return "the link is absolute"
    if not target:
        return "the link is empty"
    if len(target) > MAX_PATH:
        return f"the link's target is longer than {MAX_PATH} characters"
    rest = "/".join(part for part in target.split("/") if part not in ("", ".", ".."))
    problem = name_problem(rest) if rest else None
    return problem and f"of the link's target, {problem}"


def link_problems(links: Mapping[str, str]) -> dict[str, str]:
    """Return why links leave their tree, for each that does; what is not there counts as a folder.

    A link may not be spelled in another way than it is called: where case does not count, it would be followed.

    Args:
        links: every link of the tree, and its target; the first part of a path is the tree.
    """
    # Without dots and empty parts, so that every step is counted.
    short = ("/".join(part for part in target.split("/") if part not in ("", ".")) for target in links.values())
    inside = {path.partition("/")[2]: target for path, target in zip(links, short, strict=True)}
    spelled = {folded(path) for path in inside}
    steps = 0

    def visit(path: str) -> str | None:
        nonlocal steps
        steps += 1
        if steps > MAX_STEPS:
            return LINK_BROKEN
        other = path not in inside and folded(path) in spelled
        return "the link leads through another one, and spells it differently" if other else None

    found = {}
    for path, target in links.items():
        if why := target_problem(target) or follow(path.partition("/")[2], inside, visit):
            found[path] = _LINKS.get(why, why)
    return found
