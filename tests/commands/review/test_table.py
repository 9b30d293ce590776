"""Results tables beside results: what differs, in every form of the table, and bytes that are none."""

from __future__ import annotations

import csv
import io
import json
import shutil
import zipfile
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mlsub.commands.review.table import MAX_COLUMNS, MAX_ROWS, benchmarks_of, read_table
from mlsub.commands.review.table_rules import audit_ids, audit_table
from mlsub.commands.score.formats import render_csv, render_xlsx
from mlsub.findings import Finding
from mlsub.io import MlsubError
from mlsub.rounds import get_round
from mlsub.submission.result import Result
from mlsub.workspace import Context, check_with_logs
from tools.support.corpus import CORPUS
from tools.support.make_tree import Tree, make_tree

BENCHMARKS = benchmarks_of(get_round("training", "1.0"))
Table = list[dict[str, Any]]


@pytest.fixture(scope="module")
def tree(tmp_path_factory: pytest.TempPathFactory) -> Tree:
    """An organisation with two systems and three results."""
    tree = make_tree(tmp_path_factory.mktemp("table"), benchmarks=["resnet", "bert"])
    tree.add_system("rack2", system_name="rack two")
    tree.add_entry(system="rack2")
    tree.edit(lambda log: log.last(17), *range(5), system="rack2")
    return tree


@pytest.fixture(scope="module")
def results(tree: Tree) -> tuple[Result, ...]:
    return results_of(tree.folder)


def results_of(folder: Path) -> tuple[Result, ...]:
    return tuple(one for checked in check_with_logs([folder], Context(jobs=1)) for one in checked.results)


def official(results: Sequence[Result]) -> Table:
    """The rows of the official result summarizer: one a system, a column a benchmark."""
    rows: dict[str, dict[str, Any]] = {}
    for one in results:
        names = ("division", "availability", "submitter", "system_name", "accelerators_count", "framework")
        row = {"system" if name == "system_name" else name: getattr(one, name) for name in names}
        row = rows.setdefault(one.system, row | {"private_id": f"id-{one.system}", "resnet": "", "bert": ""})
        row |= {one.benchmark: one.published_minutes, f"{one.benchmark}:rcp_scaling_factor": one.score.scaling}
        row["details_url"] = one.details_url
    heads = list(dict.fromkeys(head for row in rows.values() for head in row))
    return [{head: row.get(head, "") for head in heads} for row in rows.values()]


def write(table: Table, file: Path, delimiter: str = ",", encoding: str = "utf-8") -> Path:
    stream = io.StringIO()
    writer = csv.DictWriter(stream, list(table[0]), delimiter=delimiter)
    writer.writeheader()
    writer.writerows(table)
    file.write_text(stream.getvalue(), encoding=encoding)
    return file


def audited(file: Path, results: Sequence[Result], *, whole: bool = True) -> list[Finding]:
    return [found for _, found in audit_table("table", read_table(file, BENCHMARKS), results, whole=whole)]


def test_forms_that_say_the_same(results: Sequence[Result], tmp_path: Path) -> None:
    rows = [one.columns() for one in results]
    (tmp_path / "score.csv").write_bytes(render_csv(rows))
    (tmp_path / "score.xlsx").write_bytes(render_xlsx(rows))
    write(official(results), tmp_path / "official.csv")
    write(official(results), tmp_path / "tabs.csv", "\t", "utf-16")
    write(official(results), tmp_path / "semicolons.csv", ";", "utf-8-sig")
    twice = (tmp_path / "official.csv").read_text()
    # Weak scaling is appended to strong scaling, with a heading of its own.
    (tmp_path / "appended.csv").write_text(twice + twice.splitlines()[0] + "\n")
    files = sorted(tmp_path.iterdir())
    assert len(files) == 6
    assert {file.name: audited(file, results) for file in files} == {file.name: [] for file in files}


