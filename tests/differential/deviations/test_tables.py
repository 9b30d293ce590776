"""Where a cell of mlsub's results table is another than the installed summarizer's."""

from __future__ import annotations

import csv
from pathlib import Path
from typing import Any

import pytest
from mlperf_logging.result_summarizer import result_summarizer

import mlsub
from mlsub.commands.score.formats import render_wide
from mlsub.submission.result import Result, results_of
from tools.oracle.generate import Combination, usage_and_round
from tools.oracle.oracle import prepared
from tools.oracle.packages import Package, build
from tools.support.entry_logs import judged, log_of, write_logs
from tools.support.runner import run

RETINANET = Combination("5.1", "retinanet", "open", None)


def described(above: Path, combination: Combination = RETINANET, **fields: Any) -> Package:
    """A package whose description has other fields; None takes one away."""
    package = build(above, combination)
    package.describe(**fields)
    return package


def official_rows(package: Package) -> list[dict[str, Any]]:
    """The official table; the summarizer comes last, for it writes into the package."""
    usage, name = usage_and_round(package.combination.round)
    with prepared(package.combination.round):
        table = result_summarizer.summarize_results(str(package.folder), usage, f"{name}.0")[0]
    rows: list[dict[str, Any]] = table.to_dict("records")
    return rows


def our_rows(package: Package) -> tuple[Result, ...]:
    """The rows of mlsub's table."""
    usage, name = usage_and_round(package.combination.round)
    return results_of(mlsub.check(package.folder, round=name, usage=usage, jobs=1))


#: Columns of the official table that are numbers.
COUNTED = ("number_of_nodes", "host_processors_count", "accelerators_count", "flux1", "retinanet")


def test_a_row_is_a_system_there_and_a_result_here(tmp_path: Path) -> None:
    package = build(tmp_path, RETINANET)
    build(tmp_path, RETINANET._replace(benchmark="flux1"), "Other").entry.rename(package.system / "flux1")
    ours, theirs = our_rows(package), official_rows(package)
    assert [row.benchmark for row in ours] == ["flux1", "retinanet"]
    assert len(theirs) == 1
    assert {row.benchmark: row.published_minutes for row in ours} == {
        name: pytest.approx(theirs[0][name]) for name in ("flux1", "retinanet")
    }
    (package.system / "privateid.json").write_text('{"private_id": "five-secret-words"}')
    (wide,) = csv.DictReader(render_wide(ours).decode().splitlines())
    (official,) = official_rows(package)
    assert list(wide) == list(official), "with the same columns, in the same order"
    for name in COUNTED:
        assert float(wide.pop(name)) == pytest.approx(float(official.pop(name)))
    cells = {name: "" if value is None or value != value else value for name, value in official.items()}
    assert {name for name in wide if wide[name] != cells[name]} == {"code_url"}
    assert wide["private_id"] == "five-secret-words"


_REPOSITORY = "https://github.com/mlcommons/training_results_v5.1/blob"
#: By column: the description's fields, and what stands in either table.
CELLS: dict[str, tuple[dict[str, Any], str, str]] = {
    "availability": ({"status": "cloud"}, "cloud", "Available cloud"),
    "availability of no category": ({"status": "soon"}, "soon", "soon (unknown)"),
    "code_url": ({}, f"{_REPOSITORY}/master/ACME/benchmarks", f"{_REPOSITORY}/main/ACME/benchmarks"),
    "details_url": (
        {"submitter": "A Company"},
        f"{_REPOSITORY}/main/A Company/systems/rack1.json",
        f"{_REPOSITORY}/main/ACME/systems/rack1.json",
    ),
}


@pytest.mark.parametrize("name", CELLS)
def test_a_cell_differs(name: str, tmp_path: Path) -> None:
    fields, there, here = CELLS[name]
    package = described(tmp_path, **fields)
    (ours,), (theirs,) = our_rows(package), official_rows(package)
    column = name.partition(" ")[0]
    assert (theirs[column], getattr(ours, column)) == (there, here)


@pytest.mark.parametrize(
    ("nodes", "there", "here"),
    [("+4", 32, None), ("1_0", 80, None), (4.5, 32, None), ("1.0", "ValueError", 8), (1.0, 8, 8)],
)
def test_counts_that_are_read_otherwise(nodes: Any, there: int | str, here: int | None, tmp_path: Path) -> None:
    package = described(tmp_path, number_of_nodes=nodes, accelerators_per_node="8")
    (ours,) = our_rows(package)
    assert (ours.accelerators_count, ours.number_of_nodes) == (here, here and here // 8)
    if isinstance(there, str):
        with pytest.raises(ValueError, match="invalid literal"):
            official_rows(package)
    else:
        (theirs,) = official_rows(package)
        assert (theirs["accelerators_count"], theirs["number_of_nodes"]) == (there, nodes)


def test_text_that_a_spreadsheet_would_calculate_stays_text(tmp_path: Path) -> None:
    package = described(tmp_path, framework="=1+1\x1b")
    (ours,) = csv.DictReader(run("score", package.folder, "--format", "csv").stdout.splitlines())
    (theirs,) = official_rows(package)
    assert (theirs["framework"], ours["framework"]) == ("=1+1\x1b", "'=1+1\\x1b")


@pytest.mark.parametrize(
    ("combination", "field"), [(RETINANET, "framework"), (Combination("0.7", "ssd", "open", None), "division")], ids=str
)
def test_a_description_that_lacks_a_field_ends_the_summarizer(
    combination: Combination, field: str, tmp_path: Path
) -> None:
    package = described(tmp_path, combination, **{field: None})
    (ours,) = our_rows(package)
    assert ours.published_minutes is not None
    with pytest.raises(NameError, match="system_file"):
        official_rows(package)


def test_the_convergence_of_unet3d_leaves_out_four_and_four(tmp_path: Path) -> None:
    folder = tmp_path / "rack1" / "unet3d"
    points = [*range(2000, 2036), 9000, 9000, 9000, 9000]
    write_logs(folder, [log_of("unet3d", 84, point) for point in points])
    with prepared("4.0"):
        _, detailed = result_summarizer._compute_strong_scaling_scores(
            {"submitter": "ACME"}, str(folder.parent), "training", "4.0.0", "closed"
        )
    assert detailed["unet3d:samples_to_converge"] == sum(points[1:39]) / 38
    assert judged(folder, "4.0").result.mean == sum(points[4:36]) / 32


def test_the_official_workbook_needs_a_file_that_is_not_installed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("openpyxl")
    package = build(tmp_path, RETINANET)
    monkeypatch.chdir(tmp_path)
    done = run("score", package.folder, "-o", "ours.xlsx")
    assert (done.status, Path("ours.xlsx").is_file()) == (0, True)
    asked = ["summarizer", str(package.folder), "training", "5.1.0", "--csv", "theirs.csv", "--xlsx", "theirs.xlsx"]
    monkeypatch.setattr("sys.argv", asked)
    with prepared("5.1"), pytest.raises(FileNotFoundError, match=r"config\.yaml"):
        result_summarizer.main()
