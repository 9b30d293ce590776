"""The watch over time: logs that come late, grow, stop, are cut or replaced; and the verdict at its end."""

from __future__ import annotations

import os
import random
import signal
import threading
from collections.abc import Callable, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from mlsub.commands.watch import run as run_module
from mlsub.commands.watch.model import Concluded, Ended, Found, RunSoFar
from mlsub.commands.watch.run import Clock, Watch
from mlsub.findings import Verdict
from mlsub.io import MlsubError
from mlsub.workspace import Context, Request, check_paths
from tools.oracle.shared import ABSENT, CORPUS, present
from tools.support.effort import HUNG
from tools.support.judging import report_on
from tools.support.sample import rows
from tools.support.scene import (
    FakeClock,
    Kept,
    Step,
    append,
    ctrl_c,
    evaluations_of,
    lines_of,
    phases_of,
    runs_of,
    wait,
    watched,
)


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "result_0.txt"


def findings(kept: Kept) -> list[tuple[str, int | None, str | None]]:
    return [(f.finding.rule, f.finding.line, f.finding.expected) for f in kept.of(Found)]


def verdict(kept: Kept) -> Concluded:
    [one] = kept.of(Concluded)
    assert kept.news[-1] is one and isinstance(one, Concluded)
    return one


def test_a_log_that_comes_late_and_grows_line_by_line(file: Path) -> None:
    lines = lines_of()
    status, kept = watched([file], [wait, wait, *(append(file, line) for line in lines)])
    assert status == 0
    assert phases_of(kept.news) == RUN
    assert isinstance(kept.news[0], RunSoFar) and kept.news[0].phase == "waiting"
    assert len(evaluations_of(kept.news)) == 10
    [end] = kept.of(Ended)
    assert (end.official, end.status, end.minutes, end.errors) == ("compliant", "success", 10.0, 0)
    assert verdict(kept).official is Verdict.ACCEPTED and verdict(kept).reason == "stopped"
    assert not [one for one in kept.of(Found) if one.finding.rejects]


@pytest.mark.slow
def test_each_finding_is_told_once_and_all_of_check_are(file: Path) -> None:
    lines = lines_of()
    chance = random.Random(4)
    for _ in range(25):
        spoiled = [line for line in lines if chance.random() > 0.08]
        first = chance.randint(0, 20)
        spoiled[:first] = chance.sample(spoiled[:first], len(spoiled[:first]))
        spoiled.insert(chance.randrange(len(spoiled)), chance.choice(lines))
        file.write_bytes(b"")
        cuts = sorted(chance.sample(range(len(spoiled)), 5))
        script = [append(file, *spoiled[a:b]) for a, b in zip([0, *cuts], [*cuts, None], strict=True)]
        _, kept = watched([file], [*script, wait, wait, wait, ctrl_c])
        report = report_on(file, "training", "1.0")
        told = findings(kept)
        assert len(told) == len(set(told))
        assert set(told) >= {(f.rule, f.line, f.expected) for f in report.findings}
        assert verdict(kept).exit_status == (0 if report.compliant else 1)


