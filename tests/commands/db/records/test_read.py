"""A file of records is read whole, or everything wrong with it is told by its line."""

from __future__ import annotations

import os
from datetime import date
from pathlib import Path
from typing import Any

import jsonschema
import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from mlsub.io.problems import FileProblemsError
from mlsub.score.records import read_records, records_schema

GOOD = """\
documents:
  page:
    title: A page
    publisher: ACME
    date: 2021-04-20
systems:
  Box:
    {maker: ACME, facts: [{fact: accelerators, value: 4, unit: chips, stated: four, source: {document: page, line: 1}}]}
records:
  - name: box
    task: training
    model: ResNet-50
    measure: throughput
    value: 100
    unit: images/s
    stated: "100"
    status: preliminary
    configuration: {system: Box, precision: "16.16", batch_size: 8, framework: PyTorch}
    source: {document: page, line: 3}
"""
BROKEN = yaml.safe_load(Path(__file__).with_name("cases").joinpath("broken_records.yaml").read_text())


def write(folder: Path, text: str) -> Path:
    file = folder / "records.yaml"
    file.write_text(text)
    return file


def told(file: Path) -> list[str]:
    with pytest.raises(FileProblemsError) as raised:
        read_records(file)
    return [f"{problem.line}: {problem.message}" for problem in raised.value.problems]


@pytest.mark.parametrize("case", BROKEN, ids=lambda case: case["name"])
def test_what_is_wrong_is_told_with_its_line(case: dict[str, Any], tmp_path: Path) -> None:
    text = case.get("text", GOOD)
    for old, new in case.get("replace", {}).items():
        assert old in text
        text = text.replace(old, new)
    if case.get("append"):
        text += text[text.index("  - name:") :]
    assert told(write(tmp_path, text)) == [case["told"]]


def test_a_file_is_read(tmp_path: Path) -> None:
    records = read_records(write(tmp_path, GOOD))
    [record] = records.records
    assert (record.value, record.unit, record.bound, record.status) == (100.0, "images/s", "exact", "preliminary")
    assert record.day == date(2021, 4, 20)
    assert not record.ratio
    assert record.configuration.batch_sizes == (8,)
    assert record.configuration.frameworks == ("PyTorch",)
    assert records.systems["Box"].accelerators == 4
    assert records.documents["page"].publisher == "ACME"


def test_a_record_may_have_a_day_of_its_own_and_two_sides(tmp_path: Path) -> None:
    text = GOOD.replace("images/s", "x").replace("stated", "date: 2021-05-01\n    versus: {system: Box}\n    stated", 2)
    text = text.replace("date: 2021-05-01\n    versus: {system: Box}\n    stated: four", "stated: four")
    [record] = read_records(write(tmp_path, text)).records
    assert record.ratio
    assert record.day == date(2021, 5, 1)


@pytest.mark.parametrize(
    ("written", "sizes", "ends"),
    [("[4, 8, 12]", (4, 8, 12), None), ("{from: 1, to: 206}", (), (1, 206)), ("7", (7,), None)],
)
def test_batch_sizes(written: str, sizes: tuple[int, ...], ends: tuple[int, int] | None, tmp_path: Path) -> None:
    [record] = read_records(write(tmp_path, GOOD.replace("batch_size: 8", f"batch_size: {written}"))).records
    assert record.configuration.batch_sizes == sizes
    assert record.configuration.batch_range == ends


def test_no_file_and_no_text_are_told(tmp_path: Path) -> None:
    assert told(tmp_path / "none.yaml") == ["1: cannot be read: No such file or directory"]
    assert told(tmp_path) == ["1: cannot be read: Is a directory"]
    os.mkfifo(tmp_path / "pipe.yaml")
    assert told(tmp_path / "pipe.yaml") == ["1: cannot be read: not a regular file"]
    (tmp_path / "bytes.yaml").write_bytes(b"\xff\x00")
    assert told(tmp_path / "bytes.yaml") == ["1: cannot be read: not UTF-8 text"]
    assert told(write(tmp_path, "documents: " + "[" * 5000 + "]" * 5000)) == ["1: not YAML: nested too deeply"]


def test_the_schema_is_one() -> None:
    jsonschema.Draft202012Validator.check_schema(records_schema())


@given(st.text(max_size=300) | st.text(alphabet="records:-{}[]\n  \"'x1.&*!", max_size=200))
def test_any_text_is_records_or_a_told_error(tmp_path_factory: pytest.TempPathFactory, text: str) -> None:
    file = tmp_path_factory.mktemp("any") / "records.yaml"
    file.write_text(text, "utf-8", errors="replace")
    with pytest.raises(FileProblemsError) as raised:
        read_records(file)
    assert raised.value.problems
