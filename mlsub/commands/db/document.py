"""What a database was made of, what there is to ask, and answers, as documents; answers as CSV too."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from mlsub.commands.db.query import QueryResult
from mlsub.commands.db.schema import Tables
from mlsub.io.show import plural, shortened
from mlsub.present.document import Column, Document, Facts, Section, Span, Table, Text, document
from mlsub.present.tables import csv_lines, csv_text, legible

if TYPE_CHECKING:
    # It needs all that reads submissions, which no question does.
    from mlsub.commands.db.build import BuiltDatabase

#: A cell of a table for people; CSV and JSON have it whole.
_MAX_CELL = 300


def tables_document(answer: Tables) -> Document:
    """Show tables with their columns, types and meanings."""
    sections = []
    for table in answer.tables:
        types = () if table.kind == "view" else (Column("type", leave_out=1),)
        rows = tuple((one.name, *((one.type or "",) if types else ()), one.meaning) for one in table.columns)
        columns = Table((Column("column", when_narrow="keep"), *types, Column("meaning")), rows)
        sections.append(Section(f"{table.name} ({table.kind})", (Text(table.meaning), columns)))
    return document("Tables and views of the database", *sections)


def built_document(built: BuiltDatabase) -> Document:
    """Show what was read, how many rows there are, and which results are missing."""
    from mlsub.present.entries import without_logs

    rows = built.rows
    counts = [f"{rows[name]} {name}" for name in ("submissions", "entries", "runs", "findings")]
    facts = [
        ("file", f"{built.output}: {'written' if built.written else 'nothing has changed'}"),
        ("rows", ", ".join(counts)),
    ]
    missing = without_logs(built.without_logs)
    return document("Database of results", Facts(tuple(facts)), Text(Span(missing, "note")) if missing else None)


def result_document(result: QueryResult) -> Document:
    """Show the answer to a question, with the heads of its columns even where there are no rows."""
    columns = []
    for at, column in enumerate(result.columns):
        values = [row[at] for row in result.rows if row[at] is not None]
        numeric = all(isinstance(value, int | float) and not isinstance(value, bool) for value in values)
        columns.append(Column(column.name, number=bool(values) and numeric))
    rows = tuple(tuple(shortened(_short_text(value), _MAX_CELL) for value in row) for row in result.rows)
    title = f"{plural(len(rows), 'row')}{', and there are more' if result.more else ''}"
    return Document(title, (Table(tuple(columns), rows),))


def as_csv(result: QueryResult) -> str:
    """Return the answer as CSV, numbers unrounded; what a spreadsheet would take for a formula gets an apostrophe."""
    heads = [column.name for column in result.columns]
    return csv_lines(map(_csv_cell, row) for row in (heads, *result.rows))


def _short_text(value: Any) -> str:
    """Return a value for people: numbers with six decimals at most, NULL as a hyphen."""
    if value is None:
        return "-"
    if isinstance(value, float) and (not value or 1e-4 <= abs(value) < 1e15):
        return f"{value:.6f}".rstrip("0").rstrip(".")
    return _whole_text(value)


def _whole_text(value: Any) -> str:
    """Return a value in full."""
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def _csv_cell(value: Any) -> str:
    """Return a value as a cell of CSV; what a spreadsheet would calculate is marked as text, unless it is a number."""
    if value is None:
        return ""
    text = legible(_whole_text(value))
    try:
        float(text)
    except ValueError:
        return csv_text(text)
    return text