def edit(at: int, **cells: Any) -> Callable[[Table], object]:
    return lambda table: table[at].update(cells)


#: What is done to the official table -> rule, line, and a part of what was found.
CASES: dict[str, tuple[Callable[[Table], object], str, int | None, str]] = {
    "a row too few": (lambda table: table.pop(1), "table.row-missing", None, "no row for it in table"),
    "a cell too few": (edit(0, bert=""), "table.row-missing", None, "no row for it in table"),
    "a row of no logs": (
        lambda table: table.append(table[1] | {"system": "rack3", "details_url": "", "resnet": 77}),
        "table.row-without-logs", 4, '"ACME", "rack3"',
    ),
    "a cell of no logs": (edit(1, bert=12.5), "table.row-without-logs", 3, "bert"),
    "a row twice": (lambda table: table.append(dict(table[1])), "table.row-twice", 4, "as in line 3"),
    "other minutes": (edit(0, resnet=99.5), "table.minutes", 2, "99.5 for rack1, resnet"),
    "minutes that are none": (edit(0, resnet="a lot"), "table.minutes", 2, "a lot for rack1, resnet"),
    "another factor": (edit(0, **{"bert:rcp_scaling_factor": 1.5}), "table.scaling", 2, "1.5 for rack1, bert"),
    "another name": (edit(1, system="rack 22"), "table.names", 3, 'system_name "rack 22", not "rack two"'),
    "another name without an address": (
        edit(1, system="rack 22", details_url=""), "table.names", 3, 'system_name "rack 22", not "rack two"',
    ),
    "another submitter": (edit(1, submitter="AMCE"), "table.names", 3, 'submitter "AMCE", not "ACME"'),
    "another count": (edit(1, accelerators_count=16), "table.names", 3, 'accelerators_count "16", not '),
    "another availability": (edit(1, availability="cloud"), "table.names", 3, 'availability "cloud", not '),
    "one ID for two": (edit(1, private_id="id-rack1"), "table.id", 3, "as in line 2"),
}  # fmt: skip


@pytest.mark.parametrize("case", CASES)
def test_a_difference_is_one_finding_at_its_place(case: str, results: Sequence[Result], tmp_path: Path) -> None:
    change, rule, line, words = CASES[case]
    table = official(results)
    change(table)
    [found] = audited(write(table, tmp_path / "table.csv"), results)
    assert (found.rule, found.line) == (rule, line)
    assert words in str(found.actual)
    assert found.path == ("table" if line else results[1 if "cell" in case else 2].path) or rule == "table.row-missing"


def test_rows_of_others_and_rounded_minutes_are_fine(results: Sequence[Result], tmp_path: Path) -> None:
    table = official(results)
    for row in table:
        row["resnet"] = f"{row['resnet']:.2f}"
    table.append(table[0] | {"submitter": "Umbrella", "system": "hive", "details_url": ""} | {"resnet": 1, "bert": 2})
    file = write(table, tmp_path / "table.csv")
    assert audited(file, results) == []


def test_a_part_of_a_package_says_nothing_of_rows_without_logs(results: Sequence[Result], tmp_path: Path) -> None:
    file = write(official(results), tmp_path / "table.csv")
    assert audited(file, results[:1], whole=False) == []


def test_a_private_id_that_has_changed_is_not_shown(tree: Tree, tmp_path: Path) -> None:
    copy = tmp_path / "v1.0" / "ACME"
    shutil.copytree(tree.folder, copy)
    (copy / "results/rack1/privateid.json").write_text(json.dumps({"private_id": "five-secret-words"}))
    results = results_of(copy)
    [found] = audited(write(official(results), tmp_path / "table.csv"), results)
    assert (found.rule, found.line, found.message) == ("table.id", 2, "The private id has changed")
    assert "secret" not in repr(found) and "id-rack" not in repr(found)


