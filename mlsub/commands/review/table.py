"""Read a results table of a round: CSV or XLSX, one row a system or one row a result.

Forms: the CSV of the official result summarizer, also with details, and its workbook; what ``mlsub score`` writes; and
tables with the headings of the published ones. A row may stand below any heading; the nearest one above it counts.
"""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

import msgspec

from mlsub.io import MlsubError, needs_extra
from mlsub.io.data import shipped
from mlsub.io.look import failing_as
from mlsub.rounds import Round
from mlsub.rounds.benchmarks import ResultsFolder

#: A round has some hundred results; the bytes of a file, its rows, and the columns and characters that are read.
MAX_BYTES, MAX_ROWS, MAX_COLUMNS, MAX_CELL = 16 << 20, 20_000, 150, 4_000
_NOTHING = frozenset(("", "-", "–", "nan", "none", "n/a", "na"))
_ENCODINGS = ((b"\xff\xfe", "utf-16"), (b"\xfe\xff", "utf-16"))
#: What an apostrophe keeps a spreadsheet from calculating with.
_KEPT = re.compile(r"'(?=[=+\-@\s'])")


class OfficialColumn(msgspec.Struct, frozen=True):
    """What a column holds: a field of a result, or ``minutes``, ``scaling`` or ``weak`` scaling of one benchmark."""

    name: str
    benchmark: str = ""


class TableRow(msgspec.Struct, frozen=True):
    """A row: its line, the cells that say something, by their columns, and the sheet of a workbook."""

    line: int
    cells: dict[OfficialColumn, str]
    sheet: str = ""

    def text(self, name: str) -> str:
        """Return the cell of a field; empty where it says nothing."""
        return self.cells.get(OfficialColumn(name), "")


class Headings(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The spellings of headings by the fields of a result, and the measures of a benchmark; see table.yaml."""

    fields: dict[str, tuple[str, ...]]
    measures: dict[str, str]


def letters(text: str) -> str:
    """Return the letters and digits of a name, in small letters."""
    return re.sub(r"[\W_]+", "", text.lower())


def benchmarks_of(round_: Round) -> list[tuple[str, str]]:
    """Return what a round's benchmarks are called in headings, each with the name that it has in every round."""
    found = []
    for folder in (*round_.benchmarks, *(other for other, _ in round_.other_folders)):
        held = ResultsFolder(round_.usage, round_.name, folder)
        found += [(text, held.benchmark) for text in (held.title, held.benchmark, folder)]
    return found


def read_table(file: Path, benchmarks: Iterable[tuple[str, str]]) -> list[TableRow]:
    """Return the rows of a table.

    Args:
        file: a workbook by its ending ``.xlsx``; any other is CSV, separated by commas, semicolons or tabs.
        benchmarks: see :func:`benchmarks_of`.

    Raises:
        MlsubError: it cannot be read, is too large, or has no heading that names submitters and systems.
    """
    with failing_as(f"{file} cannot be read", "."), file.open("rb") as stream:
        raw = stream.read(MAX_BYTES + 1)
    if len(raw) > MAX_BYTES:
        raise MlsubError(f"{file} is larger than {MAX_BYTES >> 20} MiB.")
    lines = _workbook_lines(raw, file) if file.suffix.lower() == ".xlsx" else _csv_lines(raw, file)
    rows = list(_read_rows(lines, {letters(text): name for text, name in benchmarks}))
    if not rows:
        raise MlsubError(f"{file} has no row below headings such as submitter, system and benchmarks.")
    return rows


_Line = tuple[str, int, Sequence[str]]


def _csv_lines(raw: bytes, file: Path) -> Iterator[_Line]:
    """The lines of CSV with their numbers."""
    encoding = next((name for mark, name in _ENCODINGS if raw.startswith(mark)), "utf-8-sig")
    try:
        text = raw.decode(encoding)
    except UnicodeDecodeError:
        raise MlsubError(f"{file} is neither UTF-8 nor UTF-16.") from None
    head = text[:MAX_CELL]
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=max(",;\t", key=head.count))
    try:
        for number, cells in enumerate(reader):
            if number >= MAX_ROWS:
                raise MlsubError(f"{file}:{reader.line_num}: more than {MAX_ROWS:,} rows.")
            yield "", reader.line_num - sum(cell.count("\n") for cell in cells), cells[:MAX_COLUMNS]
    except csv.Error as error:
        raise MlsubError(f"{file}:{reader.line_num}: {error}") from error


def _workbook_lines(raw: bytes, file: Path) -> Iterator[_Line]:
    """The rows of all sheets of a workbook with their numbers."""
    from mlsub.commands.review.workbook import read_cells

    try:
        for count, (sheet, number, cells) in enumerate(read_cells(raw, str(file))):
            if count >= MAX_ROWS:
                raise MlsubError(f"{file} has more than {MAX_ROWS:,} rows.")
            yield sheet, number, cells[:MAX_COLUMNS]
    except ImportError as error:
        raise MlsubError(needs_extra(f"{file} needs python-calamine.", "tables")) from error


def _read_rows(lines: Iterable[_Line], benchmarks: dict[str, str]) -> Iterator[TableRow]:
    """The rows below headings, with what their columns hold."""
    columns: list[OfficialColumn | None] = []
    sheet_before = None
    for sheet, number, cells in lines:
        if sheet != sheet_before:
            columns, sheet_before = [], sheet
        texts = [_KEPT.sub("", cell[:MAX_CELL].strip(), count=1) for cell in cells]
        if found := _read_headings(texts, benchmarks):
            columns = found
            continue
        pairs = zip(columns, texts, strict=False)
        known = {column: text for column, text in pairs if column is not None and text.lower() not in _NOTHING}
        if {OfficialColumn("submitter"), OfficialColumn("system_name")} <= known.keys():
            yield TableRow(number, known, sheet)


def _read_headings(texts: Sequence[str], benchmarks: dict[str, str]) -> list[OfficialColumn | None]:
    """What each column holds; none where a row is no heading."""
    spellings, plain = shipped(__file__, "table.yaml", Headings), [letters(text) for text in texts]
    names = {letters(text): name for name, known in spellings.fields.items() for text in (name, *known)}
    if "systemname" in plain:
        # Tables with both have the folder under the shorter one, as with the organisation.
        names |= {"system": "system", "organisation": "organisation" if "submitter" in plain else "submitter"}
    found: list[OfficialColumn | None] = []
    for text, word in zip(texts, plain, strict=True):
        name, _, measure = text.partition(":")
        if text in ("#", "# "):
            before = found[-1].name if found and found[-1] else ""
            found.append(
                OfficialColumn(before.replace("_model_name", "s_count")) if before.endswith("_model_name") else None
            )
        elif letters(name) in benchmarks:
            kind = spellings.measures.get(measure.strip())
            found.append(OfficialColumn(kind, benchmarks[letters(name)]) if kind else None)
        else:
            found.append(OfficialColumn(names[word]) if word in names else None)
    return (
        found
        if {OfficialColumn("submitter"), OfficialColumn("system_name")} <= set(found) and len(set(found)) > 4
        else []
    )
