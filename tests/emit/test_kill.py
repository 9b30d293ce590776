"""A process killed at any moment leaves whole records and at most a torn last one, in a log that is no result."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from mlsub.emit import EmitError
from tools.support.digits import initialise, recorder, train
from tools.support.judging import report_on

ROOT = Path(__file__).resolve().parents[2]
TOKEN = b":::MLLOG "


def records(content: bytes) -> tuple[list[Any], bytes]:
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
    assert rules & {"key.run_stop.count", "log.empty", "log.no-records", "log.unreadable", *UNDECODABLE}, rules


UNDECODABLE = ("log.record-undecodable",)


#: A run whose process is killed in the middle of the write of a record, as the system may do at the end of a page.
TORN = """
import os, signal, sys
from pathlib import Path
sys.path.insert(0, sys.argv[2])
from tools.support.digits import initialise, recorder, train
number, size, write = int(sys.argv[3]), int(sys.argv[4]), os.write
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
    done = subprocess.run([sys.executable, "-c", TORN, str(log), str(ROOT), str(number), str(size)], check=False)
    assert done.returncode == -signal.SIGKILL
    found, torn = records(log.read_bytes())
    assert (len(found), len(torn)) == (number, size)
    assert_no_result(log)
    report = report_on(log, "rehearsal", "1.0")
    undecodable = [finding for finding in report.findings if finding.rule == "log.record-undecodable"]
    # What the official parser cannot decode makes the log noncompliant; before the end of the token it sees nothing.
    assert bool(undecodable) is (size >= len(TOKEN))
    assert all(finding.rejects and finding.message.startswith("The log ends with a record") for finding in undecodable)
    # The log is free again.
    with recorder(log, overwrite=True) as rec:
        initialise(rec)
        train(rec)
    assert report_on(log, "rehearsal", "1.0").compliant


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
        found, torn = records(whole[:cut])
        assert found == [json.loads(line.removeprefix(TOKEN)) for line in lines[: len(found)]]
        assert lines[len(found)].startswith(torn)
        assert_no_result(log)
    # The last record lacks nothing but the end of its line: the run has ended, and the official parser reads it.
    log.write_bytes(whole[:-1])
    assert report_on(log, "rehearsal", "1.0").compliant


@pytest.mark.parametrize("left", [b":", b":::MLLOG ", b':::MLLOG {"namespace": "", "time_'])
def test_a_torn_first_record_is_no_run_and_is_taken_away(left: bytes, tmp_path: Path) -> None:
    log = tmp_path / "result_0.txt"
    log.write_bytes(left)
    if left == b":":
        with pytest.raises(EmitError, match="holds a run already"):
            recorder(log)
        return
    with recorder(log) as rec:
        initialise(rec)
        train(rec)
    assert report_on(log, "rehearsal", "1.0").compliant


@pytest.mark.parametrize("content", [b"notes of mine\n", b"notes of mine", b":::MLLOG {}\n", b":::MLLOG {}\n:::MLL"])
def test_anything_else_is_never_taken_away(content: bytes, tmp_path: Path) -> None:
    log = tmp_path / "result_0.txt"
    log.write_bytes(content)
    with pytest.raises(EmitError, match="holds a run already"):
        recorder(log)
    assert log.read_bytes() == content
