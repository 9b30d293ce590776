"""What people and machines read: lines to the letter, and JSON lines by their schema."""

from __future__ import annotations

import io
import json
import random
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console

from mlsub.commands.watch.document import Outlet, duration, line_of, number
from mlsub.commands.watch.model import (
    Concluded,
    Ended,
    Found,
    RunSoFar,
    WatchedEvaluation,
    WatchEvent,
    shown_text,
    shown_value,
)
from mlsub.commands.watch.source import NewBytes
from mlsub.commands.watch.view import LiveView
from mlsub.findings import Verdict
from mlsub.rules.catalogue import finding
from tests.conftest import ExpectedText
from tools.oracle.shared import ABSENT, CORPUS, present
from tools.support.make_tree import make_log
from tools.support.scene import (
    BEGAN_S,
    FakeClock,
    Fed,
    append,
    ctrl_c,
    events_of,
    lines_of,
    shown,
    text_of,
    wait,
    watch,
    watched,
)


def short_log() -> list[bytes]:
    """A compliant log of unet3d with two evaluations."""
    log = make_log("unet3d")
    evaluations = log.records("eval_accuracy")
    log.lines = [line for line in log.lines if line not in evaluations[1:-1]]
    return log.text().encode().splitlines(keepends=True)


def test_a_good_run_to_the_letter(tmp_path: Path, expected_text: ExpectedText) -> None:
    file = tmp_path / "result_0.txt"
    expected_text("good.txt", text_of([file], [wait, *(append(file, line) for line in short_log())]))


def test_a_bad_run_to_the_letter(tmp_path: Path, expected_text: ExpectedText) -> None:
    file = tmp_path / "result_0.txt"
    lines = lines_of()
    file.write_bytes(b"".join(lines[:20]).replace(b'epsilon", "value": 0.0', b'epsilon", "value": 0.5'))
    again = [line for line in lines if b"init_start" not in line and b'"value": 0.01' not in line]
    again = [line.replace(b'"success"', b'"aborted"') for line in again]
    script = [lambda: file.write_bytes(lines[0]), append(file, b':::MLLOG {"key": "brok\n'), append(file, *again[1:])]
    expected_text("bad.txt", text_of([file], script))


def run(**parts: Any) -> RunSoFar:
    usual: dict[str, Any] = {"at_ms": 1, "path": "a", "usage": "training", "round": "1.0", "phase": "run"}
    return RunSoFar(**(usual | parts))


def evaluated(**parts: Any) -> RunSoFar:
    usual: dict[str, Any] = {
        "line": 1, "key": "eval_accuracy", "value": 0.5, "measure": None, "progress": None,
        "unit": None, "elapsed_ms": None, "reached": False,
    }  # fmt: skip
    return run(path=parts.pop("path", "a"), evaluation=WatchedEvaluation(**(usual | parts)))


BARE = finding("log.empty", "a", "The log is empty")
FULL = finding("run.clock-backwards", "a", "A record is older", line=3, expected="times", actual="1 step")
SEVERAL = evaluated(value={"BBOX": 0.377, "SEGM": 0.3}, progress=7, unit="epochs", elapsed_ms=61_000.0)


@pytest.mark.parametrize(
    ("event", "line"),
    [
        (evaluated(reached=None), "a: eval_accuracy 0.5"),
        (evaluated(measure="FID", value=90), "a: eval_accuracy FID 90"),
        (evaluated(measure="FID", value=9, reached=True), "a: eval_accuracy FID 9; target reached"),
        (SEVERAL, "a: eval_accuracy BBOX 0.377, SEGM 0.3 at 0:01:01, 7 epochs"),
        (Found(at_ms=1, path="a", finding=BARE, final=True), "a: error: The log is empty [log.empty]"),
        (Found(at_ms=1, path="a", finding=FULL, final=True), "a: review note: A record is older "
         "[run.clock-backwards]; line 3; expected times; found 1 step"),
        (run(path="-", phase="lost"), "standard input: lost: the log is gone, or ended without run_stop"),
        (run(phase="stopped"), "a: stopped"),
        (run(phase="stopped", status="x", elapsed_ms=1.0), "a: stopped: x after 0:00:00.0"),
        (run(restart="replaced"), "a: the file was replaced by another; starting over"),
        (run(restart="rewritten"), "a: the file was written anew; starting over"),
        (run(problem="fast [a.rule]"), "a: warning: fast [a.rule]"),
        (Ended(at_ms=1, path="a", official="not-checked", status=None, minutes=None, errors=1, warnings=0, review=2),
         "a: not checked: 1 error, 2 review findings"),
        (Concluded(at_ms=1, official=Verdict.NOT_CHECKED, exit_status=2, reason="idle", logs=0, compliant=0),
         "not-checked: no log came"),
        (Concluded(at_ms=1, official=Verdict.ACCEPTED, exit_status=0, reason="interrupted", logs=2, compliant=2),
         "accepted: 2 of 2 logs compliant, as far as they are"),
    ],
)  # fmt: skip
def test_events_in_words(event: WatchEvent, line: str) -> None:
    assert line_of(event, run()) == line


