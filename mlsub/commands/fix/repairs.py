"""Repairs of the text of logs and system descriptions, line by line.

Framework output stays as it is except for line ends; a bare CR, of a progress bar or before a CR LF, is left alone.
Of a description no value is written anew except a status.
"""

from __future__ import annotations

import json
import re
from bisect import bisect
from collections import defaultdict
from collections.abc import Callable, Container, Iterator, Sequence
from contextlib import suppress
from difflib import SequenceMatcher
from io import BytesIO
from itertools import takewhile
from operator import eq
from typing import Any

import msgspec

from mlsub.divisions import division_of
from mlsub.io import MlsubError
from mlsub.io.data import loads
from mlsub.log.event import Event, decode
from mlsub.log.reader import TOKEN, read_records
from mlsub.log.rewrite import MARK as RECORD_MARK
from mlsub.packing.edits import LineEdit, edited, lines_of
from mlsub.rounds import Round, Statuses
from mlsub.rules.engine import compiled_rules
from mlsub.systems.fields import status_spelling

#: Rules to repair by: every rule begins so.
ALL = ("",)
#: The kinds of repair of texts; other rules on them are left to people.
MARK, LINE_ENDS, BLANKS = "file.byte-order-mark", "file.line-ends", "file.trailing-blanks"
DUPLICATE, STATUS = "system.duplicate-key", "system.status"
#: The beginning of those of repeated keys: key.<key>.repeated.
REPEATED = "repeated"


class Repair(msgspec.Struct, frozen=True, kw_only=True):
    """One repair: by which rule, where (1-based line of the file as it is, None for its name), and what is done.

    ``count`` is how many lines it fixes, where it is the same on many.
    """

    rule: str
    line: int | None
    action: str
    count: int = 1


_BOM = b"\xef\xbb\xbf"
#: Tools that each put one before a file leave several.
_MARKS = re.compile(b"(?:" + _BOM + b")+")
#: The repairs of a text as a whole: what is to be done, and what was.
TEXT_REPAIRS = {
    MARK: ("remove the byte order mark", "byte order mark removed"),
    LINE_ENDS: ("end lines in LF", "CR LF to LF"),
    BLANKS: ("remove trailing blanks", "trailing blanks removed"),
}
#: Above so many changed lines in the middle of a file no shortest diff is looked for.
_MAX_LINES = 2000


def _line_edits(old: Sequence[bytes], new: Sequence[bytes]) -> list[LineEdit]:
    """What changes between two lists of lines."""
    start = len(list(takewhile(bool, map(eq, old, new))))
    end = len(list(takewhile(bool, map(eq, reversed(old[start:]), reversed(new[start:])))))
    inner_old, inner_new = old[start : len(old) - end], new[start : len(new) - end]
    if len(inner_old) + len(inner_new) > _MAX_LINES:
        return [(start, len(old) - end, inner_new)]
    codes = SequenceMatcher(None, inner_old, inner_new, autojunk=False).get_opcodes()
    return [(start + i, start + j, inner_new[k:m]) for kind, i, j, k, m in codes if kind != "equal"]


def _fix_text(
    lines: Sequence[bytes], wanted: tuple[str, ...], without_blanks: Callable[[bytes], bytes], gone: Container[int] = ()
) -> tuple[list[LineEdit], list[Repair]]:
    """The repairs of a text; lines that are ``gone`` go.

    Args:
        lines: the text, cut at LF.
        wanted: rules, or starts of them, to repair by.
        without_blanks: a line without the blanks at its end that mean nothing.
        gone: places of lines.
    """
    mark, ends, blanks = (rule.startswith(wanted) for rule in TEXT_REPAIRS)
    edits: list[LineEdit] = []
    found: dict[str, list[int]] = {rule: [] for rule in TEXT_REPAIRS}
    for place, line in enumerate(lines):
        if place in gone:
            edits.append((place, place + 1, []))
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
            edits.append((place, place + 1, [new]))
    return edits, [
        Repair(rule=rule, line=places[0] + 1, action=TEXT_REPAIRS[rule][0], count=len(places))
        for rule, places in found.items()
        if places
    ]


#: What may stand before a record that goes: nothing, or the rank of the process that logged it.
_RANK = re.compile(rb"\s*(?:\[?\d{1,6}(?:,\d{1,6})?\]?(?:<std(?:out|err)>)?:?\s*)?")
_NEVER = frozenset(("seed", "cache_clear", "eval_accuracy", "eval_error", "weights_initialization", "tracked_stats"))


