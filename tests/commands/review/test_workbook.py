"""Workbooks: every kind of cell is read as openpyxl has it, and what would take too much is refused before it does."""

from __future__ import annotations

import io
import sys
import warnings
import zipfile
from collections.abc import Iterator
from datetime import date, datetime, time, timedelta
from pathlib import Path
from typing import Any

import openpyxl
import pytest

from mlsub.commands.review import workbook
from mlsub.commands.review.table import read_table
from mlsub.commands.review.workbook import read_cells
from mlsub.io import MlsubError
from tools.support.make_workbook import pack

pytest.importorskip("python_calamine")


def read(raw: bytes) -> dict[tuple[str, int, int], str]:
    """The cells that say something, by sheet, row and column."""
    rows = read_cells(raw, "table.xlsx")
    return {(sheet, row, at): cell for sheet, row, cells in rows for at, cell in enumerate(cells, 1) if cell}


def as_openpyxl(raw: bytes) -> dict[tuple[str, int, int], str]:
    warnings.simplefilter("ignore")

    def cells() -> Iterator[tuple[tuple[str, int, int], Any]]:
        for sheet in openpyxl.load_workbook(io.BytesIO(raw), read_only=True, data_only=True).worksheets:
            for row, values in enumerate(sheet.iter_rows(values_only=True), 1):
                yield from (((str(sheet.title), row, at), value) for at, value in enumerate(values, 1))

    return {place: str(value) for place, value in cells() if value is not None and value != ""}


VALUES = (
    *(1, 8.0, -0.0, 1.5, 0.1, 99.99999999999999, 1 / 3, 1e-7, 1e22, 12345678901234567890, 2**53, True, False),
    *("text", " spaced ", "1", "=1+1", "'=1", "a\nb", "ä漢🙂", "#N/A", "#DIV/0!", "", None),
    *(date(2024, 1, 2), datetime(2024, 1, 2, 3, 4, 5, 123000), time(3, 4, 5), timedelta(hours=30)),
)


def test_every_kind_of_cell_is_read_as_openpyxl_has_it() -> None:
    book: Any = openpyxl.Workbook()
    first = book.active
    for row, value in enumerate(VALUES, 3):
        cell = first.cell(row, 2, value)
        if str(value).startswith("="):
            cell.data_type = "s"
    book.create_sheet("Empty")
    for state in ("hidden", "veryHidden"):
        sheet = book.create_sheet(state)
        sheet["C4"], sheet.sheet_state = state, state
    sheet.merge_cells("C4:F9")
    book.active = 2
    book.save(stream := io.BytesIO())
    found = read(stream.getvalue())
    assert found == as_openpyxl(stream.getvalue())
    assert len(found) == len(VALUES) - 2 + 2
    assert list(dict.fromkeys(sheet for sheet, *_ in found)) == ["Sheet", "hidden", "veryHidden"]


def test_formulas_have_the_value_that_was_kept_and_errors_their_text() -> None:
    cells = (
        '<row r="2"><c r="B2"><f>1+1</f><v>2</v></c><c r="C2" t="str"><f>A1</f><v>abc</v></c>'
        '<c r="D2" t="b"><f>A1</f><v>1</v></c><c r="E2" t="e"><f>1/0</f><v>#DIV/0!</v></c>'
        '<c r="F2" t="inlineStr"><is><r><t>in</t></r><r><t>line</t></r></is></c><c r="G2"><f>A1</f></c>'
        '<c r="H2" t="s"><v>1</v></c><c r="I2"><v>8.50</v></c></row>'
    )
    raw = pack(cells, texts="<si><t>a</t></si><si><r><t>b</t></r><r><t>c</t></r></si>")
    assert read(raw) == as_openpyxl(raw)
    assert list(read(raw).values()) == ["2", "abc", "True", "#DIV/0!", "inline", "bc", "8.5"]


