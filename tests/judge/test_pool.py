"""Several processes give what one gives, in the same order; a defect of ours is a finding."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import mlsub.judge.pool
from mlsub.judge.log import LogTask
from mlsub.judge.pool import judge_logs


def tasks(folder: Path, count: int) -> list[LogTask]:
    made = []
    for number in range(count):
        log = folder / f"result_{number}.txt"
        records = [
            {"time_ms": 1000 * step + number, "key": key, "value": number, "metadata": {"status": "success"}}
            for step, key in enumerate(("init_start", "init_stop", "run_start", "run_stop"))
        ]
        log.write_text("".join(f":::MLLOG {json.dumps(record)}\n" for record in records))
        made.append(LogTask(str(log), log.name, "training", "1.0"))
    return made


def test_processes_give_what_one_process_gives_in_the_same_order(tmp_path: Path) -> None:
    work = tasks(tmp_path, 40)
    alone, seen = judge_logs(work, jobs=1), []
    together = judge_logs(work, jobs=2, progress=lambda done, total: seen.append((done, total)))
    assert together == alone
    assert [report.path for report in together] == [task.path for task in work]
    assert seen == [(n, 40) for n in range(1, 41)]


def test_small_inputs_start_no_process(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> None:
        raise AssertionError("a process pool for a few bytes")

    monkeypatch.setattr(mlsub.judge.pool, "_in_processes", refuse)
    assert len(judge_logs(tasks(tmp_path, 3))) == 3


def test_large_inputs_use_the_cores_there_are(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(mlsub.judge.pool, "POOL_FROM_BYTES", 1)
    monkeypatch.setattr(mlsub.judge.pool.os, "cpu_count", lambda: 2)
    assert mlsub.judge.pool._workers(tasks(tmp_path, 3)) == 2
    assert mlsub.judge.pool._workers(tasks(tmp_path, 1)) == 1


def test_a_defect_of_ours_is_a_finding_and_never_a_pass(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(_: LogTask) -> None:
        raise ZeroDivisionError("inside a rule")

    monkeypatch.setattr(mlsub.judge.pool, "judge_log", broken)
    [report] = judge_logs(tasks(tmp_path, 1))
    assert not report.compliant
    assert [(f.rule, f.rejects) for f in report.findings] == [("rule.crashed", True)]
    assert report.findings[0].actual == "ZeroDivisionError: inside a rule"


def test_a_worker_that_dies_costs_no_log(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import os

    parent, real = os.getpid(), mlsub.judge.pool.judge_log

    def dies_in_a_worker(task: LogTask) -> object:
        if os.getpid() != parent and task.path == "result_20.txt":
            os._exit(9)
        return real(task)

    monkeypatch.setattr(mlsub.judge.pool, "judge_log", dies_in_a_worker)
    work = tasks(tmp_path, 40)
    assert [report.path for report in judge_logs(work, jobs=2)] == [task.path for task in work]
