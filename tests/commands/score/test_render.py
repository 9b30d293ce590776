"""Every format of the results: to the letter or read back with its library, and whatever hostile text the cells hold.

The expected documents are files under ``expected/``.
"""

from __future__ import annotations

import csv
import io
import re
import zipfile
from collections.abc import Sequence
from typing import Any

import openpyxl
import pyarrow
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pyarrow import parquet

from mlsub.commands.score.document import MAX_BYPASSES, document_of, rows_document
from mlsub.commands.score.formats import MAX_CELL, render_csv, render_parquet, render_xlsx
from mlsub.findings import Verdict
from mlsub.present import html, markdown, text
from mlsub.present.tables import Row, columns, exact, is_formula, legible
from mlsub.submission.report import RcpResult, Report, ScoreResult
from mlsub.submission.result import results_of
from tests.conftest import ExpectedText
from tests.score.reports import (
    bases,
    make_entry,
    make_log,
    make_report,
    make_row,
    organisations,
    rows_of,
    variety,
)

#: Any text that JSON or a file name can hold, halves of surrogate pairs among it.
TEXT = st.text(st.characters(exclude_categories=()), max_size=20)
NAMES = [column.name for column in columns()]


def table(*reports: Report, width: int = 120) -> str:
    results = [result for report in reports for result in results_of(report)]
    return text.render(document_of(reports, results), width)


def render_markdown(rows: Sequence[Row]) -> str:
    return markdown.render(rows_document(rows))


def read_csv(content: bytes) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(content.decode("utf-8"), newline=""), strict=True))


def with_text(text: str) -> Row:
    """A row with the text in every cell of text."""
    texts: dict[str, Any] = {column.name: text for column in columns() if column.kind == "text"}
    return make_row(**texts)


DOCUMENTS = {
    "variety.csv": lambda: render_csv(rows_of(variety())).decode("utf-8"),
    "variety.md": lambda: render_markdown(rows_of(variety())),
    "variety.txt": lambda: table(variety()),
    "bases.txt": lambda: table(bases()),
    "bases.md": lambda: render_markdown(rows_of(bases())),
    "organisations.txt": lambda: table(organisations()),
    "organisations-narrow.txt": lambda: table(organisations(), width=60),
    "variety-wide.txt": lambda: table(variety(), width=160),
    "two-rounds.md": lambda: render_markdown(rows_of(variety(), organisations())),
}


@pytest.mark.parametrize("name", DOCUMENTS)
def test_the_document_reads_to_the_letter(name: str, expected_text: ExpectedText) -> None:
    expected_text(name, DOCUMENTS[name]())


def test_csv_without_rows_is_a_header() -> None:
    assert render_csv([]).decode() == ",".join(NAMES) + "\n"


@pytest.mark.parametrize(
    ("text", "cell"),
    [
        *(("=1+1", "'=1+1"), ("+1", "'+1"), ("-1", "'-1"), ("@SUM(A1)", "'@SUM(A1)"), ("\t=1", "' =1")),
        *(("\tx", "' x"), ("\rx", "'\nx"), ("\nx", "'\nx"), ("  =1", "'  =1"), ("\xa0=1", "' =1"), ("＝1", "'＝1")),
        *(("x;=1+1", "x;'=1+1"), ('x; "-1";y', 'x;\' "-1";y'), ("a\n@b", "a\n'@b"), ("a;b", "a;b")),
        *(("1=1", "1=1"), ("a-b", "a-b"), ("", ""), ("'", "'"), ('a "b", c', 'a "b", c')),
        *(("a\r\nb\rc\nd", "a\nb\nc\nd"), ("\x1b[31mred\x07", "\\x1b[31mred\\x07"), ("a\x00b", "a\\x00b")),
        *(("\u202egnp.exe", "\\u202egnp.exe"), ("M\u00f8ller\udcff", "M\u00f8ller\\udcff"), ("日本語 😀", "日本語 😀")),
    ],
)
def test_csv_text(text: str, cell: str) -> None:
    (read,) = read_csv(render_csv([with_text(text)]))
    assert {read[column.name] for column in columns() if column.kind == "text"} == {cell}


