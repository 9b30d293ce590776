"""``mlsub score`` in each format: what is printed, what is written, and with which exit status."""

from __future__ import annotations

import csv
import io
import json
import os
import pty
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import click
import openpyxl
import pytest
from pyarrow import parquet

from mlsub import present
from mlsub.commands.score.command import command
from mlsub.present import FILE_ENDINGS, format_of_file
from tools.support.make_tree import Tree, make_tree, spoil
from tools.support.runner import REPOSITORY, call, check, run

FORMATS = (*present.CHART_FORMATS, "csv", "wide", "parquet", "xlsx")
ROWS = ("csv", "markdown", "html", "parquet", "xlsx")


def _tree(tmp_path: Path) -> Tree:
    tree = make_tree(tmp_path)
    tree.add_system("rack1-open", "open", status="Available in cloud", system_name="=cmd|x")
    tree.add_entry("resnet", "rack1-open", "open")
    return tree


def _bytes(*args: object) -> subprocess.CompletedProcess[bytes]:
    return subprocess.run(
        [sys.executable, "-m", "mlsub", "score", *map(str, args)], capture_output=True, check=False, cwd=REPOSITORY
    )


def _csv(content: str) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(content, newline=""), strict=True))


READ: dict[str, Callable[[bytes], list[Any]]] = {
    "csv": lambda content: [float(row["published_minutes"]) for row in _csv(content.decode())],
    "markdown": lambda content: [float(line.split(" | ")[11]) for line in content.decode().splitlines()[6:]],
    "html": lambda content: [
        float(row.split("</td><td")[11].partition(">")[2])
        for row in content.decode().rpartition("</figure>")[2].splitlines()
        if "<td" in row
    ],
    "parquet": lambda content: parquet.read_table(io.BytesIO(content)).column("published_minutes").to_pylist(),
    "xlsx": lambda content: [
        sheet.cell(2, 12).value for sheet in openpyxl.load_workbook(io.BytesIO(content)) if sheet.max_row > 1
    ],
}


@pytest.mark.parametrize("format_", ROWS)
def test_each_format_has_the_same_results_on_stdout_and_in_a_file(format_: str, tmp_path: Path) -> None:
    tree, file = _tree(tmp_path), tmp_path / f"out{FILE_ENDINGS[format_][0]}"
    printed = _bytes(tree.folder, "--format", format_)
    assert (printed.returncode, printed.stderr) == (0, b"")
    # Five runs of 10 to 14 minutes each.
    assert READ[format_](printed.stdout) == [12.0, 12.0]
    written = run("score", tree.folder, "-o", file)
    assert (written.status, written.stdout, written.stderr) == (0, "", "")
    assert READ[format_](file.read_bytes()) == [12.0, 12.0]


def test_the_formats_of_the_option_are_those_there_are() -> None:
    (option,) = (option for option in command.params if option.name == "format_")
    assert isinstance(option.type, click.Choice)
    assert list(option.type.choices) == list(FORMATS)
    assert "[text|json|markdown|html|svg|csv|wide|parquet|xlsx]" in " ".join(run("score", "--help").stdout.split())


@pytest.mark.parametrize(("name", "format_"), [("a.csv", "csv"), ("a.XLSX", "xlsx"), ("a.b.md", "markdown")])
def test_the_ending_of_the_file_tells_the_format(name: str, format_: str) -> None:
    assert format_of_file(Path(name), FORMATS) == format_


@pytest.mark.parametrize("name", ["csv", "a", "a.pdf", ".csv", "a.csv.gz"])
def test_other_endings_tell_nothing(name: str) -> None:
    assert format_of_file(Path(name), FORMATS) is None


def test_a_format_that_is_named_wins_over_the_ending(tmp_path: Path) -> None:
    file = tmp_path / "out.xlsx"
    assert run("score", _tree(tmp_path).folder, "-o", file, "--format", "csv").status == 0
    assert len(_csv(file.read_text())) == 2


