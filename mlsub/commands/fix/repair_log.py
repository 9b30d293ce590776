"""Repairs of one log: marks and line ends, blanks behind records, and records that only repeat another.

Framework output stays as it is except for line ends; a bare CR, of a progress bar or before a CR LF, is left alone.
"""

from __future__ import annotations

import json
import re
from typing import Any

from mlsub.commands.fix.model import ALL, Repair
from mlsub.commands.fix.text import Edits, fix_text
from mlsub.commands.fix.zones import MARK as RECORD_MARK
from mlsub.divisions import division_of
from mlsub.log.event import Event, decode
from mlsub.log.reader import TOKEN
from mlsub.rounds import Round
from mlsub.rules.compiled import plan_for

#: What may stand before a record that goes: nothing, or the rank of the process that logged it.
_RANK = re.compile(rb"\s*(?:\[?\d{1,6}(?:,\d{1,6})?\]?(?:<std(?:out|err)>)?:?\s*)?")
_NEVER = frozenset(("seed", "cache_clear", "eval_accuracy", "eval_error", "weights_initialization", "tracked_stats"))


def fix_log(lines: list[bytes], round_: Round | None, wanted: tuple[str, ...] = ALL) -> tuple[Edits, list[Repair]]:
    """The repairs of a log.

    Args:
        lines: the log, cut at LF.
        round_: whose rules say which keys appear once; None for repairs of the text alone.
        wanted: rules, or starts of them, to repair by.

    Returns:
        What becomes of lines, and the repairs.
    """
    repeated = _repeats(lines, round_) if round_ is not None and round_.log_format == "mllog" else {}
    rules = {place: rule for place, key in repeated.items() if (rule := f"key.{key}.repeated").startswith(wanted)}
    edits, repairs = fix_text(lines, wanted, _without_blanks, rules)
    edits |= dict.fromkeys(rules, None)
    action = "remove the record, which repeats an earlier one"
    repairs += [Repair(rule=rule, line=place + 1, action=action) for place, rule in rules.items()]
    return edits, repairs


def _without_blanks(line: bytes) -> bytes:
    """A line without blanks at its end, where a whole record ends there."""
    if RECORD_MARK not in line:
        return line
    body, end = (line[:-1], b"\n") if line.endswith(b"\n") else (line, b"")
    if body.endswith(b"\r"):
        body, end = body[:-1], b"\r" + end
    shorter = body.rstrip(b" \t")
    last = shorter[max(shorter.rfind(b"\r"), 0) :].rpartition(TOKEN)[2]
    return shorter + end if shorter != body and isinstance(decode(0, last), Event) else line


def _repeats(lines: list[bytes], round_: Round) -> dict[int, str]:
    """The lines that hold nothing but a record that repeats an earlier one of a key that appears once."""
    found: list[tuple[int, bool, Event]] = []
    for place, line in enumerate(lines):
        if TOKEN not in line:
            continue
        before, _, text = line.partition(TOKEN)
        alone = _RANK.fullmatch(before) is not None and TOKEN not in text and b"\r" not in text.rstrip(b"\r\n")
        # The last record of the line is the one that the official parser sees.
        event = decode(0, line.rpartition(TOKEN)[2].rstrip(b"\r\n"))
        if isinstance(event, Event) and isinstance(event.key, str):
            found.append((place, alone, event))
    once = _once(found, round_)
    first: dict[str, str] = {}
    repeats: dict[int, str] = {}
    for place, alone, event in found:
        if event.key in once:
            said = _said(event)
            if event.key not in first:
                first[event.key] = said
            elif first[event.key] != said:
                once.discard(event.key)
            elif alone:
                repeats[place] = event.key
    return {place: key for place, key in repeats.items() if key in once}


def _once(found: list[tuple[int, bool, Event]], round_: Round) -> set[str]:
    """The keys that must appear once, and whose time and order nothing depends on."""
    said: dict[str, Any] = {}
    for _, _, event in found:
        if event.key in ("submission_division", "submission_benchmark"):
            said.setdefault(event.key, event.value)
    division, name = division_of(said.get("submission_division")), said.get("submission_benchmark")
    known = name if isinstance(name, str) and name in round_.benchmarks else None
    plan = plan_for(round_.usage, round_.name, division.name if division else None, known, round_.overlay)
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


def _said(event: Event) -> str:
    """All of a record but its time."""
    return json.dumps([event.value, event.metadata, event.event_type, event.namespace], sort_keys=True, default=repr)
