"""The results table as a workbook: a sheet a division, as the official table has it."""

from __future__ import annotations

import io
import re
from collections.abc import Iterator, Sequence
from typing import Any

from mlsub.divisions import DIVISIONS
from mlsub.score.cells import Value, is_formula, legible, rounded, value_of
from mlsub.score.columns import Column, ColumnKind, columns
from mlsub.score.table import Row

#: A cell holds no more characters.
MAX_CELL = 32_767
_WIDEST = 50
#: What programs that open the file would read as a character's code.
_CODE = re.compile(r"_(?=x[0-9A-Fa-f]{4}_)")
#: The sheet of entries that state neither closed nor open; only there if there are any.
_OTHERS = "other"


def render_xlsx(rows: Sequence[Row]) -> bytes:
    """The rows as a file: text is always text, never a formula; numbers are numbers, with a format that rounds them.

    The library keeps 16 significant digits of a number, one more than spreadsheets calculate with.

    Raises:
        ImportError: openpyxl is not installed.
    """
    from openpyxl import Workbook

    book: Any = Workbook()
    book.remove(book.active)
    for title, members in _sheets(rows):
        _fill(book.create_sheet(title), members)
    stream = io.BytesIO()
    book.save(stream)
    return stream.getvalue()


def _sheets(rows: Sequence[Row]) -> Iterator[tuple[str, list[Row]]]:
    for division in DIVISIONS:
        yield division, [row for row in rows if row.division == division]
    others = [row for row in rows if row.division not in DIVISIONS]
    if others:
        yield _OTHERS, others


def _fill(sheet: Any, rows: Sequence[Row]) -> None:
    from openpyxl.styles import Alignment, Font, PatternFill
    from openpyxl.utils import get_column_letter

    for number, column in enumerate(columns(), start=1):
        head = sheet.cell(1, number, column.title)
        head.font = Font(bold=True)
        head.fill = PatternFill("solid", start_color="FFD9D9D9")
        head.alignment = Alignment(wrap_text=True, vertical="center")
        longest = len(column.title)
        for line, row in enumerate(rows, start=2):
            cell = sheet.cell(line, number)
            _put(cell, value_of(row, column), column)
            longest = max(longest, _width(cell.value, column))
        sheet.column_dimensions[get_column_letter(number)].width = min(longest, _WIDEST) + 2
    sheet.freeze_panes = "A2"
    sheet.auto_filter.ref = sheet.dimensions


def _put(cell: Any, value: Value, column: Column) -> None:
    if isinstance(value, str):
        text = _CODE.sub("_x005F_", legible(value))[:MAX_CELL]
        # Given as text: openpyxl would make a formula of what starts with "=".
        cell.value = text
        cell.data_type = "s"
        # So that a later edit makes no formula of it either.
        cell.quotePrefix = is_formula(value)
        if column.link:
            cell.hyperlink = text
            cell.style = "Hyperlink"
    elif value is not None:
        cell.value = value
        cell.number_format = "0" if column.kind is ColumnKind.COUNT else _format(column.decimals)


def _width(value: Value, column: Column) -> int:
    if isinstance(value, str):
        return max((len(line) for line in value.split("\n")), default=0)
    return 0 if value is None else len(rounded(value, column.decimals))


def _format(decimals: int) -> str:
    return f"0.{'0' * decimals}" if decimals else "0"