def test_the_json_is_the_report_in_a_file_as_on_stdout(tmp_path: Path) -> None:
    folder, file = _tree(tmp_path).folder, tmp_path / "out.json"
    assert run("score", folder, "-o", file).status == 0
    assert file.read_text() == run("score", folder, "--format", "json").stdout
    document = check(folder).report
    assert json.loads(file.read_text())["reports"] == [document]
    facts = {system["path"]: system["facts"] for system in document["systems"]}
    assert facts["systems/rack1-open.json"]["system_name"] == "=cmd|x"
    assert facts["systems/rack1.json"]["accelerators_per_node"] == 8


def test_an_unreadable_description_has_no_facts(tmp_path: Path) -> None:
    tree = make_tree(tmp_path)
    tree.description().write_text("[]")
    assert [system["facts"] for system in check(tree.folder).report["systems"]] == [None]
    outcome = run("score", tree.folder, "--format", "csv")
    (row,) = _csv(outcome.stdout)
    assert (row["submitter"], row["availability"], row["verdict"]) == ("", "", "rejected")
    assert outcome.status == 1


def test_one_benchmark_folder_alone_is_enough(tmp_path: Path) -> None:
    folder = Tree(tmp_path / "v1.0" / "ACME").add_entry().rename(tmp_path / "resnet")
    outcome = run("score", "--round", "1.0", folder, "--format", "csv")
    (row,) = _csv(outcome.stdout)
    assert (outcome.status, outcome.stderr) == (0, "")
    assert (row["benchmark"], row["division"], row["published_minutes"], row["runs"]) == ("resnet", "closed", "12", "5")
    unknown = ("availability", "submitter", "system_name", "number_of_nodes", "details_url")
    assert {row[name] for name in unknown} == {""}


def test_several_rounds_make_one_table(tmp_path: Path) -> None:
    folders = [make_tree(tmp_path, name, division="open").folder for name in ("v1.0", "v1.1")]
    rows = _csv(run("score", *folders, "--format", "csv").stdout)
    assert [row["round"] for row in rows] == ["1.0", "1.1"]


def test_a_rejected_entry_has_its_row_and_status_1(tmp_path: Path) -> None:
    tree = make_tree(tmp_path)
    spoil(tree, 0, 1)
    outcome = run("score", tree.folder, "--format", "csv")
    (row,) = _csv(outcome.stdout)
    assert (outcome.status, row["verdict"], row["published_minutes"], row["compliant"]) == (1, "rejected", "", "3")


@pytest.mark.parametrize("format_", ROWS)
def test_where_nothing_was_checked_nothing_is_written(format_: str, tmp_path: Path) -> None:
    file = tmp_path / "out"
    for output in ((), ("-o", file)):
        outcome = run("score", tmp_path / "none", "--format", format_, *output)
        assert (outcome.status, outcome.stdout) == (2, "")
        (line,) = outcome.stderr.splitlines()
        assert line.startswith("mlsub: There is no ")
    assert not file.exists()


@pytest.mark.parametrize("ending", [".json", ".txt"])
def test_a_report_on_nothing_is_written_for_it_says_why(ending: str, tmp_path: Path) -> None:
    file = tmp_path / f"out{ending}"
    outcome = run("score", tmp_path / "none", "-o", file)
    assert (outcome.status, outcome.stdout) == (2, "")
    assert outcome.stderr.startswith("mlsub: There is no ")
    assert "There is no " in file.read_text()


def test_beside_a_path_that_is_missing_the_others_have_rows(tmp_path: Path) -> None:
    outcome = run("score", _tree(tmp_path).folder, tmp_path / "none", "--format", "csv")
    assert (outcome.status, len(_csv(outcome.stdout))) == (2, 2)
    assert outcome.stderr.startswith("mlsub: There is no ")


def test_a_single_log_is_no_result(tmp_path: Path) -> None:
    log = make_tree(tmp_path).log()
    outcome = run("score", log, "--format", "csv")
    assert (outcome.status, _csv(outcome.stdout)) == (0, [])
    assert outcome.stdout.startswith("division,")
    assert outcome.stderr == (
        "mlsub: the table has no rows: a single log is not a result. Name the folder of its benchmark.\n"
    )
    assert "  10.000  compliant\n" in run("score", log).stdout


