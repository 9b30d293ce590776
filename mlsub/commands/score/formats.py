"""The formats of the results table, one row a result: their libraries, and how they are written."""

from __future__ import annotations

import io
import re
from collections.abc import Iterator, Sequence
from contextlib import suppress
from importlib.util import find_spec
from typing import Any

from mlsub.divisions import DIVISIONS
from mlsub.io import MlsubError, needs_extra
from mlsub.io.show import rounded
from mlsub.present.tables import ResultColumn, Row, Value, columns, csv_of, is_formula, legible, parquet_of
from mlsub.rounds import Round
from mlsub.submission.result import Result

#: The most characters that a cell of a workbook can have.
MAX_CELL = 32_767
_WIDEST = 50
#: What programs that open a workbook would read as a character's code.
_CODE = re.compile(r"_(?=x[0-9A-Fa-f]{4}_)")
#: The sheet of entries that state neither closed nor open; only there if there are any.
_OTHERS = "other"
#: The columns of the official wide table before and after those of benchmarks.
_BEFORE = (
    *("division", "availability", "submitter", "system", "number_of_nodes", "host_processor_model_name"),
    *("host_processors_count", "accelerator_model_name", "accelerators_count", "framework", "notes", "private_id"),
)
_AFTER = ("details_url", "code_url")

#: What writes those formats that are no text.
LIBRARIES = {"parquet": "pyarrow", "xlsx": "openpyxl"}


def check_library(name: str) -> None:
    """Find out whether a format can be written, without importing anything heavy.

    Raises:
        MlsubError: it cannot.
    """
    if name in LIBRARIES and find_spec(LIBRARIES[name]) is None:
        raise _missing(name)


def render_rows(name: str, results: Sequence[Result]) -> bytes:
    """The results as a file of one of the formats ``csv``, ``wide``, ``parquet`` and ``xlsx``.

    Raises:
        MlsubError: the library is not installed, or its installation is broken.
    """
    if name == "wide":
        return render_wide(results)
    render = {"csv": render_csv, "parquet": render_parquet, "xlsx": render_xlsx}[name]
    try:
        return render([result.columns() for result in results])
    except ImportError as error:
        raise _missing(name) from error


def _missing(name: str) -> MlsubError:
    return MlsubError(needs_extra(f"--format {name} needs {LIBRARIES[name]}.", "tables"))


def render_csv(rows: Sequence[Row]) -> bytes:
    """The rows as :func:`mlsub.present.tables.csv_of` writes them."""
    return csv_of([column.name for column in columns()], _cells(rows))


def render_wide(results: Sequence[Result]) -> bytes:
    """The results as the official result summarizer writes them: a table a round, a row a system, a column a benchmark.

    Weak scaling has a table of its own, with three columns a benchmark.
    """
    tables: dict[tuple[str, str, bool], dict[tuple[str, str], list[Result]]] = {}
    for one in results:
        systems = tables.setdefault((one.usage, one.round, one.scaling_type == "weak"), {})
        systems.setdefault((one.organisation, one.system), []).append(one)
    return b"".join(_wide_table(list(systems.values()), weak=weak) for (*_, weak), systems in tables.items())


def _wide_table(systems: Sequence[Sequence[Result]], *, weak: bool) -> bytes:
    ends = (":number_of_models", ":instance_scale", ":time_to_train_all") if weak else ("",)
    measured = [f"{name}{end}" for name in _official_order(systems[0][0].rules) for end in ends]
    rows: list[list[Value]] = []
    for of_system in systems:
        scores: dict[str, Value] = {}
        for one in of_system:
            values = (one.compliant, one.score.instance_scale) if weak else ()
            scores |= zip((f"{one.benchmark}{end}" for end in ends), (*values, one.published_minutes), strict=True)
        cells = of_system[0].columns() | {"system": of_system[0].system_name, "private_id": of_system[0].private_id}
        rows.append([*map(cells.get, _BEFORE), *map(scores.get, measured), *map(cells.get, _AFTER)])
    rows.sort(key=lambda row: [(cell is None, cell) for cell in row])
    return csv_of([*_BEFORE, *measured, *_AFTER], rows)


def _official_order(round_: Round) -> Sequence[str]:
    """The benchmarks of a round as the official tools list them; as mlsub does where those do not know the round."""
    from mlperf_logging.benchmark_meta import get_allowed_benchmarks

    with suppress(ValueError):
        return list(get_allowed_benchmarks(round_.usage, round_.ruleset))
    return round_.benchmarks


def render_parquet(rows: Sequence[Row]) -> bytes:
    """The rows as :func:`mlsub.present.tables.parquet_of` writes them.

    Raises:
        ImportError: pyarrow is not installed.
    """
    return parquet_of([(column.name, column.kind) for column in columns()], list(_cells(rows)))


def _cells(rows: Sequence[Row]) -> Iterator[list[Value]]:
    return ([row[column.name] for column in columns()] for row in rows)


def render_xlsx(rows: Sequence[Row]) -> bytes:
    """The rows as a workbook, a sheet a division as in the official table.

    Text is always text, never a formula; numbers are numbers, with a format that rounds them.

    The library keeps 16 significant digits of a number, one more than spreadsheets calculate with.

    Raises:
        ImportError: openpyxl is not installed.
    """
    import openpyxl

    book: Any = openpyxl.Workbook()
    book.remove(book.active)
    for title, members in _sheets(rows):
        _fill(book.create_sheet(title), members)
    stream = io.BytesIO()
    book.save(stream)
    return stream.getvalue()


def _sheets(rows: Sequence[Row]) -> Iterator[tuple[str, list[Row]]]:
    for division in DIVISIONS:
        yield division, [row for row in rows if row["division"] == division]
    others = [row for row in rows if row["division"] not in DIVISIONS]
    if others:
        yield _OTHERS, others


def _fill(sheet: Any, rows: Sequence[Row]) -> None:
    from openpyxl import styles, utils

    for number, column in enumerate(columns(), start=1):
        head = sheet.cell(1, number, column.title)
        head.font = styles.Font(bold=True)
        head.fill = styles.PatternFill("solid", start_color="FFD9D9D9")
        head.alignment = styles.Alignment(wrap_text=True, vertical="center")
        longest = len(column.title)
        for line, row in enumerate(rows, start=2):
            cell = sheet.cell(line, number)
            _put(cell, row[column.name], column)
            longest = max(longest, _width(cell.value, column))
        sheet.column_dimensions[utils.get_column_letter(number)].width = min(longest, _WIDEST) + 2
    sheet.freeze_panes = "A2"
    sheet.auto_filter.ref = sheet.dimensions


def _put(cell: Any, value: Value, column: ResultColumn) -> None:
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
        cell.number_format = f"0.{'0' * column.decimals}" if column.decimals else "0"


def _width(value: Value, column: ResultColumn) -> int:
    if isinstance(value, str):
        return max((len(line) for line in value.split("\n")), default=0)
    return 0 if value is None else len(rounded(value, column.decimals))