@given(TEXT)
def test_csv_never_starts_a_formula_nor_steers_a_terminal(text: str) -> None:
    content = render_csv([with_text(text), make_row()])
    first, second = read_csv(content)
    assert second["submitter"] == "ACME Inc."
    cell = first["submitter"]
    assert cell.lstrip("\n ")[:1] not in {"=", "+", "-", "@", "\t", "\r", "＝", "＋", "－", "＠"}
    assert re.sub("(^|[;\n])'", r"\1", cell) == re.sub("(^|[;\n])'", r"\1", legible(text))
    assert cell.startswith("'") or not is_formula(text)
    assert all(c.isprintable() or c == "\n" for c in cell)


@given(st.text(" ;\n\r\t\"=+-@,'ax"))
def test_csv_starts_no_formula_where_semicolons_cut(text: str) -> None:
    """As spreadsheets read it where the comma is for decimals: quotes within what is a cell then count for nothing."""
    content = render_csv([with_text(text)]).decode()
    cells = [cell for row in csv.reader(io.StringIO(content, newline=""), delimiter=";") for cell in row]
    assert [cell for cell in cells if cell.lstrip(" ")[:1] in {*"=+-@＝＋－＠"}] == []


@given(st.floats(allow_nan=False, allow_infinity=False) | st.integers(-(10**9), 10**18).map(float))
def test_a_number_reads_back_as_the_same_number(value: float) -> None:
    assert float(exact(value)) == value
    assert not exact(value).endswith(".0")


@given(TEXT)
def test_legible_text_can_be_read_and_stays_what_it_was_where_it_could(text: str) -> None:
    plain = legible(text)
    assert all(c.isprintable() or c == "\n" for c in plain)
    if all(c.isprintable() or c == "\n" for c in text):
        assert plain == text
    assert legible(plain) == plain


@pytest.mark.parametrize(
    ("notes", "cell"),
    [
        *(("a|b", "a\\|b"), ("\\|", "\\\\\\|"), ("<img src=x>", "\\<img src=x\\>")),
        ("![x](http://y)", "!\\[x\\](http://y)"),
        ("*a* `b` ~c~ &amp; $d$", "\\*a\\* \\`b\\` \\~c\\~ \\&amp; \\$d\\$"),
        *(("llama2_70b_lora", "llama2_70b_lora"), ("_a_ b__c", "\\_a\\_ b\\_\\_c")),
        *(("two\nlines\tand\x1b", "two lines and\\\\x1b"), ("", "")),
    ],
)
def test_markdown_text(notes: str, cell: str) -> None:
    assert f" | {cell} | [details](" in render_markdown([make_row(notes=notes)])


def test_links_lead_to_the_published_files_and_nowhere_else() -> None:
    page = html.render(rows_document(rows_of(make_report())))
    assert '<a href="https://github.com/mlcommons/training_results_v5.1/blob/main/ACME/systems/rack1.json">' in page
    for address in ("javascript:alert(1)", 'https://x/"onclick="', "https://x/a)b", "https://x/\n", "http://x"):
        rows = [make_row(details_url=address, code_url=address)]
        assert "<a " not in html.render(rows_document(rows))
        assert "](" not in render_markdown(rows)


def test_markdown_without_rows_says_so() -> None:
    assert render_markdown([]) == "# Results\n\nNo results.\n"


def test_markdown_says_of_a_rehearsal_that_it_is_one() -> None:
    text = render_markdown(rows_of(make_report(usage="rehearsal", round="1.0")))
    assert "## rehearsal v1.0\n\nA rehearsal: real training, but not an MLPerf result.\n\n| Division |" in text
    assert "github.com" not in text


def body(text: str) -> list[str]:
    """The lines of the table itself."""
    lines = text.split("\n")
    start = next(number for number, line in enumerate(lines) if line.startswith("  ---"))
    end = next(number for number, line in enumerate(lines) if line.startswith(("  convergence:", "  minutes:")))
    return lines[start + 1 : end]


