"""CONTRIBUTING names each shape that one room hands to another on the way of ``mlsub check PATH``, and no other."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from pathlib import Path
from types import FrameType
from typing import Any

from click.testing import CliRunner

from mlsub.cli import main
from tools.support.make_tree import make_tree

CONTRIBUTING = Path(__file__).resolve().parents[2] / "CONTRIBUTING.md"
#: The rooms on the way, from the command to the answer; what those below them use among themselves is theirs.
ROOMS = ("commands", "workspace", "judge", "submission", "present")
#: The vocabulary of every room.
VOCABULARY = ("findings", "rounds")
#: What one of the shapes is made of, handed on by itself.
PARTS = {
    **dict.fromkeys(("Facts", "Section", "Table", "Text"), "Document"),
    "EntryResult": "Report",
    "FileStatus": "Listing",
    "FileTree": "Package",
    "Options": "Request",
}
MOST = 10


def room_of(module: str) -> str:
    return module.split(".")[1] if module.startswith("mlsub.") else ""


def shapes_in(value: object) -> Iterator[str]:
    """The structs and named tuples of mlsub that a value is, or that a list or tuple holds."""
    kind = type(value)
    if kind.__module__.startswith("mlsub.") and (hasattr(kind, "__struct_fields__") or hasattr(kind, "_fields")):
        if room_of(kind.__module__) not in VOCABULARY:
            yield PARTS.get(kind.__name__, kind.__name__)
    elif isinstance(value, list | tuple):
        for one in value[:3]:
            yield from shapes_in(one)


def handed_on(arguments: list[str]) -> dict[str, set[str]]:
    """The shapes that functions of one room on the way get from, or return to, another one; and who gets them."""
    found: dict[str, set[str]] = {}

    def profile(frame: FrameType, event: str, returned: Any) -> None:
        if event not in ("call", "return") or frame.f_back is None:
            return
        of, by = (room_of(one.f_globals.get("__name__", "")) for one in (frame, frame.f_back))
        if of == by or of not in ROOMS or by not in ROOMS:
            return
        code = frame.f_code
        names = code.co_varnames[: code.co_argcount + code.co_kwonlyargcount] if event == "call" else ()
        values = [frame.f_locals.get(name) for name in names if name != "self"] if event == "call" else [returned]
        for shape in (shape for value in values for shape in shapes_in(value)):
            found.setdefault(shape, set()).add(f"{by} {of}.{code.co_name}")

    before = sys.getprofile()
    sys.setprofile(profile)
    try:
        CliRunner().invoke(main, arguments)
    finally:
        sys.setprofile(before)
    return found


def test_the_table_of_shapes_is_what_is_seen_on_the_way(tmp_path: Path) -> None:
    tree = make_tree(tmp_path)
    found = handed_on(["check", str(tree.folder), "--cache-dir", str(tmp_path / "cache")])
    table = CONTRIBUTING.read_text().split("| shape | is |")[1].split("\n\n")[0]
    named = re.findall(r"^\| `(\w+)` \|", table, re.M)
    assert len(named) <= MOST
    assert set(found) == set(named), found
