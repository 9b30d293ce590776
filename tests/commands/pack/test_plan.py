"""The plan of a submission: what belongs into it, which logs become results, what stays out or cannot be packed."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path

import pytest

from mlsub.findings import Finding
from mlsub.io.folders import assemble
from mlsub.packing.plan import PackPlan, make_plan
from mlsub.packing.runs import EntryRuns, OmittedSource, choose_runs, run_started
from mlsub.rounds import get_round
from mlsub.workspace import Context
from tools.support.make_tree import Log, make_description, make_log
from tools.support.workplace import Workplace, files


@pytest.fixture
def workplace(tmp_path: Path) -> Workplace:
    return Workplace(tmp_path)


def planned(workplace: Workplace) -> PackPlan:
    return make_plan(workplace.manifest())


def places(plan: PackPlan) -> list[str]:
    return [item.to for item in plan.pieces if not item.to.startswith("results/")]


def told(plan: PackPlan) -> list[tuple[str, int | None, str | None]]:
    return [(found.rule, found.line, found.actual) for found in plan.findings]


def test_what_tools_leave_behind_stays_out_of_the_code_and_is_told(workplace: Workplace) -> None:
    code = workplace.add_code()
    for name in (
        ".mlsub-0f.part/train.py",
        ".git/config",
        "__pycache__/train.pyc",
        ".train.py.swp",
        "train.py~",
        "lib/.DS_Store",
        "lib/util.py",
    ):
        (code / name).parent.mkdir(exist_ok=True)
        (code / name).write_text("")
    plan = planned(workplace)
    folder = "benchmarks/resnet/implementations/mxnet"
    assert places(plan) == [f"{folder}/lib/util.py", f"{folder}/run.sh", f"{folder}/train.py", "systems/rack1.json"]
    assert sorted(Path(left.path).relative_to(code).as_posix() for left in plan.left_out) == [
        ".git",
        ".mlsub-0f.part",
        ".train.py.swp",
        "__pycache__",
        "lib/.DS_Store",
        "train.py~",
    ]
    assert plan.findings == ()


def test_links_within_the_code_stay_links(workplace: Workplace, tmp_path: Path) -> None:
    code = workplace.add_code()
    (code / "lib").mkdir()
    (code / "lib" / "train.py").symlink_to("../train.py")
    (code / "latest").symlink_to("lib")
    plan = planned(workplace)
    assert plan.sound
    staged = tmp_path / "staged"
    assemble(plan.pieces, staged)
    folder = staged / "benchmarks/resnet/implementations/mxnet"
    assert os.readlink(folder / "lib" / "train.py") == "../train.py"  # noqa: PTH115
    assert (folder / "latest" / "train.py").read_text() == "print('training')\n"


@pytest.mark.parametrize(
    "target", ["/etc/passwd", "../../rack1.json", "../mxnet/train.py", "nowhere", "loop", "out/../train.py"]
)
def test_links_that_lead_out_or_nowhere_are_errors(workplace: Workplace, target: str) -> None:
    code = workplace.add_code()
    (code / "out").symlink_to(workplace.folder)
    (code / "loop").symlink_to(target)
    plan = planned(workplace)
    assert not plan.sound
    found = {actual for rule, _, actual in told(plan) if rule == "package.link-escapes"}
    assert f"{code}/loop -> {target}" in found
    assert f"{code}/out -> {workplace.folder}" in found


NOWHERE = {"benchmark": "resnet", "implementation": "x", "folder": "nowhere"}
FAULTS: dict[str, tuple[Callable[[Workplace], object], bool, str, str]] = {
    "a pipe in the code": (lambda w: os.mkfifo(w.add_code() / "pipe"), False, "not-a-file", "code/mxnet/pipe"),
    "a pipe as a log": (
        lambda w: (os.mkfifo(w.folder / "pipe"), w.entry(runs=["pipe"])), False, "not-a-file", "pipe"
    ),
    "no code": (lambda w: w.save(code=[NOWHERE]), True, "code-missing", "nowhere"),
    "no setup": (lambda w: w.entry(setup="no-setup"), True, "code-missing", "no-setup"),
    "no description": (lambda w: w.save(systems={"rack1": "rack2.json"}), False, "source-missing", "rack2.json"),
}  # fmt: skip


@pytest.mark.parametrize(("change", "sound", "rule", "place"), FAULTS.values(), ids=FAULTS)
def test_what_cannot_be_packed_is_told_and_holds_nothing_up(
    change: Callable[[Workplace], object], sound: bool, rule: str, place: str, workplace: Workplace
) -> None:
    change(workplace)
    plan = planned(workplace)
    assert plan.sound is sound
    found = [(rule, actual) for rule, _, actual in told(plan)]
    assert found == [(f"package.{rule}", f"{workplace.folder}/{place}")]


def test_setup_and_other_files_have_their_places(workplace: Workplace) -> None:
    setup = workplace.folder / "setup"
    setup.mkdir()
    (setup / "README.md").write_text("")
    (workplace.folder / "NOTES").write_text("")
    workplace.entry(setup="setup")
    workplace.save(files=[{"from": "NOTES", "to": "./README.md"}, {"from": "setup", "to": "benchmarks/resnet/docs"}])
    assert places(planned(workplace)) == [
        "README.md",
        "benchmarks/resnet/docs/README.md",
        "benchmarks/resnet/rack1/README.md",
        "systems/rack1.json",
    ]


@pytest.mark.parametrize(
    "to", ["systems/rack1.json", "systems", "systems/rack1.json/more", "results/rack1/resnet/result_0.txt"]
)
def test_a_place_has_one_source(workplace: Workplace, to: str) -> None:
    (workplace.folder / "other").write_text("")
    workplace.save(files=[{"from": "other", "to": to}])
    plan = planned(workplace)
    assert not plan.sound
    assert {rule for rule, _, _ in told(plan)} == {"package.two-sources"}


def test_one_source_may_be_named_twice_for_its_place(workplace: Workplace) -> None:
    workplace.save(files=[{"from": "rack1.json", "to": "systems/rack1.json"}])
    assert planned(workplace).sound


def test_the_division_is_that_of_the_description(workplace: Workplace) -> None:
    workplace.entry(division="open")
    [finding] = planned(workplace).findings
    assert (finding.rule, finding.expected, finding.actual) == ("package.division-differs", "open", "closed")
    assert finding.line == 6
    workplace.entry(division=None)
    assert planned(workplace).findings == ()
    (workplace.folder / "rack1.json").write_text(json.dumps(make_description("Closed")))
    workplace.entry(division="closed")
    assert planned(workplace).findings == ()


def test_a_log_belongs_to_one_entry(tmp_path: Path) -> None:
    workplace = Workplace(tmp_path)
    first = workplace.content["entries"][0]
    second = first | {"system": "rack2", "runs": list(first["runs"])}
    workplace.content["entries"].append(second)
    (tmp_path / "rack2.json").write_text(json.dumps(make_description(system_name="rack2")))
    workplace.save(systems={"rack1": "rack1.json", "rack2": "rack2.json"})
    assert [rule for rule, _, _ in told(planned(workplace))] == ["package.run-twice"] * 5


def test_power_measurements_follow_their_runs(workplace: Workplace, tmp_path: Path) -> None:
    for run in range(5):
        folder = workplace.folder / "power" / f"train-{run}"
        folder.mkdir(parents=True)
        (folder / "node_0.txt").write_text(f"of run {run}\n")
    workplace.entry(power="power")
    plan = planned(workplace)
    assemble(plan.pieces, tmp_path / "staged")
    there = files(tmp_path / "staged" / "results/rack1/resnet/power")
    # The manifest lists the last run first.
    assert there == {f"result_{n}/node_0.txt": b"of run %d\n" % (4 - n) for n in range(5)}
    (workplace.folder / "power" / "train-2" / "node_0.txt").unlink()
    assert [rule for rule, _, _ in told(planned(workplace))] == ["package.source-missing"]


def test_a_folder_of_too_many_files_is_no_code(workplace: Workplace, monkeypatch: pytest.MonkeyPatch) -> None:
    from mlsub.packing import plan
    from mlsub.submission.file_tree import read_file_tree

    code = workplace.add_code()
    for number in range(20):
        (code / f"{number}.py").write_text("")
    monkeypatch.setattr(plan, "read_file_tree", lambda path: read_file_tree(path, max_items=10))
    assert [rule for rule, _, _ in told(planned(workplace))] == ["package.not-a-file"]


@pytest.fixture
def loose(tmp_path: Path) -> Workplace:
    """Ten runs of resnet, which needs five, in files whose names say nothing of their order."""
    loose = Workplace(tmp_path)
    folder = tmp_path / "all"
    folder.mkdir()
    for run in range(9):
        (folder / f"result_{(run * 5 + 3) % 9}.txt").write_text(make_log(run=run).text())
    return loose


Chosen = tuple[EntryRuns, list[OmittedSource | Finding]]


def choose(loose: Workplace, runs: str | list[str], **words: str) -> Chosen:
    loose.entry(runs=runs, **words)
    manifest = loose.manifest()
    return choose_runs(manifest, manifest.entries[0], context=Context(jobs=1))


def names(chosen: Chosen) -> list[str]:
    return [Path(run).name for run in chosen[0].runs]


def said(chosen: Chosen) -> list[tuple[str, str]]:
    return [(found.rule, found.message) for found in chosen[1] if isinstance(found, Finding)]


def left_out(chosen: Chosen) -> list[tuple[str, str]]:
    return [(Path(left.path).name, left.why) for left in chosen[1] if isinstance(left, OmittedSource)]


BY_START = [f"result_{(run * 5 + 3) % 9}.txt" for run in range(9)]


@pytest.mark.parametrize(
    "runs", ["all", "all/", "all/*", "all/result_*.txt", "a*/result_?.txt", ["all/result_[0-9].txt"]]
)
def test_a_folder_or_pattern_is_sorted_by_the_start_of_the_runs(loose: Workplace, runs: str | list[str]) -> None:
    chosen = choose(loose, runs)
    assert names(chosen) == BY_START
    assert (chosen[0].how, said(chosen)) == ("by the start of the runs", [])


def test_files_keep_their_order_and_folders_theirs_within_the_list(loose: Workplace) -> None:
    chosen = choose(loose, ["runs/resnet/train-4.txt", "all/result_[38].txt", "runs/resnet/train-0.txt"])
    assert names(chosen) == ["train-4.txt", *(name for name in BY_START if name[7] in "38"), "train-0.txt"]


def test_a_name_with_signs_of_a_pattern_is_a_name_where_there_is_such_a_file(loose: Workplace) -> None:
    (loose.folder / "run[1].txt").write_text(make_log().text())
    assert names(choose(loose, "run[1].txt")) == ["run[1].txt"]


def test_what_else_lies_in_a_folder_of_runs_is_left_out(loose: Workplace) -> None:
    (loose.folder / "all" / "slurm-1.out").write_text("")
    (loose.folder / "all" / "checkpoints").mkdir()
    assert left_out(choose(loose, "all")) == [
        ("checkpoints", "not a result log: its name is not result_*.txt"),
        ("slurm-1.out", "not a result log: its name is not result_*.txt"),
    ]


@pytest.mark.parametrize("named", ["run_{}.log", "slurm-10{}.out"])
def test_runs_in_a_folder_may_be_called_by_another_habit(named: str, tmp_path: Path) -> None:
    workplace = Workplace(tmp_path, named=named)
    (tmp_path / "runs/resnet/driver.log").write_text("")
    chosen = choose(workplace, "runs/resnet")
    assert (names(chosen), said(chosen)) == ([named.format(run) for run in range(5)], [])
    plan = planned(workplace)
    assert [item.to for item in plan.pieces][:5] == [f"results/rack1/resnet/result_{run}.txt" for run in range(5)]


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
def test_runs_that_are_not_there_are_told(loose: Workplace, runs: str, message: str) -> None:
    (loose.folder / "empty").mkdir()
    assert said(choose(loose, ["all/result_0.txt", runs])) == [("package.runs-missing", message.format(loose.folder))]


def test_a_log_without_a_start_has_no_place_in_an_order_but_one_in_a_list(loose: Workplace) -> None:
    broken = loose.folder / "all" / "result_4.txt"
    log = Log.read(broken)
    log.drop("run_start")
    broken.write_text(log.text())
    [(_, message)] = said(choose(loose, "all"))
    assert message == f"{broken} has no run_start, so it has no place in the order. List the logs one by one."
    assert said(choose(loose, ["all/result_4.txt"])) == []


def test_a_log_twice_is_told_be_it_by_another_name(loose: Workplace) -> None:
    (loose.folder / "again.txt").symlink_to("all/result_0.txt")
    chosen = choose(loose, ["all/result_0.txt", "all/result_1.txt", "again.txt"])
    assert said(chosen) == [("package.run-twice", f"rack1/resnet: {loose.folder}/again.txt is listed twice")]
    assert names(chosen) == ["result_0.txt", "result_1.txt"]


def test_of_more_runs_the_median_window_is_chosen(loose: Workplace) -> None:
    chosen = choose(loose, "all", choose="median-window")
    # Run n takes 10 + n minutes: of the five windows of five the one in the middle has the median score.
    assert names(chosen) == BY_START[2:7]
    assert chosen[0].how == "median window: runs 3 to 7 of 9 in the order of their start"
    assert left_out(chosen) == [
        (BY_START[run], f"outside the median window ({10 + run}.000000 minutes)") for run in (0, 1, 7, 8)
    ]
    assert said(chosen) == []
    listed = [f"all/result_{n}.txt" for n in range(9)]
    assert names(choose(loose, listed, choose="median-window")) == BY_START[2:7]


def test_a_window_of_all_runs_is_told(loose: Workplace) -> None:
    chosen = choose(loose, "runs/resnet/train-*.txt", choose="median-window")
    assert [rule for rule, _ in said(chosen)] == ["package.nothing-chosen"]
    assert len(names(chosen)) == 5


#: What is done to which runs, in the order of their start; the runs that are listed; and why there is no window.
NO_WINDOW: dict[str, tuple[tuple[int, ...], dict[str, object], str | list[str], str]] = {
    "too few": ((), {}, ["all/result_0.txt", "all/result_1.txt"], "rack1/resnet: there are 2 runs, and a window has 5"),
    "two batch sizes": ((0,), {"global_batch_size": 6400}, "all", "more than one batch size"),
    "no score": ((4, 5, 6), {"eval_accuracy": 0.1}, "all", "rack1/resnet: 4 of 5 windows are invalid, so no result"),
}


@pytest.mark.parametrize(("changed", "values", "runs", "why"), NO_WINDOW.values(), ids=NO_WINDOW)
def test_runs_without_a_window(
    changed: tuple[int, ...], values: dict[str, object], runs: str | list[str], why: str, loose: Workplace
) -> None:
    for run in changed:
        file = loose.folder / "all" / BY_START[run]
        log = Log.read(file)
        for key, value in values.items():
            log.put(key, value=value)
        file.write_text(log.text())
    [(rule, message)] = said(choose(loose, runs, choose="median-window"))
    assert rule == "package.no-window"
    assert why in message


@pytest.mark.skipif(os.geteuid() == 0, reason="root reads everything")
def test_a_log_that_cannot_be_read_is_told(loose: Workplace) -> None:
    (loose.folder / "all" / "result_0.txt").chmod(0)
    [(rule, message)] = said(choose(loose, "all"))
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
