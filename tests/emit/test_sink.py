"""One writer a log: a second process is refused."""

from __future__ import annotations

import errno
import fcntl
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from mlsub.emit import EmitError, LogInUseError
from mlsub.emit.sink import LogFile
from tests.emit.test_kill import ROOT
from tools.support.digits import recorder

HOLD = """
import sys
from pathlib import Path
sys.path.insert(0, sys.argv[2])
from tools.support.digits import recorder
with recorder(Path(sys.argv[1])) as rec:
    rec.log("notice", "first")
    print("ready", flush=True)
    sys.stdin.readline()
    rec.log("notice", "second")
"""


def test_two_processes_cannot_write_one_log_and_the_error_says_so(tmp_path: Path) -> None:
    log = tmp_path / "result_0.txt"
    holder = subprocess.Popen(
        [sys.executable, "-c", HOLD, str(log), str(ROOT)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    assert holder.stdout is not None
    assert holder.stdout.readline() == "ready\n"
    for overwrite in (False, True):
        with pytest.raises(LogInUseError) as refused:
            recorder(log, overwrite=overwrite)
        assert f"is being written by another process, and process {os.getpid()} on " in str(refused.value)
    holder.communicate("go on\n")
    assert holder.returncode == 0
    assert [line.count('"value": "first"') for line in log.read_text().splitlines()] == [1, 0]
    assert '"value": "second"' in log.read_text()


def test_a_log_that_its_writer_removes_at_this_moment_is_not_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A training that fails before its clock starts takes its log away; what is written into that file is lost."""
    log = tmp_path / "result_0.txt"
    locked = fcntl.flock
    monkeypatch.setattr(fcntl, "flock", lambda *asked: (log.unlink(), locked(*asked)))
    with pytest.raises(LogInUseError):
        LogFile(log)


@pytest.mark.parametrize("overwrite", [False, True])
def test_no_link_is_followed(overwrite: bool, tmp_path: Path) -> None:
    """Whoever may write into the folder could otherwise have a recorder empty or make any file of its user."""
    name = "result_0.txt"
    precious, nothing = tmp_path / "precious", tmp_path / "nothing"
    precious.write_text("a thesis")
    for target in (precious, nothing):
        (tmp_path / "result" / name).parent.mkdir(exist_ok=True)
        (tmp_path / "result" / name).symlink_to(target)
        with pytest.raises(EmitError, match=rf"{name} cannot be opened: it is a link"):
            recorder(tmp_path / "result" / "result_0.txt", overwrite=overwrite)
        (tmp_path / "result" / name).unlink()
        assert not list((tmp_path / "result").iterdir())
    assert (precious.read_text(), nothing.exists()) == ("a thesis", False)


def test_what_is_another_file_too_is_refused(tmp_path: Path) -> None:
    precious = tmp_path / "precious"
    precious.write_text("a thesis")
    (tmp_path / "result_0.txt").hardlink_to(precious)
    with pytest.raises(EmitError, match=r"/result_0\.txt cannot be opened: it is a link"):
        recorder(tmp_path / "result_0.txt", overwrite=True)
    assert precious.read_text() == "a thesis"


@pytest.mark.product
@pytest.mark.parametrize("end", ["sys.exit()", "rec.close()", "raise RuntimeError", "os._exit(0)", "pass"])
def test_a_forked_process_leaves_the_log_to_the_one_that_opened_it(end: str, tmp_path: Path) -> None:
    log = tmp_path / "result_0.txt"
    program = FORK.replace("END", end)
    done = subprocess.run([sys.executable, "-c", program, str(log), str(ROOT)], capture_output=True, text=True)
    assert done.stdout == f"notice cannot be logged: {log} belongs to process PARENT\nin use\n", done.stderr
    assert done.returncode == 0
    assert [json.loads(line.removeprefix(":::MLLOG "))["key"] for line in log.read_text().splitlines()] == [
        "notice",
        "run_start",
        "notice",
        "run_stop",
    ]


FORK = """
import os, sys
from pathlib import Path
sys.path.insert(0, sys.argv[2])
from mlsub.emit import EmitError, LogInUseError
from tools.support.digits import recorder

parent = os.getpid()
log = Path(sys.argv[1])
rec = recorder(log, strict="warn")
rec.log("notice", "before")
rec.run().start()
child = os.fork()
if child == 0:
    sys.stderr.close()
    try:
        rec.log("notice", "of the child")
    except EmitError as error:
        print(str(error).replace(str(parent), "PARENT").partition(", from which")[0], flush=True)
    with rec:
        END
    sys.exit()
os.waitpid(child, 0)
try:
    recorder(log, overwrite=True)
except LogInUseError:
    print("in use", flush=True)
rec.log("notice", "after")
rec.close()
"""


class Disk:
    """A disk that is full from some byte on, for one write."""

    def __init__(self, room: int, error: BaseException) -> None:
        self.room, self.error, self.write = room, error, os.write

    def __call__(self, file: int, line: bytes) -> int:
        if self.room < 0:
            return self.write(file, line)
        room, self.room = self.room, 0 if self.room else -1
        if not room:
            raise self.error
        return self.write(file, line[:room])


@pytest.mark.parametrize("error", [OSError(errno.ENOSPC, "No space left on device"), KeyboardInterrupt()])
@pytest.mark.parametrize("room", [0, 1, 30])
def test_a_record_that_cannot_be_written_whole_is_taken_back(
    room: int, error: BaseException, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    log = tmp_path / "result_0.txt"
    with recorder(log) as rec:
        rec.log("notice", "before")
        before = log.read_bytes()
        monkeypatch.setattr(os, "write", Disk(room, error))
        told = r"^notice cannot be logged: .*cannot be written: No space left on device$|^$"
        with pytest.raises((EmitError, KeyboardInterrupt), match=told):
            rec.log("notice", "lost")
        assert log.read_bytes() == before
        rec.log("notice", "after")
    values = [json.loads(line.removeprefix(":::MLLOG "))["value"] for line in log.read_text().splitlines()]
    assert values == ["before", "after"]


def test_nothing_is_logged_after_the_end(tmp_path: Path) -> None:
    with recorder(tmp_path / "result_0.txt") as rec:
        pass
    with pytest.raises(EmitError, match=r"result_0\.txt is closed"):
        rec.log("notice", 1)


OPEN = """
import sys
from pathlib import Path
sys.path.insert(0, sys.argv[2])
from tools.support.digits import recorder
recorder(Path(sys.argv[1]))
"""


@pytest.mark.parametrize(
    ("name", "told"),
    [
        ("there.txt", "there.txt holds a run already, and one file is one run. Name another, or say overwrite=True."),
        ("none/result_0.txt", "result_0.txt cannot be opened: there is no folder {place}/none. Make it first."),
        (
            "there.txt/result_0.txt",
            "result_0.txt cannot be opened: there is no folder {place}/there.txt. Make it first.",
        ),
        ("", "{place} cannot be opened: Is a directory"),
        ("x" * 300, "cannot be opened: File name too long"),
        ("a\x1b[2Jb/c", "there is no folder {place}/a\\x1b[2Jb. Make it first."),
    ],
    ids=[
        "an existing file",
        "a missing folder",
        "a file for a folder",
        "a folder",
        "a long name",
        "a steered terminal",
    ],
)
def test_a_log_that_cannot_be_opened_ends_in_one_traceback_with_one_line_that_says_why(
    name: str, told: str, tmp_path: Path
) -> None:
    (tmp_path / "there.txt").write_text("a run\n")
    before = sorted(tmp_path.iterdir())
    done = subprocess.run(
        [sys.executable, "-c", OPEN, str(tmp_path / name), str(ROOT)], capture_output=True, text=True, check=False
    )
    assert done.returncode == 1
    assert done.stderr.count("Traceback (most recent call last)") == 1, done.stderr
    assert "Exception ignored" not in done.stderr
    assert done.stderr.splitlines()[-1].startswith("mlsub.emit.errors.EmitError: ")
    assert done.stderr.splitlines()[-1].endswith(told.format(place=tmp_path))
    assert sorted(tmp_path.iterdir()) == before


def test_a_name_that_cannot_be_is_an_error_of_the_recorder(tmp_path: Path) -> None:
    with pytest.raises(EmitError, match=r"cannot be opened: (open: )?embedded null"):
        recorder(tmp_path / "a\0b")


def test_text_that_is_no_unicode_is_kept_as_text(tmp_path: Path) -> None:
    log = tmp_path / "result_0.txt"
    with recorder(log) as rec:
        rec.log("notice", "caf\xe9 \udcff \n\x1b[2J")
    assert len(log.read_bytes().splitlines()) == 1


def test_a_log_that_does_not_reach_the_disk_is_an_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = LogFile(tmp_path / "result_0.txt")
    file.write("a record")

    def broken(_: int) -> None:
        raise OSError(errno.EIO, "Input/output error")

    monkeypatch.setattr(os, "fsync", broken)
    with pytest.raises(EmitError, match="cannot be brought to the disk: Input/output error"):
        file.close()


def test_the_name_of_a_new_log_is_brought_to_the_disk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[Path] = []
    monkeypatch.setattr(os, "fsync", lambda opened: seen.append(Path(f"/proc/self/fd/{opened}").readlink()))
    LogFile(tmp_path / "result_0.txt").close()
    assert seen == [tmp_path, tmp_path / "result_0.txt"]


def test_a_log_that_cannot_be_emptied_is_not_appended_to(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "result_0.txt"
    path.write_text("an earlier run\n")

    def refused(*_: int) -> None:
        raise PermissionError(errno.EPERM, "Operation not permitted")

    monkeypatch.setattr(os, "ftruncate", refused)
    with pytest.raises(EmitError, match="Operation not permitted"):
        LogFile(path, overwrite=True)
    assert path.read_text() == "an earlier run\n"