def test_a_private_id_of_two_systems(tree: Tree, tmp_path: Path) -> None:
    copy = tmp_path / "v1.0" / "ACME"
    shutil.copytree(tree.folder, copy)
    for system in ("rack1", "rack2"):
        (copy / "results" / system / "privateid.json").write_text(json.dumps({"private_id": "five-secret-words"}))
    [(folder, found)] = audit_ids(results_of(copy))
    assert (folder, found.rule, found.path) == ("ACME", "table.private-id", "results/rack2/privateid.json")
    assert found.actual == "as in results/rack1/privateid.json"


@pytest.mark.parametrize(
    "content", [b"", b"{", b"[" * 100_000, b"\xff", b'{"private_id": 7}', b'"id"', b" " * (1 << 17)]
)
def test_a_file_that_holds_no_id(content: bytes, tree: Tree) -> None:
    (result, *_) = results_of(tree.folder)
    assert result.private_id == ""
    result.private_id_file.write_bytes(content)
    assert result.private_id == ""


@pytest.mark.skipif(not (CORPUS / "v5.1").is_dir(), reason="published results are not there")
def test_the_table_of_a_published_round_has_no_findings(tmp_path: Path) -> None:
    results = results_of(CORPUS / "v5.1")
    file = tmp_path / "table.csv"
    file.write_bytes(render_csv([one.columns() for one in results]))
    named = benchmarks_of(get_round("training", "5.1"))
    assert list(audit_table("table", read_table(file, named), results, whole=True)) == []
    assert list(audit_ids(results)) == []


def _zipped(**parts: bytes) -> bytes:
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in parts.items():
            archive.writestr(name, content)
    return stream.getvalue()


@pytest.mark.parametrize(
    ("name", "content", "why"),
    [
        ("a.csv", b"", "has no row"),
        ("a.csv", b"submitter,system\nACME,rack1\n", "has no row"),
        ("a.csv", b"\x00\xff\x00", "neither UTF-8 nor UTF-16"),
        ("a.csv", b"\xff\xfe\x00", "neither UTF-8 nor UTF-16"),
        ("a.csv", b'"' + b"x" * 200_000, "field larger than field limit"),
        ("a.csv", b"," * (17 << 20), "larger than 16 MiB"),
        pytest.param("a.csv", b"a\n" * (MAX_ROWS + 1), f"more than {MAX_ROWS:,} rows", marks=pytest.mark.slow),
        ("a.csv", b"," * 10 * MAX_COLUMNS, "has no row"),
        ("a.xlsx", b"", "is not a workbook"),
        ("a.xlsx", _zipped(a=b"x"), "is not a workbook"),
        ("a.xlsx", _zipped(**{"a.xml": b"\0" * (40 << 20)}), "unpacks to more than 8 MiB"),
        ("a.xlsx", _zipped(a=b'<?xml version="1.0"?><!DOCTYPE a [<!ENTITY b "c">]><a/>'), "is not a workbook"),
    ],
)
def test_bytes_that_are_no_table(name: str, content: bytes, why: str, tmp_path: Path) -> None:
    file = tmp_path / name
    file.write_bytes(content)
    with pytest.raises(MlsubError, match=why):
        read_table(file, BENCHMARKS)


_WORDS = ["submitter", "system", "resnet", "bert:time_to_train", "", "#", "'=1", "1e999", "\n"]


@given(cells=st.lists(st.lists(st.sampled_from(_WORDS)), max_size=6))
def test_any_cells_are_read_or_refused(
    cells: list[list[str]], results: Sequence[Result], tmp_path_factory: pytest.TempPathFactory
) -> None:
    file = tmp_path_factory.mktemp("any") / "table.csv"
    stream = io.StringIO()
    heads = ["submitter", "system", "resnet", "bert", "id"]
    csv.writer(stream).writerows([heads, *cells, ["ACME", "rack1", *(cells[0] if cells else [])]])
    file.write_text(stream.getvalue())
    try:
        audited(file, results)
    except MlsubError as error:
        assert str(file) in str(error)