def test_numbers_that_no_honest_log_could_come_to_are_kept_short() -> None:
    absurd = make_entry(
        rcp=RcpResult(verdict="pass", unit="samples", batch_size=1e300, mean=1.5e299),
        score=ScoreResult(
            unscaled=1e300, published=1e300, expected=1e299, scaling=1e308, expected_scaling=1e307, scaling_file=True
        ),
    )
    report = make_report(absurd)
    figures = body(table(report, width=160))[0].split()[8:]
    assert figures == ["1e+300", "1.5e+299", "pass", "1e+308", "1e+300", "1e+299", "accepted"]
    assert " 1e+300 | 1.5e+299 | samples | pass | 1e+308 | 1e+307 | " in render_markdown(rows_of(report))


def test_columns_without_anything_to_show_are_left_out() -> None:
    open_only = make_report(variety().entries[2])
    text = table(open_only)
    assert text.split("\n")[4].split() == ["system", "benchmark", "division", "converged", "minutes", "verdict"]
    assert "convergence" not in text
    assert "MJ" not in text


def test_bypasses_are_bounded() -> None:
    bypassed = make_entry(rcp=RcpResult(verdict="bypassed", bypass="package_checker_params"))
    text = table(make_report(*[bypassed] * (MAX_BYPASSES + 3)))
    assert text.count("the RCP test is bypassed by package_checker_params") == MAX_BYPASSES
    assert "and 3 more bypasses" in text


def test_single_logs_are_a_table_and_reports_of_nothing_say_so() -> None:
    logs = (make_log(), make_log(path="result_1.txt", official="noncompliant", minutes=None))
    lines = table(make_report(entries=(), logs=logs)).split("\n")
    assert [line.split() for line in lines[6:8]] == [
        ["results/rack1/llama2_70b_lora/result_0.txt", "llama2_70b_lora", "closed", "success", "27.500", "compliant"],
        ["result_1.txt", "llama2_70b_lora", "closed", "success", "-", "noncompliant"],
    ]
    nothing = Report(usage=None, round=None, root="/x", official=Verdict.NOT_CHECKED)
    assert table(nothing) == "Results\n\n/x\n  not-checked: nothing could be checked\n"


def test_a_folder_without_logs_is_no_result() -> None:
    empty = make_entry(path="results/rack2/llama2_70b_lora", system="rack2", runs=0, official=Verdict.REJECTED)
    lines = table(make_report(make_entry(), empty, official=Verdict.REJECTED))
    assert "rack1" in lines
    assert "rack2" not in lines
    assert "1 of 2 entries accepted" in lines, "the verdict is that of the official checker"


def test_several_reports_are_parted_by_an_empty_line() -> None:
    second = table(organisations()).removeprefix("Results\n")
    assert table(variety(), organisations()) == table(variety()) + second


def test_a_list_of_results_ends_with_counts_and_says_where_the_package_is_to_blame() -> None:
    rejected = make_entry(path="results/rack2/llama2_70b_lora", system="rack2", official=Verdict.REJECTED)
    counts = "1 of 2 entries accepted, 1 of 1 logs compliant, 1 of 1 system descriptions accepted\n"
    one_of_two = table(make_report(make_entry(), rejected, official=Verdict.REJECTED))
    assert one_of_two.endswith(counts)
    around = table(make_report(official=Verdict.REJECTED))
    assert around.endswith("The package around them is rejected; mlsub check says why.\n")
    assert "The package" not in table(make_report())


TYPES = {"text": pyarrow.string(), "count": pyarrow.int64(), "number": pyarrow.float64()}


def read_parquet(content: bytes) -> pyarrow.Table:
    return parquet.read_table(io.BytesIO(content))


def test_every_value_comes_back_as_it_was() -> None:
    rows = rows_of(variety(), organisations())
    assert read_parquet(render_parquet(rows)).to_pylist() == [
        {column.name: row[column.name] for column in columns()} for row in rows
    ]


