"""The results table of a round beside the results of its logs: rows, minutes, scaling, names and IDs that differ."""

from __future__ import annotations

import math
import os
import re
from collections.abc import Iterator, Sequence
from typing import Any
from urllib.parse import unquote

import msgspec

from mlsub.commands.review.table import OfficialColumn, TableRow, letters
from mlsub.findings import Finding
from mlsub.io.data import group_by_key
from mlsub.io.show import readable
from mlsub.rules.catalogue import finding
from mlsub.submission.find import organisation
from mlsub.submission.result import Result
from mlsub.systems.fields import show_status

#: The file of the result summarizer in the folder of a system's results, and the key in it.
_PRIVATE_ID = "private_id"
_DETAILS = re.compile(r"/([^/]{1,400})/systems/([^/]{1,400})\.json$")
_COUNTS = ("number_of_nodes", "host_processors_count", "accelerators_count")
_NAMES = ("submitter", "system_name", "host_processor_model_name", "accelerator_model_name", "framework", *_COUNTS)
#: Numbers that are equal but for how they were computed.
_SLACK = 1e-6

#: Folders of an organisation and of a system.
Key = tuple[str, str]
#: The folder of an organisation, and a finding on one of its results.
About = tuple[str, Finding]


class _Cell(msgspec.Struct, frozen=True):
    """What a table says of one result: its row, its benchmark, minutes and scaling factor as written."""

    row: TableRow
    benchmark: str
    minutes: str
    scaling: str
    weak: bool


def audit_table(file: str, rows: Sequence[TableRow], results: Sequence[Result], *, whole: bool) -> Iterator[About]:
    """Yield where a table and the results of one round differ, each finding with the folder of its organisation.

    Paths of results are relative to the root of their report.

    Args:
        file: what findings call the table.
        rows: what :func:`mlsub.commands.review.table.read_table` reads of it.
        results: those of the organisations to compare; rows of others are passed over.
        whole: whether these are all results of the organisations, so that a row may be without logs.
    """
    seen = _Comparison(file, results, whole=whole)
    for row in rows:
        cells = list(_result_cells(row, results))
        key = seen.find_system(row, cells)
        if key is not None:
            yield from ((key[0], found) for found in _audit_row(row, cells, key, seen))
            continue
        folder = seen.organisations.get(organisation(row.text("submitter")))
        if whole and cells and folder is not None:
            yield folder, seen.about(row, "table.row-without-logs", actual=_row_name(row))
    for result in results:
        if result.accepted and (result.path, result.scaling_type == "weak") not in seen.owners:
            yield (
                result.organisation,
                finding("table.row-missing", result.path, actual=f"no row for it in {file.rpartition('/')[2]}"),
            )


class _Comparison:
    """The results by their systems, and what was seen of a table.

    ``organisations`` are the folders of organisations, by their names; ``owners`` the row of each result, ``ids`` the
    row and system of each ID, ``names`` the names that were reported.
    """

    def __init__(self, file: str, results: Sequence[Result], *, whole: bool) -> None:
        self.file, self.whole = file, whole
        self.results: dict[Key, list[Result]] = group_by_key(((one.organisation, one.system), one) for one in results)
        self.organisations = {one.organisation_name: one.organisation for one in results}
        self.owners: dict[tuple[str, bool], TableRow] = {}
        self.ids: dict[tuple[str, str], tuple[TableRow, Key]] = {}
        self.names: set[tuple[Key, str]] = set()

    def about(
        self, row: TableRow, rule: str, message: str | None = None, *, expected: str | None = None, actual: str = ""
    ) -> Finding:
        """Return a finding on a row of the table."""
        sheet = f"sheet {readable(row.sheet[:40])}" if row.sheet else ""
        found = ": ".join(text for text in (sheet, actual) if text) or None
        return finding(rule, self.file, message, line=row.line, expected=expected, actual=found)

    def find_system(self, row: TableRow, cells: Sequence[_Cell]) -> Key | None:
        """Return the system of a row, where there is one.

        The address of its description tells, or folders, or its names; where these are those of none, its minutes do if
        one system alone has them.
        """
        match = _DETAILS.search(row.text("details_url"))
        folders = (unquote(match[1]), unquote(match[2])) if match else (row.text("organisation"), row.text("system"))
        if folders in self.results:
            return folders
        owner, name = organisation(row.text("submitter")), letters(row.text("system_name"))
        found = [
            key
            for key, (one, *_) in self.results.items()
            if one.organisation_name == owner and letters(one.system_name or one.system) == name
        ]
        exact = [key for key in found if _says(row.text("accelerators_count"), self.results[key][0].accelerators_count)]
        for named in (exact, found):
            if len(named) == 1:
                return named[0]
        timed = [
            key
            for key, results in self.results.items()
            if cells and all(any(_has_time(cell, one) for one in results) for cell in cells)
        ]
        return timed[0] if len(timed) == 1 else None


