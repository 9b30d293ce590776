"""The results table of a round beside the results of its logs: rows, minutes, scaling, names and IDs that differ."""

from __future__ import annotations

import math
import os
import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import msgspec

from mlsub.commands.review.table import Column, Row, letters
from mlsub.findings import Finding
from mlsub.io import MlsubError
from mlsub.io.read import read_text
from mlsub.io.show import readable
from mlsub.rules.catalogue import finding
from mlsub.submission.find import organisation
from mlsub.submission.result import Result
from mlsub.systems.fields import show_status

#: The file of the result summarizer in the folder of a system's results, and the key in it.
_ID_FILE, _PRIVATE_ID = "privateid.json", "private_id"
_MAX_ID_FILE = 64 << 10
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

    row: Row
    benchmark: str
    minutes: str
    scaling: str
    weak: bool


def audit_table(file: str, rows: Sequence[Row], results: Sequence[Result], *, whole: bool) -> Iterator[About]:
    """Yield where a table and the results of one round differ, each finding with the folder of its organisation.

    Paths of results are relative to the root of their report.

    Args:
        file: what findings call the table.
        rows: what :func:`mlsub.commands.review.table.read_table` reads of it.
        results: those of the organisations to compare; rows of others are passed over.
        whole: whether these are all results of the organisations, so that a row may be without logs.
    """
    seen = _Seen(_Systems(results), file, whole)
    for row in rows:
        cells = list(_cells(row, results))
        key = seen.systems.of(row) or seen.systems.by_minutes(cells)
        if key is not None:
            yield from ((key[0], found) for found in _audit_row(row, cells, key, seen))
            continue
        folder = seen.systems.organisations.get(organisation(row.text("submitter")))
        if whole and cells and folder is not None:
            yield folder, seen.about(row, "table.row-without-logs", actual=_named(row))
    for result in results:
        if result.accepted and (result.path, result.scaling_type == "weak") not in seen.owners:
            yield (
                result.organisation,
                finding("table.row-missing", result.path, actual=f"no row for it in {file.rpartition('/')[2]}"),
            )


class _Seen:
    """What was seen of a table: the row of each result, the row and system of each ID, and names that were reported."""

    def __init__(self, systems: _Systems, file: str, whole: bool) -> None:
        self.systems, self.file, self.whole = systems, file, whole
        self.owners: dict[tuple[str, bool], Row] = {}
        self.ids: dict[tuple[str, str], tuple[Row, Key]] = {}
        self.names: set[tuple[Key, str]] = set()

    def about(
        self, row: Row, rule: str, message: str | None = None, *, expected: str | None = None, actual: str = ""
    ) -> Finding:
        """Return a finding on a row of the table."""
        sheet = f"sheet {readable(row.sheet[:40])}" if row.sheet else ""
        found = ": ".join(text for text in (sheet, actual) if text) or None
        return finding(rule, self.file, message, line=row.line, expected=expected, actual=found)


def _audit_row(row: Row, cells: Sequence[_Cell], key: Key, seen: _Seen) -> Iterator[Finding]:
    """Yield what differs in a row of a system that is there."""
    results = seen.systems.results[key]
    differing = _names(row, results[0])
    if differing and (key, differing) not in seen.names:
        seen.names.add((key, differing))
        where = results[0].description_path or results[0].path
        yield seen.about(row, "table.names", expected=f"as in {where}", actual=differing)
    yield from _ids(row, key, seen)
    for cell in cells:
        named = f"{_named(row)}: {cell.benchmark}"
        result = next((one for one in results if _fits(cell, one)), None)
        if result is None:
            if seen.whole:
                yield seen.about(row, "table.row-without-logs", actual=named)
            continue
        first = seen.owners.setdefault((result.path, cell.weak), row)
        if first is not row:
            yield seen.about(row, "table.row-twice", actual=f"{named}, as in line {first.line}")
        yield from _figures(cell, result, seen)


class _Systems:
    """The systems of results, to be found by what rows say of them."""

    def __init__(self, results: Sequence[Result]) -> None:
        self.results: dict[Key, list[Result]] = {}
        for one in results:
            self.results.setdefault((one.organisation, one.system), []).append(one)
        #: The folder of each organisation, by its name.
        self.organisations = {one.organisation_name: one.organisation for one in results}

    def of(self, row: Row) -> Key | None:
        """Return the system of a row: by the address of its description, by folders, or by its names."""
        match = _DETAILS.search(row.text("details_url"))
        folders = (unquote(match[1]), unquote(match[2])) if match else (row.text("organisation"), row.text("system"))
        if folders in self.results:
            return folders
        name = organisation(row.text("submitter"))
        found = [key for key, (one, *_) in self.results.items() if one.organisation_name == name and _alike(row, one)]
        exact = [key for key in found if _same(row.text("accelerators_count"), self.results[key][0].accelerators_count)]
        return exact[0] if len(exact) == 1 else found[0] if len(found) == 1 else None

    def by_minutes(self, cells: Sequence[_Cell]) -> Key | None:
        """Return the only system whose results have the minutes of a row, where its names are those of none."""
        found = {
            key
            for key, results in self.results.items()
            if cells and all(any(_fits(cell, one) and _is_time(cell.minutes, one) for one in results) for cell in cells)
        }
        return found.pop() if len(found) == 1 else None


