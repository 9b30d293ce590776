"""The live view, to the letter, as it stands on a terminal of 80 columns."""

from __future__ import annotations

import io
from pathlib import Path

import pytest
from rich.console import Console

from mlsub.commands.watch.source import Look
from mlsub.commands.watch.view import LiveView
from tests.conftest import ExpectedText
from tools.support.make_tree import make_log
from tools.support.scene import BEGAN_S, FakeClock, Fed, append, ctrl_c, lines_of, shown, wait, watch, watched


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


def test_silence_and_an_error_of_reading() -> None:
    fed, began = Fed(), int(BEGAN_S * 1000)
    log = fed.log
    log.begin(began)
    fed.feed(b"".join(lines_of()[:5]), began)
    assert len(fed.news) == 2
    assert "quiet 1:00:00" in shown([log], began + 3_600_000, 80)
    fed.look = lambda: Look(state="unreadable", problem="Permission denied\x1b[2J")  # type: ignore[method-assign]
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
