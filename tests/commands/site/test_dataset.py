"""All results as data: the script of the charts and the files to download have the same values."""

from __future__ import annotations

import csv
import io
from pathlib import Path
from typing import Any

import pytest

from mlsub.commands.site.dataset import FIELDS, downloads, results_script
from mlsub.commands.site.results import SiteResult
from tests.commands.site.sites import result_rows, rounds, script, two_rounds
from tools.support.make_tree import make_tree


@pytest.fixture
def results(tmp_path: Path) -> list[SiteResult]:
    return [result for one in rounds(*two_rounds(tmp_path)) for result in one.results]


def rows_of(results: list[SiteResult]) -> list[dict[str, Any]]:
    """The rows of the script, which has them by column."""
    content, keys = results_script(results), [field.name for field in FIELDS]
    found = script(content)
    assert ([column["key"] for column in found["columns"]], found["count"]) == (keys, len(results))
    return [dict(zip(keys, row, strict=True)) for row in result_rows(content)]


def test_the_script_and_the_files_have_the_same_values(results: list[SiteResult]) -> None:
    files, rows = downloads(results), rows_of(results)
    assert list(files) == ["data/results.csv", "data/results.parquet"]
    assert [row["href"] for row in rows] == [result.href for result in results]
    assert [row["published_minutes"] for row in rows] == [14.5, 12.0, 12.0, None]
    lines = list(csv.reader(io.StringIO(files["data/results.csv"].decode())))
    assert lines[0] == [field.name for field in FIELDS]
    assert lines[1:] == [list(map(_shown, row.values())) for row in rows]
    parquet = pytest.importorskip("pyarrow.parquet")
    assert parquet.read_table(io.BytesIO(files["data/results.parquet"])).to_pylist() == rows


def _shown(value: str | float | None) -> str:
    return "" if value is None else str(int(value) if isinstance(value, float) and value.is_integer() else value)


def test_every_value_is_of_the_kind_of_its_column(results: list[SiteResult]) -> None:
    types = {"text": str, "count": int, "number": (int, float)}
    for row in rows_of(results):
        for field in FIELDS:
            assert row[field.name] is None or isinstance(row[field.name], types[field.kind]), field.name


def test_text_that_a_spreadsheet_would_calculate_with_is_text_in_csv(tmp_path: Path) -> None:
    tree = make_tree(tmp_path)
    tree.describe(system_name="=1+1", framework="\N{FULLWIDTH PLUS SIGN}x")
    found = [result for one in rounds(tree.folder) for result in one.results]
    (row,) = csv.DictReader(io.StringIO(downloads(found)["data/results.csv"].decode()))
    assert (row["system_name"], row["framework"]) == ("'=1+1", "'\N{FULLWIDTH PLUS SIGN}x")
