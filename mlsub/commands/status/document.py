"""Build the document of a status, whose last line is the next command."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta

from mlsub.commands.status.run import Status
from mlsub.commands.status.tasks import Task
from mlsub.io.show import plural
from mlsub.packing.manifest import to_ask
from mlsub.present.document import Cell, Column, Document, Facts, Items, Span, Table, Text, document, section
from mlsub.present.entries import EntryColumn, results_table, verdict_span
from mlsub.rounds import get_round

#: Tasks shown of many; JSON has them all.
_SHOWN = 12
_COLUMNS = (
    EntryColumn("entry", when_narrow="keep", value=lambda entry: entry.entry),
    "division",
    EntryColumn("runs", number=True, value=lambda entry: f"{entry.runs} of {entry.needed}"),
    "minutes",
    EntryColumn("RCP", when_narrow="keep", value=lambda entry: None if entry.rcp == "not-required" else entry.rcp),
    "to the limit",
    "verdict",
)
_DAYS = (Column("day", when_narrow="keep"), Column("what"), Column("by", leave_out=1))


def document_of(status: Status) -> Document:
    """Return what there is, what is left to do, and the next command."""
    return document(
        f"Status of {status.organisation}, {get_round(status.usage, status.round).title}",
        Facts(tuple(_facts(status))),
        results_table(status.entries, _COLUMNS),
        section("Days of the round", Table(_DAYS, tuple(_calendar(status)))),
        section("Left to do", Items(tuple(_tasks(status.tasks)))),
        Text(f"{status.why[:1].upper()}{status.why[1:]}."),
        Text(("Next: ", Span(status.next, "code"))),
    )


def _facts(status: Status) -> Iterator[tuple[str, Cell]]:
    if status.manifest is not None:
        lacks = f", which lacks {to_ask(status.unasked)} for what the package has" if status.unasked else ""
        yield "manifest", (Span(status.manifest, "path"), lacks)
    yield "package", (Span(status.package, "path"), "" if status.written else " (not written yet)")
    if status.official is not None:
        yield "verdict", verdict_span(status.official)
    if status.review:
        yield "review", f"{plural(status.review, 'finding')}, which mlsub check shows"
    if status.sealed is not None:
        yield "sealed", Span(status.sealed, "path")
    if status.deadline is not None and status.days_left is not None:
        yield "deadline", f"{status.deadline}, {_days(status.days_left)}"


def _calendar(status: Status) -> Iterator[tuple[Cell, ...]]:
    if status.deadline is not None and status.days_left is not None:
        today = status.deadline - timedelta(status.days_left)
        for each in status.calendar:
            yield f"{each.day}, {_days((each.day - today).days)}", each.what, each.source


def _days(left: int) -> str:
    if left < 0:
        return f"{plural(-left, 'day')} ago"
    return f"{plural(left, 'day')} left" if left else "today"


def _tasks(tasks: tuple[Task, ...]) -> Iterator[str]:
    for task in tasks[:_SHOWN]:
        yield f"{task.where}: {task.words}"
    if len(tasks) > _SHOWN:
        yield f"and {len(tasks) - _SHOWN} more, which --format json lists"
