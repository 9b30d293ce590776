"""Templates of the files beside a benchmark's code: they say what is to be filled in, and that it has not been yet."""

from __future__ import annotations

import errno
import json
import re
from functools import cache
from pathlib import Path

import msgspec

from mlsub.io.data import shipped
from mlsub.io.look import is_nothing, open_regular

#: While a file contains this, it is a template; the audit looks for it.
MARKER = "mlsub-template"
#: What people fill in is some kilobytes.
_MAX_BYTES = 1 << 20
#: Nobody fills in a template with more bytes than these.
MOST = 1 << 16
#: What a line of a template says that asks to be filled in, and the lines that any script may have.
_ASK, _COMMON = ("TODO", "nobody has filled in"), {"", "#!/bin/bash", "set -euo pipefail"}
_NAME = re.compile(r"\{[a-z]+\}")


class _TemplateFile(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A file beside a benchmark's code: a word on it, and its template."""

    word: str
    content: str


class _Shipped(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    files: dict[str, _TemplateFile]
    metadata: dict[str, str]


class Template(msgspec.Struct, frozen=True):
    """A file to begin with: its path relative to the organisation's folder, its content, whether it is a script."""

    path: str
    content: str
    executable: bool


def templates(system: str, benchmark: str, implementation: str) -> tuple[Template, ...]:
    """The files of ``benchmarks/<benchmark>/<system>/``, each marked as not filled in; its scripts refuse to run.

    The fields of the JSON file are the metadata that MLCommons' submission rules list for an implementation on a
    system, spelled as the Inference checker spells them: no tool of Training reads the file.
    """
    names = {"system": system, "benchmark": benchmark, "implementation": implementation, "marker": MARKER}
    folder = f"benchmarks/{benchmark}/{system}"
    shapes = shipped(__file__, "templates.yaml", _Shipped)
    found = [
        Template(f"{folder}/{name}", file.content.format(**names), executable=name.endswith(".sh"))
        for name, file in shapes.files.items()
    ]
    metadata = {MARKER: "fill in every TODO, then remove this field", **shapes.metadata}
    content = json.dumps(metadata, indent=2) + "\n"
    return (*found, Template(f"{folder}/{system}_{implementation}.json", content, executable=False))


def template_words() -> dict[str, str]:
    """A word on each file that has a template, by its name."""
    return {name: file.word for name, file in shipped(__file__, "templates.yaml", _Shipped).files.items()}


def is_unfilled(content: bytes) -> bool:
    """Whether a file is a template that is to be filled in: it has a line of its own left, or refuses to run.

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
    """What the lines of templates say that ask to be filled in, without the names in them."""
    lines = (line for text in _texts() for line in text.splitlines() if any(word in line for word in _ASK))
    lines = (line.strip().removesuffix(" >&2") for line in lines)
    return (MARKER.encode(), *(max(_NAME.split(line), key=len).encode() for line in lines))


@cache
def _line() -> re.Pattern[str]:
    """Any line of a template, whatever the names in it."""
    lines = dict.fromkeys(line.strip() for text in _texts() for line in text.splitlines())
    return re.compile("|".join(".{1,200}".join(map(re.escape, _NAME.split(line))) for line in lines if line))


def _texts() -> tuple[str, ...]:
    shapes = shipped(__file__, "templates.yaml", _Shipped)
    return (*(file.content for file in shapes.files.values()), "\n".join(map(json.dumps, shapes.metadata.values())))


def begins_as_template(file: Path) -> bool:
    """Whether a file is a template that nobody has filled in; a link is none.

    Raises:
        OSError: it cannot be read.
    """
    return is_unfilled(content_of(file, MOST, follow=False))


def content_of(file: Path, limit: int = _MAX_BYTES, *, follow: bool = True) -> bytes:
    """Return the first megabyte of a file, or as many bytes as asked for; nothing of what is not a file.

    Raises:
        OSError: it cannot be read.
    """
    try:
        with open_regular(file, follow=follow) as stream:
            return stream.read(limit)
    except OSError as error:
        # ENXIO is that of a socket.
        if is_nothing(error) or error.errno == errno.ENXIO:
            return b""
        raise
