"""``mlsub watch`` as it is called: options, exit status, pipes and a terminal, with logs that really grow meanwhile."""

from __future__ import annotations

import json
import os
import pty
import re
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import pytest

from tools.support.effort import HUNG
from tools.support.runner import REPOSITORY, Outcome, run
from tools.support.scene import lines_of, read_events

CALL = [sys.executable, "-c", "from mlsub.cli import main; main(prog_name='mlsub')", "watch"]
ENVIRONMENT = {**os.environ, "NO_COLOR": "1", "COLUMNS": "100", "PYTHONPATH": str(REPOSITORY)}
QUICK = ["--interval", "0.05"]


def watch(*args: object) -> Outcome:
    return run("watch", *args, *QUICK)


def started(*args: object, **how: Any) -> subprocess.Popen[Any]:
    """The program as a process, by the rules of v1.0."""
    call = [*CALL, *map(str, args), "--round", "1.0"]
    return subprocess.Popen(call, **{"stdout": subprocess.PIPE, "env": ENVIRONMENT, **how})


@pytest.fixture
def log(tmp_path: Path) -> Path:
    file = tmp_path / "result_0.txt"
    file.write_bytes(b"".join(lines_of()))
    return file


@contextmanager
def growing(file: Path, lines: Sequence[bytes]) -> Iterator[None]:
    """Meanwhile a log is written, each line in two halves; what is seen of it does not depend on how fast."""

    def write() -> None:
        with file.open("ab", buffering=0) as stream:
            for line in lines:
                for part in (line[: len(line) // 2], line[len(line) // 2 :]):
                    stream.write(part)
                    time.sleep(0.01)

    writer = threading.Thread(target=write)
    writer.start()
    try:
        yield
    finally:
        writer.join()


def test_exit_status_of_a_good_log_a_bad_one_and_none(log: Path, tmp_path: Path) -> None:
    good = watch(log, "--round", "1.0")
    assert (good.status, good.stdout.splitlines()[-1]) == (0, "accepted: 1 of 1 logs compliant")
    log.write_bytes(b"".join(lines_of()[1:]))
    assert watch(log, "--round", "v1.0").status == 1
    assert watch(tmp_path / "result_9.txt", "--round", "1.0", "--idle", "0.1").status == 2
    both = watch(log, tmp_path / "result_9.txt", "--round", "1.0", "--idle", "0.1")
    assert both.status == 2


@pytest.mark.parametrize(
    ("args", "words"),
    [
        (["result_0.txt"], "mlsub watch: No folder above the runs is named like a round. Say --round"),
        (["result_0.txt", "--round", "9.9"], "mlsub watch: There are no rules for training round 9.9"),
        (["-"], "mlsub watch: No folder above the runs"),
        (["-", "--round", "1.0", "--usage", "trainin"], "Did you mean training?"),
        (["a.gz", "--round", "1.0"], "a.gz is compressed, so it cannot be followed. Use mlsub check."),
        (["pipe", "--round", "1.0"], "pipe is neither a file nor"),
        (["a", "--round", "1.0", "--rules", "nowhere.yaml"], "mlsub watch: nowhere.yaml"),
        (["a", "--round", "1.0", "--idle", "soon"], "'soon' is not a valid float"),
        (["a", "--round", "1.0", "--format", "xml"], "'xml' is not one of"),
        ([], "Missing argument 'PATH...'"),
    ],
)
def test_what_cannot_be_watched_is_told_in_one_line(
    args: list[str], words: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    os.mkfifo("pipe")
    result = watch(*args)
    assert result.status == 2 and result.stdout == ""
    assert words in result.stderr
    if result.stderr.startswith("mlsub watch:"):
        assert len(result.stderr.splitlines()) == 1


def test_the_round_is_read_off_the_folders(tmp_path: Path) -> None:
    folder = tmp_path / "v1.0" / "runs"
    folder.mkdir(parents=True)
    (folder / "result_0.txt").write_bytes(b"".join(lines_of()))
    result = watch(folder, "--format", "jsonl")
    assert result.status == 0
    assert read_events(result.stdout)[0]["round"] == "1.0"


def test_events_come_at_once(tmp_path: Path) -> None:
    file = tmp_path / "result_0.txt"
    lines = lines_of()
    file.write_bytes(b"".join(lines[:15]))
    with started(file, "--format", "jsonl", *QUICK) as process:
        assert process.stdout is not None
        first = [json.loads(process.stdout.readline())["event"] for _ in range(3)]
        assert first == ["run"] * 3
        process.send_signal(signal.SIGINT)
        rest = [json.loads(line) for line in process.stdout]
        assert process.wait(HUNG) == 130
    assert rest[-1]["exit_status"] == 1
    assert rest[-1]["event"] == "verdict" and rest[-1]["reason"] == "interrupted"


def test_sigterm_gives_the_verdict_too(log: Path) -> None:
    with started(log, "--logs", 2, "--interval", 30, text=True) as process:
        assert process.stdout is not None
        assert any("stopped" in line for line in iter(process.stdout.readline, ""))
        process.terminate()
        lines = process.stdout.read().splitlines()
        assert process.wait(HUNG) == 0
    assert lines[-1] == "accepted: 1 of 1 logs compliant, as far as they are"


@pytest.mark.slow
def test_a_busy_pipe_is_not_held_up(tmp_path: Path) -> None:
    """A pause of a second after each of the 600 reads would be seen as hung."""
    noise = b"x" * 99 + b"\n"
    done = subprocess.run(
        [*CALL, "-", "--round", "1.0"],
        input=noise * 400_000 + b"".join(lines_of()),
        capture_output=True,
        check=False,
        env=ENVIRONMENT,
        timeout=HUNG / 2,
    )
    lines = done.stdout.decode().splitlines()
    assert done.returncode == 0
    assert lines[0] == "standard input: watching, by the rules of training v1.0"
    assert lines[-1] == "accepted: 1 of 1 logs compliant"


def test_a_terminal(tmp_path: Path) -> None:
    file = tmp_path / "result_0.txt"
    ours, theirs = pty.openpty()
    process = started(file, *QUICK, stdout=theirs, stderr=theirs, env={**ENVIRONMENT, "TERM": "xterm"})
    os.close(theirs)
    lines, written = lines_of(), _read_until(ours, "waiting")
    with file.open("wb", buffering=0) as stream:
        stream.write(b"".join(lines[:15]))
        written += _read_until(ours, "target:")
    with growing(file, lines[15:]):
        written += _read_all(ours)
        assert process.wait(HUNG) == 0
    os.close(ours)
    words = re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", written)
    assert re.search(r"result_0.txt +(init|run|evaluating)", words)
    assert "target: at least 0.759 and below 1.0" in words
    assert words.rstrip().endswith("accepted: 1 of 1 logs compliant")
    assert written.count("\x1b[?25l") == written.count("\x1b[?25h") == 1


def _read_until(descriptor: int, words: str) -> str:
    written = ""
    while words not in written:
        written += os.read(descriptor, 4096).decode(errors="replace")
    return written


def _read_all(descriptor: int) -> str:
    parts = []
    with suppress(OSError):  # What a terminal says when its last user has gone.
        while part := os.read(descriptor, 4096):
            parts.append(part)
    return b"".join(parts).decode(errors="replace")


def test_text_is_text_on_a_terminal_too(log: Path) -> None:
    ours, theirs = pty.openpty()
    process = started(log, "--format", "text", *QUICK, stdout=theirs)
    os.close(theirs)
    written = _read_all(ours)
    assert process.wait(HUNG) == 0
    os.close(ours)
    assert "\x1b" not in written


def test_an_output_that_knows_few_characters(tmp_path: Path) -> None:
    file = tmp_path / "result_0.txt"
    status = b'"submission_status", "value": "%s"'
    file.write_bytes(b"".join(lines_of()).replace(status % b"onprem", status % b"\xc3\xa9"))
    environment = {**ENVIRONMENT, "PYTHONIOENCODING": "ascii"}
    with started(file, *QUICK, stderr=subprocess.PIPE, env=environment) as process:
        printed, complaint = process.communicate(timeout=HUNG)
    assert process.returncode == 1 and b"\\xe9" in printed and complaint == b""