def fix_log(
    lines: list[bytes], round_: Round | None, wanted: tuple[str, ...] = ALL
) -> tuple[list[LineEdit], list[Repair]]:
    """Return what becomes of the lines of a log, and the repairs.

    Args:
        lines: the log, cut at LF.
        round_: whose rules say which keys appear once; None for repairs of the text alone.
        wanted: rules, or starts of them, to repair by.
    """
    repeated = _find_repeats(lines, round_) if round_ is not None and round_.log_format == "mllog" else {}
    rules = {place: rule for place, key in repeated.items() if (rule := f"key.{key}.repeated").startswith(wanted)}
    edits, repairs = _fix_text(lines, wanted, _without_blanks_of_log, rules)
    action = "remove the record, which repeats an earlier one"
    repairs += [Repair(rule=rule, line=place + 1, action=action) for place, rule in rules.items()]
    return edits, repairs


def _without_blanks_of_log(line: bytes) -> bytes:
    """A line without blanks at its end, where a whole record ends there."""
    if RECORD_MARK not in line:
        return line
    body, end = (line[:-1], b"\n") if line.endswith(b"\n") else (line, b"")
    if body.endswith(b"\r"):
        body, end = body[:-1], b"\r" + end
    shorter = body.rstrip(b" \t")
    last = shorter[max(shorter.rfind(b"\r"), 0) :].rpartition(TOKEN)[2]
    return shorter + end if shorter != body and isinstance(decode(0, last), Event) else line


def _find_repeats(lines: list[bytes], round_: Round) -> dict[int, str]:
    """The lines that hold nothing but a record that repeats an earlier one of a key that appears once."""
    found: list[Event] = []
    for number, text, hidden, _ in read_records(BytesIO(b"".join(lines))):
        event = None if hidden else decode(number, text)
        if isinstance(event, Event) and isinstance(event.key, str):
            found.append(event)
    once = _keys_appearing_once(found, round_)
    first: dict[str, str] = {}
    repeats: dict[int, str] = {}
    for event in found:
        if event.key in once:
            all_but_time = [event.value, event.metadata, event.event_type, event.namespace]
            content = json.dumps(all_but_time, sort_keys=True, default=repr)
            if event.key not in first:
                first[event.key] = content
            elif first[event.key] != content:
                once.discard(event.key)
            elif _is_alone(lines[event.line - 1]):
                repeats[event.line - 1] = event.key
    return {place: key for place, key in repeats.items() if key in once}


def _is_alone(line: bytes) -> bool:
    """Whether a line has nothing but one record."""
    before, _, text = line.partition(TOKEN)
    return _RANK.fullmatch(before) is not None and TOKEN not in text and b"\r" not in text.rstrip(b"\r\n")


def _keys_appearing_once(found: list[Event], round_: Round) -> set[str]:
    """The keys that must appear once, and whose time and order nothing depends on."""
    named: dict[str, Any] = {}
    for event in found:
        if event.key in ("submission_division", "submission_benchmark"):
            named.setdefault(event.key, event.value)
    division, name = division_of(named.get("submission_division")), named.get("submission_benchmark")
    known = name if isinstance(name, str) and name in round_.benchmarks else None
    plan = compiled_rules(round_.usage, round_.name, division.name if division else None, known, round_.overlay)
    rules = [compiled.rule for compiled in plan.every]
    timely = {name for rule in rules for name in (*rule.after, *rule.not_after)}
    timely |= {rule.within.of for rule in rules if rule.within}
    return {
        rule.key
        for rule in rules
        if (rule.occurs.exactly_one or rule.occurs.once_where)
        and not (
            rule.after or rule.not_after or rule.within or rule.nested or rule.reaches or rule.tensors or rule.gathers
        )
        and rule.key not in timely | _NEVER
        and not rule.key.endswith(("_start", "_stop"))
    }


_WORD = re.compile(r'"(?:[^"\\]|\\.)*"|[{}\[\]:,]|[^\s{}\[\]:,"]+')
_MAX_DEPTH = 64


def fix_description(
    lines: Sequence[bytes], statuses: Statuses | None, wanted: tuple[str, ...] = ALL
) -> tuple[list[LineEdit], list[Repair]]:
    """Return what becomes of the lines of a description, and the repairs; one that is not JSON stays as it is.

    Args:
        lines: the file, cut at LF.
        statuses: what the round allows as status, None where it says nothing.
        wanted: rules, or starts of them, to repair by.
    """
    edits, repairs = _fix_text(lines, wanted, _without_blanks)
    after = edited(lines, edits)
    try:
        loads(after.decode("utf-8"))
    except (ValueError, RecursionError):
        return [], []
    # What is nested deeper than any description keeps its members; the rest is repaired all the same.
    with suppress(MlsubError):
        after = _make_cuts(after.decode("utf-8"), statuses, wanted, repairs).encode("utf-8")
    repairs.sort(key=lambda repair: (repair.line or 0, repair.rule))
    return _line_edits(lines, lines_of(after)), repairs


