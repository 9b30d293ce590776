"""The vocabulary of redaction."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import NamedTuple

import msgspec


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
