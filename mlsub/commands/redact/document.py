"""What redact answers with: its model and document."""

from __future__ import annotations

from collections.abc import Sequence
from enum import StrEnum
from typing import ClassVar, NamedTuple

import msgspec

from mlsub.io.show import plural
from mlsub.present.document import Column, Document, Facts, Section, Span, Table, Text, document, section
from mlsub.present.envelope import Answer


class Kind(StrEnum):
    """What a private thing is. Where two overlap, the earlier kind counts."""

    SECRET = "secret"  # noqa: S105  (no password)
    ENV = "env"
    TEXT = "text"
    EMAIL = "email"
    PATH = "path"
    HOST = "host"
    ADDRESS = "address"
    USER = "user"


class PrivateSpan(NamedTuple):
    """A private thing in a text: where, and the bytes that its placeholder stands for."""

    start: int
    end: int
    kind: Kind
    key: bytes


class Spot(msgspec.Struct, frozen=True):
    """A line of a file, whose path is relative to the root; of a record its key, too."""

    path: str
    line: int
    key: str = ""


class Private(msgspec.Struct, kw_only=True):
    """One private thing over all files: how often it stands in free text, records and other files, and the first places.

    ``text`` is safe to print: of a secret it is no more than its beginning. The counts grow as files are read.
    """

    kind: Kind
    text: str
    placeholder: str
    count: int = 0
    in_records: int = 0
    in_files: int = 0
    places: list[Spot] = []
    record_places: list[Spot] = []
    file_places: list[Spot] = []


class Unsearched(msgspec.Struct, frozen=True):
    """A path that was not searched, relative to the root, and why."""

    path: str
    reason: str


class Redaction(Answer, frozen=True, kw_only=True):
    """What is private, by kind.

    ``logs`` and ``files`` count those that were searched below ``root``; other files than logs are never written.
    ``written`` says where redacted logs went, null for nowhere. ``looked_for`` is all that can have been found.
    """

    SCHEMA: ClassVar[int] = 3

    root: str
    logs: int
    files: int
    written: str | None
    items: tuple[Private, ...]
    unsearched: tuple[Unsearched, ...]
    looked_for: tuple[str, ...]

    @property
    def remains(self) -> bool:
        """Whether anything private is still there, or may be in what was not searched."""
        left = (item.in_records or item.in_files or (item.count and self.written is None) for item in self.items)
        return bool(self.unsearched) or any(left)


_TEXT, _TIMES = Column("stands for", when_narrow="shorten"), Column("times", number=True)
_PLACE = Column("first in")
#: Paths listed of those that were not searched.
_SHOWN = 20


def document_of(redaction: Redaction) -> Document:
    """Return what is replaced by what, what is left, what was not searched, and what can have been found."""
    free = tuple(
        (item.placeholder, Span(item.text, "code"), str(item.count), _first(item.places))
        for item in redaction.items
        if item.count
    )
    held = tuple(
        (Span(item.text, "code"), str(item.in_records), item.record_places[0].key, _first(item.record_places))
        for item in redaction.items
        if item.in_records
    )
    beside = tuple(
        (Span(item.text, "code"), str(item.in_files), _first(item.file_places))
        for item in redaction.items
        if item.in_files
    )
    text = Column("text", when_narrow="shorten")
    return document(
        "Redaction of logs",
        Facts((("below", Span(redaction.root, "path")),)),
        Table((Column("placeholder", when_narrow="keep"), _TEXT, _TIMES, _PLACE), free, key=0),
        _left(
            "Not redacted, because it is inside a record, and records must not be altered",
            Table((text, _TIMES, Column("key"), _PLACE), held),
            "Log the next run from a folder that names nobody; ask the review committee about this one.",
        ),
        _left(
            "Not redacted, because it is in code, a script or a description",
            Table((text, _TIMES, _PLACE), beside),
            "Change what should not be public there yourself.",
        ),
        _left(
            "Not searched",
            Table(
                (Column("path"), Column("why")),
                tuple((Span(one.path, "path"), one.reason) for one in redaction.unsearched[:_SHOWN]),
            ),
            f"And {len(redaction.unsearched) - _SHOWN} more." if len(redaction.unsearched) > _SHOWN else None,
        ),
        Text(_summary(redaction)),
        Text(
            f"Looked for: {'; '.join(redaction.looked_for)}. No search knows all that is private: read what you publish."
        ),
    )


def _left(title: str, table: Table, advice: str | None) -> Section | None:
    return section(title, table, Text(advice) if advice else None, meaning="note") if table.rows else None


def _first(places: Sequence[Spot]) -> Span:
    return Span(f"{places[0].path}:{places[0].line}", "path")


def _summary(redaction: Redaction) -> str:
    found = [item.count for item in redaction.items if item.count]
    logs = plural(redaction.logs, "log")
    if not found:
        return f"Found nothing to replace in {logs}."
    times = "once" if sum(found) == 1 else f"{sum(found)} times"
    things = f"{plural(len(found), 'different thing')}, {times}"
    if redaction.written:
        return f"Replaced in {logs}: {things}. All records are as they were. Written: {redaction.written}"
    return f"To be replaced in {logs}: {things}. Add --write to replace them, or -o OUT for copies."
