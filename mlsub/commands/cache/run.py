"""The cache of a user: what is in it, and an end to it."""

from __future__ import annotations

from collections import Counter
from datetime import UTC, datetime
from typing import Annotated, ClassVar

import msgspec

from mlsub.findings import Says
from mlsub.io.errors import MlsubError
from mlsub.present.document import Cell, Column, Document, Facts, Span, Table, document
from mlsub.present.envelope import Answer
from mlsub.workspace.memory import Memory

#: What each kind of record holds.
_HOLDS = {
    "logs": "what was read of the logs of a folder, and their findings",
    "packages": "the report on an organisation's folder",
    "answers": "the answer of mlsub inspect on the same paths",
    "fingerprints": "the digests of all files of a package, for mlsub db",
}
_COLUMNS = (Column("records"), Column("number", number=True), Column("MB", number=True), Column("what one holds"))


class Records(msgspec.Struct, frozen=True):
    """Records of one kind: how many, and their bytes."""

    kind: str
    number: int
    bytes: int


class Cache(Answer, frozen=True, kw_only=True):
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


def show(memory: Memory | None) -> Cache:
    """What is in a memory.

    Raises:
        MlsubError: there is none.
    """
    if memory is None:
        raise MlsubError(
            "There is no cache: it is switched off, or there is no folder for it. Name one with --cache-dir."
        )
    number: Counter[str] = Counter()
    size: Counter[str] = Counter()
    oldest = None
    for one in memory.store.kept():
        number[one.kind] += 1
        size[one.kind] += one.bytes
        oldest = one.used if oldest is None else min(oldest, one.used)
    return Cache(
        folder=str(memory.store.folder),
        bytes=size.total(),
        limit=memory.limit,
        records=tuple(Records(kind, number[kind], size[kind]) for kind in _HOLDS if number[kind]),
        unused_since=None if oldest is None else datetime.fromtimestamp(oldest, UTC).isoformat(timespec="seconds"),
    )


def clear(memory: Memory | None) -> Cache:
    """Remove all that is in a memory, and nothing else that lies there.

    Raises:
        MlsubError: there is none, or something cannot be removed.
    """
    before = show(memory)
    assert memory is not None  # noqa: S101  (show has looked)
    memory.store.clear()
    left = show(memory)
    number = sum(one.number for one in before.records) - sum(one.number for one in left.records)
    if left.records:
        raise MlsubError(f"{left.folder} cannot be cleared: {left.bytes:,} bytes are left. Check its permissions.")
    return msgspec.structs.replace(left, removed=number)


def document_of(cache: Cache) -> Document:
    """The cache as facts and a table of its records."""
    size = f"{_mb(cache.bytes)} of {_mb(cache.limit)} MB"
    facts: list[tuple[str, Cell]] = [("folder", Span(cache.folder, "path")), ("size", size)]
    if cache.removed:
        facts.append(("removed", f"{cache.removed} records"))
    rows = tuple((one.kind, str(one.number), _mb(one.bytes), _HOLDS[one.kind]) for one in cache.records)
    return document("Cache of mlsub", Facts(tuple(facts)), Table(_COLUMNS, rows))


def _mb(size: int) -> str:
    return f"{size / (1 << 20):.1f}" if 0 < size < 100 << 20 else f"{size >> 20}"
