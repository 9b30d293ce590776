"""Repairs of one system description, in its text: no value is written anew except a status."""

from __future__ import annotations

import json
import re
from collections import defaultdict
from contextlib import suppress
from typing import NamedTuple

import msgspec

from mlsub.commands.fix.model import ALL, DUPLICATE, STATUS, Repair, Repaired
from mlsub.commands.fix.text import edited, fix_text, lines_of
from mlsub.io.errors import MlsubError
from mlsub.io.jsontext import loads
from mlsub.rounds import Statuses
from mlsub.systems.availability import exact_status

_WORD = re.compile(r'"(?:[^"\\]|\\.)*"|[{}\[\]:,]|[^\s{}\[\]:,"]+')
_MAX_DEPTH = 64


def fix_description(content: bytes, statuses: Statuses | None, wanted: tuple[str, ...] = ALL) -> Repaired:
    """Repair a description; one that is not JSON stays as it is.

    Args:
        content: the file.
        statuses: what the round allows as status, None where it says nothing.
        wanted: rules, or starts of them, to repair by.
    """
    lines = lines_of(content)
    edits, repairs = fix_text(lines, wanted, _without_blanks)
    after = edited(lines, edits)
    try:
        loads(after.decode("utf-8"))
    except (ValueError, RecursionError):
        return Repaired(content, ())
    # What is nested deeper than any description keeps its members; the rest is repaired all the same.
    with suppress(MlsubError):
        after = _cut(after.decode("utf-8"), statuses, wanted, repairs).encode("utf-8")
    repairs.sort(key=lambda repair: (repair.line or 0, repair.rule))
    return Repaired(after, tuple(repairs))


def _without_blanks(line: bytes) -> bytes:
    body, end = (line[:-1], b"\n") if line.endswith(b"\n") else (line, b"")
    return body.rstrip(b" \t") + end


def _cut(text: str, statuses: Statuses | None, wanted: tuple[str, ...], repairs: list[Repair]) -> str:
    """The text with its cuts made, in one go over it; adds their repairs."""
    parts, at, line = list[str](), 0, 1
    for cut in _cuts(text, statuses, wanted):
        parts += [text[at : cut.start], cut.text]
        line += text.count("\n", at, cut.end)
        at = cut.end
        at_line = line - text.count("\n", cut.name_at, cut.end)
        repairs.append(Repair(rule=cut.rule, line=at_line, action=cut.action))
    return "".join([*parts, text[at:]])


class _Cut(NamedTuple):
    """A text that takes the place of another; ``name_at`` is where the name of the member stands."""

    start: int
    end: int
    text: str
    rule: str
    action: str
    name_at: int


def _cuts(text: str, statuses: Statuses | None, wanted: tuple[str, ...]) -> list[_Cut]:
    """What is put in place of what, in order; none overlap."""
    found = members(text)
    cuts: list[_Cut] = []
    groups: dict[tuple[int, str], list[Member]] = defaultdict(list)
    for member in found:
        groups[member.owner, member.name].append(member)
    for group in groups.values():
        if DUPLICATE.startswith(wanted) and len(group) > 1 and _same_values(text, group):
            for member in group[1:]:
                assert member.comma is not None  # noqa: S101  (one of its name stands before it)
                action = f"remove the second {_short(member.name)}, which has the same value"
                cuts.append(_Cut(_strip(text, member.comma), member.end, "", DUPLICATE, action, member.start))
    if STATUS.startswith(wanted) and statuses is not None and text.lstrip().startswith("{"):
        status = [member for member in found if member.owner == 1 and member.name == "status"]
        values = {text[member.value_start : member.end] for member in status}
        value = json.loads(values.pop()) if len(values) == 1 else None
        if isinstance(value, str) and (exact := exact_status(value, statuses)) is not None:
            action = f"write the status as {exact}"
            new = json.dumps(exact)
            cuts += [_Cut(one.value_start, one.end, new, STATUS, action, one.start) for one in status]
    return _outermost(cuts)


def _strip(text: str, at: int) -> int:
    """Where the blanks before a place begin."""
    while text[at - 1] in " \t\r\n":
        at -= 1
    return at


class Member(msgspec.Struct, frozen=True):
    """One name and value. Places count characters: ``comma`` before it (None for the first), its value's bounds."""

    owner: int
    name: str
    comma: int | None
    start: int
    value_start: int
    end: int


class _Open(msgspec.Struct):
    """A list or object whose end is still to come; ``owner`` is the number of the object, 0 of a list."""

    owner: int
    comma: int | None = None
    name: str | None = None
    start: int = 0
    value_start: int = 0


def members(text: str) -> list[Member]:
    """Every member of every object of a text that is known to be JSON.

    Raises:
        MlsubError: it is nested too deeply.
    """
    found: list[Member] = []
    stack: list[_Open] = []
    objects = 0
    for match in _WORD.finditer(text):
        word, top = match[0], stack[-1] if stack else _Open(0)
        if word == ":":
            continue
        if word == ",":
            top.comma, top.name = match.start(), None
            continue
        if top.owner and top.name is None and word[0] == '"':
            top.name, top.start = json.loads(word), match.start()
            continue
        if word in "]}":
            stack.pop()
            top = stack[-1] if stack else _Open(0)
        else:
            top.value_start = match.start()
        if word in "{[":
            if len(stack) >= _MAX_DEPTH:
                raise MlsubError(f"nested deeper than {_MAX_DEPTH}")
            objects += word == "{"
            stack.append(_Open(objects if word == "{" else 0))
            continue
        if top.owner and top.name is not None:
            found.append(Member(top.owner, top.name, top.comma, top.start, top.value_start, match.end()))
    return found


def _same_values(text: str, group: list[Member]) -> bool:
    """Whether all values are the same JSON: names in any order, numbers as they are written."""
    return len({_canonical(text[member.value_start : member.end]) for member in group}) == 1


def _canonical(value: str) -> str:
    # Numbers as text: 1 and 1.0 are two spellings, and which was meant is not for a tool to say. Duplicate names within
    # stay duplicates, too.
    pairs = json.loads(
        value,
        parse_float=lambda number: ["number", number],
        parse_int=lambda number: ["number", number],
        object_pairs_hook=lambda members: ["object", sorted(members, key=lambda member: (member[0], repr(member[1])))],
    )
    return json.dumps(pairs)


def _outermost(cuts: list[_Cut]) -> list[_Cut]:
    """Cuts without those that lie within another."""
    kept: list[_Cut] = []
    for cut in sorted(cuts, key=lambda cut: (cut.start, -cut.end)):
        if not kept or cut.start >= kept[-1].end:
            kept.append(cut)
    return kept


def _short(name: str) -> str:
    return name if len(name) <= 40 else f"{name[:40]}..."