def _alike(row: Row, result: Result) -> bool:
    return letters(row.text("system_name")) == letters(result.system_name or result.system)


def _cells(row: Row, results: Sequence[Result]) -> Iterator[_Cell]:
    """What a row says of results: one a benchmark, or one alone."""
    if row.text("benchmark"):
        name, weak = letters(row.text("benchmark")), row.text("scaling_type") == "weak"
        known = next((one.benchmark_name for one in results if name in _spellings(one)), row.text("benchmark"))
        yield _Cell(row, known, row.text("minutes"), row.text("scaling"), weak)
        return
    for column, text in row.cells.items():
        if column.benchmark and column.name in ("minutes", "weak"):
            scaling = row.cells.get(Column("scaling", column.benchmark), "")
            yield _Cell(row, column.benchmark, text, scaling, column.name == "weak")


def _spellings(result: Result) -> set[str]:
    return {letters(name) for name in (result.benchmark, result.benchmark_name, result.benchmark_title)}


def _fits(cell: _Cell, result: Result) -> bool:
    return cell.benchmark == result.benchmark_name and cell.weak is (result.scaling_type == "weak")


def _is_time(text: str, result: Result) -> bool:
    return bool(text) and result.published_minutes is not None and _same(text, result.published_minutes)


def _figures(cell: _Cell, result: Result, seen: _Seen) -> Iterator[Finding]:
    """Minutes and scaling factor that are not those of the logs; times of weak scaling are of another kind."""
    known = (
        ("table.minutes", cell.minutes, result.published_minutes),
        ("table.scaling", cell.scaling, result.score.scaling),
    )
    for rule, text, value in known:
        if text and not cell.weak and not _same(text, value):
            logs = "none" if value is None else f"{value:.6f}"
            about = f"{readable(text[:40])} for {result.system}, {result.benchmark}"
            yield seen.about(cell.row, rule, expected=f"{logs}, from {result.path}", actual=about)


def _names(row: Row, result: Result) -> str:
    """Names and counts that are not those of the system's description, in words; empty where all are."""
    differing = []
    for name in _NAMES:
        text, value = row.text(name), getattr(result, name)
        if text and value is not None and not _same(text, value):
            differing.append(f'{name} "{readable(text[:100])}", not "{readable(str(value)[:100])}"')
    if (text := row.text("availability")) and result.availability and show_status(text) != result.availability:
        differing.append(f'availability "{readable(text[:100])}", not "{result.availability}"')
    if (text := row.text("division")) and result.division and letters(text) != letters(result.division):
        differing.append(f'division "{readable(text[:40])}", not "{readable(result.division[:40])}"')
    return "; ".join(differing)


def _ids(row: Row, key: Key, seen: _Seen) -> Iterator[Finding]:
    """IDs that another system has, and private IDs that are not those of before. None is shown: they are private."""
    for name in ("id", _PRIVATE_ID):
        text = row.text(name)
        if not text:
            continue
        first, owner = seen.ids.setdefault((name, text), (row, key))
        file = id_file(seen.systems.results[key][0])
        known = private_id(file) if name == _PRIVATE_ID else ""
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
        file = id_file(result)
        stated = private_id(file)
        first = owners.setdefault(stated, result) if stated else result
        if first is not result:
            place, other = (os.path.relpath(of, result.root) for of in (file, id_file(first)))
            yield result.organisation, finding("table.private-id", place, actual=f"as in {other}")


def id_file(result: Result) -> Path:
    """Return the file that the result summarizer keeps a system's private ID in."""
    return result.folder.parents[1 if result.scaling_type else 0] / _ID_FILE


def private_id(file: Path) -> str:
    """Return the ID in such a file; empty where there is none that can be read."""
    try:
        content: Any = msgspec.json.decode(read_text(file, most=_MAX_ID_FILE))
    except (MlsubError, msgspec.DecodeError, RecursionError):
        return ""
    stated = content.get(_PRIVATE_ID) if isinstance(content, dict) else None
    return stated[:400] if isinstance(stated, str) else ""


def _same(text: str, value: Any) -> bool:
    """Whether a cell says a value: a number to the digits that are written, a text but for blanks."""
    if isinstance(value, (int, float)):
        number = _number(text)
        digits = len(text.partition(".")[2]) if "." in text and "e" not in text.lower() else 0
        slack = 0.0 if isinstance(value, int) else max(0.5 * 10.0**-digits, abs(value)) * _SLACK + 0.5 * 10.0**-digits
        return number is not None and abs(number - value) <= slack
    return " ".join(text.split()) == " ".join(str(value or "").split())


def _number(text: str) -> float | None:
    try:
        number = float(text.replace(",", "")) if len(text) < 60 else math.nan
    except ValueError:
        return None
    return number if math.isfinite(number) else None


def _named(row: Row) -> str:
    return f'"{readable(row.text("submitter")[:100])}", "{readable(row.text("system_name")[:100])}"'
