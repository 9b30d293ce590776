"""Reads a page as a browser does, and compares it with the same page made of harmless text."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, field
from html.parser import HTMLParser
from typing import Any

from tests.campaigns.fuzz.harness import BrokenError

#: Attributes whose value is text from outside, or a path made of it; all others have to be the same on both pages.
_TEXTS = frozenset({"title", "aria-label"})
_ADDRESSES = frozenset({"href", "src"})
#: Addresses within a site, and those that a document may name.
_INSIDE = re.compile(r"(?:\.\./)*[\w.-]+(?:/[\w.-]+)*|#[\w.-]+", re.ASCII)
_OUTSIDE = re.compile(r"https://[\w./~%-]+", re.ASCII)
#: Where something lies in a picture: words are as wide as they are long.
_PLACES = frozenset({"x", "y", "d", "width", "height", "viewbox"})
_PLACE = re.compile(r"[-\d. MVHlahZ]*", re.ASCII)
_STEERING = re.compile(r"[\x00-\x09\x0b-\x1f\x7f-\x9f\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff]")


@dataclass
class Read(HTMLParser):
    """What a browser makes of a page: its elements in order, the text between them, and what stands in scripts."""

    page: str
    elements: list[tuple[str, tuple[tuple[str, str | None], ...]]] = field(default_factory=list)
    texts: list[str] = field(default_factory=list)
    data: list[Any] = field(default_factory=list)
    values: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self._raw = ""
        self.feed(self.page)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, tuple((name, None if _differs(name, value) else value) for name, value in attrs)))
        self.values += [value or "" for name, value in attrs if name in _TEXTS]
        for name, value in attrs:
            if name in _ADDRESSES:
                _check_address(tag, name, value or "")
            elif name.startswith("on"):
                raise BrokenError(f"a handler: {name}={value!r}")
        self._raw = tag if tag in ("script", "style") else ""

    def handle_endtag(self, tag: str) -> None:
        self.elements.append((f"/{tag}", ()))
        self._raw = ""

    def handle_data(self, data: str) -> None:
        if self._raw == "script":
            try:
                self.data.append(json.loads(data))
            except ValueError as error:
                raise BrokenError(f"a script that is not data: {data!r}") from error
        elif self._raw != "style":
            self.texts.append(data)

    def handle_comment(self, data: str) -> None:
        raise BrokenError(f"a comment: {data!r}")

    def unknown_decl(self, data: str) -> None:
        raise BrokenError(f"a declaration: {data!r}")

    handle_pi = unknown_decl

    @property
    def text(self) -> str:
        """All text outside of scripts and styles."""
        return "".join(self.texts)


def _differs(name: str, value: str | None) -> bool:
    """Whether an attribute may have another value where the text is another: addresses, and places in a picture."""
    return name in _TEXTS | _ADDRESSES or (name in _PLACES and _PLACE.fullmatch(value or "") is not None)


def _check_address(tag: str, name: str, value: str) -> None:
    known = (
        _INSIDE.fullmatch(value) or (tag == "a" and _OUTSIDE.fullmatch(value)) or (tag == "link" and value == "data:,")
    )
    if not known:
        raise BrokenError(f"{tag} {name}={value!r}")


def same_page(page: str, quiet: str) -> Read:
    """The page has the elements and attributes of the one made of harmless text, and no control character.

    Raises:
        BrokenError: it does not.
    """
    check_characters(page)
    read, other = Read(page), Read(quiet)
    if read.elements != other.elements:
        pairs = zip(read.elements, other.elements, strict=False)
        at = next((at for at, (one, two) in enumerate(pairs) if one != two), -1)
        raise BrokenError(f"element {at} is {read.elements[at]}, with harmless text {other.elements[at]}")
    return read


def check_characters(page: str) -> None:
    """No character in a page steers how it is shown.

    Raises:
        BrokenError: one does.
    """
    if found := _STEERING.search(page):
        raise BrokenError(f"{found[0]!r} in {page[max(0, found.start() - 60) : found.end() + 60]!r}")


def squeezed(text: str) -> str:
    """Text without blanks and line ends, which layouts may change."""
    return "".join(text.split())
