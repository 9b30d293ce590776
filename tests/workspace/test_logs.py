"""Several processes give what one gives; a defect of ours is a finding."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import mlsub.workspace.logs
from mlsub.judge.log import LogTask
from mlsub.workspace.logs import in_order, read_logs
from mlsub.workspace.places import Settings


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


def test_processes_give_what_one_process_gives(tmp_path: Path) -> None:
    work = tasks(tmp_path, 40)
    seen: list[tuple[int, int]] = []
    alone = in_order(read_logs(work, Settings(jobs=1)))
    together = in_order(read_logs(work, Settings(jobs=2, progress=lambda done, total: seen.append((done, total)))))
    assert together == alone
    assert [report.path for report in together] == [task.path for task in work]
    assert seen == [(n, 40) for n in range(1, 41)]


def test_a_defect_of_ours_is_a_finding_and_never_a_pass(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(_: LogTask) -> None:
        raise ZeroDivisionError("inside a rule")

    monkeypatch.setattr(mlsub.workspace.logs, "judge_log", broken)
    [(_, report)] = read_logs(tasks(tmp_path, 1), Settings())
    assert not report.compliant
    assert [(f.rule, f.rejects) for f in report.findings] == [("rule.crashed", True)]
    assert report.findings[0].actual == "ZeroDivisionError: inside a rule"
