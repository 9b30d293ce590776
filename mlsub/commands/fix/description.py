"""Repairs of one system description, in its text: no value is written anew but a status."""

from __future__ import annotations

import json
import re
from collections import defaultdict
from collections.abc import Callable
from contextlib import suppress
from typing import NamedTuple

from mlsub.commands.fix.model import BLANKS, DUPLICATE, LINE_ENDS, MARK, STATUS, Mended, Repair
from mlsub.commands.fix.scan import Member, members
from mlsub.io.errors import MlsubError
from mlsub.rounds import Statuses
from mlsub.systems.availability import category

_MARK = b"\xef\xbb\xbf"
_CR_LF = re.compile(rb"(?<!\r)\r\n")


def mend_description(content: bytes, statuses: Statuses | None, wanted: tuple[str, ...] = ()) -> Mended:
    """Repair a description; one that is no JSON stays as it is.

    Args:
        content: the file.
        statuses: what the round allows as status, None where it says nothing.
        wanted: rules, or starts of them, to repair by; empty for all.
    """

    def asked(rule: str) -> bool:
        return not wanted or rule.startswith(wanted)

    after, repairs = content, list[Repair]()
    if asked(MARK) and after.startswith(_MARK):
        after = after[len(_MARK) :]
        repairs.append(Repair(rule=MARK, line=1, action="take the byte order mark away"))
    try:
        text = after.decode("utf-8")
        json.loads(text)
    except (ValueError, RecursionError):
        return Mended(content, content, ())
    if asked(LINE_ENDS) and (found := _CR_LF.search(after)):
        line, count = after.count(b"\n", 0, found.start()) + 1, len(_CR_LF.findall(after))
        repairs.append(Repair(rule=LINE_ENDS, line=line, action="end lines in LF", count=count))
        after = _CR_LF.sub(b"\n", after)
    if asked(BLANKS):
        lines = after.split(b"\n")
        stripped = [line.rstrip(b" \t") for line in lines]
        places = [place for place, line in enumerate(lines) if line != stripped[place]]
        if places:
            action = "take trailing blanks away"
            repairs.append(Repair(rule=BLANKS, line=places[0] + 1, action=action, count=len(places)))
            after = b"\n".join(stripped)
    # What is nested deeper than any description keeps its members; the rest is mended all the same.
    with suppress(MlsubError):
        after = _cut(after.decode("utf-8"), statuses, asked, repairs).encode("utf-8")
    repairs.sort(key=lambda repair: (repair.line or 0, repair.rule))
    return Mended(content, after, tuple(repairs))


def _cut(text: str, statuses: Statuses | None, asked: Callable[[str], bool], repairs: list[Repair]) -> str:
    """The text with its cuts made, in one go over it; adds their repairs."""
    parts, at, line = list[str](), 0, 1
    for cut in _cuts(text, statuses, asked):
        parts += [text[at : cut.start], cut.text]
        line += text.count("\n", at, cut.end)
        at = cut.end
        told = line - text.count("\n", cut.told, cut.end)
        repairs.append(Repair(rule=cut.rule, line=told, action=cut.action))
    return "".join([*parts, text[at:]])


class _Cut(NamedTuple):
    """A text that takes the place of another; ``told`` is where the name of the member stands."""

    start: int
    end: int
    text: str
    rule: str
    action: str
    told: int


def _cuts(text: str, statuses: Statuses | None, asked: Callable[[str], bool]) -> list[_Cut]:
    """What is put in place of what, in order; none overlap."""
    found = members(text)
    cuts: list[_Cut] = []
    groups: dict[tuple[int, str], list[Member]] = defaultdict(list)
    for member in found:
        groups[member.owner, member.name].append(member)
    for group in groups.values():
        if asked(DUPLICATE) and len(group) > 1 and _same_values(text, group):
            for member in group[1:]:
                assert member.comma is not None  # noqa: S101  (one of its name stands before it)
                action = f"take the second {_short(member.name)} away, which has the same value"
                cuts.append(_Cut(_strip(text, member.comma), member.end, "", DUPLICATE, action, member.start))
    if asked(STATUS) and statuses is not None and text.lstrip().startswith("{"):
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


def exact_status(status: str, statuses: Statuses) -> str | None:
    """The spelling that the round wants of a status that is known by another; None where it is right, or unknown."""
    if statuses.allow(status):
        return None
    means = category(status)
    fitting = [name for name in statuses.one_of if means is not None and category(name) == means]
    return next((name for name in fitting if means is not None and name.lower() == means.lower()), None) or (
        fitting[0] if fitting else None
    )


def _same_values(text: str, group: list[Member]) -> bool:
    """Whether all values are the same JSON: names in any order, numbers as they are written."""
    return len({_canonical(text[member.value_start : member.end]) for member in group}) == 1


def _canonical(value: str) -> str:
    # Numbers as text: 1 and 1.0 are two spellings, and which was meant is not for a tool to say. Duplicate names within
    # are told apart, too.
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
