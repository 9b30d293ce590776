"""Read the cells of a workbook within bounds: XML without document types, so many cells, so much text.

python-calamine reads it. It keeps a sheet as a rectangle up to the last cell, with a copy of a shared text in each cell
that names it, so that a small file could ask for any amount of memory. What it is given is packed anew, from parts that
were looked at before.
"""

from __future__ import annotations

import io
import re
import zipfile
from collections.abc import Iterator
from datetime import date
from functools import reduce
from typing import Any, NoReturn
from xml.parsers import expat

from mlsub.io.errors import MlsubError, without_panics

#: Parts, and their bytes unpacked; their tags, and their attributes.
MAX_PARTS, MAX_UNPACKED, MAX_TAGS, MAX_ATTRIBUTES = 1_000, 16 << 20, 400_000, 250_000
#: Cells from the first row and column to the last; bytes of shared texts, if each cell that names one had the longest.
MAX_CELLS, MAX_TEXT = 500_000, 32 << 20
#: calamine panics at days beyond 1e11; calendars end at 3e6.
_MAX_DAY = 1e11
_REFERENCE = re.compile(r"\A([A-Za-z]{1,3})([0-9]{1,7})\Z")


class _Bounds:
    """Counts what the parts of a workbook would take, up to the first that is too much."""

    def __init__(self, file: str) -> None:
        self.file, self._tags, self._attributes = file, 0, 0
        self._shared_of_most, self._longest, self._text_so_far = 0, 0, 0
        self._name, self._is_day = "", False

    def refuse(self, why: str) -> NoReturn:
        """End here with the file."""
        raise MlsubError(f"{self.file} is not a workbook that can be read: {why}.")

    def look_at(self, content: bytes) -> None:
        """Count the cells and the texts of a part, which must be XML without a document type."""
        self._tags += content.count(b"<")
        self._attributes += content.count(b"=")
        if self._tags > MAX_TAGS or self._attributes > MAX_ATTRIBUTES:
            self.refuse(f"it has more than {MAX_TAGS:,} tags or {MAX_ATTRIBUTES:,} attributes")
        # calamine takes all for UTF-8, whatever the part says; no two readers may read something else.
        if b"\0" in content or not content.decode():
            self.refuse("a part of it is not UTF-8")
        self._rows, self._columns, self._shared = 0, 0, 0
        parser = expat.ParserCreate()
        parser.buffer_text = parser.ordered_attributes = True
        parser.StartDoctypeDeclHandler = lambda *_: self.refuse("it has a document type (<!DOCTYPE)")
        parser.StartElementHandler, parser.EndElementHandler = self._start, self._end
        parser.CharacterDataHandler = self._text
        parser.Parse(content, True)
        if self._rows * self._columns > MAX_CELLS:
            self.refuse(f"it has more than {MAX_CELLS:,} cells")
        self._shared_of_most = max(self._shared_of_most, self._shared)
        if self._shared_of_most * self._longest > MAX_TEXT:
            self.refuse(f"its cells have more than {MAX_TEXT >> 20} MiB of text")

    def _start(self, tag: str, attributes: list[str]) -> None:
        self._name = tag.rpartition(":")[2]
        if self._name == "c":
            cell = dict(zip(attributes[::2], attributes[1::2], strict=True))
            # Without a place, where it stands would hang on how calamine counts.
            [(letters, digits)] = _REFERENCE.findall(cell.get("r", ""))
            column = reduce(lambda at, letter: at * 26 + int(letter, 36) - 9, letters, 0)
            self._rows, self._columns = max(self._rows, int(digits)), max(self._columns, column)
            self._shared += cell.get("t") == "s"
            self._is_day = "s" in cell and cell.get("t", "n") == "n"

    def _text(self, text: str) -> None:
        self._text_so_far += len(text.encode())
        if self._name == "v" and self._is_day and text.strip() and not abs(float(text)) < _MAX_DAY:
            self.refuse(f"{text[:20]} is no day and no number")

    def _end(self, tag: str) -> None:
        # However elements are nested, a text ends at the next end of one.
        if tag.rpartition(":")[2] == "si":
            self._longest, self._text_so_far = max(self._longest, self._text_so_far), 0


def _copy(raw: bytes, bounds: _Bounds) -> io.BytesIO:
    """Pack a workbook anew, without what is not XML: its one listing is what was looked at."""
    if raw.count(b"PK\1\2") > MAX_PARTS:
        bounds.refuse(f"it has more than {MAX_PARTS:,} parts")
    left = MAX_UNPACKED
    with zipfile.ZipFile(io.BytesIO(raw)) as parts, zipfile.ZipFile(copy := io.BytesIO(), "w") as kept:
        if len({name.lower() for name in parts.namelist()}) < len(parts.namelist()):
            bounds.refuse("a part is in it twice")
        for part in parts.infolist():
            name = part.filename.lower()
            if part.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
                bounds.refuse("it is packed in an unusual way")
            with parts.open(part) as stream:
                content = stream.read(left + 1)
            if (left := left - len(content)) < 0:
                bounds.refuse(f"it unpacks to more than {MAX_UNPACKED >> 20} MiB")
            if name.endswith((".xml", ".rels")):
                bounds.look_at(content)
                if name.startswith(("xl/", "_rels/", "[content_types].xml")):
                    # Errors are left out otherwise; as text they are shown.
                    errors = content.replace(b' t="e"', b' t="str"') if b"<sheetData" in content else content
                    kept.writestr(part.filename, errors)
    return copy


def read_cells(raw: bytes, file: str) -> Iterator[tuple[str, int, list[str]]]:
    """Yield the sheet, the number and the cells of each row.

    Raises:
        ImportError: python-calamine is not installed.
        MlsubError: it is no workbook, or takes too much.
    """
    from python_calamine import CalamineWorkbook, SheetTypeEnum

    bounds, cells, work = _Bounds(file), MAX_CELLS, 2 * MAX_UNPACKED
    try:
        with without_panics(f"{file} is not a workbook that can be read: python-calamine gave up."):
            copy = _copy(raw, bounds)
            largest = max(part.file_size for part in zipfile.ZipFile(copy).infolist())
            copy.seek(0)
            book = CalamineWorkbook.from_filelike(copy)
            for index, of in enumerate(book.sheets_metadata):
                # Several sheets may be one part.
                if (work := work - largest) < 0:
                    bounds.refuse("it has too many sheets")
                if of.typ != SheetTypeEnum.WorkSheet:
                    continue
                sheet = book.get_sheet_by_index(index)
                (_, left), (last, right) = sheet.start or (0, 0), sheet.end or (-1, -1)
                if (cells := cells - (last + 1) * (right + 1)) < 0:
                    bounds.refuse(f"it has more than {MAX_CELLS:,} cells")
                for number, row in enumerate(sheet.iter_rows(), start=1):
                    yield of.name, number, [*[""] * left, *map(_show, row)]
    except MlsubError:
        raise
    except Exception as error:
        # The libraries raise what they like for a file that is no workbook.
        raise MlsubError(f"{file} is not a workbook that can be read: {type(error).__name__}.") from error


def _show(cell: Any) -> str:
    """A cell as text: a whole number without a fraction, a day with its hour."""
    if isinstance(cell, float) and cell.is_integer() and abs(cell) <= 1 << 53:
        return str(int(cell))
    return f"{cell} 00:00:00" if type(cell) is date else str(cell)