def test_nothing_steers_a_terminal() -> None:
    hostile = "\x1b[31m\r\n\x07\u202e\u2028"
    line = line_of(run(path=hostile, problem=hostile), run())
    assert line is not None and line.isprintable()
    stream = io.StringIO()
    Outlet(stream).show(evaluated(path=hostile, value=hostile, key=hostile, measure=hostile))
    assert stream.getvalue().count("\n") == 1 and stream.getvalue()[:-1].isprintable()


def test_that_a_run_evaluates_has_no_line_of_its_own() -> None:
    stream = io.StringIO()
    outlet = Outlet(stream)
    for phase in ("run", "evaluating", "run", "evaluating", "stopped", "run"):
        outlet.show(run(phase=phase))
    assert stream.getvalue() == "a: watching, by the rules of training v1.0\na: stopped\na: run\n"


def test_durations_and_numbers() -> None:
    spans = [None, float("nan"), float("inf"), 1e15, 0, 59_999, 3_600_000.0, -61_000, 100 * 3_600_000]
    assert [duration(span) for span in spans] == [
        "-", "-", "-", "-", "0:00:00.0", "0:00:59.9", "1:00:00", "-0:01:01", "100:00:00",
    ]  # fmt: skip
    numbers = [0.12345678, 1.0, 178859.2, 1e20, float("nan"), 12, -0.5, 1234.5678]
    assert [number(one) for one in numbers] == ["0.12346", "1", "178859", "1e+20", "nan", "12", "-0.5", "1234.6"]


def test_values_for_a_document() -> None:
    assert shown_value(0.5) == 0.5
    assert shown_value({"BBOX": 0.3, "SEGM": 1}) == {"BBOX": 0.3, "SEGM": 1}
    assert [shown_value(one) for one in (None, True, [1], {}, {"a": "b"}, float("nan"), 10**400)] == [
        "null", "true", "[1]", "{}", '{"a": "b"}', "NaN", shown_text(10**400),
    ]  # fmt: skip
    assert len(shown_text("x" * 10_000)) == len(shown_text(10**400)) == 80
    assert shown_text("Ã©") == "é"


def test_a_document_holds_no_number_that_json_has_not() -> None:
    stream = io.StringIO()
    strange = evaluated(elapsed_ms=float("inf"), progress=float("nan"))
    Outlet(stream, jsonl=True).show(strange)
    told = json.loads(stream.getvalue())["evaluation"]
    assert told["elapsed_ms"] is told["progress"] is None


def test_the_events_of_trouble_by_their_schema(tmp_path: Path) -> None:
    file = tmp_path / "result_0.txt"
    bad = [line.replace(b'epsilon", "value": 0.0', b'epsilon", "value": NaN') for line in lines_of()]
    strange = [
        b':::MLLOG {"time_ms": 1, "key": "eval_accuracy", "value": "\\ud800\\u001b", "metadata": {"epoch_num": NaN}}\n',
        b':::MLLOG {"time_ms": Infinity, "key": "eval_accuracy", "value": {"a": [1]}, "metadata": 7}\n',
        b':::MLLOG {"time_ms": 1e400, "key": "run_stop", "value": 1, "metadata": {"status": ["\\u0000"]}}\n',
    ]
    script = [lambda: file.write_bytes(b"\n"), append(file, *bad[:20], *strange, *bad[20:]), file.unlink, wait, ctrl_c]
    file.write_bytes(b"".join(bad))
    events = events_of([file], script)
    assert {event["event"] for event in events} == {"run", "finding", "end", "verdict"}
    assert "lost" in [event.get("phase") for event in events]
    assert [event["restart"] for event in events if event.get("restart")] == ["truncated"]


