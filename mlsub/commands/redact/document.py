"""A redaction as a document."""

from __future__ import annotations

from collections.abc import Sequence

from mlsub.commands.redact.model import Redaction, Spot
from mlsub.present.document import Column, Document, Facts, Span, Table, Text, document, section

_TEXT, _TIMES = Column("stands for", when_narrow="shorten"), Column("times", number=True)
_PLACE = Column("first in")


def document_of(redaction: Redaction) -> Document:
    """What is replaced by what, what a record keeps, and what was done."""
    free = tuple(
        (item.placeholder, Span(item.text, "code"), str(item.count), _first(item.places))
        for item in redaction.items
        if item.count
    )
    held = tuple(
        (Span(item.text, "code"), str(item.in_records), _first(item.record_places))
        for item in redaction.items
        if item.in_records
    )
    return document(
        "Redaction of logs",
        Facts((("below", Span(redaction.root, "path")),)),
        Table((Column("placeholder", when_narrow="keep"), _TEXT, _TIMES, _PLACE), free, key=0),
        section(
            "Not redacted, because it is inside a record, and records must not be altered",
            Table((Column("text", when_narrow="shorten"), _TIMES, _PLACE), held),
            Text("Log the next run from a folder that names nobody; ask the review committee about this one."),
            meaning="note",
        )
        if held
        else None,
        Text(_summary(redaction)),
    )


def _first(places: Sequence[Spot]) -> Span:
    return Span(f"{places[0].path}:{places[0].line}", "path")


def _summary(redaction: Redaction) -> str:
    found = [item.count for item in redaction.items if item.count]
    logs = f"{redaction.logs} log{'s' * (redaction.logs != 1)}"
    if not found:
        return f"Nothing to replace in {logs}."
    things = f"{len(found)} different thing{'s' * (len(found) != 1)}, {_times(sum(found))}"
    if redaction.written:
        return f"Replaced in {logs}: {things}. All records are as they were. Written: {redaction.written}"
    return f"To be replaced in {logs}: {things}. Add --write to replace them, or -o OUT for copies."


def _times(count: int) -> str:
    return "once" if count == 1 else f"{count} times"
