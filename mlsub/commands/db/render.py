"""Answers as text, CSV, JSON or Markdown."""

from __future__ import annotations

import csv
import io
import json
import math
from collections.abc import Iterable
from datetime import date, datetime, time
from typing import TYPE_CHECKING, Any

from rich.box import SIMPLE
from rich.table import Table

from mlsub.commands.db.query import Answer
from mlsub.io.plain import plain
from mlsub.present.markdown import escape as escaped
from mlsub.score.cells import is_formula, legible

if TYPE_CHECKING:
    from rich.console import Console

#: A cell of a table for people; CSV and JSON have it whole.
_MAX_CELL = 300
_NUMBERS = (int, float)


def print_table(answer: Answer, out: Console) -> None:
    """Print the answer as an aligned table."""
    table = Table(box=SIMPLE, pad_edge=False, show_edge=False)
    for position, name in enumerate(answer.columns):
        right = _is_numeric(row[position] for row in answer.rows)
        table.add_column(plain(name), justify="right" if right else "left", overflow="fold")
    for row in answer.rows:
        table.add_row(*(plain(_cut(_short(value))) for value in row))
    out.print(table)


def as_csv(answer: Answer) -> str:
    """The answer as CSV, numbers unrounded; text that a spreadsheet would take for a formula gets an apostrophe."""
    stream = io.StringIO(newline="")
    writer = csv.writer(stream, lineterminator="\n")
    writer.writerow([_guarded(name) for name in answer.columns])
    writer.writerows([_csv_cell(value) for value in row] for row in answer.rows)
    return stream.getvalue()


def as_json(answer: Answer) -> str:
    """The answer as one document: columns, rows, whether there are more, notes. Numbers are unrounded."""
    document = {
        "columns": [{"name": name, "type": kind} for name, kind in zip(answer.columns, answer.types, strict=True)],
        "rows": [[_json_value(value) for value in row] for row in answer.rows],
        "more": answer.more,
        "notes": list(answer.notes),
    }
    return json.dumps(document, indent=2, allow_nan=False) + "\n"


def as_markdown(answer: Answer) -> str:
    """The answer as a table of Markdown, as GitHub reads it, numbers rounded."""
    right = [_is_numeric(row[position] for row in answer.rows) for position in range(len(answer.columns))]
    lines = [_line(escape(name) for name in answer.columns), _line("---:" if is_right else "---" for is_right in right)]
    lines += [_line(escape(_cut(_short(value))) for value in row) for row in answer.rows]
    return "\n".join(lines) + "\n"


def _is_numeric(values: Iterable[Any]) -> bool:
    found = [value for value in values if value is not None]
    return bool(found) and all(isinstance(value, _NUMBERS) and not isinstance(value, bool) for value in found)


def _short(value: Any) -> str:
    """A value for people: numbers with six decimals at most, NULL as a hyphen."""
    if value is None:
        return "-"
    if isinstance(value, float):
        if not math.isfinite(value) or (value and not 1e-4 <= abs(value) < 1e15):
            return repr(value)
        return f"{value:.6f}".rstrip("0").rstrip(".")
    return _text(value)


def _text(value: Any) -> str:
    """A value in full."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        return value
    if isinstance(value, datetime):
        return value.isoformat(" ")
    if isinstance(value, list | dict | tuple):
        return json.dumps(_json_value(value), ensure_ascii=False)
    return str(value)


def _cut(text: str) -> str:
    return text if len(text) <= _MAX_CELL else text[: _MAX_CELL - 1] + "…"


def _csv_cell(value: Any) -> str:
    if value is None:
        return ""
    if isinstance(value, float):
        return repr(value)
    return _guarded(value) if isinstance(value, str) else _text(value)


def _guarded(text: str) -> str:
    return f"'{legible(text)}" if is_formula(text) else legible(text)


def _json_value(value: Any) -> Any:
    if value is None or isinstance(value, bool | int | str):
        return value
    if isinstance(value, float):
        return value if math.isfinite(value) else str(value)
    if isinstance(value, list | tuple):
        return [_json_value(item) for item in value]
    if isinstance(value, dict):
        return {str(key): _json_value(item) for key, item in value.items()}
    if isinstance(value, datetime | date | time):
        return value.isoformat()
    return str(value)


def escape(text: str) -> str:
    """Text in one line, with nothing in it that Markdown would read as its own."""
    return escaped(" ".join(legible(text).split()))


def _line(cells: Iterable[str]) -> str:
    return f"| {' | '.join(cells)} |"
