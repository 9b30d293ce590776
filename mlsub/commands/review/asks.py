"""What to ask about findings, and what was looked at and fine."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Literal

import msgspec
from msgspec.structs import replace

from mlsub.commands.review.model import Ask, Organisation
from mlsub.findings import Effect, Finding, Severity
from mlsub.io.data import shipped
from mlsub.io.show import plural, several
from mlsub.present.findings import grouped
from mlsub.review.runs.model import Observation
from mlsub.rules.aspects import ASPECTS
from mlsub.rules.catalogue import RuleTexts, catalogue, demanded_key, find_causes, has_effect
from mlsub.submission.report import EntryResult

#: How long what was found may be in a question, and that with what was expected.
_FOUND, _BOTH = 60, 100


class Area(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A part of a submission in words, what the rules on it begin with, and where it has been looked at at all."""

    words: str
    rules: tuple[str, ...]
    where: Literal["logs", "entries", "package", "descriptions", "passed", "scored"] = "logs"


def asks_of(
    findings: Sequence[Finding], observations: Sequence[Observation], entries: Iterable[EntryResult]
) -> list[Ask]:
    """Return a question for each defect, the worst first; what follows from another finding is a note.

    What nobody filled in stands behind what breaks a rule or changes a time.
    """
    figures = {replace(of.finding, suppressed=None, severity=Severity.NOTE): of.numbers for of in observations}
    short = {one.path for one in findings if has_effect(one, Effect.RUNS_MISSING)}
    short &= {entry.path for entry in entries if None not in entry.rcp.points}
    missing = (one for one in findings if one.path in short and has_effect(one, Effect.NEEDS_RUNS))
    explained = {*find_causes(findings), *missing}
    groups: dict[object, list[Finding]] = {}
    for group in grouped(replace(one, severity=Severity.NOTE) if one in explained else one for one in findings):
        repeats = demanded_key(group[0].rule, "repeated") is not None
        groups.setdefault("repeated" if repeats else group[0].defect, []).extend(group)
    asked = []
    for group in groups.values():
        first = group[0]
        keys = {demanded_key(one.rule) or "": None for one in group}
        message = first.message
        if len(keys) > 1:
            message = f"{several(list(keys), 5)} appear more than once, with the same value"
        texts = _texts_of(first.rule)
        known = [figures.get(replace(one, suppressed=None, severity=Severity.NOTE)) for one in group]
        asked.append(
            Ask(
                rule=first.rule,
                kind=first.kind,
                severity=first.severity,
                question=_question(group, message.rstrip("."), texts.ask if texts else ""),
                why=texts.why.strip() if texts else "",
                findings=tuple(group),
                figures=tuple(one or {} for one in known) if any(known) else (),
            )
        )
    return sorted(asked, key=lambda ask: (ask.severity.rank, has_effect(ask.findings[0], Effect.UNFILLED)))


def _texts_of(rule: str) -> RuleTexts | None:
    """What explains a rule, or a demand on a key."""
    return catalogue().get(rule) if demanded_key(rule) is None else ASPECTS[rule.rpartition(".")[2]].about()


def _question(group: Sequence[Finding], message: str, ask: str) -> str:
    """What was seen, what was expected, and what is asked, in a sentence; a note asks nothing."""
    first, found, seen = group[0], {one.actual for one in group}, message
    if len(found) == 1 and _fits(first.actual, message, _FOUND):
        fits = _fits(first.expected, message, _BOTH - len(first.actual or ""))
        expected = f"; expected {first.expected}" if fits else ""
        seen = f"{message} ({first.actual}{expected})"
    return f"{seen}; {ask}?" if ask and first.severity is not Severity.NOTE else f"{seen}."


def _fits(text: str | None, message: str, most: int) -> bool:
    """Whether a text goes between brackets behind a message, and says more than it."""
    return text is not None and len(text) <= most and not set(text) & set("()\n") and text not in message


def fine_of(findings: Sequence[Finding], about: Organisation, *, whole: bool) -> Iterator[str]:
    """Yield what was looked at and gave nothing to ask, whatever the choice hides.

    Args:
        findings: all that was found in the organisation.
        about: its logs and entries.
        whole: whether all of its folder was read.
    """
    # Where runs are copies of others, nobody says that copies of runs are fine, even if that is a note.
    told = (one for one in findings if one.severity is not Severity.NOTE or has_effect(one, Effect.COPIES))
    asked, entries = [one.rule for one in told], about.entries
    tests = {entry.rcp.verdict for entry in entries}
    looked_at = {
        "logs": True,
        "entries": bool(entries),
        "package": whole,
        "descriptions": bool(entries) and all(entry.description_path for entry in entries),
        "passed": "pass" in tests and tests <= {"pass", "not-required"},
        "scored": bool(entries) and all(one.minutes is not None and one.score.as_expected for one in entries),
    }
    count = {"logs": plural(about.logs, "log"), "entries": plural(len(entries), "entry", "entries")}
    for area in shipped(__file__, "areas.yaml", tuple[Area, ...]):
        if looked_at[area.where] and not any(rule.startswith(area.rules) for rule in asked):
            yield area.words.format(**count)
