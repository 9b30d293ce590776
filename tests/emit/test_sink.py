"""The log on the disk: one writer, whole records, and at most a torn last one of a process that was killed."""

from __future__ import annotations

import errno
import fcntl
import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from mlsub.emit import EmitError, LogInUseError
from mlsub.emit.sink import LogFile
from tests.emit.adapters.common import keys, records
from tools.support.digits import initialise, record_run, recorder, train
from tools.support.judging import report_on
from tools.support.runner import REPOSITORY, python

HOLD = """
import sys
from pathlib import Path
from tools.support.digits import recorder
with recorder(Path(sys.argv[1])) as rec:
    rec.log("notice", "first")
    print("ready", flush=True)
    sys.stdin.readline()
    rec.log("notice", "second")
"""


def test_two_processes_cannot_write_one_log_and_the_error_says_so(tmp_path: Path) -> None:
    log = tmp_path / "result_0.txt"
    pipes: dict[str, Any] = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}
    holder = subprocess.Popen([sys.executable, "-c", HOLD, str(log)], cwd=REPOSITORY, **pipes)
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


@pytest.mark.slow
@pytest.mark.product
@pytest.mark.parametrize("end", ["sys.exit()", "rec.close()", "raise RuntimeError", "os._exit(0)", "pass"])
def test_a_forked_process_leaves_the_log_to_the_one_that_opened_it(end: str, tmp_path: Path) -> None:
    log = tmp_path / "result_0.txt"
    done = python(FORK.replace("END", end), log)
    assert done.stdout == f"notice cannot be logged: {log} belongs to process PARENT\nin use\n", done.stderr
    assert done.returncode == 0
    assert keys(log) == ["notice", "run_start", "notice", "run_stop"]


FORK = """
import os, sys
from pathlib import Path
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
    assert [record["value"] for record in records(log)] == ["before", "after"]


def test_nothing_is_logged_after_the_end(tmp_path: Path) -> None:
    with recorder(tmp_path / "result_0.txt") as rec:
        pass
    with pytest.raises(EmitError, match=r"result_0\.txt is closed"):
        rec.log("notice", 1)


OPEN = """
import sys
from pathlib import Path
from tools.support.digits import recorder
recorder(Path(sys.argv[1]))
"""


#: A name, and the end of the line that says why there can be no log.
UNOPENED = {
    "an existing file": ("there.txt", "there.txt holds a run already, and one file is one run. Name another, or say "
                         "overwrite=True."),
    "a missing folder": ("none/result_0.txt", "result_0.txt cannot be opened: there is no folder {place}/none. Make it "
                         "first."),
    "a file for a folder": ("there.txt/a.txt", "a.txt cannot be opened: there is no folder {place}/there.txt. Make it "
                            "first."),
    "a folder": ("", "{place} cannot be opened: Is a directory"),
    "a long name": ("x" * 300, "cannot be opened: File name too long"),
    "a steered terminal": ("a\x1b[2Jb/c", "there is no folder {place}/a\\x1b[2Jb. Make it first."),
}  # fmt: skip


@pytest.mark.parametrize("case", UNOPENED)
def test_a_log_that_cannot_be_opened_ends_in_one_traceback_with_one_line_that_says_why(
    case: str, tmp_path: Path
) -> None:
    name, told = UNOPENED[case]
    (tmp_path / "there.txt").write_text("a run\n")
    before = sorted(tmp_path.iterdir())
    done = python(OPEN, tmp_path / name)
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


TOKEN = b":::MLLOG "


def whole_records(content: bytes) -> tuple[list[Any], bytes]:
    """The records of the lines that have ended, each of which must be whole, and what follows them."""
    lines, _, rest = content.rpartition(b"\n")
    found = lines.split(b"\n") if lines else []
    assert all(line.startswith(TOKEN) for line in found)
    return [json.loads(line.removeprefix(TOKEN)) for line in found], rest


def assert_no_result(log: Path) -> None:
    """The official verdict on a log without an end."""
    report = report_on(log, "rehearsal", "1.0")
    assert not report.compliant
    rules = {finding.rule for finding in report.findings if finding.rejects}
    assert rules & {"key.run_stop.count", "log.empty", "log.no-records", "log.unreadable", "log.record-undecodable"}


#: A run whose process is killed in the middle of the write of a record, as the system may do at the end of a page.
TORN = """
import os, signal, sys
from pathlib import Path
from tools.support.digits import initialise, recorder, train
number, size, write = int(sys.argv[2]), int(sys.argv[3]), os.write
def torn(file, line):
    global number
    number -= line.startswith(b":::MLLOG ")
    if number >= 0:
        return write(file, line)
    write(file, line[:size])
    os.kill(os.getpid(), signal.SIGKILL)
