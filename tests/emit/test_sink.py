"""One writer a log: a second process is refused, and told who the first is."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from mlsub.emit import EmitError, LogInUseError
from mlsub.emit.sink import LogFile
from tests.emit.digits import recorder
from tests.emit.test_kill import ROOT

HOLD = """
import sys
from pathlib import Path
sys.path.insert(0, sys.argv[2])
from tests.emit.digits import recorder
with recorder(Path(sys.argv[1])) as rec:
    rec.log("notice", "first")
    print("ready", flush=True)
    sys.stdin.readline()
    rec.log("notice", "second")
"""


def test_two_processes_cannot_write_one_log_and_the_error_names_both(tmp_path: Path) -> None:
    log = tmp_path / "result_0.txt"
    holder = subprocess.Popen(
        [sys.executable, "-c", HOLD, str(log), str(ROOT)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    assert holder.stdout is not None
    assert holder.stdout.readline() == "ready\n"
    for overwrite in (False, True):
        with pytest.raises(LogInUseError) as refused:
            recorder(log, overwrite=overwrite)
        assert f"process {holder.pid} on " in str(refused.value)
        assert f"process {os.getpid()} on " in str(refused.value)
    holder.communicate("go on\n")
    assert holder.returncode == 0
    assert [line.count('"value": "first"') for line in log.read_text().splitlines()] == [1, 0]
    assert '"value": "second"' in log.read_text()


def test_the_same_process_cannot_open_a_log_twice(tmp_path: Path) -> None:
    log = tmp_path / "result_0.txt"
    with recorder(log), pytest.raises(LogInUseError):
        recorder(log)


def test_a_lock_left_by_a_dead_process_is_taken(tmp_path: Path) -> None:
    log = tmp_path / "result_0.txt"
    (tmp_path / ".result_0.txt.lock").write_text("process 1 on elsewhere")
    LogFile(log).close()
    assert not (tmp_path / ".result_0.txt.lock").exists()


def test_the_lock_is_no_stray_file_of_a_result_folder(tmp_path: Path) -> None:
    with recorder(tmp_path / "result_0.txt"):
        assert [path.name for path in tmp_path.glob("*") if not path.name.startswith(".")] == ["result_0.txt"]


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs /dev/full")
def test_a_full_disk_is_told(tmp_path: Path) -> None:
    log = tmp_path / "result_0.txt"
    log.symlink_to("/dev/full")
    file = LogFile(log)
    with pytest.raises(EmitError, match="No space left on device"):
        file.write("x")
    file.close()


def test_lines_are_there_as_soon_as_they_are_logged(tmp_path: Path) -> None:
    log = tmp_path / "result_0.txt"
    with recorder(log) as rec:
        rec.log("notice", 1)
        assert log.read_text().count("\n") == 1
        rec.log("notice", 2)
        assert log.read_text().count("\n") == 2


def test_text_that_is_no_unicode_is_kept_as_text(tmp_path: Path) -> None:
    log = tmp_path / "result_0.txt"
    with recorder(log) as rec:
        rec.log("notice", "caf\xe9 \udcff \n\x1b[2J")
    assert len(log.read_bytes().splitlines()) == 1
