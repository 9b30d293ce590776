"""Names that git, Windows or the official repository check take badly."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Collection, Iterator

from mlsub.findings import Finding
from mlsub.submission.layout.gather import gathered
from mlsub.submission.layout.model import Listing, folder_paths, parents

#: Windows paths end at 260 characters; this leaves room for the folders above a clone's organisation.
MAX_PATH = 220
_RESERVED = re.compile(r"(con|prn|aux|nul|com[0-9]|lpt[0-9])(\..*)?", re.IGNORECASE)
_NOT_ON_WINDOWS = re.compile(r'[<>:"|?*\\]')


def audit_names(listing: Listing, strays: Collection[str]) -> Iterator[Finding]:
    """Each name is judged once, by its worst trait; strays have a finding of their own and go anyway."""
    there = {item.path for item in listing.items} | folder_paths(listing.items)
    paths = sorted(path for path in there if path not in strays and not any(above in strays for above in parents(path)))
    worst: dict[tuple[str, str], list[str]] = {}
    for path in paths:
        trait = _trait(path.rpartition("/")[2])
        if trait is not None:
            worst.setdefault(trait, []).append(path)
        if len(path) > MAX_PATH:
            worst.setdefault(("layout.name-too-long", f"Paths are longer than {MAX_PATH} characters"), []).append(path)
    for (rule, message), bad in worst.items():
        yield from gathered(rule, message, bad)
    yield from gathered(
        "layout.name-collision", "Names differ only in case or in how accents are written", _colliding(paths)
    )


def _trait(name: str) -> tuple[str, str] | None:
    """The rule a name breaks, and the words for it."""
    try:
        name.encode()
    except UnicodeEncodeError:
        return "layout.name-unportable", "Names are not UTF-8"
    if any(unicodedata.category(character) in ("Cc", "Cf", "Zl", "Zp") for character in name):
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
        other = first.setdefault(unicodedata.normalize("NFC", path).casefold(), path)
        # Below two colliding folders everything collides; they are enough.
        if other != path and other.rpartition("/")[0] == path.rpartition("/")[0]:
            colliding.append(path)
    return colliding
