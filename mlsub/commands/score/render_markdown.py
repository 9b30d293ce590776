"""The results table as Markdown, as GitHub reads it: one table a round, numbers rounded."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import groupby

from mlsub.score.cells import Value, legible, rounded, value_of
from mlsub.score.columns import Column, ColumnKind, Shown, columns
from mlsub.score.table import Row

#: What Markdown would read as its own; an underscore within a word is one it would not.
_SPECIAL = re.compile(r"[\\|*<>\[\]`~&$]|(?<![^\W_])_|_(?![^\W_])")


def render_markdown(rows: Sequence[Row]) -> bytes:
    """The rows as a document."""
    if not rows:
        return b"No results.\n"
    parts = ["\n".join(_table(list(group), *of)) for of, group in groupby(rows, lambda row: (row.usage, row.round))]
    return ("\n\n".join(parts) + "\n").encode("utf-8")


def _table(rows: Sequence[Row], usage: str, round_: str) -> Iterator[str]:
    shown = [column for column in columns() if _is_shown(column, rows)]
    yield f"### {escape(f'{usage} v{round_}')}"
    yield ""
    if usage == "rehearsal":
        yield "A rehearsal: real training, but not an MLPerf result."
        yield ""
    yield _line(escape(column.title) for column in shown)
    yield _line("---" if column.kind is ColumnKind.TEXT else "---:" for column in shown)
    for row in rows:
        yield _line(_cell(value_of(row, column), column) for column in shown)


def _is_shown(column: Column, rows: Sequence[Row]) -> bool:
    if column.markdown is Shown.FILLED:
        return any(value_of(row, column) is not None for row in rows)
    return column.markdown is Shown.ALWAYS


def _line(cells: Iterator[str]) -> str:
    return f"| {' | '.join(cells)} |"


def _cell(value: Value, column: Column) -> str:
    if value is None:
        return ""
    if isinstance(value, str):
        return f"[{column.title.lower()}]({value})" if column.link else escape(value)
    return rounded(value, column.decimals)


def escape(text: str) -> str:
    """Text with nothing in it that Markdown would read as its own, in one line."""
    return _SPECIAL.sub(r"\\\g<0>", " ".join(legible(text).split()))
