"""The long search goes on where it was stopped, keeps its figures, and shows what differs."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from bench.parity_long import search
from bench.parity_state import Done, Searched, State, tables
from tests.differential import compare
from tests.differential.generate import Combination
from tests.differential.phases import PHASES, Task
from tests.differential.sources import Source

PROGRAM = Path(__file__).resolve().parents[2] / "bench" / "parity_long.py"
SOURCE = Source("5.1-flux1-closed", Combination("5.1", "flux1", "closed", None), None)
TASK = Task("boundary", SOURCE, 0, 100)


def _searched(places: int, *, ended: bool = False, differing: tuple[tuple[str, bytes], ...] = ()) -> Searched:
    return Searched(places, ended, places - 1, places // 2, 0.5, ("a deviation",), differing)


def test_what_was_done_is_kept_and_added_up(tmp_path: Path) -> None:
    file = tmp_path / "state.json"
    state = State(file, "a")
    assert (state.reached(TASK), state.left(TASK), state.logs()) == (0, 100, 0)
    state.add(TASK, _searched(40))
    again = State(file, "a")
    assert (again.reached(TASK), again.left(TASK), again.logs()) == (40, 60, 39)
    again.add(TASK, _searched(20, ended=True))
    assert (again.reached(TASK), again.left(TASK), again.logs()) == (60, 0, 58)
    assert again.done == {"boundary/5.1-flux1-closed": Done("boundary", "5.1", 60, True, 58, 30, 1.0)}
    assert "a deviation" in tables(State(file, "a"))
    assert list(tmp_path.iterdir()) == [file]


def test_a_log_that_differs_is_kept_whole(tmp_path: Path) -> None:
    file = tmp_path / "state.json"
    State(file, "a").add(TASK, _searched(40, differing=(("what was changed", b"the log"),)))
    state = State(file, "a")
    assert [found["what"] for found in state.found] == ["what was changed"]
    assert (tmp_path / "state-differing" / state.found[0]["log"]).read_bytes() == b"the log"
    assert "| boundary | 39 | 20 (51%) | 1 | 78 |" in tables(state)


@pytest.mark.parametrize(
    ("content", "words"), [('{"seed": "a"}', "another version"), ('{"version": 2, "seed": "b"}', "is of seed 'b'")]
)
def test_a_file_of_another_search_is_refused(content: str, words: str, tmp_path: Path) -> None:
    file = tmp_path / "state.json"
    file.write_text(content)
    with pytest.raises(SystemExit, match=words):
        State(file, "a")
    assert file.read_text() == content


def test_the_shares_of_the_phases_are_all_of_it() -> None:
    assert sum(phase.share for phase in PHASES) == pytest.approx(1)


def test_pieces_of_a_search_are_the_whole(tmp_path: Path) -> None:
    pieces = State(tmp_path / "a.json", "x")
    while number := min(50, pieces.left(TASK)):
        pieces.add(TASK, search(TASK._replace(first=pieces.reached(TASK), number=number), "x"))
    whole = search(TASK, "x")
    (done,) = pieces.done.values()
    assert done._replace(seconds=0) == Done("boundary", "5.1", 100, False, whole.logs, whole.rejected)
    assert 20 < whole.rejected < whole.logs <= 100
    assert whole.differing == ()


def test_a_log_on_which_the_two_differ_is_found_and_described(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Judged by the rules of a round without this benchmark, compliant logs differ."""
    monkeypatch.setattr(compare, "usage_and_round", lambda _: ("training", "5.0"))
    found = search(TASK, "x")
    assert found.differing
    description, content = found.differing[0]
    assert "official: " in description and content.startswith(b":::MLLOG ")


def _run(state: Path, *words: str) -> tuple[str, dict[str, Any]]:
    command = [sys.executable, str(PROGRAM), "--state", str(state), "--jobs", "1", *words]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout, json.loads(state.read_text())


@pytest.mark.long
def test_a_search_goes_on_with_more_logs_and_has_those_of_one_search(tmp_path: Path) -> None:
    only = ("--only", "training-5.1-flux1-closed", "--seed", "x")
    first, few = _run(tmp_path / "a.json", "--logs", "5000", *only)
    second, more = _run(tmp_path / "a.json", "--logs", "10000", *only)
    _, at_once = _run(tmp_path / "b.json", "--logs", "10000", *only)
    for done in (more, at_once):
        for one in done["done"].values():
            del one["seconds"]
    assert more["done"] == at_once["done"]
    assert 10 < sum(one["logs"] for one in few["done"].values()) < sum(one["logs"] for one in more["done"].values())
    assert "0 logs done before" in first
    assert re.search(r"\n\d+ logs in \d+ s; \d+ in all, 0 differences; kept in ", second)
    assert "| phase | logs | rejected by the official checker | differences | logs a second and core |" in second
