"""A process killed at any moment leaves whole lines, and a log that no checker takes for a result."""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from mlsub.judge.log import LogTask, judge_log

KILLS = 200
AT_ONCE = 4
#: A run that goes on for ever, and tells how far it is by the size of its log.
PROGRAM = """
import sys, itertools
from pathlib import Path
sys.path.insert(0, sys.argv[2])
from tests.emit.digits import initialise, recorder
with recorder(Path(sys.argv[1])) as rec:
    initialise(rec)
    with rec.run():
        for epoch in itertools.count(1):
            with rec.block(epoch=epoch), rec.epoch(epoch):
                pass
            rec.evaluate(0.5 + epoch / 1e9, epoch=epoch)
"""
ROOT = Path(__file__).resolve().parents[2]


def killed(log: Path, after_bytes: int) -> None:
    """Start a run, and kill it once its log has so many bytes."""
    process = subprocess.Popen([sys.executable, "-c", PROGRAM, str(log), str(ROOT)], stderr=subprocess.PIPE)
    deadline = time.monotonic() + 60
    while (log.stat().st_size if log.exists() else 0) < after_bytes:
        assert process.poll() is None, process.stderr.read() if process.stderr else ""
        assert time.monotonic() < deadline
        time.sleep(0.0002)
    os.kill(process.pid, signal.SIGKILL)
    process.communicate()


@pytest.mark.parametrize("part", range(AT_ONCE))
def test_a_killed_run_leaves_whole_lines_and_is_never_compliant(part: int, tmp_path: Path) -> None:
    chance = random.Random(f"kill/{part}")
    for number in range(KILLS // AT_ONCE):
        log = tmp_path / f"result_{number}.txt"
        killed(log, chance.randint(0, 6000) if chance.random() < 0.8 else chance.randint(0, 60_000))
        content = log.read_bytes() if log.exists() else b""
        assert content == b"" or content.endswith(b"\n")
        for line in content.decode().splitlines():
            assert line.startswith(":::MLLOG ")
            json.loads(line.removeprefix(":::MLLOG "))
        report = judge_log(LogTask(str(log), log.name, "rehearsal", "1.0"))
        assert not report.compliant
        assert report.undecodable is False
        rules = {finding.rule for finding in report.findings if finding.rejects}
        assert rules & {"key.run_stop.count", "log.empty", "log.unreadable"}, rules


def test_a_log_is_free_again_after_its_writer_was_killed(tmp_path: Path) -> None:
    from tests.emit.digits import initialise, recorder, train

    log = tmp_path / "result_0.txt"
    killed(log, 3000)
    with recorder(log, overwrite=True) as rec:
        initialise(rec)
        train(rec)
    assert judge_log(LogTask(str(log), log.name, "rehearsal", "1.0")).compliant
