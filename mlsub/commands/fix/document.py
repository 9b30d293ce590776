"""Repairs and truncation as documents."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from mlsub.commands.fix.model import (
    BLANKS,
    LINE_ENDS,
    MARK,
    Change,
    Changed,
    Fix,
    Fixed,
    Repair,
    Shortened,
    Truncation,
)
from mlsub.present.document import (
    Block,
    Code,
    Document,
    Facts,
    Findings,
    Items,
    Section,
    Span,
    Text,
    Words,
    document,
    section,
)

#: Lines of a diff that people are shown of one file; ``--format diff`` has all.
MAX_LINES = 40
#: Repairs of a file's text as a whole: what they remove, and what it becomes.
_WHOLE = {MARK: "byte order mark removed", LINE_ENDS: "CR LF to LF", BLANKS: "trailing blanks removed"}
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
    whole = tuple(_of_whole_files(plan))
    yield Items(whole) if whole else None
    for change, changed in zip(changes, plan.changes, strict=True):
        own = [repair for repair in changed.repairs if repair.rule not in _WHOLE]
        if own and not changed.failed:
            yield Section(Span(changed.path, "path"), (Items(tuple(map(_repair, own))), *_diff(change, changed)))
    failed = Items(tuple((Span(change.path, "path"), f": {change.failed}") for change in plan.changes if change.failed))
    yield section("Failed", failed, meaning="bad") if failed.items else None
    yield section("Not repaired", Findings(plan.not_repaired), meaning="note") if plan.not_repaired else None
    for note in plan.notes:
        yield Text(f"Note: {note}")
    yield Text(_summary(plan, written=written))


def _of_whole_files(plan: Fixed) -> Iterator[Words]:
    """One line a repair that is the same in each line of many files."""
    for rule, what in _WHOLE.items():
        made = [change for change in plan.changes if not change.failed]
        files = [change.path for change in made if any(repair.rule == rule for repair in change.repairs)]
        if files:
            of = Span(files[0], "path") if len(files) == 1 else f"{len(files)} files"
            yield (of, f": {what} ", Span(f"[{rule}]", "code"))


def _whole(change: Changed) -> bool:
    return any(repair.rule in _WHOLE for repair in change.repairs)


def _repair(repair: Repair) -> Words:
    where = f"line {repair.line}: " if repair.line is not None else ""
    return (f"{where}{repair.action} ", Span(f"[{repair.rule}]", "code"))


def _diff(change: Change, changed: Changed) -> Iterator[Block]:
    """The beginning of the diff, but not where every line of the file changes."""
    lines = change.hunks.split(b"\n")[:-1]
    if lines and not _whole(changed):
        yield Code("\n".join(line.decode("utf-8", "backslashreplace") for line in lines[:MAX_LINES]))
        if len(lines) > MAX_LINES:
            yield Text(f"... and {len(lines) - MAX_LINES} more lines; --format diff has all")


def _summary(plan: Fixed, *, written: bool) -> str:
    """How much there is, and what it does to the official verdict."""
    made = [change for change in plan.changes if change.failed is None]
    count, lost = (sum(len(change.repairs) for change in some) for some in (made, plan.changes))
    lines = sum(repair.count for change in made for repair in change.repairs if repair.line is not None)
    verdict = "the official verdict is not known"
    if plan.before is not None and plan.after is not None:
        stays = plan.before is plan.after
        verdict = f"official verdict: {plan.before}" + ("" if stays else f" before, {plan.after} after")
    if not plan.changes:
        return f"nothing to repair; {verdict}"
    places = f"{len(made)} place{'s' * (len(made) != 1)}"
    on = f" on {lines} lines" if lines > count else ""
    failed = f", {lost - count} failed" if lost > count else ""
    done = f"{count} repair{'s' * (count != 1)}{on} {'made' if written else 'proposed'} in {places}{failed}; {verdict}"
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
