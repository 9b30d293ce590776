"""Which logs become results, and in which order."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from mlsub.findings import Finding
from mlsub.packing.runs import EntryRuns, LeftOut, choose_runs, run_started
from mlsub.rounds import get_round
from mlsub.workspace import Settings
from tools.support.make_tree import Log, make_log
from tools.support.workplace import Workplace


@pytest.fixture
def workplace(tmp_path: Path) -> Workplace:
    """Ten runs of resnet, which needs five, in files whose names say nothing of their order."""
    workplace = Workplace(tmp_path)
    folder = tmp_path / "all"
    folder.mkdir()
    for run in range(9):
        (folder / f"result_{(run * 5 + 3) % 9}.txt").write_text(make_log(run=run).text())
    return workplace


Chosen = tuple[EntryRuns, list[LeftOut | Finding]]


def choose(workplace: Workplace, runs: str | list[str], **words: str) -> Chosen:
    workplace.entry(runs=runs, **words)
    manifest = workplace.manifest()
    return choose_runs(manifest, manifest.entries[0], settings=Settings(jobs=1))


def names(chosen: Chosen) -> list[str]:
    return [Path(run).name for run in chosen[0].runs]


def told(chosen: Chosen) -> list[tuple[str, str]]:
    return [(found.rule, found.message) for found in chosen[1] if isinstance(found, Finding)]


def left_out(chosen: Chosen) -> list[tuple[str, str]]:
    return [(Path(left.path).name, left.why) for left in chosen[1] if isinstance(left, LeftOut)]


BY_START = [f"result_{(run * 5 + 3) % 9}.txt" for run in range(9)]


@pytest.mark.parametrize(
    "runs", ["all", "all/", "all/*", "all/result_*.txt", "a*/result_?.txt", ["all/result_[0-9].txt"]]
)
def test_a_folder_or_pattern_is_sorted_by_the_start_of_the_runs(workplace: Workplace, runs: str | list[str]) -> None:
    chosen = choose(workplace, runs)
    assert names(chosen) == BY_START
    assert (chosen[0].how, told(chosen)) == ("by the start of the runs", [])


def test_files_keep_their_order_and_folders_theirs_within_the_list(workplace: Workplace) -> None:
    chosen = choose(workplace, ["runs/resnet/train-4.txt", "all/result_[38].txt", "runs/resnet/train-0.txt"])
    assert names(chosen) == ["train-4.txt", *(name for name in BY_START if name[7] in "38"), "train-0.txt"]


def test_a_name_with_signs_of_a_pattern_is_a_name_where_there_is_such_a_file(workplace: Workplace) -> None:
    (workplace.folder / "run[1].txt").write_text(make_log().text())
    assert names(choose(workplace, "run[1].txt")) == ["run[1].txt"]


def test_what_else_lies_in_a_folder_of_runs_is_left_out(workplace: Workplace) -> None:
    (workplace.folder / "all" / "slurm-1.out").write_text("")
    (workplace.folder / "all" / "checkpoints").mkdir()
    assert left_out(choose(workplace, "all")) == [
        ("checkpoints", "not a result log: its name is not result_*.txt"),
        ("slurm-1.out", "not a result log: its name is not result_*.txt"),
    ]


@pytest.mark.parametrize(
    ("runs", "message"),
    [
        ("absent", "There is no {}/absent. Name logs, folders of them, or a pattern."),
        ("absent/*.txt", "Nothing matches {}/absent/*.txt."),
        ("code.yaml/*", "Nothing matches {}/code.yaml/*."),
        ("**/result_*.txt", "{}/**/result_*.txt has **, which is not for runs; name the folders between with *."),
        ("empty", "{}/empty has no result_*.txt. Name the folder of the logs, or the logs."),
    ],
)
def test_runs_that_are_not_there_are_told(workplace: Workplace, runs: str, message: str) -> None:
    (workplace.folder / "empty").mkdir()
    assert told(choose(workplace, ["all/result_0.txt", runs])) == [
        ("package.runs-missing", message.format(workplace.folder))
    ]


def test_a_log_without_a_start_has_no_place_in_an_order_but_one_in_a_list(workplace: Workplace) -> None:
    broken = workplace.folder / "all" / "result_4.txt"
    log = Log.read(broken)
    log.drop("run_start")
    broken.write_text(log.text())
    [(_, message)] = told(choose(workplace, "all"))
    assert message == f"{broken} has no run_start, so it has no place in the order. List the logs one by one."
    assert told(choose(workplace, ["all/result_4.txt"])) == []


def test_a_log_twice_is_told_be_it_by_another_name(workplace: Workplace) -> None:
    (workplace.folder / "again.txt").symlink_to("all/result_0.txt")
    chosen = choose(workplace, ["all/result_0.txt", "all/result_1.txt", "again.txt"])
    assert told(chosen) == [("package.run-twice", f"rack1/resnet: {workplace.folder}/again.txt is listed twice")]
    assert names(chosen) == ["result_0.txt", "result_1.txt"]


def test_of_more_runs_the_median_window_is_chosen(workplace: Workplace) -> None:
    chosen = choose(workplace, "all", choose="median-window")
    # Run n takes 10 + n minutes: of the five windows of five the one in the middle has the median score.
    assert names(chosen) == BY_START[2:7]
    assert chosen[0].how == "median window: runs 3 to 7 of 9 in the order of their start"
    assert left_out(chosen) == [
        (BY_START[run], f"outside the median window ({10 + run}.000000 minutes)") for run in (0, 1, 7, 8)
    ]
    assert told(chosen) == []
    listed = [f"all/result_{n}.txt" for n in range(9)]
    assert names(choose(workplace, listed, choose="median-window")) == BY_START[2:7]


def test_a_window_of_all_runs_is_told(workplace: Workplace) -> None:
    chosen = choose(workplace, "runs/resnet/train-*.txt", choose="median-window")
    assert [rule for rule, _ in told(chosen)] == ["package.nothing-chosen"]
    assert len(names(chosen)) == 5


#: What is done to which runs, in the order of their start; the runs that are listed; and why there is no window.
NO_WINDOW: dict[str, tuple[tuple[int, ...], dict[str, object], str | list[str], str]] = {
    "too few": ((), {}, ["all/result_0.txt", "all/result_1.txt"], "rack1/resnet: there are 2 runs, and a window has 5"),
    "two batch sizes": ((0,), {"global_batch_size": 6400}, "all", "more than one batch size"),
    "no score": ((4, 5, 6), {"eval_accuracy": 0.1}, "all", "rack1/resnet: 4 of 5 windows are invalid, so no result"),
}


@pytest.mark.parametrize(("changed", "values", "runs", "why"), NO_WINDOW.values(), ids=NO_WINDOW)
def test_runs_without_a_window(
    changed: tuple[int, ...], values: dict[str, object], runs: str | list[str], why: str, workplace: Workplace
) -> None:
    for run in changed:
        file = workplace.folder / "all" / BY_START[run]
        log = Log.read(file)
        for key, value in values.items():
            log.put(key, value=value)
        file.write_text(log.text())
    [(rule, message)] = told(choose(workplace, runs, choose="median-window"))
    assert rule == "package.no-window"
    assert why in message


@pytest.mark.skipif(os.geteuid() == 0, reason="root reads everything")
def test_a_log_that_cannot_be_read_is_told(workplace: Workplace) -> None:
    (workplace.folder / "all" / "result_0.txt").chmod(0)
    [(rule, message)] = told(choose(workplace, "all"))
    assert rule == "package.runs-missing"
    assert "cannot be read: Permission denied" in message


def test_the_start_is_the_first_run_start_wherever_it_stands(tmp_path: Path) -> None:
    log = make_log()
    start = log.records("run_start")[0]["time_ms"]
    noise = ["run_start in free text", *(f"line {n}" * 50 for n in range(40_000))]
    log.lines[log.at("run_start") : log.at("run_start")] = noise
    file = tmp_path / "log.txt"
    file.write_text(log.text())
    assert run_started(file, get_round("training", "1.0")) == start