@pytest.mark.parametrize("format_", ["text", "csv"])
def test_an_unknown_status_is_shown_marked_and_told_never_an_error(format_: str, tmp_path: Path) -> None:
    tree = make_tree(tmp_path)
    tree.describe(status="onprems\x1b[31m")
    outcome = run("score", tree.folder, "--format", format_)
    assert outcome.status == 0
    assert outcome.stderr == (
        "mlsub: systems/rack1.json: the status 'onprems\\x1b[31m' is not a known availability. "
        "Did you mean Available on-premise?\n"
    )
    if format_ == "csv":
        assert _csv(outcome.stdout)[0]["availability"] == "onprems\\x1b[31m (unknown)"


def test_a_dash_is_standard_output(tmp_path: Path) -> None:
    folder = _tree(tmp_path).folder
    assert run("score", folder, "-o", "-", "--format", "csv") == run("score", folder, "--format", "csv")


@pytest.mark.parametrize("format_", ["parquet", "xlsx"])
def test_binary_formats_are_not_printed_on_a_terminal(format_: str, tmp_path: Path) -> None:
    master, slave = pty.openpty()
    try:
        done = subprocess.run(
            [sys.executable, "-m", "mlsub", "score", str(_tree(tmp_path).folder), "--format", format_],
            stdout=slave,
            stderr=subprocess.PIPE,
            check=False,
            cwd=REPOSITORY,
        )
        os.set_blocking(master, False)
        with pytest.raises(BlockingIOError):
            os.read(master, 1)
    finally:
        os.close(slave)
        os.close(master)
    assert done.returncode == 2
    assert done.stderr.decode() == (
        f"mlsub score: {format_} cannot be read on a terminal. Name a file with --output FILE.\n"
    )


@pytest.mark.parametrize(("format_", "library"), [("parquet", "pyarrow"), ("xlsx", "openpyxl")])
def test_a_library_that_is_missing_or_broken_is_one_line_and_status_2(
    format_: str, library: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    remedy = "Install it from a copy of the source: pip install '.[tables]'"
    told = f"mlsub score: --format {format_} needs {library}. {remedy}\n"
    folder = _tree(tmp_path).folder
    monkeypatch.setitem(sys.modules, library, None)
    assert run("score", tmp_path / "nowhere", "--format", format_) == (2, "", told)
    assert run("score", folder, "--format", "csv").status == 0
    broken = tmp_path / "libraries" / library
    broken.mkdir(parents=True)
    (broken / "__init__.py").write_text("raise ImportError('half of it is gone')\n")
    done = call("score", folder, "--format", format_, PYTHONPATH=str(broken.parent))
    assert (done.returncode, done.stdout, done.stderr) == (2, "", told)


HOSTILE: dict[str, Any] = {
    "submitter": ["a", {"b": None}],
    "status": "x" * 100_000,
    "system_name": "=\udcff\x00|<b>\r\n" * 1000,
    "number_of_nodes": 10**300,
    "host_processors_per_node": -3,
    "host_processor_model_name": {"a": [1e308] * 1000},
    "accelerators_per_node": "9" * 4000,
    "accelerator_model_name": 1.5,
    "framework": True,
    "hw_notes": None,
    "sw_notes": [[]] * 10_000,
}


@pytest.mark.parametrize("format_", [name for name in FORMATS if name != "svg"])
def test_a_hostile_description_ends_in_a_table_too(format_: str, tmp_path: Path) -> None:
    tree = make_tree(tmp_path, org="M\u00f8ller\udcff|=", division="open")
    content = json.loads(tree.description().read_text()) | HOSTILE
    tree.description().write_text(json.dumps(content))
    file = tmp_path / "out"
    outcome = run("score", tree.folder, "--format", format_, "-o", file)
    assert (outcome.status, outcome.stdout) == (1, "")
    assert len(outcome.stderr) < 1000
    assert 0 < file.stat().st_size < 200_000