with recorder(Path(sys.argv[1])) as rec:
    os.write = torn
    initialise(rec)
    train(rec)
"""


@pytest.mark.parametrize(("number", "size"), [(0, 0), (0, 1), (0, 60), (3, 9), (9, 40), (25, 120), (30, 1), (38, 100)])
def test_a_write_that_a_kill_cuts_short_leaves_one_torn_record_at_the_end(
    number: int, size: int, tmp_path: Path
) -> None:
    log = tmp_path / "result_0.txt"
    assert python(TORN, log, number, size).returncode == -signal.SIGKILL
    found, torn = whole_records(log.read_bytes())
    assert (len(found), len(torn)) == (number, size)
    assert_no_result(log)
    report = report_on(log, "rehearsal", "1.0")
    undecodable = [finding for finding in report.findings if finding.rule == "log.record-undecodable"]
    # What the official parser cannot decode makes the log noncompliant; before the end of the token it sees nothing.
    assert bool(undecodable) is (size >= len(TOKEN))
    assert all(finding.rejects and finding.message.startswith("The log ends with a record") for finding in undecodable)
    # The log is free again.
    assert report_on(record_run(log, overwrite=True), "rehearsal", "1.0").compliant


@pytest.mark.slow
def test_a_log_cut_at_any_byte_has_whole_records_and_is_no_result_before_its_end(tmp_path: Path) -> None:
    """The truth of all kills at all moments, without any: what is there is always a beginning of the whole log."""
    log = tmp_path / "result_0.txt"
    with recorder(log) as rec:
        initialise(rec)
        train(rec, (0.97,))
    whole = log.read_bytes()
    lines = whole.splitlines(keepends=True)
    ends = {len(b"".join(lines[:number])) for number in range(len(lines) + 1)}
    cuts = sorted({cut for end in ends for cut in range(end - 12, end + 12)} | set(range(0, len(whole), 37)))
    for cut in (cut for cut in cuts if 0 <= cut < len(whole) - 1):
        log.write_bytes(whole[:cut])
        found, torn = whole_records(whole[:cut])
        assert found == [json.loads(line.removeprefix(TOKEN)) for line in lines[: len(found)]]
        assert lines[len(found)].startswith(torn)
        assert_no_result(log)
    # The last record lacks nothing but the end of its line: the run has ended, and the official parser reads it.
    log.write_bytes(whole[:-1])
    assert report_on(log, "rehearsal", "1.0").compliant


@pytest.mark.parametrize("left", [b":::MLLOG ", b':::MLLOG {"namespace": "", "time_'])
def test_a_torn_first_record_is_no_run_and_is_taken_away(left: bytes, tmp_path: Path) -> None:
    log = tmp_path / "result_0.txt"
    log.write_bytes(left)
    assert report_on(record_run(log), "rehearsal", "1.0").compliant


@pytest.mark.parametrize(
    "content", [b":", b"notes of mine\n", b"notes of mine", b":::MLLOG {}\n", b":::MLLOG {}\n:::MLL"]
)
def test_anything_else_is_never_taken_away(content: bytes, tmp_path: Path) -> None:
    log = tmp_path / "result_0.txt"
    log.write_bytes(content)
    with pytest.raises(EmitError, match="holds a run already"):
        recorder(log)
    assert log.read_bytes() == content
