"""Repairs of any text, line by line: its byte order mark, line ends, and blanks that stand at the end of a line."""

from __future__ import annotations

import re
from collections.abc import Callable, Container, Mapping, Sequence

from mlsub.commands.fix.model import BLANKS, LINE_ENDS, MARK, Repair

_BOM = b"\xef\xbb\xbf"
#: Tools that each put one before a file leave several.
_MARKS = re.compile(b"(?:" + _BOM + b")+")
_ACTIONS = {
    MARK: "remove the byte order mark",
    LINE_ENDS: "end lines in LF",
    BLANKS: "remove trailing blanks",
}

#: What becomes of lines, by their index: None where one goes. Lines have their ends.
Edits = dict[int, bytes | None]


def lines_of(content: bytes) -> list[bytes]:
    """The lines of a file, cut at LF, with their ends."""
    lines = [line + b"\n" for line in content.split(b"\n")]
    last = lines.pop()[:-1]
    return [*lines, last] if last else lines


def edited(lines: Sequence[bytes], edits: Mapping[int, bytes | None]) -> bytes:
    """The file with its edits made."""
    return b"".join(edits[place] or b"" if place in edits else line for place, line in enumerate(lines))


def fix_text(
    lines: Sequence[bytes], wanted: tuple[str, ...], without_blanks: Callable[[bytes], bytes], gone: Container[int] = ()
) -> tuple[Edits, list[Repair]]:
    """The repairs of a text.

    Args:
        lines: the text, cut at LF.
        wanted: rules, or starts of them, to repair by.
        without_blanks: a line without the blanks at its end that mean nothing.
        gone: lines that are left alone.
    """
    mark, ends, blanks = (rule.startswith(wanted) for rule in _ACTIONS)
    edits: Edits = {}
    found: dict[str, list[int]] = {rule: [] for rule in _ACTIONS}
    for place, line in enumerate(lines):
        if place in gone:
            continue
        new = line
        if place == 0 and mark and new.startswith(_BOM):
            new = _MARKS.sub(b"", new, count=1)
            found[MARK].append(place)
        if ends and new.endswith(b"\r\n") and not new.endswith(b"\r\r\n"):
            new = new[:-2] + b"\n"
            found[LINE_ENDS].append(place)
        if blanks and (stripped := without_blanks(new)) != new:
            new = stripped
            found[BLANKS].append(place)
        if new != line:
            edits[place] = new
    return edits, [
        Repair(rule=rule, line=places[0] + 1, action=_ACTIONS[rule], count=len(places))
        for rule, places in found.items()
        if places
    ]
