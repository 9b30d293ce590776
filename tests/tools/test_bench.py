"""What make bench is made of: nothing here is timed."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import time
from argparse import Namespace
from itertools import islice
from pathlib import Path
from subprocess import PIPE

import msgspec
import pytest

import mlsub
from mlsub.findings import Verdict
from tests.alive import is_alive
from tools.bench import floor, tree
from tools.bench.cases import CASES, COMMANDS, FLOOR, LOCAL, OTHERS, RECORDS, TREES, Tree
from tools.bench.installed import installed
from tools.bench.measure import Command, Cost, Memory, cost, in_turn, look_at_group, memory
from tools.bench.official import organisations
from tools.bench.results import Line
from tools.bench.run import measured, place

LOGS = 24


@pytest.fixture(scope="module")
def small(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A generated tree."""
    folder = tmp_path_factory.mktemp("bench") / "tree"
    tree.write(folder, LOGS)
    return folder


def line(case: str, logs: int = 10, wall: float = 0.5) -> Line:
    others = {name: [Cost(0.1, 0.1, 0)] * 5 for name in (FLOOR, LOCAL)}
    return Line(case, logs, 50 * logs, [Cost(wall, 2 * wall, 0)] * 5, others, Memory(40_000_000, 60_000_000))


def test_the_table_of_cases_holds_together() -> None:
    assert len({case.name for case in CASES}) == len(CASES) >= 30
    for case in CASES:
        assert case.command in COMMANDS and case.tree in TREES, case
        assert case.against and set(case.against) <= set(OTHERS), case
        assert all(hasattr(Line, target.figure) for target in case.targets), case
    values = dict.fromkeys(("tree", "copy", "out", "bench", "records", "scheduler"), "x")
    assert all("{" not in words.format_map(values) for words in (*COMMANDS.values(), *OTHERS.values()))
    assert {case.command for case in CASES} == set(COMMANDS)


def test_organisations_are_repeated_under_other_names(small: Path, tmp_path: Path) -> None:
    above = next(small.glob("v*/*")).parent
    found, _ = place(Tree("", 0, times=3), small, tmp_path)
    assert [path.name for path in sorted((found / above.name).iterdir())][:3] == [
        "Organisation1", "Organisation1-1", "Organisation1-2",
    ]  # fmt: skip