def _audit_row(row: TableRow, cells: Sequence[_Cell], key: Key, seen: _Comparison) -> Iterator[Finding]:
    """Yield what differs in a row of a system that is there."""
    results = seen.results[key]
    differing = _differing_names(row, results[0])
    if differing and (key, differing) not in seen.names:
        seen.names.add((key, differing))
        where = results[0].description_path or results[0].path
        yield seen.about(row, "table.names", expected=f"as in {where}", actual=differing)
    yield from _compare_ids(row, key, seen)
    for cell in cells:
        named = f"{_row_name(row)}: {cell.benchmark}"
        result = next((one for one in results if _fits(cell, one)), None)
        if result is None:
            if seen.whole:
                yield seen.about(row, "table.row-without-logs", actual=named)
            continue
        first = seen.owners.setdefault((result.path, cell.weak), row)
        if first is not row:
            yield seen.about(row, "table.row-twice", actual=f"{named}, as in line {first.line}")
        yield from _compare_figures(cell, result, seen)


def _result_cells(row: TableRow, results: Sequence[Result]) -> Iterator[_Cell]:
    """What a row says of results: one a benchmark, or one alone."""
    if row.text("benchmark"):
        name, weak = letters(row.text("benchmark")), row.text("scaling_type") == "weak"
        known = row.text("benchmark")
        for one in results:
            if name in map(letters, (one.benchmark, one.benchmark_name, one.benchmark_title)):
                known = one.benchmark_name
                break
        yield _Cell(row, known, row.text("minutes"), row.text("scaling"), weak)
        return
    for column, text in row.cells.items():
        if column.benchmark and column.name in ("minutes", "weak"):
            scaling = row.cells.get(OfficialColumn("scaling", column.benchmark), "")
            yield _Cell(row, column.benchmark, text, scaling, column.name == "weak")


def _fits(cell: _Cell, result: Result) -> bool:
    return cell.benchmark == result.benchmark_name and cell.weak is (result.scaling_type == "weak")


def _has_time(cell: _Cell, result: Result) -> bool:
    minutes = result.published_minutes
    return _fits(cell, result) and bool(cell.minutes) and minutes is not None and _says(cell.minutes, minutes)


def _compare_figures(cell: _Cell, result: Result, seen: _Comparison) -> Iterator[Finding]:
    """Minutes and scaling factor that are not those of the logs; times of weak scaling are of another kind."""
    known = (
        ("table.minutes", cell.minutes, result.published_minutes),
        ("table.scaling", cell.scaling, result.score.scaling),
    )
    for rule, text, value in known:
        if text and not cell.weak and not _says(text, value):
            logs = "none" if value is None else f"{value:.6f}"
            about = f"{readable(text[:40])} for {result.system}, {result.benchmark}"
            yield seen.about(cell.row, rule, expected=f"{logs}, from {result.path}", actual=about)


def _differing_names(row: TableRow, result: Result) -> str:
    """Names and counts that are not those of the system's description, in words; empty where all are."""
    differing = []
    for name in _NAMES:
        text, value = row.text(name), getattr(result, name)
        if text and value is not None and not _says(text, value):
            differing.append(f'{name} "{readable(text[:100])}", not "{readable(str(value)[:100])}"')
    if (text := row.text("availability")) and result.availability and show_status(text) != result.availability:
        differing.append(f'availability "{readable(text[:100])}", not "{result.availability}"')
    if (text := row.text("division")) and result.division and letters(text) != letters(result.division):
        differing.append(f'division "{readable(text[:40])}", not "{readable(result.division[:40])}"')
    return "; ".join(differing)


def _compare_ids(row: TableRow, key: Key, seen: _Comparison) -> Iterator[Finding]:
    """IDs that another system has, and private IDs that are not those of before. None is shown: they are private."""
    for name in ("id", _PRIVATE_ID):
        text = row.text(name)
        if not text:
            continue
        first, owner = seen.ids.setdefault((name, text), (row, key))
        result = seen.results[key][0]
        file, known = result.private_id_file, result.private_id if name == _PRIVATE_ID else ""
        # Two files with the same private ID have a finding of their own.
        if owner != key and text != known:
            yield seen.about(row, "table.id", "Two systems have the same ID", actual=f"as in line {first.line}")
        if known and text != known:
            where = f"as in {file.parent.name}/{file.name}"
            yield seen.about(row, "table.id", "The private id has changed", expected=where)


def audit_ids(results: Sequence[Result]) -> Iterator[About]:
    """Yield systems of a round whose private ID, in the file of the result summarizer, is another's: see above."""
    owners: dict[str, Result] = {}
    for result in {(one.organisation, one.system): one for one in results}.values():
        stated = result.private_id
        first = owners.setdefault(stated, result) if stated else result
        if first is not result:
            place, other = (os.path.relpath(of, result.root) for of in (result.private_id_file, first.private_id_file))
            yield result.organisation, finding("table.private-id", place, actual=f"as in {other}")


def _says(text: str, value: Any) -> bool:
    """Whether a cell says a value: a number to the digits that are written, a text but for blanks."""
    if isinstance(value, (int, float)):
        number = _parse_number(text)
        digits = len(text.partition(".")[2]) if "." in text and "e" not in text.lower() else 0
        slack = 0.0 if isinstance(value, int) else max(0.5 * 10.0**-digits, abs(value)) * _SLACK + 0.5 * 10.0**-digits
        return number is not None and abs(number - value) <= slack
    return " ".join(text.split()) == " ".join(str(value or "").split())


def _parse_number(text: str) -> float | None:
    try:
        number = float(text.replace(",", "")) if len(text) < 60 else math.nan
    except ValueError:
        return None
    return number if math.isfinite(number) else None


def _row_name(row: TableRow) -> str:
    return f'"{readable(row.text("submitter")[:100])}", "{readable(row.text("system_name")[:100])}"'
