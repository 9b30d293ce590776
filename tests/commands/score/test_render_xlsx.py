"""The workbook, read back with the library."""

from __future__ import annotations

import io
import re
import zipfile
from typing import Any

import openpyxl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mlsub.commands.score.formats import MAX_CELL, render_xlsx
from mlsub.present.tables import Row, columns, is_formula, legible
from tests.score.reports import make_entry, make_report, make_row, organisations, rows_of, variety

NAMES = [column.name for column in columns()]
TEXT = st.text(st.characters(exclude_categories=()), min_size=1, max_size=20)


def read(content: bytes) -> Any:
    return openpyxl.load_workbook(io.BytesIO(content))


def cells(sheet: Any) -> list[dict[str, Any]]:
    """The rows of a sheet below its head, by the names of the columns."""
    return [dict(zip(NAMES, line, strict=True)) for line in sheet.iter_rows(min_row=2, values_only=True)]


def one_cell(row: Row, name: str) -> Any:
    return read(render_xlsx([row]))["closed"].cell(2, NAMES.index(name) + 1)


def test_there_is_a_sheet_a_division_and_each_row_in_its_own() -> None:
    rows = rows_of(variety(), organisations())
    book = read(render_xlsx(rows))
    assert book.sheetnames == ["closed", "open"]
    assert [row["path"] for row in cells(book["open"])] == ["results/rack1-open/retinanet"]
    assert [row["path"] for row in cells(book["closed"])] == [
        row["path"] for row in rows if row["division"] == "closed"
    ]


@pytest.mark.parametrize("division", [None, "Closed", "close", "=closed"])
def test_what_is_neither_closed_nor_open_has_a_sheet_of_its_own(division: str | None) -> None:
    book = read(render_xlsx(rows_of(make_report(make_entry(division=division), make_entry()))))
    assert book.sheetnames == ["closed", "open", "other"]
    assert [row["division"] for row in cells(book["other"])] == [division]
    assert len(cells(book["closed"])) == 1


def test_the_head_is_bold_filled_frozen_and_filters() -> None:
    sheet = read(render_xlsx(rows_of(variety())))["closed"]
    assert [cell.value for cell in sheet[1]] == [column.title for column in columns()]
    assert all(cell.font.bold and cell.fill.fill_type == "solid" for cell in sheet[1])
    assert sheet.freeze_panes == "A2"
    assert sheet.auto_filter.ref == sheet.dimensions == "A1:AL5"
    assert all(2 < sheet.column_dimensions[cell.column_letter].width <= 52 for cell in sheet[1])


def test_values_come_back_as_they_were() -> None:
    rows = rows_of(variety())
    found = cells(read(render_xlsx(rows))["closed"])
    for row, back in zip([row for row in rows if row["division"] == "closed"], found, strict=True):
        for column in columns():
            value = row[column.name]
            if value is None or column.kind == "text":
                assert back[column.name] == value, column.name
            else:
                assert back[column.name] == pytest.approx(value, rel=1e-15, abs=0), column.name


def test_numbers_are_rounded_by_their_format_alone() -> None:
    row = make_row()
    assert one_cell(row, "published_minutes").number_format == "0.000"
    assert one_cell(row, "published_minutes").value == pytest.approx(27.123456789012345, rel=1e-15)
    assert one_cell(row, "scaling").number_format == "0.0000"
    assert one_cell(row, "runs").number_format == "0"


def test_links_are_links() -> None:
    cell = one_cell(make_row(), "details_url")
    assert cell.hyperlink.target == cell.value == make_row()["details_url"]


@pytest.mark.parametrize("text", ["=1+1", "+1", "-1", "@x", "\t=1", '=HYPERLINK("http://x","y")', "{=1}", "#REF!", "1"])
def test_text_is_text_never_a_formula_nor_a_number(text: str) -> None:
    cell = one_cell(make_row(submitter=text), "submitter")
    assert cell.data_type == "s"
    assert cell.value == legible(text)
    assert bool(cell.quotePrefix) is is_formula(text)


@given(TEXT)
def test_any_text_comes_back_as_it_can_be_read(text: str) -> None:
    content = render_xlsx([make_row(submitter=text, system_name=text)])
    assert b"<f>" not in zipfile.ZipFile(io.BytesIO(content)).read("xl/worksheets/sheet1.xml")
    (row,) = cells(read(content)["closed"])
    assert row["submitter"] == row["system_name"] == re.sub(r"_(?=x[0-9A-Fa-f]{4}_)", "_x005F_", legible(text))


def test_a_code_of_a_character_is_no_character() -> None:
    # What stands in the file: Excel reads _x005F_ as an underscore, and the rest as it is.
    cell = one_cell(make_row(submitter="a_x003D_b"), "submitter")
    assert cell.value == "a_x005F_x003D_b"


def test_text_too_long_for_a_cell_is_cut_off() -> None:
    cell = one_cell(make_row(notes="\x01" * MAX_CELL), "notes")
    assert len(cell.value) == MAX_CELL


def test_without_rows_there_are_two_heads() -> None:
    book = read(render_xlsx([]))
    assert book.sheetnames == ["closed", "open"]
    assert all(sheet.max_row == 1 and sheet.max_column == len(NAMES) for sheet in book)
