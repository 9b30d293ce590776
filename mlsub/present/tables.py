"""The columns of the results table, and tables as files of CSV and Parquet."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Literal

import msgspec

from mlsub.io.data import shipped
from mlsub.io.show import encodable, plain
from mlsub.present import columnar

#: What a column holds; any cell may be empty.
ColumnKind = Literal["text", "count", "number"]


class ResultColumn(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One column; see columns.yaml. ``markdown`` is where Markdown has it, ``type`` is that of a database."""

    name: str
    title: str
    kind: ColumnKind
    type: str = ""
    page_title: str = ""
    decimals: int = 0
    link: bool = False
    markdown: Literal["always", "filled", "never"] = "never"
    meaning: str

    def __post_init__(self) -> None:
        types = {"text": "VARCHAR", "count": "BIGINT", "number": "DOUBLE"}
        msgspec.structs.force_setattr(self, "type", self.type or types[self.kind])


def columns() -> tuple[ResultColumn, ...]:
    """All columns, in their order."""
    return shipped(__file__, "columns.yaml", tuple[ResultColumn, ...])


#: What makes a spreadsheet take a cell for a formula when it opens a CSV file, full-width forms among it.
_FORMULA = frozenset("=+-@＝＋－＠")
#: Where the comma is for decimals, a spreadsheet cuts at semicolons and line ends, also within quotes.
_LATER_FORMULA = re.compile('[;\n](?=[ "]*[=+\\-@＝＋－＠])')
_TO_QUOTE = re.compile('[,;"\n]')
_SEPARATORS = frozenset("\t\r\n")

Value = str | int | float | None
#: The cells of a result by the names of its columns: what its ``columns()`` returns.
Row = Mapping[str, Any]


def legible(text: str) -> str:
    """Text without characters that could steer a program: line ends are LF, other blanks spaces, the rest escaped."""
    if text.isprintable():
        return text
    text = text.replace("\r\n", "\n").replace("\r", "\n")
    return "".join(c if c == "\n" else " " if c.isspace() else plain(c) for c in text)


def is_formula(text: str) -> bool:
    """Whether a spreadsheet might calculate with the text instead of showing it."""
    return text[:1] in _SEPARATORS or text.lstrip()[:1] in _FORMULA


def exact(value: float) -> str:
    """A number that reads back as the same number, and without ``.0`` where it is whole."""
    return repr(value).removesuffix(".0")


def csv_of(names: Sequence[str], rows: Iterable[Iterable[Value]]) -> bytes:
    """A table in UTF-8, its columns under their names: see :func:`csv_lines` and :func:`csv_text`."""
    return csv_lines([names, *(map(_csv_cell, row) for row in rows)]).encode("utf-8")


def csv_lines(rows: Iterable[Iterable[str]]) -> str:
    """Cells as CSV, in lines that end in LF; a cell in which there is a comma, semicolon or quote is in quotes."""
    return "".join((",".join(map(_quoted, row)) or '""') + "\n" for row in rows)


def _quoted(cell: str) -> str:
    return '"' + cell.replace('"', '""') + '"' if _TO_QUOTE.search(cell) else cell


def csv_text(text: str) -> str:
    """Text for a cell of CSV: before what a spreadsheet would take for a formula stands an apostrophe."""
    safe = _LATER_FORMULA.sub(r"\g<0>'", legible(text))
    return f"'{safe}" if is_formula(text) else safe


def _csv_cell(value: Value) -> str:
    if value is None:
        return ""
    return csv_text(value) if isinstance(value, str) else exact(value)


def parquet_of(names: Sequence[tuple[str, ColumnKind]], rows: Sequence[Sequence[Value]]) -> bytes:
    """A table as a Parquet file: text is string, a count int64, a number double; an empty cell is null.

    Raises:
        ImportError: pyarrow is not installed.
    """
    import pyarrow as pa

    types = {"text": pa.string(), "count": pa.int64(), "number": pa.float64()}
    schema = pa.schema([(name, types[kind]) for name, kind in names])
    content = {
        name: [encodable(cell) if isinstance(cell := row[place], str) else cell for row in rows]
        for place, (name, _) in enumerate(names)
    }
    return columnar.render(pa.table(content, schema=schema), "parquet")
