"""Processes give what this one gives, in order; a worker that dies is an error; the words that name an executor."""

from __future__ import annotations

import multiprocessing
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from mlsub.io import MlsubError
from mlsub.workspace import Context
from mlsub.workspace.executors import PAYS_FROM, local_processes, open_pool, run_here
from mlsub.workspace.logs import cut
from tests.alive import is_alive
from tools.support.effort import HUNG


def _square(number: int) -> int:
    return number * number


def _who(_: int) -> int:
    return os.getpid()


def _dies_at_20(number: int) -> int:
    if number == 20 and multiprocessing.parent_process() is not None:
        os._exit(9)
    return number


@pytest.mark.slow
def test_each_result_comes_once_in_the_order_of_the_tasks() -> None:
    for jobs in (1, 2, 3):
        assert list(run_here(_square, range(40), Context(jobs=jobs), 0)) == [n * n for n in range(40)]


def test_one_process_is_this_process() -> None:
    assert set(run_here(_who, range(3), Context(jobs=1), 0)) == {os.getpid()}
    assert os.getpid() not in set(run_here(_who, range(3), Context(jobs=2), 0))


def test_a_worker_that_dies_is_an_error_and_leaves_no_process() -> None:
    before = set(multiprocessing.active_children())
    with pytest.raises(MlsubError, match="process that read logs was killed"):
        list(run_here(_dies_at_20, range(40), Context(jobs=2), 0))
    assert set(multiprocessing.active_children()) <= before


@pytest.mark.slow
def test_who_stops_listening_ends_the_processes() -> None:
    before = set(multiprocessing.active_children())
    results = run_here(_square, range(1000), Context(jobs=2), 0)
    next(results)
    results.close()  # type: ignore[attr-defined]
    assert set(multiprocessing.active_children()) <= before


def test_processes_are_started_where_they_pay_or_are_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: {0, 3, 5}, raising=False)
    assert local_processes(None, PAYS_FROM) == 3
    assert local_processes(None, PAYS_FROM - 1) == 1
    assert local_processes(4, 0) == 4


def test_a_browser_starts_no_process(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.platform", "emscripten")
    assert (local_processes(None, PAYS_FROM), local_processes(1, 0)) == (1, 1)
    with pytest.raises(MlsubError, match=r"^--jobs 2: no process can be started here\. Leave it out\.$"):
        local_processes(2, 0)


@pytest.mark.parametrize("words", ["local", "local:2", "cloud:2", "", "dask://nowhere", "dask://nowhere:٢"])
def test_what_is_no_executor_is_named(words: str) -> None:
    with pytest.raises(MlsubError, match="executor"), open_pool(Context(executor=words), 0):
        pass


def test_chunks_hold_everything_once_in_order() -> None:
    tasks = list(map(str, range(9)))
    chunks = cut(tasks, [7, 1, 90, 30, 30, 2, 2, 2, 2], 40)
    assert [task for chunk in chunks for task in chunk] == tasks
    assert [len(chunk) for chunk in chunks] == [3, 2, 4]
    assert [len(chunk) for chunk in cut(tasks, [1] * 9, 0)] == [1] * 9
    assert cut([], [], 5) == []


_ENDLESS = """
from mlsub.workspace import Context
from mlsub.workspace.executors import run_here
from tests.workspace.test_executors import _named
for who in run_here(_named, range(1000), Context(jobs=2), 0):
    print(who, flush=True)
"""


def _named(_: int) -> int:
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
