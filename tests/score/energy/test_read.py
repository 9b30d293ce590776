"""Power files are read within bounds, whatever lies there."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from mlsub.score.energy import read
from mlsub.score.energy.score import BadLines, RunPower
from tools.support.power_folders import SECONDS, START_MS, judged, make_entry, node_log, record, rules, switch_log

GOOD = node_log([1000 + n % 7 for n in range(SECONDS + 1)])


def run_with(tmp_path: Path, **files: str | bytes) -> RunPower:
    place = tmp_path / "power" / "result_0"
    place.mkdir(parents=True)
    for name, content in files.items():
        (place / f"{name}.txt").write_bytes(content.encode() if isinstance(content, str) else content)
    return read.read_run(tmp_path / "power", "power", "result_0")


def test_a_folder_is_read(tmp_path: Path) -> None:
    run = run_with(tmp_path, node_0=GOOD, node_1=GOOD, sw_0=switch_log(12.5, 0.9), notes="x")
    assert (run.there, run.unreadable, run.path) == (True, (), "power/result_0")
    assert run.names == ("node_0.txt", "node_1.txt", "notes.txt", "sw_0.txt")
    assert [node.name for node in run.nodes] == ["node_0.txt", "node_1.txt"]
    (switch,) = run.switches
    assert (switch.watts, switch.efficiency, switch.time_ms, switch.there) == (12.5, 0.9, START_MS, True)


def test_of_a_switch_the_first_estimate_counts(tmp_path: Path) -> None:
    eff = record(START_MS, "conversion_eff", 0.1)
    run = run_with(tmp_path, sw_0=switch_log(7) + eff + switch_log(9), sw_1=eff + GOOD, sw_2="")
    assert [(s.there, s.watts, s.efficiency) for s in run.switches] == [(True, 7, 1), (False, 0, 0.1), (False, 0, 1)]


def test_records_are_found_behind_other_text_and_in_odd_encodings(tmp_path: Path) -> None:
    run = run_with(tmp_path, node_0=GOOD.replace(":::MLLOG", "rank 0: \xfc :::MLLOG").encode("latin-1"), node_1=GOOD)
    assert [node.watts for node in run.nodes] == [run.nodes[1].watts] * 2
    assert run.nodes[0].watts is not None


@pytest.mark.parametrize(
    ("value", "number"),
    [(5, 5.0), (2.5, 2.5), (True, 1.0), ("5", None), (None, None), ([5], None), (float("nan"), None), (10**400, None)],
)
def test_what_is_no_number_is_told_by_its_line(value: object, number: float | None, tmp_path: Path) -> None:
    (node,) = run_with(tmp_path, node_0=node_log([1, value, 3])).nodes
    told = node.bad
    assert (told.count == 0) == (number is not None and value is not True)
    assert told.count == 0 or (told.line, told.count, told.what.split(":")[0]) == (3, 1, "power_reading")
    assert (node.watts is None) == (number is None)


def test_lines_that_cannot_be_used_are_counted(tmp_path: Path) -> None:
    two = record(START_MS, "power_reading", 1).rstrip() + record(START_MS, "power_reading", 2)
    late = ':::MLLOG {"time_ms": Infinity, "key": "power_reading", "value": 1, "metadata": 0}\n'
    (node,) = run_with(tmp_path, node_0=GOOD + ":::MLLOG {\n" + two + late).nodes
    assert (node.bad.line, node.bad.count) == (GOOD.count("\n") + 1, 3)
    assert node.readings == SECONDS + 2, "the second record of the line counts"
    (hidden,) = run_with(tmp_path / "b", node_0=two).nodes
    assert hidden.bad == BadLines(1, "no record that can be decoded: another one follows on the same line", 1)


@pytest.mark.parametrize("kind", ["folder", "circle", "nowhere", "pipe"])
def test_what_is_no_file_is_told(kind: str, tmp_path: Path) -> None:
    place = tmp_path / "power" / "result_0"
    place.mkdir(parents=True)
    file = place / "node_0.txt"
    if kind == "folder":
        file.mkdir()
    elif kind == "pipe":
        os.mkfifo(file)
    else:
        file.symlink_to(file if kind == "circle" else tmp_path / "gone")
    run = read.read_run(tmp_path / "power", "power", "result_0")
    assert run.nodes == ()
    ((name, reason),) = run.unreadable
    assert name == "node_0.txt" and len(reason) > 4


def test_a_file_that_cannot_be_opened_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refused(*_: object) -> None:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(read, "open_log", refused)
    assert run_with(tmp_path, node_0=GOOD, sw_0="").unreadable == (
        ("node_0.txt", "Permission denied"),
        ("sw_0.txt", "Permission denied"),
    )


@pytest.mark.parametrize("error", [FileNotFoundError, NotADirectoryError])
def test_no_folder_is_no_measurement(error: type[OSError], tmp_path: Path) -> None:
    (tmp_path / "power").mkdir()
    if error is NotADirectoryError:
        (tmp_path / "power" / "result_0").write_text("")
    assert read.read_run(tmp_path / "power", "power", "result_0") == RunPower("result_0", "power/result_0", there=False)


def test_a_folder_that_cannot_be_listed_counts_as_missing_and_says_why(tmp_path: Path) -> None:
    make_entry(tmp_path / "s" / "resnet", [{"node_0.txt": GOOD}] * 4 + [None])
    last = tmp_path / "s" / "resnet" / "power" / "result_4"
    last.symlink_to(last)
    power = judged(tmp_path / "s" / "resnet")
    assert power.faulted == {"result_4.txt"}
    (missing,) = [found for found in power.findings if found.rule == "power.missing"]
    assert missing.path == "power/result_4"
    assert str(missing.actual).startswith("it cannot be read: Too many levels")


def test_bounds_hold(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(read, "MAX_RECORDS", SECONDS + 3)
    assert run_with(tmp_path / "a", node_0=GOOD).unreadable == ()
    monkeypatch.setattr(read, "MAX_RECORDS", SECONDS + 2)
    ((name, reason),) = run_with(tmp_path / "b", node_0=GOOD).unreadable
    assert (name, reason.split(",")[0]) == ("node_0.txt", f"more than {SECONDS + 2} records")
    monkeypatch.setattr(read, "MAX_FILE_BYTES", len(GOOD))
    assert run_with(tmp_path / "c", sw_0=GOOD).unreadable == ()
    monkeypatch.setattr(read, "MAX_FILE_BYTES", len(GOOD) - 1)
    assert [name for name, _ in run_with(tmp_path / "d", sw_0=GOOD, sw_1="").unreadable] == ["sw_0.txt"]
    monkeypatch.undo()
    monkeypatch.setattr(read, "MAX_RUN_BYTES", 2 * len(GOOD))
    told = run_with(tmp_path / "e", node_0=GOOD, node_1=GOOD, node_2=GOOD)
    assert ([node.name for node in told.nodes], told.unreadable[0][0]) == (["node_0.txt", "node_1.txt"], "node_2.txt")
    monkeypatch.setattr(read, "MAX_FILES", 2)
    assert run_with(tmp_path / "f", node_0=GOOD, node_1=GOOD).there
    crowded = run_with(tmp_path / "g", node_0=GOOD, node_1=GOOD, sw_0=GOOD)
    assert (crowded.there, crowded.unreadable) == (False, (("", "more than 2 files"),))


def test_a_file_beyond_a_bound_leaves_no_energy(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(read, "MAX_FILE_BYTES", len(GOOD) - 1)
    make_entry(tmp_path / "s" / "resnet", [{"node_0.txt": GOOD, "node_1.txt": ""}] * 5)
    power = judged(tmp_path / "s" / "resnet")
    assert power.joules == (None,) * 5
    assert rules(power).count("power.unreadable") == rules(power).count("power.no-energy") == 5
