"""Processes give what one process gives; a worker that dies costs nothing; the words that name an executor."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from mlsub.io.errors import MlsubError
from mlsub.workspace import shares
from mlsub.workspace.executors import executor_of
from mlsub.workspace.executors.local import LocalExecutor
from mlsub.workspace.places import Settings
from mlsub.workspace.shares import PAYS_FROM, balanced, executor_for
from tests.alive import is_alive
from tests.effort import HUNG

PARENT = os.getpid()


def _square(number: int) -> int:
    return number * number


def _who(_: int) -> int:
    return os.getpid()


def _dies_at_20(number: int) -> int:
    if number == 20 and os.getpid() != PARENT:
        os._exit(9)
    return number


def test_each_result_comes_once_with_the_index_of_its_task() -> None:
    for processes in (1, 2, 3):
        assert sorted(LocalExecutor(processes).run(_square, range(40))) == [(n, n * n) for n in range(40)]


def test_one_process_or_one_task_is_this_process() -> None:
    assert set(LocalExecutor(1).run(_who, range(3))) == {(n, os.getpid()) for n in range(3)}
    assert list(LocalExecutor(2).run(_who, [0])) == [(0, os.getpid())]
    assert os.getpid() not in {who for _, who in LocalExecutor(2).run(_who, range(3))}


def test_a_worker_that_dies_costs_no_result() -> None:
    assert sorted(LocalExecutor(2).run(_dies_at_20, range(40))) == [(n, n) for n in range(40)]


def test_who_stops_listening_ends_the_processes() -> None:
    import multiprocessing

    before = set(multiprocessing.active_children())
    results = LocalExecutor(2).run(_square, range(1000))
    next(results)
    results.close()
    assert set(multiprocessing.active_children()) <= before


def test_names_of_executors(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: {0, 3, 5}, raising=False)
    assert executor_of(None, None).processes == 3
    assert executor_of(None, 4).processes == 4
    assert executor_of("local:2", None).processes == 2
    assert executor_of("local:2", 2).processes == 2


@pytest.mark.parametrize("words", ["local", "local:", "local:0", "local:5000", "local:x", "cloud:2", "", "local:٢"])
def test_what_is_no_executor_is_named(words: str) -> None:
    with pytest.raises(MlsubError, match="executor"):
        executor_of(words, None)


@pytest.mark.parametrize("words", ["local:3", "dask://localhost:8786"])
def test_jobs_must_not_contradict(words: str) -> None:
    with pytest.raises(MlsubError, match=f"--jobs 2 contradicts --executor {words}"):
        executor_of(words, 2)


def test_processes_are_started_where_they_pay_or_are_asked_for() -> None:
    few, many = PAYS_FROM - 1, PAYS_FROM
    assert executor_for(Settings(), few).processes == 1
    assert executor_for(Settings(), many).processes == executor_of(None, None).processes
    assert executor_for(Settings(jobs=2), few).processes == 2
    assert executor_for(Settings(executor="local:2"), few).processes == 2


# Shares.


def test_shares_hold_everything_once_and_become_smaller() -> None:
    weights = [7, 1, 90, 30, 30, 2, 2, 2, 2, 2, 1, 1, 1, 1]
    found = shares.shares(weights, 2)
    assert sorted(index for share in found for index in share) == list(range(len(weights)))
    sizes = [sum(weights[index] for index in share) for share in found]
    assert found[0] == [2]
    assert sizes == sorted(sizes, reverse=True)
    assert shares.shares(weights, 1) == [[index] for index in range(len(weights))]
    assert shares.shares([], 2) == shares.shares([], 1) == []


def test_what_would_outlast_the_rest_goes_first() -> None:
    assert balanced([5, 3, 9, 4], 1) == [0, 1, 2, 3]
    assert balanced([50, 10, 10, 10, 90], 2) == [4, 0, 1, 2, 3]
    assert balanced([10] * 8, 2) == [7, 0, 1, 2, 3, 4, 5, 6]
    assert balanced([], 2) == []


def test_the_weight_of_a_tree_is_that_of_its_logs(tmp_path: Path) -> None:
    entry = tmp_path / "results" / "rack1" / "resnet"
    entry.mkdir(parents=True)
    for number in range(3):
        (entry / f"result_{number}.txt").write_bytes(b"x" * 1000)
    (entry / "notes.txt").write_bytes(b"x" * 9000)
    # What leads in a circle, or nowhere, weighs nothing.
    (entry / "again").symlink_to(tmp_path, target_is_directory=True)
    (tmp_path / "results" / "gone").symlink_to(tmp_path / "nowhere")
    one = shares.weight_of(entry / "result_0.txt")
    assert one - shares.weight_of(tmp_path / "nowhere") == 1000
    for below in (tmp_path, tmp_path / "results" / "rack1", entry):
        assert shares.weight_below(below) == (3 * one, 3)
    assert shares.weight_below(tmp_path / "nowhere") == (0, 0)


_ENDLESS = """
import os, signal, sys, time
from mlsub.workspace.executors.local import LocalExecutor
from tests.workspace.test_executors import _named
for _, who in LocalExecutor(2).run(_named, range(1000)):
    print(who, flush=True)
"""


def _named(number: int) -> int:
    time.sleep(0.05)
    return os.getpid()


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="processes are counted in /proc")
@pytest.mark.parametrize("how", [signal.SIGTERM, signal.SIGKILL])
def test_workers_end_when_the_process_that_they_work_for_is_killed(how: signal.Signals) -> None:
    with subprocess.Popen([sys.executable, "-c", _ENDLESS], stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        workers = {int(process.stdout.readline()) for _ in range(8)}
        process.send_signal(how)
    assert process.pid not in workers
    until = time.monotonic() + HUNG
    while any(map(is_alive, workers)) and time.monotonic() < until:
        time.sleep(0.02)
    assert [worker for worker in workers if is_alive(worker)] == []
