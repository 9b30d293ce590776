"""Workbooks, written part by part."""

from __future__ import annotations

import io
import zipfile
from copy import copy

_MAIN = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
_OFFICE = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
_PACKAGE = "http://schemas.openxmlformats.org/package/2006"
_KIND = "application/vnd.openxmlformats-officedocument.spreadsheetml"


def pack(
    cells: str = "",
    *,
    texts: str = "",
    styles: str = "",
    sheets: int = 1,
    parts: dict[str, bytes] | None = None,
    how: int = zipfile.ZIP_DEFLATED,
    twice: str = "",
) -> bytes:
    """Return a workbook: one part for cells, which so many sheets show; the last part may be listed under two names."""
    shown = "".join(f'<sheet name="S{n}" sheetId="{n}" r:id="rId1"/>' for n in range(1, sheets + 1))
    names = {"worksheet": "worksheets/sheet1.xml", "sharedStrings": "sharedStrings.xml", "styles": "styles.xml"}
    related = "".join(
        f'<Relationship Id="rId{n}" Type="{_OFFICE}/{kind}" Target="{name}"/>'
        for n, (kind, name) in enumerate(names.items(), 1)
    )
    whole: dict[str, str | bytes] = {
        "[Content_Types].xml": f'<Types xmlns="{_PACKAGE}/content-types"><Override PartName="/xl/workbook.xml" '
        f'ContentType="{_KIND}.sheet.main+xml"/><Override PartName="/xl/sharedStrings.xml" '
        f'ContentType="{_KIND}.sharedStrings+xml"/></Types>',
        "_rels/.rels": f'<Relationships xmlns="{_PACKAGE}/relationships"><Relationship Id="rId1" '
        f'Type="{_OFFICE}/officeDocument" Target="xl/workbook.xml"/></Relationships>',
        "xl/workbook.xml": f'<workbook xmlns="{_MAIN}" xmlns:r="{_OFFICE}"><sheets>{shown}</sheets></workbook>',
        "xl/_rels/workbook.xml.rels": f'<Relationships xmlns="{_PACKAGE}/relationships">{related}</Relationships>',
        "xl/sharedStrings.xml": f'<sst xmlns="{_MAIN}">{texts}</sst>',
        "xl/styles.xml": f'<styleSheet xmlns="{_MAIN}">{styles}</styleSheet>',
        "xl/worksheets/sheet1.xml": f'<worksheet xmlns="{_MAIN}"><sheetData>{cells}</sheetData></worksheet>',
    }
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", how) as archive:
        for name, content in {**whole, **(parts or {})}.items():
            archive.writestr(name, content)
        if twice:
            archive.filelist.append(copy(archive.filelist[-1]))
            archive.filelist[-1].filename = twice
    return stream.getvalue()
