"""How every command ends where its answer cannot be written, or nobody reads it, and at Ctrl-C: never as a verdict."""

from __future__ import annotations

import io
import os
import resource
import shlex
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import click
import pytest

from mlsub.cli import main
from mlsub.commands import Command
from tests.commands.calls import calls
from tests.commands.tree import leaves
from tools.support.effort import HUNG
from tools.support.make_tree import make_tree
from tools.support.runner import Stream, check, run

FULL = Path("/dev/full")
MLSUB = [sys.executable, "-m", "mlsub"]
pytestmark = pytest.mark.skipif(not FULL.exists(), reason="there is no /dev/full")


@pytest.fixture
def words(request: pytest.FixtureRequest, place: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """A call, with a name that there is not yet for what it makes."""
    monkeypatch.chdir(place)
    command: str = request.param
    return calls()[command].line(tmp_path / "new") if command in calls() else command.split()


def ended(words: list[str], monkeypatch: pytest.MonkeyPatch, stdout: Any, stderr: Any = None) -> tuple[int, str]:
    """The status, and what is on standard error, of a call whose answer goes to this stream."""
    told = io.StringIO() if stderr is None else stderr
    with monkeypatch.context() as patch:
        patch.setattr(sys, "stdout", stdout)
        patch.setattr(sys, "stderr", told)
        with pytest.raises(SystemExit) as end:
            main(words)
    stdout.close()  # A stream that still has something to write would fail here, as at the end of the process.
    assert isinstance(end.value.code, int)
    return end.value.code, told.getvalue() if isinstance(told, io.StringIO) else ""


#: Besides the calls of the table, other ways to print.
OTHERS = [
    "check --help",
    "--help",
    "--version",
    "fix v1.1/ACME --format json",
    "rcp margin v1.0/ACME --format json",
    "rules list --format json",
    "verify sealed.tar.gz --format json",
]
every_call = pytest.mark.parametrize("words", [*calls(), *OTHERS], indirect=True)


@every_call
def test_the_calls_print_an_answer(words: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with (tmp_path / "answer").open("w") as answer:
        status, told = ended(words, monkeypatch, answer)
    assert status in (0, 1), told
    assert (tmp_path / "answer").read_bytes()
    assert "Traceback" not in told


@every_call
def test_a_full_device_is_one_line_and_status_2(words: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    status, told = ended(words, monkeypatch, FULL.open("w"))
    assert status == 2
    lines = told.splitlines()
    assert "cannot be written: No space left on device" in lines[-1] and lines[-1].startswith("mlsub"), told
    assert told.count("No space left") == 1
    assert "Traceback" not in told


@every_call
def test_a_full_device_for_both_streams_is_status_2(words: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    with FULL.open("w", buffering=1) as errors:
        assert ended(words, monkeypatch, FULL.open("w"), errors)[0] == 2


@every_call
def test_a_closed_pipe_is_status_141_and_no_word(words: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    reading, writing = os.pipe()
    os.close(reading)
    status, told = ended(words, monkeypatch, os.fdopen(writing, "w"))
    assert status == 141
    assert not any(line.startswith(("mlsub", "Traceback")) for line in told.splitlines())


class _Interrupted(io.BytesIO):
    """Ctrl-C comes with the first thing that is printed."""

    def write(self, content: Any) -> int:
        raise KeyboardInterrupt


@every_call
def test_an_interrupt_is_status_130_and_no_traceback(words: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    stream = io.TextIOWrapper(_Interrupted(), encoding="utf-8", write_through=True)
    status, told = ended(words, monkeypatch, stream)
    assert (status, told.strip()) == (130, "")


#: Calls that may work for more than a second: a terminal shows how far they are.
LONG = [name for name, call in calls().items() if call.progress]


@pytest.mark.parametrize("command", LONG)
def test_a_long_work_shows_on_a_terminal_how_far_it_is(
    command: str, place: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(place)
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setattr("mlsub.present.terminal._PATIENCE", 0)
    call = calls()[command]
    with Path(tmp_path, "answer").open("w") as answer, Stream(terminal=True) as terminal:
        status, _ = ended(call.written(tmp_path / "new"), monkeypatch, answer, terminal)
        shown = terminal.getvalue()
    assert status in (0, 1), shown
    assert call.progress in shown
    assert shown.rpartition(call.progress)[2].count("\x1b[2K")  # Gone when the answer comes.


@pytest.mark.parametrize("command", [name for name in LONG if name != "system capture"])
def test_ctrl_c_in_the_middle_of_the_work_is_status_130_and_leaves_nothing(
    command: str, place: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupted(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.chdir(place)
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setattr("mlsub.present.terminal.ProgressBar.__call__", interrupted)
    with Path(os.devnull).open("w") as answer, Stream(terminal=True) as terminal:
        status, _ = ended(calls()[command].written(tmp_path / "new"), monkeypatch, answer, terminal)
        told = terminal.getvalue().strip()
    assert (status, told) == (130, "")
    assert list(filter(Path.is_file, tmp_path.rglob("*"))) == []


# What only a process of its own shows: what Python itself does at the end, signals, and the workers that read logs.


@pytest.mark.parametrize("command", ["check v1.0/ACME", "explain seed.shared", "score --format parquet v1.0/ACME"])
def test_python_has_nothing_left_to_complain_of_when_it_ends(command: str, place: Path) -> None:
    with FULL.open("w") as full:
        done = subprocess.run(
            [*MLSUB, *command.split()], stdout=full, stderr=subprocess.PIPE, text=True, cwd=place, check=False
        )
    assert done.returncode == 2
    [line] = done.stderr.splitlines()
    assert line.startswith(f"mlsub {command.split()[0]}: ") and line.endswith("No space left on device")


@pytest.mark.parametrize(
    ("redirection", "status"), [(">&-", 2), ("2>&-", 0), (">&- 2>&-", 2), ("2>/dev/full", 0), ("| true", 141)]
)
def test_streams_that_the_shell_closed(redirection: str, status: int, place: Path) -> None:
    line = f'{shlex.join(MLSUB)} check v1.0/ACME {redirection}; exit "${{PIPESTATUS[0]}}"'
    done = subprocess.run(["bash", "-c", line], capture_output=True, text=True, cwd=place, check=False)
    assert done.returncode == status
    assert "Traceback" not in done.stderr and len(done.stderr.splitlines()) <= 1


def test_a_warning_that_cannot_be_written_is_status_2(place: Path) -> None:
    with FULL.open("w") as full:
        done = subprocess.run([*MLSUB, "check", "nothere", "--format", "json"], stdout=subprocess.PIPE, stderr=full,
                              cwd=place, check=False)  # fmt: skip
    assert done.returncode == 2 and done.stdout


@pytest.mark.slow
@pytest.mark.parametrize("command", [name for name, call in calls().items() if call.makes_a_file])
def test_a_device_that_is_full_when_a_file_is_written_is_status_2(
    command: str, place: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """No file may grow beyond 300 bytes, which ends as a full device does, with another reason."""
    monkeypatch.chdir(place)
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (300, hard))
    try:
        status, told = ended(calls()[command].written(tmp_path / "new"), monkeypatch, io.StringIO())
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    assert status == 2, told
    assert "Traceback" not in told
    assert told.splitlines()[-1].startswith("mlsub")


def test_a_defect_of_mlsub_is_no_verdict(place: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    def broken(*_: object, **__: object) -> None:
        raise ZeroDivisionError("inside")

    monkeypatch.setattr("mlsub.commands.check.document.checking", broken)
    with (tmp_path / "answer").open("w") as answer:
        status, told = ended(["check", str(place)], monkeypatch, answer)
    assert status == 2
    assert "ZeroDivisionError: inside" in told and told.splitlines()[-1].startswith("mlsub check: a defect of mlsub")


def test_the_end_of_the_input_at_a_question_is_no_verdict(tmp_path: Path) -> None:
    done = subprocess.run([*MLSUB, "init", str(tmp_path / "m.yaml"), "--ask"], stdin=subprocess.DEVNULL,
                          capture_output=True, text=True, cwd=tmp_path, check=False)  # fmt: skip
    assert done.returncode == 2
    assert done.stderr.splitlines()[-1] == "mlsub init: the input ended before the last question"


@pytest.mark.parametrize("jobs", ["1", "2"])
@pytest.mark.parametrize("whole_group", [True, False])
def test_ctrl_c_while_logs_are_read_is_status_130_without_a_word(jobs: str, whole_group: bool, tmp_path: Path) -> None:
    """A terminal sends the signal to the workers too; ``kill`` to one process alone."""
    tree = make_tree(tmp_path)
    script = (
        "import signal, sys, time\n"
        "import mlsub.workspace.logs, mlsub.workspace.reading\n"
        "from mlsub.cli import main\n"
        # Whoever starts the tests in the background makes all their processes ignore Ctrl-C.
        "signal.signal(signal.SIGINT, signal.default_int_handler)\n"
        "def slow(file, *_, **__):\n"
        "    open(file + '.read', 'w').close()\n"
        "    time.sleep(600)\n"
        "mlsub.workspace.reading.judge_log = slow\n"
        # Each log is a chunk of its own, so that both processes read.
        "mlsub.workspace.logs._LEAST = mlsub.workspace.logs._MOST = 1\n"
        "main(sys.argv[1:])\n"
    )
    with subprocess.Popen(
        [sys.executable, "-c", script, "check", str(tree.folder), "--jobs", jobs],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True,
    ) as process:  # fmt: skip
        until = time.monotonic() + HUNG
        while len(list(tree.entry().glob("*.read"))) < int(jobs):
            assert time.monotonic() < until
            time.sleep(0.02)
        os.killpg(process.pid, signal.SIGINT) if whole_group else process.send_signal(signal.SIGINT)
        answer, told = process.communicate(timeout=HUNG)
    assert (process.returncode, answer, told.strip()) == (130, "", "")
    with pytest.raises(ProcessLookupError):
        os.killpg(process.pid, 0)


def test_what_could_be_checked_and_what_could_not_are_both_said(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(place)
    for command in ("check", "score"):
        outcome = run(command, "nothere", "v1.0/ACME")
        assert outcome.status == 2
        assert f"There is no {place / 'nothere'}" in outcome.stdout
        last = " ".join(outcome.stdout.partition("Not everything")[2].split())
        assert last == f"could be checked. {place / 'v1.0/ACME'}: accepted; nothere: not-checked"
        assert "nothing could be checked" not in outcome.stdout
    both = check("nothere", "v1.0/ACME")
    assert (both.status, [r["official"] for r in both.reports]) == (2, ["accepted", "not-checked"])


def test_every_command_shows_an_example_first_that_it_understands() -> None:
    for words, command in leaves().items():
        assert isinstance(command, Command), words
        _, _, options = command.example.partition(f" {words.split()[-1]}")
        command.make_context(words, shlex.split(options)).close()
        assert all(option.help for option in command.params if isinstance(option, click.Option)), words
        usage, _, text = command.get_help(click.Context(command, info_name=words)).partition("\n\n")
        assert usage.startswith("Usage:")
        assert text.startswith(f"  $ {command.example}\n\n")
