"""A long search goes on where it was stopped, and a try that crashes is a problem and not its end."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from tests.differential.search import CHUNK, Done, Outcome, Search, State, chunks, run, searched


def _attempt(seed: str, number: int, above: Path) -> Outcome:
    """Every seventh try differs, and the eleventh crashes; each has an empty folder."""
    assert not list(above.iterdir())
    (above / "file").write_text(seed)
    if number == 11:
        raise ValueError("eleven")
    return Outcome("seventh", f"{number} differs") if number % 7 == 3 else Outcome("alike")


SEARCH = Search("things", _attempt)


def _asked(monkeypatch: pytest.MonkeyPatch, *words: str) -> None:
    monkeypatch.setattr(sys, "argv", ["search", "--jobs", "1", *words])


def test_tries_are_counted_and_a_crash_is_a_problem() -> None:
    done = searched(SEARCH, "x", range(12))
    assert done.outcomes == {"alike": 9, "seventh": 2, "crash of a try": 1}
    assert [problem.splitlines()[0] for problem in done.problems] == [
        *("things x 3: 3 differs", "things x 10: 10 differs", "things x 11: Traceback (most recent call last):"),
    ]


def test_a_search_that_was_stopped_leaves_out_what_is_done(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "state.json"
    state = State(file, "things", "x")
    state.add(range(CHUNK), Done({"done before": CHUNK}, []))
    _asked(monkeypatch, "--seed", "x", "--things", str(CHUNK + 12), "--state", str(file))
    assert run(SEARCH) == 1
    printed = capsys.readouterr().out
    assert f"{CHUNK} things done before" in printed
    assert f"{CHUNK} done before" in printed
    assert f"{CHUNK + 12} things, 2 differences" in printed
    again = State(file, "things", "x")
    assert again.figures == {"done before": CHUNK, "alike": 10, "seventh": 2}
    assert list(chunks(CHUNK + 12, list(again.done))) == []
    assert list(tmp_path.iterdir()) == [file]


def test_no_difference_is_status_0(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    _asked(monkeypatch, "--things", "3", "--state", str(tmp_path / "state.json"))
    assert run(SEARCH) == 0


@pytest.mark.parametrize(("noun", "seed"), [("things", "y"), ("others", "x")])
def test_the_state_of_another_search_is_refused(noun: str, seed: str, tmp_path: Path) -> None:
    State(tmp_path / "state.json", "things", "x").add(range(1), Done({}, []))
    with pytest.raises(SystemExit, match="is of things and seed 'x'"):
        State(tmp_path / "state.json", noun, seed)


def test_chunks_end_where_the_tries_do() -> None:
    assert list(chunks(0)) == []
    assert list(chunks(CHUNK)) == [range(CHUNK)]
    assert list(chunks(CHUNK + 1)) == [range(CHUNK), range(CHUNK, CHUNK + 1)]
