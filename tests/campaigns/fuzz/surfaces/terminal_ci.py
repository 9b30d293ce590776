"""What CI and spreadsheets read: each format parses back to what was found, and text in it stays text."""

from __future__ import annotations

import csv
import io
import json
import os
from typing import Any
from xml.etree import ElementTree

from mlsub.commands.score.formats import csv_of, parquet_of, render_csv, render_xlsx
from mlsub.findings import Finding, Verdict
from mlsub.io.show import message_line, plain
from mlsub.present import terminal
from mlsub.present.ci import CiFinding, CiReport, judged_part
from mlsub.present.ci_formats import render
from mlsub.present.document import Findings, document
from mlsub.score.columns import ColumnKind, Value, columns, encodable, exact, legible
from tests.campaigns.fuzz.documents import Maker
from tests.campaigns.fuzz.harness import BrokenError, Harness
from tests.campaigns.fuzz.provider import END, one_in
from tests.campaigns.fuzz.seeds import FINDINGS, MARKUP, texts
from tests.campaigns.fuzz.surfaces.terminal import check_harmless
from tests.ci_formats import github as read_github
from tests.ci_formats import gitlab as read_gitlab
from tests.ci_formats import junit as read_junit
from tests.ci_formats import sarif as read_sarif

#: Validating SARIF against its schema, and writing a workbook or a Parquet file, costs a hundred times the rest.
_SCHEMA, _LIBRARIES = 50, 50
_VERDICTS = tuple(Verdict)


def _results(data: bytes) -> CiReport:
    verdict, strict = _VERDICTS[(data[0] if data else 0) % 3], data[:1] > b"\x7f"
    findings = Maker(data[1:]).findings()
    name = findings[0].message if findings else "tree"
    part = judged_part(
        name, verdict, findings, rules="training v1.0", strict=strict, checked=[f.path for f in findings[:2]]
    )
    return CiReport("check", (part,))


def _ci(data: bytes) -> None:
    results = _results(data)
    found = list(results.all)
    _lines([result.finding for result in found])
    _github(results, found)
    _gitlab(results, found)
    _junit(results, found)
    _sarif(results, found, data)


def _lines(found: list[Finding]) -> None:
    """Where GitHub's runner reads what is printed, no line of it is a command."""
    before = os.environ.get("GITHUB_ACTIONS")
    os.environ["GITHUB_ACTIONS"] = "true"
    try:
        shown = terminal.render(document("t", Findings(tuple(found))), "text", io.StringIO())
        shown += "".join(f"{message_line(one.message)}\n" for one in found)
    finally:
        if before is None:
            del os.environ["GITHUB_ACTIONS"]
        else:
            os.environ["GITHUB_ACTIONS"] = before
    for line in shown.splitlines():
        if "##[" in line or line.lstrip().startswith("::"):
            raise BrokenError(f"a command of GitHub: {line!r}")


def _github(results: CiReport, found: list[CiFinding]) -> None:
    shown = render(results, "github")
    check_harmless(shown, "annotations")
    annotations = [one for one in read_github(shown) if "file" in one[1]]
    known = {(plain(result.file), result.finding.rule, "\n".join(result.lines)) for result in found}
    for _, place, message in annotations:
        if (place["file"], place["title"], message) not in known:
            raise BrokenError(f"an annotation that nothing found: {place}, {message!r}")
    if found and not annotations:
        raise BrokenError("findings without an annotation")


def _gitlab(results: CiReport, found: list[CiFinding]) -> None:
    shown = render(results, "gitlab")
    violations = read_gitlab(shown)
    for one, result in zip(violations, found, strict=True):
        check_harmless(f"{one['description']}{one['location']['path']}", "code quality")
        if one["description"] != "; ".join(result.lines) or one["location"]["path"] != plain(result.file):
            raise BrokenError(f"another violation: {one}")


def _junit(results: CiReport, found: list[CiFinding]) -> None:
    shown = render(results, "junit")
    check_harmless(shown, "JUnit")
    top = ElementTree.fromstring(shown)  # noqa: S314  (of our own making)
    if {element.tag for element in top.iter()} - {
        "testsuites",
        "testsuite",
        "testcase",
        "failure",
        "error",
        "skipped",
    }:
        raise BrokenError("an element of its own")
    cases = [case for case in top.iter("testcase") if "file" in case.attrib and len(case)]
    for case, result in zip(cases, found, strict=True):
        inner, one = case[0], result.finding
        if case.attrib["file"] != plain(result.file) or inner.attrib["message"] != plain(one.message):
            raise BrokenError(f"another case: {case.attrib}, {inner.attrib}")
        if (inner.text or "").split("\n")[1:-1] != list(result.lines):
            raise BrokenError(f"another text: {inner.text!r}")
    read_junit(shown)


