"""The command of --exec: run without a shell, told what happened in its environment, and never in the way."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from mlsub.commands.watch import notify
from mlsub.commands.watch.news import Concluded, Ended, Found, News, Warned
from mlsub.commands.watch.notify import MAX_LENGTH, VARIABLES, Notifier, facts_of, parse_command
from mlsub.commands.watch.outside import Clock
from mlsub.findings import Verdict
from mlsub.io.errors import MlsubError
from mlsub.rules.catalogue import finding
from tests.alive import is_alive
from tests.commands.watch.scene import append, lines_of, watched
from tests.effort import HUNG

HOSTILE = "$(touch pwned) `touch pwned`; touch pwned & | > pwned ' \" \\ \n\x1b[31m\x00 ${HOME} é \ud800"
#: Writes its arguments and all MLSUB_ variables as one line of JSON.
PROBE = """
import json, os, sys
told = {name: value for name, value in os.environ.items() if name.startswith("MLSUB_")}
with open(sys.argv[1], "a") as stream:
    stream.write(json.dumps([sys.argv[2:], told]) + "\\n")
"""


@pytest.fixture
def probe(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> tuple[tuple[str, ...], Path]:
    """A command that notes how it is called, and where; no variable of mlsub is set but those that it is given."""
    for name in [name for name in os.environ if name.startswith("MLSUB_")]:
        monkeypatch.delenv(name)
    script, notes = tmp_path / "probe.py", tmp_path / "notes"
    script.write_text(PROBE)
    notes.touch()
    return (sys.executable, "-S", str(script), str(notes), "$(touch pwned)", "$MLSUB_MESSAGE", "*"), notes


class Awaited(subprocess.Popen[bytes]):
    """A process that has ended whenever somebody looks, so that no clock decides."""

    def poll(self) -> int | None:
        return self.wait()


class UntilThere(Clock):
    """Runs as clocks do, and is late as soon as a file is there."""

    def __init__(self, file: Path) -> None:
        self._file = file

    def steady(self) -> float:
        return super().steady() + (notify.LIMIT_S if self._file.exists() else 0)


def calls(notes: Path) -> list[tuple[list[str], dict[str, str]]]:
    import json

    return [tuple(json.loads(line)) for line in notes.read_text().splitlines()]  # type: ignore[misc]


def found(message: str = "wrong", path: str = "result_0.txt", final: bool = False) -> Found:
    one = finding("log.record-undecodable", path, message, line=7, expected="a", actual="b")
    return Found(at_ms=1, path=path, finding=one, final=final)


def test_facts_of_a_finding() -> None:
    facts = facts_of(found())
    assert facts is not None and set(facts) == set(VARIABLES)
    assert facts["MLSUB_EVENT"] == "finding"
    assert facts["MLSUB_PATH"] == "result_0.txt"
    assert facts["MLSUB_RULE"] == "log.record-undecodable"
    assert facts["MLSUB_SEVERITY"] == "error"
    assert (facts["MLSUB_MESSAGE"], facts["MLSUB_LINE"]) == ("wrong", "7")
    assert (facts["MLSUB_EXPECTED"], facts["MLSUB_ACTUAL"]) == ("a", "b")
    assert facts["MLSUB_STATUS"] == facts["MLSUB_MINUTES"] == facts["MLSUB_EXIT_STATUS"] == ""


def test_facts_of_the_end_and_of_the_verdict() -> None:
    end = Ended(at_ms=1, path="a", official="compliant", status="success", minutes=1.5, errors=0, warnings=2, review=1)
    facts = facts_of(end)
    assert facts is not None
    assert (facts["MLSUB_EVENT"], facts["MLSUB_OFFICIAL"], facts["MLSUB_STATUS"]) == ("end", "compliant", "success")
    assert (facts["MLSUB_MINUTES"], facts["MLSUB_MESSAGE"]) == ("1.500000", "compliant: 0 errors, 2 warnings")
    last = Concluded(at_ms=1, official=Verdict.REJECTED, exit_status=1, reason="stopped", logs=2, compliant=1)
    facts = facts_of(last)
    assert facts is not None
    assert (facts["MLSUB_EVENT"], facts["MLSUB_EXIT_STATUS"]) == ("verdict", "1")
    assert facts["MLSUB_MESSAGE"] == "rejected: 1 of 2 logs noncompliant"


@pytest.mark.parametrize("news", [found(final=True), Warned(at_ms=1, message="careful")])
def test_events_that_run_no_command(news: News) -> None:
    assert facts_of(news) is None


def test_facts_hold_no_control_characters_and_are_short() -> None:
    facts = facts_of(found(HOSTILE * 100, HOSTILE))
    assert facts is not None
    for value in facts.values():
        assert value.isprintable() and len(value) <= MAX_LENGTH
        value.encode()


def test_the_command_is_run_without_a_shell(
    probe: tuple[tuple[str, ...], Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("MLSUB_RULE", "stale")
    command, notes = probe
    complaints: list[str] = []
    notifier = Notifier(command, Clock(), complaints.append)
    notifier.notify(found(HOSTILE, HOSTILE))
    notifier.notify(Concluded(at_ms=1, official=Verdict.ACCEPTED, exit_status=0, reason="stopped", logs=1, compliant=1))
    notifier.finish()
    assert complaints == []
    [(first, told), (second, last)] = calls(notes)
    assert first == second == ["$(touch pwned)", "$MLSUB_MESSAGE", "*"]
    assert told["MLSUB_MESSAGE"].startswith(
        "$(touch pwned) `touch pwned`; touch pwned & | > pwned ' \" \\ \\n\\x1b[31m"
    )
    assert told["MLSUB_MESSAGE"].endswith("é \\ud800")
    assert told["MLSUB_PATH"] == told["MLSUB_MESSAGE"]
    assert last["MLSUB_RULE"] == "" and set(told) == set(last) == set(VARIABLES)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["notes", "probe.py"]


def test_a_watch_with_a_hostile_log_and_name(
    probe: tuple[tuple[str, ...], Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    command, notes = probe
    folder = tmp_path / "$(touch pwned) 'a\" b;"
    folder.mkdir()
    file, other = folder / "result_$(touch pwned).txt", tmp_path / "result_0.txt"
    lines = [
        line.replace(
            b'"submission_platform", "value": "rack1"', b'"submission_status", "value": "$(touch pwned)\\u001b\\n"'
        )
        for line in lines_of()
    ]
    file.write_bytes(b"".join(lines))
    monkeypatch.setattr(subprocess, "Popen", Awaited)
    status, _ = watched([file, other], [append(other, *lines_of(run=1))], command=command)
    assert status == 1
    told = [variables for _, variables in calls(notes)]
    assert [one["MLSUB_EVENT"] for one in told].count("end") == 2
    assert told[-1]["MLSUB_EVENT"] == "verdict" and told[-1]["MLSUB_EXIT_STATUS"] == "1"
    assert any("$(touch pwned)" in one["MLSUB_ACTUAL"] for one in told)
    assert any(one["MLSUB_PATH"].endswith("result_$(touch pwned).txt") for one in told)
    assert all(value.isprintable() for one in told for value in one.values())
    assert not list(tmp_path.rglob("pwned"))


def test_commands_run_one_at_a_time(tmp_path: Path) -> None:
    script, notes = tmp_path / "slow.py", tmp_path / "notes"
    script.write_text(
        "import sys, time\n"
        "out = open(sys.argv[1], 'a', buffering=1)\n"
        "out.write('begin\\n'); time.sleep(0.05); out.write('end\\n')\n"
    )
    notifier = Notifier((sys.executable, "-S", str(script), str(notes)), Clock(), lambda _: None)
    for _ in range(4):
        notifier.notify(found())
    notifier.finish()
    assert notes.read_text().split() == ["begin", "end"] * 4


def test_a_command_that_fails_is_told_once_and_ends_nothing(tmp_path: Path) -> None:
    complaints: list[str] = []
    notifier = Notifier((sys.executable, "-S", "-c", "raise SystemExit(3)"), Clock(), complaints.append)
    for _ in range(3):
        notifier.notify(found())
    notifier.finish()
    assert complaints == ["the command of --exec ended with status 3"]


def test_a_command_that_has_gone_is_told() -> None:
    complaints: list[str] = []
    notifier = Notifier(("/nowhere/at/all",), Clock(), complaints.append)
    notifier.notify(found())
    notifier.finish()
    assert complaints == ["the command of --exec cannot be run: No such file or directory"]


def test_a_command_that_hangs_is_ended_with_all_it_started(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    notes = tmp_path / "child"
    inner = (
        f"import os, time; open({str(notes)!r} + '.part', 'w').write(str(os.getpid())); "
        f"os.rename({str(notes)!r} + '.part', {str(notes)!r}); time.sleep(1200)"
    )
    outer = f"import subprocess, sys; subprocess.run([sys.executable, '-S', '-c', {inner!r}])"
    complaints: list[str] = []
    notifier = Notifier((sys.executable, "-S", "-c", outer), UntilThere(notes), complaints.append)
    monkeypatch.setattr(notify, "LIMIT_S", HUNG)
    monkeypatch.setattr(notify, "LAST_LIMIT_S", 2 * HUNG)
    notifier.notify(found())
    notifier.finish()
    assert complaints == ["the command of --exec took more than 600 seconds and was ended"]
    child = int(notes.read_text())
    until = time.monotonic() + HUNG
    while is_alive(child):
        assert time.monotonic() < until
        time.sleep(0.02)


def test_what_takes_too_long_in_the_end_is_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(notify, "LAST_LIMIT_S", 0.3)
    complaints: list[str] = []
    sleeper = (sys.executable, "-S", "-c", "import time; time.sleep(1200)")
    notifier = Notifier(sleeper, Clock(), complaints.append)
    for _ in range(3):
        notifier.notify(found())
    began = time.monotonic()
    notifier.finish()
    assert time.monotonic() - began < HUNG
    assert complaints == ["2 events are left out: the command of --exec takes too long"]


def test_a_flood_of_events_is_bounded() -> None:
    complaints: list[str] = []
    sleeper = (sys.executable, "-S", "-c", "import time; time.sleep(600)")
    notifier = Notifier(sleeper, Clock(), complaints.append)
    for _ in range(notify.MAX_WAITING + 50):
        notifier.notify(found())
    assert complaints == ["more than 100 events wait for the command of --exec; some are left out"]
    notifier._waiting.clear()
    notifier._kill()


def test_words_of_a_command() -> None:
    assert parse_command(f"'{sys.executable}' -c \"a b\" $HOME '$(x)'") == (
        sys.executable,
        "-c",
        "a b",
        "$HOME",
        "$(x)",
    )


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "names no command"),
        ("  ", "names no command"),
        ("echo 'open", "No closing quotation"),
        ("no-such-program-here x", "there is no program no-such-program-here"),
        ("echo x | mail", ""),
    ],
)
def test_commands_that_cannot_be(text: str, words: str) -> None:
    if not words:
        assert parse_command(text)[1:] == ("x", "|", "mail")  # A pipe is only a word.
        return
    with pytest.raises(MlsubError, match=words):
        parse_command(text)


def test_the_environment_is_handed_on(probe: tuple[tuple[str, ...], Path], tmp_path: Path) -> None:
    script, notes = tmp_path / "env.py", tmp_path / "env"
    script.write_text("import os, sys; open(sys.argv[1], 'w').write(os.environ['PATH'])")
    notifier = Notifier((sys.executable, "-S", str(script), str(notes)), Clock(), lambda _: None)
    notifier.notify(found())
    notifier.finish()
    assert notes.read_text() == os.environ["PATH"]