@pytest.mark.slow
def test_the_size_of_a_site_is_that_of_what_was_written(
    small: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The commands beside it make their place anew: after them nothing was left to be measured."""
    monkeypatch.setattr("tools.bench.run.installed", lambda _: Path(sys.executable).parent)
    monkeypatch.setattr("tools.bench.run.place", lambda *_: (small, ""))
    [case] = [case for case in CASES if any(target.figure == "out_mb" for target in case.targets)]
    found = measured(case, tmp_path, Namespace(published=small, no_official=True, pairs=1))
    assert found.out_mb > 0.5


@pytest.mark.long
def test_mlsub_is_measured_as_its_users_have_it(tmp_path: Path) -> None:
    folder = installed(tmp_path)
    probe = "import sys, mlsub, msgspec; print(mlsub.__file__, *(name for name in sys.modules if 'editable' in name))"
    words = [folder / "python", "-c", probe]
    done = subprocess.run(words, capture_output=True, text=True, check=True, cwd=tmp_path, env={})
    assert Path(done.stdout.strip()).is_relative_to(folder.parent)
    done = subprocess.run([folder / "mlsub", "--version"], capture_output=True, text=True, check=True, env={})
    assert done.stdout == f"mlsub, version {mlsub.__version__}\n"
    assert len(list(tmp_path.glob("installed-*"))) == 1


def test_every_target_is_a_figure_of_a_line() -> None:
    some = line("check, everything", logs=100, wall=0.25)
    assert (some.us_a_log, some.us_a_record, some.floor_cpu, some.floor_wall) == (2500, 100, 5, 2.5)
    [busy] = {target for case in CASES for target in case.targets if target.figure == "busy"}
    assert (busy.shown(0.9), busy.shown(0.8)) == ("busy 0.9, at least 0.85: met", "busy 0.8, at least 0.85: NOT MET")


def test_a_generated_tree_is_the_same_for_the_same_seed(small: Path, tmp_path: Path) -> None:
    tree.write(tmp_path / "again", LOGS)
    files = [file.relative_to(small) for file in sorted(small.rglob("*")) if file.is_file()]
    assert [file.read_bytes() for file in map(small.joinpath, files)] == [
        file.read_bytes() for file in map((tmp_path / "again").joinpath, files)
    ]
    tree.write(tmp_path / "other", LOGS, "another seed")
    assert any(not (tmp_path / "other" / file).is_file() for file in files if file.name.startswith("result_"))


def test_check_accepts_a_generated_tree_but_for_the_entry_that_it_ends_in(small: Path) -> None:
    [round_] = small.iterdir()
    report = mlsub.check(round_, jobs=1)
    assert [log.official for log in report.logs] == ["compliant"] * LOGS
    assert {finding.rule for finding in report.findings if finding.rejects} <= {"entry.run-count"}
    assert [entry.official for entry in report.entries].count(Verdict.ACCEPTED) >= len(report.entries) - 1 >= 2


def test_packages_are_of_several_rounds_organisations_systems_and_benchmarks() -> None:
    some = list(islice(tree.packages(random.Random("x")), 2 * len(tree.ROUNDS)))
    assert {package.round for package in some} == set(tree.ROUNDS)
    assert {package.organisation for package in some} == {"Organisation1", "Organisation2"}
    entries = [entry for package in some for entry in package.entries]
    assert len({entry.system for entry in entries}) == 4
    assert len({entry.combination.benchmark for entry in entries}) >= 15
    assert {entry.combination.division for entry in entries} == {"open", "closed"}


def test_the_floor_script_counts_logs_and_records(small: Path) -> None:
    lines = sum(file.read_text().count("\n") for file in small.rglob("result_*.txt"))
    assert floor.read(str(small)) == (LOGS, lines)


def test_the_floor_script_reads_what_lies_where_results_lie(tmp_path: Path) -> None:
    record = b'noise :::MLLOG {"time_ms": 1, "key": "k", "value": null, "metadata": {}}\n'
    entry = "ACME/results/s/resnet"
    for place_ in (entry, "v1/ACME/results/s/strong/oc20", f"{entry}/deeper", "ACME/logs"):
        (tmp_path / place_).mkdir(parents=True)
        (tmp_path / place_ / "result_0.txt").write_bytes(record * 2 + b":::MLLOG {broken\n")
    (tmp_path / "ACME/results/s/resnet/notes.txt").write_bytes(record)
    assert floor.read(str(tmp_path)) == (2, 4)
    floor.main(["--write", "3", str(tmp_path / "ACME/results/s/resnet/result_1.txt")])
    assert floor.read(str(tmp_path)) == (3, 7)


def test_the_official_tools_get_each_organisation_with_its_ruleset(tmp_path: Path) -> None:
    for name in ("v1.0/A/results", "hpc-v3.0/B/results", "v1.0/not-one"):
        (tmp_path / name).mkdir(parents=True)
    found = [(tmp_path / "hpc-v3.0" / "B", "hpc", "3.0.0"), (tmp_path / "v1.0" / "A", "training", "1.0.0")]
    assert list(organisations(tmp_path)) == found
    assert list(organisations(tmp_path / "v1.0")) == found[1:]
    assert list(organisations(tmp_path / "v1.0" / "A")) == found[1:]


def command(tmp_path: Path, code: str, *remove: Path) -> Command:
    return Command((sys.executable, "-c", code), tmp_path, {"PATH": ""}, remove)


def test_costs_are_those_of_all_processes(tmp_path: Path) -> None:
    kept = tmp_path / "kept"
    one = command(tmp_path, "import pathlib, sys; pathlib.Path('kept').open('x'); sys.exit(1)", kept)
    [costs] = in_turn([one], 2)
    assert [c.status for c in costs] == [1, 1] and all(c.wall > 0 and c.cpu >= 0 for c in costs)
    assert kept.is_file()
    assert cost(command(tmp_path, "import sys; sys.exit(2)")).status == 2


needs_proc = pytest.mark.skipif(not Path("/proc/self/smaps_rollup").is_file(), reason="needs /proc")


def test_memory_is_that_of_the_largest_process_and_of_all_together(tmp_path: Path) -> None:
    """Two processes, looked at twice; the command ends after that."""
    looks = [[Memory(50, 10), Memory(70, 65)], [Memory(50, 40), Memory(60, 60)]]

    def look(leader: int) -> list[Memory]:
        if not looks:
            (tmp_path / "enough").touch()
        return looks.pop() if looks else []

    code = "import pathlib\nwhile not pathlib.Path('enough').exists(): pass"
    assert memory(command(tmp_path, code), look) == (70, 100)


@needs_proc
def test_the_processes_of_a_group_and_their_memory(tmp_path: Path) -> None:
    with command(tmp_path, "import os, time; os.fork(); print(flush=True); time.sleep(600)").start(PIPE) as process:
        assert process.stdout is not None
        assert [process.stdout.read(1) for _ in range(2)] == [b"\n"] * 2
        found = look_at_group(process.pid)
        os.killpg(process.pid, signal.SIGKILL)
    assert len(found) == 2 and all(one.largest >= one.together > 0 for one in found)


def test_trees_are_published_ones_where_these_are(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tools.bench.run.KEPT", tmp_path / "kept")
    assert place(TREES["package"], tmp_path, tmp_path) == (tmp_path / "v1.0/Graphcore", "v1.0/Graphcore")
    assert place(TREES["nothing"], tmp_path, tmp_path) == (tmp_path / "empty", "")
    made, below = place(TREES["1 log"], tmp_path, tmp_path)
    assert (floor.read(str(made))[0], below) == (1, "")
    assert place(TREES["1 log"], tmp_path, tmp_path) == (made, below)


@pytest.mark.parametrize("kind", ["official", "event", "block", "eval"])
def test_the_recorder_is_timed_with_as_many_records_as_the_official_logger(kind: str, tmp_path: Path) -> None:
    script = Path(__file__).parents[2] / "tools" / "bench" / "recorder.py"
    file = tmp_path / "result_0.txt"
    subprocess.run([sys.executable, script, kind, "60", file], check=True, capture_output=True)
    written = file.read_bytes().count(floor.TOKEN)
    assert 60 <= written <= 80
    assert RECORDS % 2 == 0
    assert msgspec.json.decode(file.read_bytes().splitlines()[0].partition(floor.TOKEN)[2])["time_ms"] > 0


@needs_proc
def test_a_command_ends_with_the_benchmark_that_started_it(tmp_path: Path) -> None:
    started: list[int] = []

    def interrupt(leader: int) -> list[Memory]:
        started[:] = [int(file.name) for file in tmp_path.glob("[0-9]*")]
        if len(started) == 2:
            raise KeyboardInterrupt
        return []

    code = "import os, pathlib, time; os.fork(); pathlib.Path(str(os.getpid())).touch(); time.sleep(600)"
    with pytest.raises(KeyboardInterrupt):
        memory(command(tmp_path, code), interrupt)
    while any(map(is_alive, started)):
        time.sleep(0.01)
