"""The vocabulary of redaction, and what private things look like."""

from __future__ import annotations

import re
from enum import StrEnum
from typing import ClassVar, NamedTuple

import msgspec

from mlsub.io.data import shipped
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
        """The patterns of a name, each followed by another one."""
        return tuple(re.compile(pattern.encode() + after) for pattern in getattr(self, name))


def looks() -> Looks:
    """What private things look like."""
    return shipped(__file__, "looks.yaml", Looks)
