"""What redact answers with, as a document."""

from __future__ import annotations

from collections.abc import Iterable

from mlsub.commands.redact.run import Redaction
from mlsub.io.show import plural
from mlsub.log.private.model import Private, PrivateKind, Where
from mlsub.present.document import Column, Document, Facts, Section, Span, Table, Text, document, section

#: Paths listed of those that were not searched.
_SHOWN, _NOT_SEARCHED = 20, (Column("path"), Column("why"))
#: Rows of a kind of what is not replaced and a person should look at.
_UNSURE = 25


def redaction_document(redaction: Redaction) -> Document:
    """Return what is replaced by what, what is left, what was not searched, and what can have been found."""
    more = len(redaction.unsearched) - _SHOWN
    unsearched = tuple((Span(one.path, "path"), one.reason) for one in redaction.unsearched[:_SHOWN])
    kinds = "; ".join(redaction.looked_for)
    shown = [item for kind in PrivateKind for item in [one for one in redaction.unsure if one.kind is kind][:_UNSURE]]
    hidden = len(redaction.unsure) - len(shown)
    rest = f"And {hidden} more, in --format json. " if hidden else ""
    rest += f"And {plural(redaction.more_unsure, 'place')} of more like them. " if redaction.more_unsure else ""
    return document(
        "Redaction of logs",
        Facts((("below", Span(redaction.root, "path")),)),
        _places_table(redaction.items, Where.FREE, Column("placeholder", when_narrow="keep")),
        _left_section(
            "Not redacted, because it is inside a record, and records must not be altered",
            _places_table(redaction.items, Where.RECORD),
            "Log the next run from a folder that names nobody; ask the review committee about this one.",
        ),
        _left_section(
            "Not redacted, because it is in code, a script or a description",
            _places_table(redaction.items, Where.FILE),
            "Change what should not be public there yourself.",
        ),
        _left_section("Not searched", Table(_NOT_SEARCHED, unsearched), f"And {more} more." if more > 0 else ""),
        Text(_summary(redaction)),
        Text(f"Looked for: {kinds}. No search knows all that is private: read what you publish."),
        _left_section(
            "Not replaced, and may be private: look at these",
            _places_table(shown, Where.UNSURE, Column("handle", when_narrow="keep"), Column("kind")),
            f"{rest}Copy the rows of what is private to a file, and give it with --also FILE.",
        ),
        Text(f"Nothing has the handle {', '.join(redaction.unknown_handles)}.") if redaction.unknown_handles else None,
    )


def _places_table(items: Iterable[Private], where: Where, *first: Column) -> Table:
    """What stands in a kind of place, and where: with its placeholder and kind if there are columns for them."""
    columns = (*first, Column("stands for" if first else "text", when_narrow="shorten"), Column("times", number=True))
    rows = []
    for item in items:
        if where in item.counts:
            spot = item.places[where][0]
            key = (spot.key,) if where is Where.RECORD else ()
            named = (item.placeholder, item.kind.value)[: len(first)]
            at = Span(f"{spot.path}:{spot.line}", "path")
            rows.append((*named, Span(item.text, "code"), str(item.counts[where]), *key, at))
    keys = (Column("key"),) if where is Where.RECORD else ()
    return Table((*columns, *keys, Column("first in")), tuple(rows), key=0)


def _left_section(title: str, table: Table, advice: str) -> Section | None:
    return section(title, table, Text(advice) if advice else None, meaning="note") if table.rows else None


def _summary(redaction: Redaction) -> str:
    found = [item.counts[Where.FREE] for item in redaction.items if Where.FREE in item.counts]
    logs = plural(redaction.logs, "log")
    if not found:
        return f"Found nothing to replace in {logs}."
    times = "once" if sum(found) == 1 else f"{sum(found)} times"
    things = f"{plural(len(found), 'different thing')}, {times}"
    if redaction.written:
        return f"Replaced in {logs}: {things}. All records are as they were. Written: {redaction.written}"
    return f"To be replaced in {logs}: {things}. Add --write to replace them, or -o OUT for copies."
