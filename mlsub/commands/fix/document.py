"""Repairs and truncation as documents."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from mlsub.commands.fix.model import Change, Fix, Fixed, Repair, Shortened, Truncation, Untouched
from mlsub.present.document import Block, Code, Document, Facts, Items, Section, Span, Text, Words, document, section

#: Lines of a diff that people are shown of one file; ``--format diff`` has all.
MAX_LINES = 40
_MIB = 1 << 20


def document_of(fix: Fix, changes: Sequence[Sequence[Change]]) -> Document:
    """The repairs of each root, with the beginnings of their diffs.

    Args:
        fix: the answer.
        changes: what the answer is made of, in its order.
    """
    blocks = (
        block for plan, of in zip(fix.plans, changes, strict=True) for block in _plan(plan, of, written=fix.written)
    )
    return document("Repairs made" if fix.written else "Repairs proposed", *blocks)


def _plan(plan: Fixed, changes: Sequence[Change], *, written: bool) -> Iterator[Block | None]:
    yield Facts((("below", Span(plan.root, "path")),))
    for change, changed in zip(changes, plan.changes, strict=True):
        yield Section(Span(changed.path, "path"), (Items(tuple(map(_repair, change.repairs))), *_diff(change)))
    left = Items(tuple(map(_untouched, plan.not_touched)))
    yield section("Not touched", left, meaning="note") if plan.not_touched else None
    for note in plan.notes:
        yield Text(f"Note: {note}")
    yield Text(_summary(plan, written=written))


def _repair(repair: Repair) -> Words:
    where = ""
    if repair.line is not None:
        one = repair.count == 1
        where = f"line {repair.line}: " if one else f"{repair.count} lines from line {repair.line} on: "
    return (f"{where}{repair.action} ", Span(f"[{repair.rule}]", "code"))


def _untouched(one: Untouched) -> Words:
    place = one.path + (f":{one.line}" if one.line is not None else "")
    return (Span(place, "path"), f": {one.reason} ", Span(f"[{one.rule}]", "code"))


def _diff(change: Change) -> Iterator[Block]:
    lines = change.hunks.split(b"\n")[:-1]
    if lines:
        yield Code("\n".join(line.decode("utf-8", "backslashreplace") for line in lines[:MAX_LINES]))
    if len(lines) > MAX_LINES:
        yield Text(f"... and {len(lines) - MAX_LINES} more lines; --format diff has all")


def _summary(plan: Fixed, *, written: bool) -> str:
    """How much there is, and what it does to the official verdict."""
    repairs = [repair for change in plan.changes for repair in change.repairs]
    count, lines = len(repairs), sum(repair.count for repair in repairs if repair.line is not None)
    verdict = "the official verdict is not known"
    if plan.before is not None and plan.after is not None:
        stays = plan.before is plan.after
        verdict = f"official verdict: {plan.before}" + ("" if stays else f" before, {plan.after} after")
    if not plan.changes:
        return f"nothing to repair; {verdict}"
    places = f"{len(plan.changes)} place{'s' * (len(plan.changes) != 1)}"
    on = f" on {lines} lines" if lines > count else ""
    done = f"{count} repair{'s' * (count != 1)}{on} {'made' if written else 'proposed'} in {places}; {verdict}"
    return done + ("" if written else ". To make them: --write")


def truncation_document(truncation: Truncation) -> Document:
    """What is left out of each log that is too large."""
    limit, logs, done = truncation.limit // _MIB, truncation.logs, truncation.written
    small = f"{truncation.read - len(logs)} of {truncation.read} logs"
    rest = ". To truncate the others: --write" if logs and not done else ""
    return document(
        f"Logs larger than {limit} MiB",
        *(Section(Span(log.path, "path"), (Text(_left_out(log, done=done)),)) for log in logs),
        Text(f"{small} are no larger than {limit} MiB and stay as they are{rest}"),
    )


def _left_out(log: Shortened, *, done: bool) -> str:
    return (
        f"{log.size / _MIB:.1f} MiB, {'now' if done else 'would be'} {log.size_after / _MIB:.1f} MiB: "
        f"{log.lines_left_out} lines of framework output left out, all {log.records} records kept"
    )
