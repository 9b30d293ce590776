"""Read the cells of a workbook within bounds: XML without document types, so many cells, so much text.

python-calamine reads it. It keeps a sheet as a rectangle up to the last cell, with a copy of a shared text in each cell
that names it, so that a small file could ask for any amount of memory. What it is given is packed anew, from parts that
were looked at before: what they ask for is estimated from their bytes, never too low.
"""

from __future__ import annotations

import io
import re
import zipfile
from collections.abc import Iterator
from datetime import date
from functools import reduce
from xml.parsers import expat

from mlsub.io import MlsubError
from mlsub.io.look import without_panics

#: Parts; of those that are XML the bytes unpacked, and the tags and attributes.
MAX_PARTS, MAX_UNPACKED, MAX_TAGS = 1_000, 8 << 20, 500_000
#: Cells from the first row and column to the last; bytes of shared texts, if each cell that names one had the longest.
MAX_CELLS, MAX_TEXT = 500_000, 24 << 20
#: A cell, with its column and row, which programs write first; what makes a cell name a shared text, and ends one.
_CELL = re.compile(rb'<(?:[^\s<>:]*:)?c[\s/>](?:r="([A-Z]{1,3})([0-9]{1,7})")?')
_SHARED = re.compile(rb"t\s*=\s*[\"']s[\"']")
_TEXT_END = re.compile(rb"</([^\s<>:]*:)?si\s*>")


def _refuse_if(is_bad: bool, why: str) -> None:
    if is_bad:
        raise MlsubError(why)


def _copy(raw: bytes) -> bytes:
    """Pack the XML of a workbook anew, after a look at each part."""
    _refuse_if(raw.count(b"PK\1\2") > MAX_PARTS, f"it has more than {MAX_PARTS:,} parts")
    tags = shared = longest = 0
    with zipfile.ZipFile(io.BytesIO(raw)) as archive, zipfile.ZipFile(copy := io.BytesIO(), "w") as kept:
        parts = [part for part in archive.infolist() if part.filename.lower().endswith((".xml", ".rels"))]
        distinct = min(len({part.filename.lower() for part in parts}), len({part.header_offset for part in parts}))
        _refuse_if(distinct < len(parts), "a part is in it twice")
        size = sum(part.file_size for part in parts)
        _refuse_if(size > MAX_UNPACKED, f"its XML unpacks to more than {MAX_UNPACKED >> 20} MiB")
        for part in parts:
            _refuse_if(part.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED), "it is packed unusually")
            content = archive.open(part).read(part.file_size)
            _refuse_if(b"<!DOCTYPE" in content or b"\0" in content, "it has a document type (<!DOCTYPE), or no UTF-8")
            tags += content.count(b"<") + content.count(b"=")
            _refuse_if(tags > MAX_TAGS, f"it has more than {MAX_TAGS:,} tags and attributes")
            if part.filename.lower().startswith(("xl/", "_rels/")):
                _refuse_if(_count_cells(content) > MAX_CELLS, f"it has more than {MAX_CELLS:,} cells")
                shared, longest = max(shared, len(_SHARED.findall(content))), max(longest, _longest_text(content))
                # Errors are left out otherwise; as text they are shown.
                kept.writestr(part.filename, content.replace(b' t="e"><', b' t="str"><'))
    _refuse_if(shared * longest > MAX_TEXT, f"its cells have more than {MAX_TEXT >> 20} MiB of text")
    return copy.getvalue()


def _count_cells(content: bytes) -> int:
    """The cells of the rectangle from the first row and column to the last."""
    places = _CELL.findall(content)
    _refuse_if((b"", b"") in places, "a cell does not say where it stands")
    columns = [reduce(lambda at, letter: at * 26 + letter - 64, letters, 0) for letters in {of for of, _ in places}]
    return max(columns, default=0) * max((int(row) for _, row in places), default=0)


def _longest_text(content: bytes) -> int:
    """The most bytes from one end of a shared text to the next."""
    # In XML without comments and the like each < begins a tag. It is read as UTF-8, as calamine does whatever it says.
    expat.ParserCreate("utf-8", None, None).Parse(content, True)
    _refuse_if(b"<!" in content or content.rfind(b"<?") > 3, "it has comments, CDATA or instructions in its XML")
    texts = _TEXT_END.split(content)
    _refuse_if(len(set(texts[1::2])) > 1, "its texts have tags of several prefixes")
    return max(map(len, texts[:-1:2]), default=0)


def read_cells(raw: bytes, file: str) -> Iterator[tuple[str, int, list[str]]]:
    """Yield the sheet, the number and the cells of each row.

    Raises:
        ImportError: python-calamine is not installed.
        MlsubError: it is no workbook, or takes too much.
    """
    from python_calamine import CalamineWorkbook, SheetTypeEnum

    cells = 0
    try:
        with without_panics("python-calamine gave up"):
            book = CalamineWorkbook.from_filelike(io.BytesIO(copy := _copy(raw)))
            # Several sheets may be one part.
            _refuse_if(len(book.sheets_metadata) * len(copy) > 4 * MAX_UNPACKED, "it has too many sheets")
            for index, of in enumerate(book.sheets_metadata):
                if of.typ == SheetTypeEnum.WorkSheet:
                    sheet = book.get_sheet_by_index(index)
                    cells, left = cells + sheet.total_height * sheet.total_width, [""] * (sheet.start or (0, 0))[1]
                    _refuse_if(cells > MAX_CELLS, f"it has more than {MAX_CELLS:,} cells")
                    for number, row in enumerate(sheet.iter_rows(), start=1):
                        yield of.name, number, [*left, *map(_show, row)]
    except Exception as error:
        # The libraries raise what they like for a file that is no workbook.
        reason = error if isinstance(error, MlsubError) else type(error).__name__
        raise MlsubError(f"{file} is not a workbook that can be read: {reason}.") from error


def _show(cell: object) -> str:
    """A cell as text: a whole number without a fraction, a day with its hour."""
    if isinstance(cell, float) and cell.is_integer() and abs(cell) <= 1 << 53:
        return str(int(cell))
    return f"{cell} 00:00:00" if type(cell) is date else str(cell)
