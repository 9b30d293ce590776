"""A log that another process of mlsub is changing is left to it."""

from __future__ import annotations

import fcntl
import os
from pathlib import Path

import pytest

from tools.support.runner import run

PRIVATE = "cd /home/alice/run\n"


def test_a_log_that_another_process_changes_is_left_and_named(tmp_path: Path) -> None:
    log = tmp_path / "result_0.txt"
    log.write_text(PRIVATE)
    with log.open("rb") as other:
        fcntl.flock(other, fcntl.LOCK_EX)
        done = run("redact", log, "--write")
    assert done.status == 2
    assert "is being changed by another process, and is left as it is" in " ".join(done.stderr.split())
    assert log.read_text() == PRIVATE
    assert run("redact", log, "--write").status == 0
    assert "alice" not in log.read_text()


def test_where_one_copy_cannot_be_written_there_is_no_folder_of_copies(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "logs").mkdir()
    for number in range(3):
        (tmp_path / "logs" / f"result_{number}.txt").write_text(PRIVATE)
    real, calls = os.fsync, []

    def full(opened: int) -> None:
        calls.append(opened)
        if len(calls) == 2:
            raise OSError(28, "No space left on device")
        real(opened)

    monkeypatch.setattr(os, "fsync", full)
    done = run("redact", tmp_path / "logs", "-o", tmp_path / "copies")
    assert done.status == 2
    assert "No space left on device" in " ".join(done.stderr.split())
    assert [path.name for path in tmp_path.iterdir()] == ["logs"]
