"""The vocabulary of redaction."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import ClassVar, NamedTuple

import msgspec

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


class Span(NamedTuple):
    """A private thing in a text: where, and the bytes that its placeholder stands for."""

    start: int
    end: int
    kind: Kind
    key: bytes


class Item(msgspec.Struct):
    """One private thing over all logs: how often it stands in free text, how often in records, and where first.

    ``places`` and ``record_places`` hold (log, 1-based line) of the first few.
    """

    kind: Kind
    key: bytes
    placeholder: str
    count: int = 0
    in_records: int = 0
    places: list[tuple[Path, int]] = []
    record_places: list[tuple[Path, int]] = []


class Spot(msgspec.Struct, frozen=True):
    """A line of a log, whose path is relative to the root."""

    path: str
    line: int


class Private(msgspec.Struct, frozen=True, kw_only=True):
    """One private thing over all logs: how often it stands in free text and in records, and the first few places.

    ``text`` is safe to print: of a secret it is no more than its beginning.
    """

    kind: Kind
    text: str
    placeholder: str
    count: int
    in_records: int
    places: tuple[Spot, ...]
    record_places: tuple[Spot, ...]


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
