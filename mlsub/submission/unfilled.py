"""What nobody has filled in yet: templates beside the code, and the fields of descriptions that say TODO."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import msgspec

from mlsub.io.data import loads
from mlsub.io.errors import reason_of
from mlsub.submission.listing import MARKER, content_of, is_unfilled, list_tree, may_be_template
from mlsub.systems.fields import placeholders_in

#: A line of the template of README.md, which may be a comment or an item by now.
_LINE = re.compile(r"^[^\w\n]*+TODO\b", re.MULTILINE)


class Unfilled(msgspec.Struct, frozen=True):
    """A file that is not finished: ``template`` where nobody has begun, else the ``fields`` or lines that are left."""

    path: str
    template: bool
    fields: tuple[str, ...] = ()


def unfilled_in(folder: Path) -> tuple[Unfilled, ...]:
    """What is unfinished in an organisation's folder; of a file that cannot be read, that is left."""
    found: list[Unfilled] = []
    for path in (item.path for item in list_tree(folder).items if may_be_unfilled(item.path)):
        try:
            found += unfilled_of([(path, path, content_of(folder / path))])
        except OSError as error:
            found.append(Unfilled(path, template=False, fields=(f"it cannot be read: {reason_of(error)}",)))
    return tuple(found)


def may_be_unfilled(to: str) -> bool:
    """Whether a place of the package is one that people fill in."""
    return is_description(to) or may_be_template(to)


def is_description(to: str) -> bool:
    """Whether a place of the package is that of a system description."""
    return to.startswith("systems/") and to.endswith(".json") and to.count("/") == 1


def unfilled_of(files: Iterable[tuple[str, str, bytes]]) -> Iterator[Unfilled]:
    """What is unfinished among some files.

    Args:
        files: of each its place in the package, what messages call it, and its content.
    """
    for to, path, content in files:
        if may_be_template(to) and is_unfilled(content):
            yield Unfilled(path, template=True)
        elif left := tuple(_left(to, content)):
            yield Unfilled(path, template=False, fields=left)


def _left(to: str, content: bytes) -> Iterator[str]:
    if to.endswith(".json"):
        yield from (place for _, place in placeholders_in(_fields(content)))
    elif to.endswith(".md"):
        text = content.decode("utf-8", "replace")
        yield from (f"line {text.count(chr(10), 0, match.end()) + 1}" for match in _LINE.finditer(text))


def _fields(content: bytes) -> dict[str, Any]:
    """The fields of a JSON file; those who read it for what it is report one that is broken."""
    try:
        found = loads(content.decode("utf-8-sig"))
    except (ValueError, RecursionError):
        return {}
    return {name: value for name, value in found.items() if name != MARKER} if isinstance(found, dict) else {}
