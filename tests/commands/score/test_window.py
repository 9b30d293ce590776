"""``mlsub score --window``: what people read, and how it ends."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.conftest import ExpectedText
from tools.oracle.shared import ABSENT, CORPUS, present, recorded_entries
from tools.support.make_tree import Log, Tree, make_tree, spoil
from tools.support.runner import run


def loose(tmp_path: Path, count: int = 7) -> Tree:
    """So many runs of an entry, of which the first is noncompliant."""
    tree = make_tree(tmp_path)
    for file in tree.entry().glob("result_*.txt"):
        file.unlink()
    tree.add_entry(runs=count)
    spoil(tree, 0)
    return tree


def test_the_window_nearest_the_median_is_selected(tmp_path: Path, expected_text: ExpectedText) -> None:
    outcome = run("score", "--window", 5, loose(tmp_path).entry())
    assert outcome.status == 0
    expected_text("window.txt", outcome.stdout)


def test_the_json_has_the_same(tmp_path: Path) -> None:
    tree = loose(tmp_path)
    document = json.loads(run("score", "--window", 5, tree.entry(), "--format", "json").stdout)
    assert document["submit"] == [f"result_{n}.txt" for n in range(5)]
    selection = document["selection"]
    assert (selection["chosen"], len(selection["windows"])) == (0, 3)
    assert (document["benchmark"], document["round"], selection["median"]) == ("resnet", "1.0", 13.0)


def test_files_in_any_order_come_to_the_same(tmp_path: Path) -> None:
    tree = loose(tmp_path)
    folder = run("score", "--window", 5, tree.entry()).stdout
    files = sorted(tree.entry().glob("*.txt"), reverse=True)
    assert run("score", "--window", 5, *files).stdout == folder


def test_where_half_of_the_windows_are_invalid_there_is_no_result(tmp_path: Path) -> None:
    tree = loose(tmp_path)
    spoil(tree, 3, 4)
    outcome = run("score", "--window", 5, tree.entry())
    assert outcome.status == 1
    assert "no result: 3 of 3 windows are invalid, so that the median is infinite" in outcome.stdout


@pytest.mark.parametrize(
    ("spoiled", "said"),
    [
        (
            "benchmark",
            "mlsub: nothing is selected: the runs are of more than one benchmark (bert, resnet); name those of one\n",
        ),
        (
            "size",
            "mlsub: nothing is selected: the runs are of more than one batch size (global_batch_size: 3200, 4096)\n",
        ),
        (
            "platform",
            'mlsub: nothing is selected: the runs are of more than one system (submission_platform: "rack1", "x")\n',
        ),
        ("few", "mlsub: nothing is selected: there are 7 runs, and a window has 8\n"),
        (
            "small",
            "mlsub: nothing is selected: a window of 2 has no olympic score, which leaves out 2 runs; name 3 or more\n",
        ),
        (
            "copy",
            "mlsub: nothing is selected: result_4.txt contains a run that is there already: "
            "number and times of all records as in result_3.txt\n",
        ),
        ("nothing", "has no result_*.txt. Name the folder of the logs, or the logs.\n"),
        ("gone", "Name logs, or folders of them.\n"),
        ("round", "4.0, 4.1, 5.0, 5.1, 6.0, 6.1. Did you mean 1.1?\n"),
    ],
)
def test_runs_that_do_not_belong_together_are_refused(spoiled: str, said: str, tmp_path: Path) -> None:
    tree = loose(tmp_path)
    paths: list[object] = [tree.entry()]
    size = 5
    if spoiled == "benchmark":
        paths.append(tree.add_entry("bert", runs=1))
    elif spoiled == "size":
        tree.edit(lambda log: log.put("global_batch_size", value=4096), 2)
    elif spoiled == "platform":
        tree.edit(lambda log: log.put("submission_platform", value="x"), 2)
    elif spoiled == "few":
        size = 8
    elif spoiled == "small":
        size = 2
    elif spoiled == "copy":
        tree.log(4).write_bytes(tree.log(3).read_bytes())
    elif spoiled == "nothing":
        paths = [tree.folder]
    elif spoiled == "gone":
        paths = [tree.folder / "gone"]
    else:
        paths += ["--round", "1.9"]
    outcome = run("score", "--window", size, *paths)
    assert outcome.stdout == ""
    assert outcome.stderr.endswith(said)
    assert outcome.status == (2 if spoiled in ("nothing", "gone", "round") else 1)


def test_runs_that_start_together_are_named(tmp_path: Path) -> None:
    tree = loose(tmp_path)
    (start,) = (record["time_ms"] for record in Log.read(tree.log(2)).records("run_start"))
    tree.edit(lambda log: log.put("run_start", time_ms=start), 3)
    notes = json.loads(run("score", "--window", 5, tree.entry(), "--format", "json").stdout)["notes"]
    assert notes == ["runs start in the same millisecond, so that only their file names order them: 3 and 4"]


def test_another_number_than_the_benchmarks_is_told(tmp_path: Path) -> None:
    outcome = run("score", "--window", 3, loose(tmp_path).entry())
    assert outcome.status == 0
    assert outcome.stdout.splitlines()[-1] == "note:   an entry of resnet has 5 runs, not 3"


def test_a_run_that_died_before_its_clock_started_counts_as_infinite(tmp_path: Path) -> None:
    tree = loose(tmp_path)
    tree.edit(lambda log: log.drop("run_start", "run_stop"), 2)
    document = json.loads(run("score", "--window", 5, tree.entry(), "--format", "json").stdout)
    assert [entry["minutes"] is None for entry in document["selection"]["runs"]] == [
        True,
        False,
        True,
        False,
        False,
        False,
        False,
    ]


def test_other_formats_are_refused(tmp_path: Path) -> None:
    assert run("score", "--window", 5, tmp_path, "--format", "csv").status == 2


@pytest.mark.skipif(not present(), reason=ABSENT)
def test_as_many_published_runs_as_an_entry_has_score_as_the_entry() -> None:
    folder = CORPUS / "v1.0" / "Google" / "results" / "tpu-v4-1024-JAX" / "unet3d"
    document = json.loads(run("score", "--window", 40, folder, "--format", "json").stdout)
    recorded = recorded_entries("1.0")["Google/results/tpu-v4-1024-JAX/unet3d"]["score"]["unscaled"]
    assert document["selection"]["median"] == pytest.approx(recorded, rel=1e-12)
    assert (document["selection"]["chosen"], len(document["selection"]["windows"])) == (0, 1)
