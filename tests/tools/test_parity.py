"""The long search counts its tries, and finds a log on which two sides differ."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace

import pytest

from tools.campaigns import parity
from tools.oracle import compare
from tools.oracle.generate import Combination
from tools.oracle.phases import PHASES, Source, Task

TASK = Task("boundary", Source("5.1-flux1-closed", Combination("5.1", "flux1", "closed", None), None), 0, 60)


def _attempt(seed: str, number: int, above: Path) -> SimpleNamespace:
    assert not list(above.iterdir())
    if number == 11:
        raise ValueError("eleven")
    seventh = number % 7 == 3
    return SimpleNamespace(word="seventh" if seventh else "alike", problem=f"{number} differs" if seventh else None)


def test_tries_are_counted_and_a_crash_is_a_problem(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(parity.NUMBERED, "things", _attempt)
    done = parity.try_numbers("things", "x", range(12))
    assert done.outcomes == {"things: alike": 9, "things: seventh": 2, "things: crash of a try": 1}
    assert [problem.splitlines()[0] for problem in done.problems] == [
        *("things x 3: 3 differs", "things x 10: 10 differs", "things x 11: Traceback (most recent call last):")
    ]


@pytest.mark.slow
def test_a_log_on_which_the_two_differ_is_found_described_and_saved(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Judged by the rules of a round without this benchmark, compliant logs differ."""
    monkeypatch.chdir(tmp_path)
    done = parity.try_logs("x", TASK)
    assert done.problems == [] and 10 < done.outcomes["logs, boundary: rejected"] < done.outcomes.total() <= 60
    monkeypatch.setattr(compare, "usage_and_round", lambda _: ("training", "5.0"))
    found = parity.try_logs("x", TASK).problems
    assert "official: " in found[0]
    assert next(iter((tmp_path / "build/parity").iterdir())).read_bytes().startswith(b":::MLLOG ")


@pytest.mark.slow
def test_the_phases_share_all_logs_and_each_task_is_short() -> None:
    assert sum(phase.share for phase in PHASES) == pytest.approx(1)
    tasks = list(parity.tasks_of_logs(100_000, "5.1-flux1"))
    assert {task.phase for task in tasks} >= {"boundary", "pairs", "splices", "random changes"}
    assert all(0 < task.number <= 2500 for task in tasks)