def torn(line: bytes) -> bytes:
    """What a recorder that was killed may leave of a line."""
    return line[: len(line) // 2]


def taken_back(file: Path, *lines: bytes) -> Step:
    """A step in which a recorder takes an unfinished last line back, and goes on."""

    def step() -> None:
        content = file.read_bytes()
        os.truncate(file, content.rfind(b"\n") + 1)
        append(file, *lines)()

    return step


LINES, BAD = lines_of(), [line.replace(b'epsilon", "value": 0.0', b'epsilon", "value": 0.5') for line in lines_of()]
WHOLE, TORN = b"".join(LINES), torn(LINES[20])
RUN = ["init", "run", "evaluating", "run", "stopped"]
#: The log at first, what becomes of it; exit status, restarts, phases, and minutes in the end.
HISTORIES: dict[str, tuple[bytes, Callable[[Path], list[Step]], tuple[int, list[str], list[str], float | None]]] = {
    "a partial last line waits for its end": (
        WHOLE[:-30], lambda file: [*[wait] * 10, append(file, WHOLE[-30:])], (0, [], RUN, 10.0),
    ),
    "a run_stop without a line end": (WHOLE[:-1], lambda _: [], (0, [], RUN, 10.0)),
    "cut": (
        b"".join(BAD[:-5]),
        lambda file: [lambda: file.write_bytes(b""), append(file, *LINES)],
        (0, ["truncated"], [*RUN[:3], *RUN], 10.0),
    ),
    "rotated": (
        b"".join(LINES[:-5]),
        lambda file: [lambda: file.rename(file.with_suffix(".old")), append(file, *lines_of(run=1))],
        (0, ["replaced"], [*RUN[:3], *RUN], 11.0),
    ),
    "a torn record is taken away": (
        b"".join(LINES[:20]),
        lambda file: [append(file, TORN), wait, taken_back(file), append(file, *LINES[20:])],
        (0, [], RUN, 10.0),
    ),
    "a torn record is taken away between two looks": (
        b"".join(LINES[:20]),
        lambda file: [append(file, TORN), wait, taken_back(file, *LINES[20:])],
        (0, [], RUN, 10.0),
    ),
    # The official parser reads the last record of a line, so the torn one before it is lost without a word.
    "another writer goes on after a torn record": (
        b"".join(LINES[:20]), lambda file: [append(file, TORN), wait, append(file, *LINES[20:])], (0, [], RUN, 10.0),
    ),
    "gone, and back": (
        b"".join(LINES[:-5]),
        lambda file: [
            lambda: file.rename(file.with_suffix(".hidden")),
            *[wait] * 2,
            lambda: file.with_suffix(".hidden").rename(file),
            append(file, *LINES[-5:]),
        ],
        (0, [], [*RUN[:3], "lost", *RUN[2:]], 10.0),
    ),
    "gone for good": (
        b"".join(LINES[:-5]), lambda file: [file.unlink, wait, wait, ctrl_c], (2, [], [*RUN[:3], "lost"], None),
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", HISTORIES)
def test_what_becomes_of_a_log(name: str, file: Path) -> None:
    before, script, expected = HISTORIES[name]
    file.write_bytes(before)
    status, kept = watched([file], script(file))
    restarts, phases = [one.restart for one in runs_of(kept.news) if one.restart], phases_of(kept.news)
    [end] = kept.of(Ended)
    assert (status, restarts, phases, end.minutes) == expected
    assert not [one.problem for one in runs_of(kept.news) if one.problem]
    rules = [rule for rule, _, _ in findings(kept)]
    assert ("log.hidden-record" in rules) == (name == "another writer goes on after a torn record")
    assert ("log.unreadable" in rules) == (status == 2) == (verdict(kept).official is Verdict.NOT_CHECKED)


def test_a_log_that_ends_in_a_torn_record_is_judged_as_check_does(file: Path) -> None:
    lines = lines_of()
    status, kept = watched([file], [append(file, *lines[:20], torn(lines[20]))], settings={"idle_s": 60.0})
    assert status == 1
    report = report_on(file, "training", "1.0", "result_0.txt")
    assert [f for f in report.findings if f.rejects]
    told = {(found.finding.rule, found.finding.message) for found in kept.of(Found)}
    assert told >= {(f.rule, f.message) for f in report.findings if f.rejects}
    # Nothing is said of the torn record as long as it may still be finished.
    assert all(found.final for found in kept.of(Found) if found.finding.rule == "log.record-undecodable")


def test_the_same_finding_is_told_again_of_a_new_log(file: Path) -> None:
    file.write_bytes(b"".join(BAD))
    script = [lambda: file.write_bytes(b"\n"), append(file, *BAD)]
    _, kept = watched([file], script)
    assert [rule for rule, _, _ in findings(kept)].count("key.lars_epsilon.value") == 2


def test_a_log_that_goes_on_after_its_end_is_judged_again(tmp_path: Path) -> None:
    first, second = tmp_path / "result_0.txt", tmp_path / "result_1.txt"
    first.write_bytes(WHOLE)
    more = lines_of()[1].replace(b"init_start", b"run_stop")
    script = [*[wait] * 6, append(first, more), *[wait] * 6, append(second, *lines_of(run=1))]
    status, kept = watched([first, second], script)
    ends = [(one.path, one.official) for one in kept.of(Ended)]
    assert ends == [
        (f"result_{run}.txt", told) for run, told in ((0, "compliant"), (0, "noncompliant"), (1, "compliant"))
    ]
    assert status == 1


ABORTED = WHOLE.replace(b'"success"', b'"aborted"')
LATE = b"".join(line for line in lines_of() if b'"seed"' in line)


def test_a_log_that_has_stopped_is_let_settle_but_one_of_long_ago(file: Path) -> None:
    file.write_bytes(WHOLE)
    clock = FakeClock([wait, append(file, LATE)])
    _, kept = watched([file], clock=clock)
    assert "key.seed.repeated" not in [rule for rule, _, _ in findings(kept)]
    assert clock.slept == 5  # two seconds, and three without anything new
    [end] = kept.of(Ended)
    assert end.at_ms == clock.now_ms()
    os.utime(file, (1.6e9, 1.6e9))
    clock = FakeClock()
    watched([file], clock=clock)
    assert clock.slept == 0


ENDS: dict[str, tuple[bytes | None, list[Step], dict[str, Any], tuple[int, str, float]]] = {
    "stopped": (WHOLE, [], {}, (0, "stopped", 3)),
    "aborted": (ABORTED, [], {}, (0, "stopped", 3)),
    "idle": (b"".join(lines_of()[:-1]), [], {"idle_s": 30}, (1, "idle", 30)),
    "idle without a log": (None, [], {"idle_s": 5}, (2, "idle", 5)),
    "never there": (None, [wait, wait, ctrl_c], {}, (2, "interrupted", 3)),
    "ctrl-c": (b"".join(lines_of()[:-1]), [wait, ctrl_c], {}, (1, "interrupted", 2)),
}


@pytest.mark.parametrize("name", ENDS)
def test_how_a_watch_ends(name: str, file: Path) -> None:
    data, script, settings, expected = ENDS[name]
    if data is not None:
        file.write_bytes(data)
    clock = FakeClock(script)
    status, kept = watched([file], clock=clock, settings=settings)
    assert (status, verdict(kept).reason, clock.slept) == expected
    if data is not None:
        missing = ("key.run_stop.count", None, "exactly once") in findings(kept)
        assert missing == (b"run_stop" not in data)
    if name == "aborted":
        assert runs_of(kept.news)[-1].status == "aborted"


def paths(kept: Kept) -> list[str]:
    return [*dict.fromkeys(one.path for one in runs_of(kept.news))]


def test_a_folder_and_what_appears_in_it(tmp_path: Path) -> None:
    (tmp_path / "result_0.txt").write_bytes(WHOLE)
    (tmp_path / "notes.txt").write_text("no log")
    later = tmp_path / "result_1.txt"
    status, kept = watched([tmp_path], [wait, append(later, *lines_of(run=1))], settings={"logs": 2})
    assert (status, paths(kept)) == (0, ["result_0.txt", "result_1.txt"])
    assert verdict(kept).logs == verdict(kept).compliant == 2


def test_a_folder_that_comes_late(tmp_path: Path) -> None:
    folder = tmp_path / "results"

    def make() -> None:
        folder.mkdir()
        (folder / "result_0.txt").write_bytes(WHOLE)

    status, kept = watched([folder], [wait, make])
    assert (status, paths(kept), verdict(kept).logs) == (0, ["results", "results/result_0.txt"], 1)


def test_a_folder_with_nothing_in_it_waits(tmp_path: Path) -> None:
    for script, settings, reason in (([wait, wait, ctrl_c], {}, "interrupted"), ([], {"idle_s": 5}, "idle")):
        status, kept = watched([tmp_path], script, settings=settings)
        assert (status, verdict(kept).reason, verdict(kept).logs) == (2, reason, 0)


def test_several_folders_have_names_of_their_own(tmp_path: Path) -> None:
    for name in ("a", "b"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "result_0.txt").write_bytes(WHOLE)
    _, kept = watched([tmp_path / "a", tmp_path / "b", tmp_path / "a"])
    assert paths(kept) == ["a/result_0.txt", "b/result_0.txt"]


def test_there_is_a_bound_on_logs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(run_module, "MAX_LOGS", 3)
    for run in range(5):
        (tmp_path / f"result_{run}.txt").write_bytes(b"".join(lines_of(run=run)))
        if run >= 2:
            _, kept = watched([tmp_path])
            assert verdict(kept).logs == 3
            assert capsys.readouterr().err.count("more than 3 logs; the others are not watched") == (run > 2)


def test_a_pipe_is_judged_as_the_file_would_be(file: Path) -> None:
    data = WHOLE
    for spoiled in (data, data[:-1], data[:-200], data.replace(b"0.759", b"0.7"), b"", b"free text\n"):
        reading, writing = os.pipe()
        parts = [spoiled[n : n + 1000] for n in range(0, len(spoiled), 1000)]
        script = [lambda part=part, to=writing: os.write(to, part) for part in parts]
        status, kept = watched(["-"], [*script, lambda to=writing: os.close(to)], standard_input=reading)
        os.close(reading)
        file.write_bytes(spoiled)
        report = report_on(file, "training", "1.0", "-")
        assert status == (0 if report.compliant else 1)
        assert set(findings(kept)) == {(f.rule, f.line, f.expected) for f in report.findings}
        assert verdict(kept).reason == "stopped"
        stopped = runs_of(kept.news)[-1].phase
        assert stopped == ("stopped" if spoiled[-150:].count(b"run_stop") else "lost")


def piped(data: bytes, *others: Path, script: Sequence[Step] = (), close: bool = True) -> tuple[int, Kept]:
    """Watch a pipe that holds some bytes, and ends there or waits."""
    reading, writing = os.pipe()
    os.write(writing, data)
    if close:
        os.close(writing)
    done = watched(["-", *others], script, standard_input=reading)
    for one in (reading, writing)[: 1 if close else 2]:
        os.close(one)
    return done


def test_a_pipe_at_ctrl_c() -> None:
    status, kept = piped(b"".join(LINES[:-1]), script=[wait, ctrl_c], close=False)
    assert status == 1
    assert "key.run_stop.count" in [rule for rule, _, _ in findings(kept)]


def test_a_pipe_beside_a_file(file: Path) -> None:
    file.write_bytes(WHOLE)
    status, kept = piped(b"".join(lines_of(run=1)), file)
    assert status == 0
    assert {one.path for one in kept.of(Ended)} == {"-", "result_0.txt"}


def test_rules_of_the_house_count(file: Path, tmp_path: Path) -> None:
    house = tmp_path / "house.yaml"
    house.write_text('title: House\ncommon:\n  "1.0":\n    both:\n      cluster_id: exactly_one\n')
    file.write_bytes(WHOLE)
    status, kept = watched([file], overlay=str(house))
    assert status == 1
    assert "house.cluster_id.count" in [rule for rule, _, _ in findings(kept)]
    [end] = kept.of(Ended)
    assert (end.official, end.errors) == ("compliant", 1)


def test_a_defect_of_ours_rejects(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("mlsub.judge.log.LogJudge.feed", lambda *_: 1 / 0)
    status, kept = piped(WHOLE)
    assert status == 1
    assert [rule for rule, _, _ in findings(kept)] == ["rule.crashed"]


@pytest.mark.skipif(not present(), reason=ABSENT)
def test_published_logs_replayed_in_random_pieces_end_as_check_says(tmp_path: Path) -> None:
    chance = random.Random(11)
    files = sorted(CORPUS.glob("v*/*/results/*/*/result_*.txt"))
    for original in rows(chance.sample(files, 25)):
        round_name = original.relative_to(CORPUS).parts[0].removeprefix("v")
        data = original.read_bytes()
        if chance.random() < 0.3:
            data = data[: chance.randrange(len(data))]
        file = tmp_path / "result_0.txt"
        file.unlink(missing_ok=True)
        cuts = sorted(chance.randrange(len(data)) for _ in range(12)) if data else []
        script = [append(file, data[a:b]) for a, b in zip([0, *cuts], [*cuts, None], strict=True)]
        status, kept = watched([file], [*script, *[wait] * 4, ctrl_c], round=round_name)
        [report] = check_paths([file], Context(Request(round_name)))
        assert status == report.exit_status(), original
        told = {(f.finding.rule, f.finding.line, f.finding.expected) for f in kept.of(Found)}
        assert told == {(f.rule, f.line, f.expected) for f in report.findings}, original


def test_a_name_that_cannot_exist_is_refused() -> None:
    with pytest.raises(MlsubError, match="cannot exist"):
        Watch(["a\0b"], Context(Request("1.0")), FakeClock(), Kept())


def test_a_run_stop_that_the_official_parser_cannot_use_stops_the_run_all_the_same(file: Path) -> None:
    lines = lines_of()
    file.write_bytes(b"".join(lines[:-1]) + lines[-1][:-1] + b" and text behind it\n")
    status, kept = watched([file])
    assert status == 1 and verdict(kept).reason == "stopped"
    assert "log.text-after-record" in [rule for rule, _, _ in findings(kept)]


def test_a_log_of_v0_6(file: Path) -> None:
    file.write_bytes(
        b':::MLL 1.0 run_start: {"value": null, "metadata": {}}\n'
        b':::MLL 61.0 run_stop: {"value": null, "metadata": {"status": "success"}}\n'
    )
    status, kept = watched([file], round="0.6")
    assert status == 1
    assert [(one.phase, one.elapsed_ms) for one in runs_of(kept.news)[1:]] == [("run", 0.0), ("stopped", 60_000.0)]


BOTH = (signal.SIGINT, signal.SIGTERM)


@pytest.mark.parametrize("number", BOTH)
def test_a_signal_waits_for_the_next_sleep_and_ends_one_at_once(number: signal.Signals) -> None:
    before = [signal.getsignal(one) for one in BOTH]
    with Clock() as clock:
        os.kill(os.getpid(), number)
        assert clock.signal is number
        with pytest.raises(KeyboardInterrupt):
            clock.sleep(HUNG)
    reading, writing = os.pipe()
    with Clock() as clock, closing(os.fdopen(writing)), closing(os.fdopen(reading)):
        timer = threading.Timer(0.2, os.kill, (os.getpid(), number))
        timer.start()
        with pytest.raises(KeyboardInterrupt):
            clock.sleep(HUNG, [reading])
    assert [signal.getsignal(one) for one in BOTH] == before


def test_a_second_signal_comes_at_once() -> None:
    with Clock():
        os.kill(os.getpid(), signal.SIGTERM)
        with pytest.raises(KeyboardInterrupt):
            os.kill(os.getpid(), signal.SIGINT)
