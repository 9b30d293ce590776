"""Which names can travel, and where links lead: decided on text alone, so that sealing and opening agree."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from mlsub.io.spelling import folded

#: Bytes of a whole path, of one name (the limit of most file systems), and folders in folders.
MAX_PATH = 1024
MAX_NAME = 255
MAX_DEPTH = 64
#: Links followed from one name; the limit of Linux.
MAX_LINKS = 40
CIRCLE = "the link leads in a circle"
SAME_NAME = "another member has this name, but for case, form of accents or invisible characters"
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
    if len(target) > MAX_PATH:
        return f"the link's target is longer than {MAX_PATH} characters"
    rest = "/".join(part for part in target.split("/") if part not in ("", ".", ".."))
    problem = name_problem(rest) if rest else None
    return problem and f"of the link's target, {problem}"


class Names:
    """The names of an archive's members, of which no file system may take two for one; the manifest's is among them."""

    def __init__(self) -> None:
        self._paths = {folded(MANIFEST): MANIFEST}

    def add(self, path: str) -> str | None:
        """Take a name; returns the one that is the same somewhere, if there is one already."""
        key = folded(path)
        other = self._paths.get(key)
        self._paths[key] = path
        return other


class Links:
    """Where the links of a tree lead; each is followed once, however many lead through it.

    A path without its links says nothing: ``b/..`` is elsewhere if ``b`` is a link. So links on the way are followed,
    as the system would. What is not there counts as a folder. A link may not be spelled in another way than it is
    called: where case does not count, it would be followed all the same.
    """

    def __init__(self, links: Mapping[str, str]) -> None:
        """Take every link of the tree: path and target. The first part of a path is the tree."""
        self._links = links
        self._folded = {folded(path) for path in links}
        #: Of each link that was followed: where it leads and over how many links, or what is wrong.
        self._ends: dict[str, _End | str] = {}

    def problem(self, path: str) -> str | None:
        """Whether following the link at ``path``, in whose parents there is none, leaves the tree; None if not."""
        if path not in self._ends:
            self._follow(path)
        end = self._ends[path]
        return end if isinstance(end, str) else None

    def _follow(self, path: str) -> None:
        """Find the end of a link, and first those of the links that it leads through."""
        walks = [_Walk(path, self._links[path])]
        self._ends[path] = CIRCLE
        while walks:
            walk = walks[-1]
            through = walk.go(self._links, self._folded, self._ends)
            if through is None:
                self._ends[walk.path] = walk.end
                walks.pop()
            else:
                # Whoever comes back to it while its end is looked for goes in a circle.
                self._ends[through] = CIRCLE
                walks.append(_Walk(through, self._links[through]))


class _End(NamedTuple):
    """Where a link leads, as the parts of a path below the tree, and over how many links, itself among them."""

    at: list[str]
    followed: int


class _Walk:
    """The way that a link leads, as far as it is known."""

    def __init__(self, path: str, target: str) -> None:
        self.path = path
        self._top, *self._at = path.split("/")
        self._at.pop()
        self._todo = target.split("/")[::-1]
        self._followed = 1
        self._problem = target_problem(target)

    @property
    def end(self) -> _End | str:
        return self._problem or _End(self._at, self._followed)

    def go(self, links: Mapping[str, str], folded_links: set[str], ends: Mapping[str, _End | str]) -> str | None:
        """Go on to the end, or to a link whose end is not known yet, which is the answer."""
        while self._todo and not self._problem:
            part = self._todo.pop()
            if part in ("", "."):
                continue
            if part == "..":
                if self._at:
                    self._at.pop()
                else:
                    self._problem = "the link leads out of the tree"
                continue
            # Nothing of a tree lies deeper.
            below = "/".join((self._top, *self._at, part)) if len(self._at) < MAX_DEPTH else ""
            if below not in links:
                self._at.append(part)
                if folded(below) in folded_links:
                    self._problem = "the link leads through another one, and spells it differently"
            elif below in ends:
                self._take(ends[below])
            else:
                self._todo.append(part)
                return below
        return None

    def _take(self, end: _End | str) -> None:
        if isinstance(end, str):
            self._problem = end
            return
        self._at = list(end.at)
        self._followed += end.followed
        if self._followed > MAX_LINKS:
            self._problem = CIRCLE