def _sarif(results: CiReport, found: list[CiFinding], data: bytes) -> None:
    shown = render(results, "sarif")
    if not shown.isascii():
        raise BrokenError("SARIF is not plain ASCII")
    run: dict[str, Any] = read_sarif(shown) if one_in(_SCHEMA, data) else json.loads(shown)["runs"][0]
    for one, result in zip(run["results"], found, strict=True):
        message = one["message"]["text"]
        check_harmless(message, "SARIF")
        if message.replace("] (", "](") != "\n".join(result.lines).replace("] (", "]("):
            raise BrokenError(f"another message: {message!r}")
        if "](" in message:
            raise BrokenError(f"a link: {message!r}")
        place = one["locations"][0]["physicalLocation"]["artifactLocation"]
        _check_place(place, result.finding)


def _check_place(place: dict[str, str], finding: Finding) -> None:
    uri = place["uri"]
    if not uri.isascii() or set(uri) & set(' <>"\\^`{|}?#\x7f') or any(sign < "!" for sign in uri):
        raise BrokenError(f"not an address: {uri!r}")
    if "uriBaseId" in place and (uri.startswith("/") or ":" in uri.split("/")[0]):
        raise BrokenError(f"not relative: {uri!r}, of {finding.path!r}")


def _tables(data: bytes) -> None:
    names = ["text", "also", "number"]
    rows = Maker(data).rows(len(names))
    shown = csv_of(names, rows).decode("utf-8")
    if any(not sign.isprintable() and sign != "\n" for sign in shown):
        raise BrokenError(f"a control character in {shown!r}")
    read = list(csv.reader(io.StringIO(shown, newline=""), strict=True))
    for said, cells in zip(rows, read[1:], strict=True):
        for value, cell in zip(said, cells, strict=True):
            _check_cell(value, cell)
    if one_in(_LIBRARIES, data):
        _parquet(names, rows)
        _workbook([value for row in rows for value in row if isinstance(value, str)])


def _check_cell(value: Value, cell: str) -> None:
    if not isinstance(value, str):
        if cell != ("" if value is None else exact(value)) or (
            value is not None and repr(float(cell)) != repr(float(value))
        ):
            raise BrokenError(f"{value!r} is {cell!r}")
        return
    shown = legible(value)
    if cell not in (shown, f"'{shown}"):
        raise BrokenError(f"{value!r} is {cell!r}")
    if cell.lstrip()[:1] in tuple("=+-@＝＋－＠") or cell[:1] in tuple("\t\r\n"):
        raise BrokenError(f"a spreadsheet calculates {cell!r}")


def _parquet(names: list[str], rows: list[list[Value]]) -> None:
    from pyarrow import parquet

    texts = [[value if isinstance(value, str) else None for value in row] for row in rows]
    content = parquet_of([(name, ColumnKind.TEXT) for name in names], texts)
    read = parquet.read_table(io.BytesIO(content)).to_pylist()
    if [list(row.values()) for row in read] != [[value and encodable(value) for value in row] for row in texts]:
        raise BrokenError("Parquet reads back something else")


def _workbook(texts: list[str]) -> None:
    """Texts as fields of rows: in a workbook each is a text, and in the table as CSV nothing is calculated."""
    from openpyxl import load_workbook

    fields = [column.name for column in columns() if column.kind is ColumnKind.TEXT and column.name != "division"]
    values = dict(zip(fields, texts, strict=False))
    row = dict.fromkeys(column.name for column in columns()) | {"division": "closed"} | values
    sheet = load_workbook(io.BytesIO(render_xlsx([row])))["closed"]
    for number, column in enumerate(columns(), 1):
        cell = sheet.cell(2, number)
        if column.name in values and (cell.data_type == "f" or not isinstance(cell.value, str | None)):
            raise BrokenError(f"{values[column.name]!r} is {cell.value!r} of the type {cell.data_type}")
        if column.name in values and _unquoted(cell.value or "") != legible(values[column.name])[:32_767]:
            raise BrokenError(f"{values[column.name]!r} reads back as {cell.value!r}")
    [head, *read] = csv.reader(io.StringIO(render_csv([row]).decode("utf-8"), newline=""))
    for name, cell in zip(head, read[0], strict=True):
        if name in values:
            _check_cell(values[name], cell)


def _unquoted(text: str) -> str:
    """A text as spreadsheets show it: the library leaves the codes of characters as they are."""
    return text.replace("_x005F_", "_")


def _rows(*values: bytes) -> bytes:
    return b"".join(b"\1" + value for value in values)


_TABLES = (
    _rows(texts(b"a"), texts(b"b")) + b"\4",
    _rows(texts(b"=1+1"), texts(b"+1"), texts(b" =x"), texts(b"\t=x"), texts(b"'=x"), texts(b'a"b,c')),
    bytes(range(0, 40, 4)),
    _rows(*(word + END for word in MARKUP[:-1])),
)

HARNESSES = (
    Harness(
        "terminal-ci",
        "annotations, code quality, JUnit and SARIF",
        _ci,
        lambda: [b"\0" + one for one in FINDINGS],
        MARKUP,
    ),
    Harness(
        "terminal-tables",
        "CSV, Parquet and workbooks",
        _tables,
        lambda: _TABLES,
        MARKUP,
        None,
        2_000,
        10.0,
        megabytes=400,
    ),
)