def test_columns_have_their_types_with_and_without_rows() -> None:
    for rows in ((), rows_of(variety())):
        schema = read_parquet(render_parquet(rows)).schema
        assert schema.names == [column.name for column in columns()]
        assert [field.type for field in schema] == [TYPES[column.kind] for column in columns()]


@given(st.text(st.characters(exclude_categories=()), max_size=20))
def test_any_text_can_be_stored_and_comes_back_where_utf8_can_hold_it(text: str) -> None:
    (row,) = read_parquet(render_parquet([make_row(notes=text)])).to_pylist()
    assert row["notes"] == text.encode("utf-8", "backslashreplace").decode("utf-8")


def read_xlsx(content: bytes) -> Any:
    return openpyxl.load_workbook(io.BytesIO(content))


def cells(sheet: Any) -> list[dict[str, Any]]:
    """The rows of a sheet below its head, by the names of the columns."""
    return [dict(zip(NAMES, line, strict=True)) for line in sheet.iter_rows(min_row=2, values_only=True)]


def one_cell(row: Row, name: str) -> Any:
    return read_xlsx(render_xlsx([row]))["closed"].cell(2, NAMES.index(name) + 1)


def test_there_is_a_sheet_a_division_and_each_row_in_its_own() -> None:
    rows = rows_of(variety(), organisations())
    book = read_xlsx(render_xlsx(rows))
    assert book.sheetnames == ["closed", "open"]
    assert [row["path"] for row in cells(book["open"])] == ["results/rack1-open/retinanet"]
    assert [row["path"] for row in cells(book["closed"])] == [
        row["path"] for row in rows if row["division"] == "closed"
    ]


@pytest.mark.parametrize("division", [None, "Closed", "close", "=closed"])
def test_what_is_neither_closed_nor_open_has_a_sheet_of_its_own(division: str | None) -> None:
    book = read_xlsx(render_xlsx(rows_of(make_report(make_entry(division=division), make_entry()))))
    assert book.sheetnames == ["closed", "open", "other"]
    assert [row["division"] for row in cells(book["other"])] == [division]
    assert len(cells(book["closed"])) == 1


def test_the_head_is_bold_filled_frozen_and_filters() -> None:
    sheet = read_xlsx(render_xlsx(rows_of(variety())))["closed"]
    assert [cell.value for cell in sheet[1]] == [column.title for column in columns()]
    assert all(cell.font.bold and cell.fill.fill_type == "solid" for cell in sheet[1])
    assert sheet.freeze_panes == "A2"
    assert sheet.auto_filter.ref == sheet.dimensions == "A1:BI5"
    assert all(2 < sheet.column_dimensions[cell.column_letter].width <= 52 for cell in sheet[1])


def test_values_come_back_as_they_were() -> None:
    rows = rows_of(variety())
    found = cells(read_xlsx(render_xlsx(rows))["closed"])
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


@pytest.mark.slow
@given(TEXT.filter(bool))
def test_any_text_comes_back_as_it_can_be_read(text: str) -> None:
    content = render_xlsx([make_row(submitter=text, system_name=text)])
    assert b"<f>" not in zipfile.ZipFile(io.BytesIO(content)).read("xl/worksheets/sheet1.xml")
    (row,) = cells(read_xlsx(content)["closed"])
    assert row["submitter"] == row["system_name"] == re.sub(r"_(?=x[0-9A-Fa-f]{4}_)", "_x005F_", legible(text))


def test_a_code_of_a_character_is_no_character() -> None:
    # What stands in the file: Excel reads _x005F_ as an underscore, and the rest as it is.
    cell = one_cell(make_row(submitter="a_x003D_b"), "submitter")
    assert cell.value == "a_x005F_x003D_b"


def test_text_too_long_for_a_cell_is_cut_off() -> None:
    cell = one_cell(make_row(notes="\x01" * MAX_CELL), "notes")
    assert len(cell.value) == MAX_CELL


def test_without_rows_there_are_two_heads() -> None:
    book = read_xlsx(render_xlsx([]))
    assert book.sheetnames == ["closed", "open"]
    assert all(sheet.max_row == 1 and sheet.max_column == len(NAMES) for sheet in book)