@pytest.mark.slow
@pytest.mark.skipif(not present(), reason=ABSENT)
def test_published_logs_by_the_schema(tmp_path: Path) -> None:
    files = sorted(CORPUS.glob("v*/*/results/*/*/result_*.txt"))
    for file in random.Random(2).sample(files, 30):
        events = events_of([file], [wait] * 5, round=file.relative_to(CORPUS).parts[0].removeprefix("v"))
        assert events[-1]["event"] == "verdict"


def test_several_logs_end_with_a_table(tmp_path: Path, expected_text: ExpectedText) -> None:
    for run in range(2):
        (tmp_path / f"result_{run}.txt").write_bytes(b"".join(lines_of(run=run)))
    expected_text("table.txt", "".join(text_of([tmp_path]).splitlines(keepends=True)[-5:]))


# The live view, as it stands on a terminal of 80 columns.


def test_four_runs_in_four_phases(tmp_path: Path, expected_text: ExpectedText) -> None:
    files = [tmp_path / f"result_{run}.txt" for run in range(4)]
    files[0].write_bytes(b"".join(lines_of()))
    second = make_log(run=1)
    second.put("lars_epsilon", value=0.5)
    lines = second.text().encode().splitlines(keepends=True)
    evaluating = next(n for n, line in enumerate(lines) if b"eval_start" in line)
    files[1].write_bytes(b"".join(lines[: evaluating + 4]))
    files[2].write_bytes(b"".join(lines_of(run=2)[:15]))
    last_s = second.records("eval_accuracy")[2]["time_ms"] / 1000
    clock = FakeClock([*[wait] * 6, ctrl_c], now=last_s - 4)
    _, kept = watched(files, clock=clock)
    expected_text("view.txt", kept.pictures[6])


def test_silence_and_an_error_of_reading(monkeypatch: pytest.MonkeyPatch) -> None:
    fed, began = Fed(), int(BEGAN_S * 1000)
    log = fed.log
    log.begin(began)
    fed.feed(b"".join(lines_of()[:5]), began)
    assert len(fed.news) == 2
    assert "quiet 1:00:00" in shown([log], began + 3_600_000, 80)
    unreadable = NewBytes(state="unreadable", problem="Permission denied\x1b[2J")
    monkeypatch.setattr(fed, "look", lambda: unreadable)
    log.look(began)
    assert "Permission denied\\x1b[2J" in shown([log], began, 80)


def test_a_narrow_terminal_keeps_the_names(tmp_path: Path) -> None:
    file = tmp_path / "result_0.txt"
    file.write_bytes(b"".join(lines_of()))
    _, kept = watched([file], width=50)
    assert "result_0.txt" in kept.pictures[-1]


def test_hostile_names_and_values_steer_nothing(tmp_path: Path) -> None:
    file = tmp_path / "result_\x1b[31m.txt"
    data = b"".join(lines_of()).replace(b'"value": 0.7595', b'"value": "\\u001b[31m"')
    file.write_bytes(data.replace(b'"status": "success"', b'"status": "\\u001b[31m\\n"'))
    _, kept = watched([file], width=200)
    assert "\x1b" not in kept.pictures[-1] and "result_\\x1b[31m.txt" in kept.pictures[-1]


def test_findings_stay_above_and_the_verdict_below(tmp_path: Path) -> None:
    file = tmp_path / "result_0.txt"
    bad = [line.replace(b'epsilon", "value": 0.0', b'epsilon", "value": 0.5') for line in lines_of()]
    stream = io.StringIO()
    console = Console(file=stream, width=300, force_terminal=True, color_system=None, highlight=False, markup=False)
    status = watch(LiveView(console), [file], [append(file, line) for line in bad])
    assert status == 1
    written = stream.getvalue()
    assert written.count("lars_epsilon has a value that the rules do not allow [key.lars_epsilon.value]; line 16") == 1
    assert written.rstrip().endswith("rejected: 1 of 1 logs noncompliant")
    shown_cursor, hidden = "\x1b[?25h", "\x1b[?25l"
    assert written.count(shown_cursor) == written.count(hidden) == 1
    assert written.index(hidden) < written.index(shown_cursor)


def test_the_cursor_comes_back_whatever_happens(tmp_path: Path) -> None:
    file = tmp_path / "result_0.txt"
    file.write_bytes(b"".join(lines_of()[:-1]))
    stream = io.StringIO()
    console = Console(file=stream, width=80, force_terminal=True, color_system=None)
    view = LiveView(console)

    def broken() -> None:
        raise RuntimeError

    with pytest.raises(RuntimeError):
        watch(view, [file], [wait, broken])
    assert stream.getvalue().rstrip().endswith("\x1b[?25h")
