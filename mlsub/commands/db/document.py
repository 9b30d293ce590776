"""What a database was made of, and what there is to ask, as documents."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

import msgspec

from mlsub.commands.db.build import Built
from mlsub.commands.db.schema import Table as Known
from mlsub.present.document import Column, Document, Facts, Section, Table, Text, document
from mlsub.present.envelope import Answer


class KnownColumn(msgspec.Struct, frozen=True):
    """A column; ``type`` is DuckDB's, null for a view."""

    name: str
    type: str | None
    meaning: str


class KnownTable(msgspec.Struct, frozen=True):
    """A ``table`` or a ``view``, and what it means."""

    name: str
    kind: str
    meaning: str
    columns: tuple[KnownColumn, ...]


class Tables(Answer, frozen=True, kw_only=True):
    """The tables and views of a database."""

    SCHEMA: ClassVar[int] = 2

    tables: tuple[KnownTable, ...]


def tables_of(shown: Sequence[Known]) -> Tables:
    """Tables and views as an answer."""
    return Tables(
        tables=tuple(
            KnownTable(
                table.name,
                "view" if table.sql else "table",
                table.meaning,
                tuple(KnownColumn(column.name, column.type or None, column.meaning) for column in table.columns),
            )
            for table in shown
        )
    )


def tables_document(answer: Tables) -> Document:
    """Tables with their columns, types and meanings."""
    return document("Tables and views of the database", *map(_table, answer.tables))


def _table(table: KnownTable) -> Section:
    name, type_, meaning = Column("column", when_narrow="keep"), Column("type", leave_out=1), Column("meaning")
    columns = Table((name, type_, meaning), tuple((one.name, one.type or "", one.meaning) for one in table.columns))
    if table.kind == "view":
        columns = Table((name, meaning), tuple((one.name, one.meaning) for one in table.columns))
    return Section(f"{table.name} ({table.kind})", (Text(table.meaning), columns))


def built_document(built: Built) -> Document:
    """What was read, and how many rows there are."""
    rows = built.rows
    counts = [f"{rows[name]} {name}" for name in ("rounds", "submissions", "entries", "runs", "findings", "records")]
    return document(
        "Database of results",
        Facts(
            (
                ("file", f"{built.output}: {'written' if built.written else 'nothing has changed'}"),
                ("submissions", f"{len(built.read)} read, {len(built.kept)} kept, {len(built.gone)} gone"),
                ("rows", ", ".join(counts)),
            )
        ),
    )