def _without_blanks(line: bytes) -> bytes:
    body, end = (line[:-1], b"\n") if line.endswith(b"\n") else (line, b"")
    return body.rstrip(b" \t") + end


def _make_cuts(text: str, statuses: Statuses | None, wanted: tuple[str, ...], repairs: list[Repair]) -> str:
    """The text with its cuts made, those within another one left out; adds their repairs."""
    parts, at = list[str](), 0
    for start, end, new, repair in sorted(_find_cuts(text, statuses, wanted), key=lambda cut: (cut[0], -cut[1])):
        if start >= at:
            parts += [text[at:start], new]
            at = end
            repairs.append(repair)
    return "".join([*parts, text[at:]])


def _find_cuts(text: str, statuses: Statuses | None, wanted: tuple[str, ...]) -> Iterator[tuple[int, int, str, Repair]]:
    """What to put in the place of what, from where to where, in no order, and the repair that this is."""
    found = members(text)
    feeds = [match.start() for match in re.finditer("\n", text)]

    def repair(rule: str, member: Member, action: str) -> Repair:
        return Repair(rule=rule, line=bisect(feeds, member.start) + 1, action=action)

    groups: dict[tuple[int, str], list[Member]] = defaultdict(list)
    for member in found:
        groups[member.owner, member.name].append(member)
    for group in groups.values() if DUPLICATE.startswith(wanted) else ():
        if len(group) == 1 or len({_canonical(text[one.value_start : one.end]) for one in group}) > 1:
            continue
        for member in group[1:]:
            start = member.comma
            assert start is not None  # noqa: S101  (one of its name stands before it)
            while text[start - 1] in " \t\r\n":
                start -= 1
            name = member.name if len(member.name) <= 40 else f"{member.name[:40]}..."
            action = f"remove the second {name}, which has the same value"
            yield start, member.end, "", repair(DUPLICATE, member, action)
    if STATUS.startswith(wanted) and statuses is not None and text.lstrip().startswith("{"):
        status = groups.get((text.index("{"), "status"), [])
        values = {text[member.value_start : member.end] for member in status}
        value = json.loads(values.pop()) if len(values) == 1 else None
        if isinstance(value, str) and (exact := status_spelling(value, statuses)) is not None:
            for member in status:
                action = f"write the status as {exact}"
                yield member.value_start, member.end, json.dumps(exact), repair(STATUS, member, action)


class Member(msgspec.Struct, frozen=True):
    """One name and value. Places count characters: ``comma`` before it (None for the first), its value's bounds.

    ``owner`` is where the object begins that it is of.
    """

    owner: int
    name: str
    comma: int | None
    start: int
    value_start: int
    end: int


def members(text: str) -> list[Member]:
    """Return every member of every object of a text that is known to be JSON.

    Raises:
        MlsubError: it is nested too deeply.
    """
    found: list[Member] = []
    words = _WORD.finditer(text)
    _scan(next(words), words, found, 0)
    return found


def _scan(first: re.Match[str], words: Iterator[re.Match[str]], found: list[Member], depth: int) -> int:
    """Add the members of the value that begins with a word, followed by others, and return where it ends."""
    if first[0] not in "{[":
        return first.end()
    if depth >= _MAX_DEPTH:
        raise MlsubError(f"nested deeper than {_MAX_DEPTH}")
    comma = None
    while (word := next(words))[0] not in "]}":
        if word[0] == ",":
            comma = word.start()
        elif first[0] == "[":
            _scan(word, words, found, depth + 1)
        else:
            next(words)  # the colon
            value = next(words)
            end = _scan(value, words, found, depth + 1)
            found.append(Member(first.start(), json.loads(word[0]), comma, word.start(), value.start(), end))
    return word.end()


def _canonical(value: str) -> str:
    """A value as text that is equal for the same JSON: names in any order, numbers as they are written."""
    # Numbers as text: 1 and 1.0 are two spellings, and which was meant is not for a tool to say. Duplicate names within
    # stay duplicates, too.
    pairs = json.loads(
        value,
        parse_float=lambda number: ["number", number],
        parse_int=lambda number: ["number", number],
        object_pairs_hook=lambda members: ["object", sorted(members, key=lambda member: (member[0], repr(member[1])))],
    )
    return json.dumps(pairs)