DOCTYPE = '<?xml version="1.0"?><!DOCTYPE a [<!ENTITY b "c">]><a>&b;</a>'
CORNER = '<row r="1"><c r="A1"><v>1</v></c></row><row r="{}"><c r="{}"><v>1</v></c></row>'
SHARED = '<c r="A1" t="s"><v>0</v></c>'
HOSTILE: dict[str, tuple[bytes, str]] = {
    "a document type behind a long comment": (
        pack(parts={"xl/styles.xml": DOCTYPE.replace("?>", f"?><!--{'x' * 8_000_000}-->").encode()}), "a document type",
    ),
    "one in a part that nobody reads": (pack(parts={"docProps/app.xml": DOCTYPE.encode()}), "has a document type"),
    "one in relations": (pack(parts={"_rels/x.rels": DOCTYPE.encode()}), "has a document type"),
    "one in UTF-16": (pack(parts={"xl/a.xml": DOCTYPE.encode("utf-16")}), "or no UTF-8"),
    "one in UTF-16 without a mark": (pack(parts={"xl/a.xml": DOCTYPE.encode("utf-16-le")}), "or no UTF-8"),
    "one in a part of another letter case": (pack(parts={"XL/A.XML": DOCTYPE.encode()}), "has a document type"),
    "a part of many bytes": (pack(parts={"xl/a.xml": bytes(9 << 20)}), "unpacks to more than 8 MiB"),
    "parts of many bytes": (pack(parts={f"xl/{n}.xml": bytes(1 << 20) for n in range(9)}), "unpacks to more than"),
    "many parts": (pack(parts={f"xl/{n}.bin": b"" for n in range(999)}), "more than 1,000 parts"),
    "a part twice": (pack(parts={"xl/STYLES.xml": b"<a/>"}), "a part is in it twice"),
    "a part under two names": (pack(parts={"xl/a.xml": b"<a/>"}, twice="xl/b.xml"), "a part is in it twice"),
    "parts that other programs unpack": (pack(how=zipfile.ZIP_LZMA), "packed unusually"),
    "formats of cells": (pack(styles=f"<cellXfs>{'<xf/>' * 1_000_000}</cellXfs>"), "more than 500,000 tags"),
    "attributes": (pack("<row " + " ".join(f'a{n}=""' for n in range(500_000)) + "/>"), "500,000 tags and attributes"),
    "a cell in the last corner": (pack(CORNER.format(1_048_576, "XFD1048576")), "more than 500,000 cells"),
    "a cell in a row that the cell names": (pack(CORNER.format(2, "A999999")), "more than 500,000 cells"),
    "a long text in many cells": (pack(SHARED * 999, texts=f"<si><t>{'x' * 40_000}</t></si>"), "24 MiB of text"),
    "a long text in pieces": (pack(SHARED * 999, texts=f"<si>{'<si><t>x</t>' * 40_000}</si>"), "ExpatError"),
    "a long text of texts": (
        pack(SHARED * 999, texts=f"{'<si><t>xxxxxxxxxx</t>' * 5_000}{'</si>' * 5_000}"), "24 MiB of text",
    ),
    "a sheet under many names": (pack('<row r="99"><c r="Z99"><v>1</v></c></row>', sheets=9_000), "too many sheets"),
    "a cell that does not say where it stands": (pack("<row><c><v>1</v></c></row>"), "where it stands"),
    "no column": (pack('<row r="1"><c r="1"><v>1</v></c></row>'), "where it stands"),
    "a long column": (pack('<row r="1"><c r="ZZZZZZZ1"><v>1</v></c></row>'), "where it stands"),
    "a place behind another attribute": (pack('<c s="0" r="A1"/>'), "where it stands"),
    "a long text with ends of another prefix": (
        pack(SHARED * 999, texts=f"<si>{'<t>x</t><x:si/>' * 9_000}<x:si></x:si></si>"), "several prefixes",
    ),
    "a long text with ends in comments": (pack(texts="<si><t>x<!--</si>--></t></si>"), "comments, CDATA"),
    "ends in instructions": (pack(texts="<si><t>x<?a </si>?></t></si>"), "comments, CDATA or instructions"),
    "no day": (
        pack('<row r="1"><c r="A1" s="0"><v>-1e12</v></c></row>', styles='<cellXfs><xf numFmtId="14"/></cellXfs>'),
        "python-calamine gave up",
    ),
    "a text that there is not": (pack('<row r="1"><c r="A1" t="s"><v>7</v></c></row>'), "CalamineError"),
    "XML cut short": (pack(parts={"xl/styles.xml": b"<a>"}), "ExpatError"),
    "OpenDocument": (pack(parts={"mimetype": b"application/vnd.oasis.opendocument.spreadsheet"})[:-60], "BadZipFile"),
}  # fmt: skip


@pytest.mark.parametrize(("raw", "why"), HOSTILE.values(), ids=HOSTILE)
def test_what_would_take_too_much_is_refused(raw: bytes, why: str) -> None:
    with pytest.raises(MlsubError, match=why) as error:
        list(read_cells(raw, "table.xlsx"))
    assert len(error.value.lines) == 1 and len(str(error.value)) < 200


def test_the_library_reads_only_parts_that_were_looked_at(monkeypatch: pytest.MonkeyPatch) -> None:
    given: list[dict[str, bytes]] = []

    def note(file: io.BytesIO) -> Any:
        with zipfile.ZipFile(file) as parts:
            given.append({name: parts.read(name) for name in parts.namelist()})
        raise ValueError

    monkeypatch.setattr("python_calamine.CalamineWorkbook.from_filelike", note, raising=False)
    raw = pack(parts={"content.xml": b"<a/>", "xl/vbaProject.bin": b"x", "mimetype": b"x", "xl/media/image1.png": b"x"})
    with pytest.raises(MlsubError, match="ValueError"):
        list(read_cells(raw + b"behind", "table.xlsx"))
    assert {"xl/workbook.xml", "xl/worksheets/sheet1.xml"} <= given[0].keys()
    assert not {"content.xml", "xl/vbaProject.bin", "mimetype", "xl/media/image1.png"} & given[0].keys()


def test_a_panic_of_the_library_is_one_line(monkeypatch: pytest.MonkeyPatch) -> None:
    class PanicException(BaseException):
        pass

    def panic(*_: object) -> None:
        raise PanicException

    monkeypatch.setattr(workbook, "_copy", panic)
    with pytest.raises(MlsubError, match="python-calamine gave up"):
        list(read_cells(b"", "table.xlsx"))


def test_without_the_library_it_is_named(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setitem(sys.modules, "python_calamine", None)
    (tmp_path / "table.xlsx").write_bytes(pack())
    with pytest.raises(MlsubError, match=r"table\.xlsx needs python-calamine\. .*'\.\[tables\]'"):
        read_table(tmp_path / "table.xlsx", ())
