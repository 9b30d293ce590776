"""What redact answers with: its model and document."""

from __future__ import annotations

import re
from collections.abc import Sequence
from enum import StrEnum
from typing import ClassVar, NamedTuple

import msgspec

from mlsub.io.data import shipped
from mlsub.io.show import plural
from mlsub.present.document import Column, Document, Facts, Span, Table, Text, document, section
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
    """A line of a log, whose path is relative to the root."""

    path: str
    line: int


class Private(msgspec.Struct, kw_only=True):
    """One private thing over all logs: how often it stands in free text and in records, and the first few places.

    ``text`` is safe to print: of a secret it is no more than its beginning. The counts grow as logs are read.
    """

    kind: Kind
    text: str
    placeholder: str
    count: int
    in_records: int
    places: list[Spot]
    record_places: list[Spot]


class Redaction(Answer, frozen=True, kw_only=True):
    """What is private in logs, by kind.

    ``logs`` counts those that could be read, below ``root``; ``written`` says where redacted logs went, null for
    nowhere.
    """

    SCHEMA: ClassVar[int] = 2

    root: str
    logs: int
    written: str | None
    items: tuple[Private, ...]

    @property
    def remains(self) -> bool:
        """Whether anything private is still in the logs."""
        return any(item.in_records or (item.count and self.written is None) for item in self.items)


class Looks(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The words and patterns of looks.yaml, which says what each is."""

    tokens: dict[str, str]
    secret_names: tuple[str, ...]
    homes: tuple[str, ...]
    host_words: tuple[str, ...]
    user_variables: tuple[str, ...]
    not_hosts: tuple[str, ...]
    common: str

    def patterns(self, name: str, after: bytes = b"") -> tuple[re.Pattern[bytes], ...]:
        """Return the patterns of a name, each followed by another one."""
        return tuple(re.compile(pattern.encode() + after) for pattern in getattr(self, name))


def looks() -> Looks:
    """Return what private things look like."""
    return shipped(__file__, "looks.yaml", Looks)


_TEXT, _TIMES = Column("stands for", when_narrow="shorten"), Column("times", number=True)
_PLACE = Column("first in")


def document_of(redaction: Redaction) -> Document:
    """Return what is replaced by what, what a record keeps, and what was done."""
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
    logs = plural(redaction.logs, "log")
    if not found:
        return f"Nothing to replace in {logs}."
    times = "once" if sum(found) == 1 else f"{sum(found)} times"
    things = f"{plural(len(found), 'different thing')}, {times}"
    if redaction.written:
        return f"Replaced in {logs}: {things}. All records are as they were. Written: {redaction.written}"
    return f"To be replaced in {logs}: {things}. Add --write to replace them, or -o OUT for copies."
