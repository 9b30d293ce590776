"""Templates of the files beside the code, and what nobody has filled in yet: they, and fields that say TODO."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator
from functools import cache
from pathlib import Path
from typing import Any

import msgspec

from mlsub.io import reason_of
from mlsub.io.data import loads, shipped
from mlsub.io.look import AnyPath, means_missing, open_regular
from mlsub.systems.fields import placeholders_in

#: The files beside a benchmark's code that templates are made of.
README = "README.md"
SCRIPTS = ("setup.sh", "init_datasets.sh", "run_and_time.sh")
#: While a file contains this, it is a template; the audit looks for it.
MARKER = "mlsub-template"
#: What people fill in is some kilobytes.
_MAX_BYTES = 1 << 20
#: Nobody fills in a template with more bytes than these.
MOST = 1 << 16
#: What a line of a template says that asks to be filled in, and the lines that any script may have.
_ASK, _COMMON = ("TODO", "nobody has filled in"), {"", "#!/bin/bash", "set -euo pipefail"}
_NAME = re.compile(r"\{[a-z]+\}")
#: A line of the template of README.md, which may be a comment or an item by now.
_LINE = re.compile(r"^[^\w\n]*+TODO\b", re.MULTILINE)


class Template(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A file to begin with, and a word on it; ``path`` is relative to the organisation's folder."""

    word: str
    content: str
    path: str = ""

    @property
    def executable(self) -> bool:
        """Whether it is a script."""
        return self.path.endswith(".sh")


class _Shipped(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The files of a system's folder by their names, and the fields of its JSON file."""

    files: dict[str, Template]
    metadata: dict[str, str]


def templates(system: str, benchmark: str, implementation: str) -> tuple[Template, ...]:
    """Return the files of ``benchmarks/<benchmark>/<system>/``, marked as not filled in; the scripts refuse to run.

    The fields of the JSON file are the metadata that MLCommons' submission rules list for an implementation on a
    system, spelled as the Inference checker spells them: no tool of Training reads the file.
    """
    names = {"system": system, "benchmark": benchmark, "implementation": implementation, "marker": MARKER}
    folder = f"benchmarks/{benchmark}/{system}"
    found = [
        Template(file.word, file.content.format(**names), f"{folder}/{name}") for name, file in _shipped().files.items()
    ]
    metadata = {MARKER: "fill in every TODO, then remove this field", **_shipped().metadata}
    content = json.dumps(metadata, indent=2) + "\n"
    path = f"{folder}/{system}_{implementation}.json"
    return (*found, Template("how the system used the implementation", content, path))


def _shipped() -> _Shipped:
    return shipped(__file__, "templates.yaml", _Shipped)


def is_unfilled(content: bytes) -> bool:
    """Return whether a file is a template that is to be filled in: it has a line of its own left, or refuses to run.

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
    """Return what the lines of templates say that ask to be filled in, without the names in them."""
    lines = (line for text in _texts() for line in text.splitlines() if any(word in line for word in _ASK))
    lines = (line.strip().removesuffix(" >&2") for line in lines)
    return (MARKER.encode(), *(max(_NAME.split(line), key=len).encode() for line in lines))


@cache
def _line() -> re.Pattern[str]:
    """Return a pattern for any line of a template, whatever the names in it."""
    lines = dict.fromkeys(line.strip() for text in _texts() for line in text.splitlines())
    return re.compile("|".join(".{1,200}".join(map(re.escape, _NAME.split(line))) for line in lines if line))


def _texts() -> tuple[str, ...]:
    files, metadata = _shipped().files, _shipped().metadata
    return (*(file.content for file in files.values()), "\n".join(map(json.dumps, metadata.values())))


def may_be_template(path: str) -> bool:
    """Return whether templates are put at a place of the tree: benchmarks/<benchmark>/<system>/<name>."""
    top, *inside = path.split("/")
    is_place = top == "benchmarks" and len(inside) == 3
    return is_place and (inside[2] in (README, *SCRIPTS) or inside[2].endswith(".json"))


def begins_as_template(file: Path) -> bool:
    """Return whether a file is a template that nobody has filled in; a link is none.

    Raises:
        OSError: it cannot be read.
    """
    return is_unfilled(content_of(file, MOST, follow=False))


def content_of(file: AnyPath, limit: int = _MAX_BYTES, *, follow: bool = True) -> bytes:
    """Return the first megabyte of a file, or as many bytes as asked for; nothing of what is not a file.

    Raises:
        OSError: it cannot be read.
    """
    try:
        with open_regular(file, follow=follow) as stream:
            return stream.read(limit)
    except OSError as error:
        if means_missing(error) or isinstance(error, IsADirectoryError):
            return b""
        raise


class Unfilled(msgspec.Struct, frozen=True):
    """A file that is not finished: ``template`` where nobody has begun, else the ``fields`` or lines that are left."""

    path: str
    template: bool
    fields: tuple[str, ...] = ()


def unfilled_in(folder: Path, root: Path) -> tuple[Unfilled, ...]:
    """Return what is unfinished in an organisation's folder; of a file that cannot be read, that is left.

    Args:
        folder: the organisation's.
        root: the folder that the paths are relative to.
    """
    found: list[Unfilled] = []
    files = (file for place in ("systems/*.json", "benchmarks/*/*/*") for file in folder.glob(place))
    for path in sorted(path for file in files if may_be_unfilled(path := file.relative_to(folder).as_posix())):
        shown = (folder / path).relative_to(root).as_posix()
        try:
            found += unfilled_of([(path, shown, content_of(folder / path))])
        except OSError as error:
            found.append(Unfilled(shown, template=False, fields=(f"it cannot be read: {reason_of(error)}",)))
    return tuple(found)


def may_be_unfilled(to: str) -> bool:
    """Return whether a place of the package is one that people fill in."""
    return is_description(to) or may_be_template(to)


def is_description(to: str) -> bool:
    """Return whether a place of the package is that of a system description."""
    return to.startswith("systems/") and to.endswith(".json") and to.count("/") == 1


def unfilled_of(files: Iterable[tuple[str, str, bytes]]) -> Iterator[Unfilled]:
    """Yield what is unfinished among some files.

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
    """Return the fields of a JSON file; those who read it for what it is report one that is broken."""
    try:
        found = loads(content.decode("utf-8-sig"))
    except (ValueError, RecursionError):
        return {}
    return {name: value for name, value in found.items() if name != MARKER} if isinstance(found, dict) else {}
