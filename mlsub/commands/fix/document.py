"""What fix answers with, as documents."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import chain

from mlsub.commands.fix.repairs import TEXT_REPAIRS, Repair
from mlsub.commands.fix.run import Changed, Fix, Fixed
from mlsub.io.show import plural
from mlsub.packing.truncate import Truncation
from mlsub.present import document as doc

#: Lines of a diff that people are shown of one file; ``--format diff`` has all.
MAX_LINES = 40
_MIB = 1 << 20


def fix_document(fix: Fix, diffs: Sequence[Mapping[str, bytes]]) -> doc.Document:
    """Return the repairs of each root, with the beginnings of their diffs.

    Args:
        fix: the answer.
        diffs: for each of its plans the hunks of the files that change, by their paths.
    """
    plans = (_plan_blocks(plan, hunks, written=fix.written) for plan, hunks in zip(fix.plans, diffs, strict=True))
    return doc.document("Repairs made" if fix.written else "Repairs proposed", *chain.from_iterable(plans))


def _plan_blocks(plan: Fixed, hunks: Mapping[str, bytes], *, written: bool) -> Iterator[doc.Block | None]:
    made = [change for change in plan.changes if not change.failed]
    yield doc.Facts((("below", doc.Span(plan.root, "path")),))
    yield doc.Items(tuple(_whole_file_items(made)))
    for change in made:
        repairs = tuple(_repair_words(repair) for repair in change.repairs if repair.rule not in TEXT_REPAIRS)
        if repairs:
            blocks = doc.Items(repairs), *_diff_blocks(hunks.get(change.path, b""), change)
            yield doc.Section(doc.Span(change.path, "path"), blocks)
    failed = [(doc.Span(change.path, "path"), f": {change.failed}") for change in plan.changes if change.failed]
    yield doc.section("Failed", doc.Items(tuple(failed)), meaning="bad")
    yield doc.section("Not repaired", doc.Findings(plan.not_repaired), meaning="note")
    yield from (doc.Text(f"Note: {note}") for note in plan.notes)
    yield doc.Text(_summary(plan, made, written=written))


def _whole_file_items(made: Sequence[Changed]) -> Iterator[doc.Words]:
    """One line a repair that is the same in each line of many files."""
    for rule, (_, done) in TEXT_REPAIRS.items():
        files = [change.path for change in made if any(repair.rule == rule for repair in change.repairs)]
        if files:
            which = doc.Span(files[0], "path") if len(files) == 1 else f"{len(files)} files"
            yield (which, f": {done} ", doc.Span(f"[{rule}]", "code"))


def _repair_words(repair: Repair) -> doc.Words:
    where = f"line {repair.line}: " if repair.line is not None else ""
    return (f"{where}{repair.action} ", doc.Span(f"[{repair.rule}]", "code"))


def _diff_blocks(hunks: bytes, changed: Changed) -> Iterator[doc.Block]:
    """The beginning of the diff, but not where every line of the file changes."""
    lines = hunks.split(b"\n")[:-1]
    if lines and not any(repair.rule in TEXT_REPAIRS for repair in changed.repairs):
        yield doc.Code("\n".join(line.decode("utf-8", "backslashreplace") for line in lines[:MAX_LINES]))
        if len(lines) > MAX_LINES:
            yield doc.Text(f"... and {len(lines) - MAX_LINES} more lines; --format diff has all")


def _summary(plan: Fixed, made: Sequence[Changed], *, written: bool) -> str:
    """How much there is, and what it does to the official verdict."""
    count, lost = (sum(len(change.repairs) for change in some) for some in (made, plan.changes))
    lines = sum(repair.count for change in made for repair in change.repairs if repair.line is not None)
    verdict = "the official verdict is not known"
    if plan.before is not None and plan.after is not None:
        stays = plan.before is plan.after
        verdict = f"official verdict: {plan.before}" + ("" if stays else f" before, {plan.after} after")
    if not plan.changes:
        return f"nothing to repair; {verdict}"
    on = f" on {lines} lines" if lines > count else ""
    failed = f", {lost - count} failed" if lost > count else ""
    done = f"{plural(count, 'repair')}{on} {'made' if written else 'proposed'} in {plural(len(made), 'place')}"
    done = f"{done}{failed}; {verdict}"
    return done + ("" if written else ". To make them: --write")


def truncation_document(truncation: Truncation) -> doc.Document:
    """Return what is left out of each log that is too large."""
    limit, logs = truncation.limit // _MIB, truncation.logs
    becomes = "now" if truncation.written else "would be"
    sections = [
        doc.Section(
            doc.Span(log.path, "path"),
            (
                doc.Text(
                    f"{log.size / _MIB:.1f} MiB, {becomes} {log.size_after / _MIB:.1f} MiB: "
                    f"{log.lines_left_out} lines of framework output left out, all {log.records} records kept"
                ),
            ),
        )
        for log in logs
    ]
    small = f"{truncation.read - len(logs)} of {truncation.read} logs are no larger than {limit} MiB"
    rest = ". To truncate the others: --write" if logs and not truncation.written else ""
    return doc.document(f"Logs larger than {limit} MiB", *sections, doc.Text(f"{small} and stay as they are{rest}"))
