"""The cache of a user: what is in it, and an end to it."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Annotated, ClassVar

import msgspec

from mlsub.findings import Says
from mlsub.io import MlsubError
from mlsub.present.document import Cell, Column, Document, Facts, Span, Table, document
from mlsub.present.envelope import Answer
from mlsub.workspace.cache import Cache

#: What the records are of, and what each holds.
_KIND, _HOLDS = "packages", "the report on an organisation's folder, and what was read of its logs"
_COLUMNS = (Column("records"), Column("number", number=True), Column("MB", number=True), Column("what one holds"))


class Records(msgspec.Struct, frozen=True):
    """Records of one kind: how many, and their bytes."""

    kind: str
    number: int
    bytes: int


class CacheReport(Answer, frozen=True, kw_only=True):
    """The cache: its folder, the bytes that it has and may have, its records by kind, and how many were removed.

    ``unused_since`` is when the record was of use that goes first.
    """

    SCHEMA: ClassVar[int] = 1

    folder: str
    bytes: int
    limit: int
    records: tuple[Records, ...]
    unused_since: Annotated[str | None, Says("A time in UTC; null for an empty cache.", format="date-time")]
    removed: int = 0


def show(cache: Cache | None) -> CacheReport:
    """What is in a cache.

    Raises:
        MlsubError: there is none.
    """
    if cache is None:
        raise MlsubError(
            "There is no cache: it is switched off, or there is no folder for it. Name one with --cache-dir."
        )
    files = list(cache.records())
    size = sum(one.bytes for one in files)
    oldest = min((one.used for one in files), default=None)
    return CacheReport(
        folder=str(cache.folder),
        bytes=size,
        limit=cache.limit,
        records=(Records(_KIND, len(files), size),) if files else (),
        unused_since=None if oldest is None else datetime.fromtimestamp(oldest, UTC).isoformat(timespec="seconds"),
    )


def clear(cache: Cache | None) -> CacheReport:
    """Remove all that is in a cache, and nothing else that lies there.

    Raises:
        MlsubError: there is none, or something cannot be removed.
    """
    before = show(cache)
    assert cache is not None  # noqa: S101  (show has looked)
    cache.clear()
    left = show(cache)
    number = sum(one.number for one in before.records) - sum(one.number for one in left.records)
    if left.records:
        raise MlsubError(f"{left.folder} cannot be cleared: {left.bytes:,} bytes are left. Check its permissions.")
    return msgspec.structs.replace(left, removed=number)


def document_of(cache: CacheReport) -> Document:
    """The cache as facts and a table of its records."""
    size = f"{_mb(cache.bytes)} of {_mb(cache.limit)} MB"
    facts: list[tuple[str, Cell]] = [("folder", Span(cache.folder, "path")), ("size", size)]
    if cache.removed:
        facts.append(("removed", f"{cache.removed} records"))
    rows = tuple((one.kind, str(one.number), _mb(one.bytes), _HOLDS) for one in cache.records)
    return document("Cache of mlsub", Facts(tuple(facts)), Table(_COLUMNS, rows))


def _mb(size: int) -> str:
    return f"{size / (1 << 20):.1f}" if 0 < size < 100 << 20 else f"{size >> 20}"
