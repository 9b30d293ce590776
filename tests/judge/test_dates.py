"""When runs began: those of another round, those made again in its review, and clocks that say nothing."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import pytest

from tools.support.corpus import SHARED
from tools.support.make_tree import Tree, make_tree
from tools.support.runner import check, run

DAY_MS = 86_400_000
LATE = "Runs were made after the round's deadline, in its review"
KEPT = '"gradient_accumulation_steps"'
OTHER = "Runs were made at the time of another round"


def moved(tree: Tree, days: float = 0, factor: float = 1, runs: int = 5) -> Path:
    """The package with the times of so many runs moved by days, then multiplied."""
    for number in range(runs):

        def change(log: Any) -> None:
            for record in log.records():
                record["time_ms"] = (record["time_ms"] + days * DAY_MS) * factor

        tree.edit(change, number)
    return tree.folder


@pytest.mark.parametrize(
    ("round_folder", "days", "runs", "severity", "message", "actual"),
    [
        ("v1.0", 40, 5, "note", LATE, "5 of 5 began on 2021-06-1"),
        ("v1.0", 130, 5, "warning", OTHER, "in time for v1.1 (deadline 2021-10-22)"),
        ("v1.1", -120, 5, "warning", OTHER, "in time for v1.0 (deadline 2021-05-21)"),
        ("v1.1", -120, 1, "warning", OTHER, "1 of 5 began on 2021-01-"),
        ("v1.1", -700, 1, "warning", OTHER, "1 of 5 began on 2019-06-"),
    ],
)
def test_runs_that_began_at_another_time_are_one_finding(
    round_folder: str, days: int, runs: int, severity: str, message: str, actual: str, tmp_path: Path
) -> None:
    outcome = check(moved(make_tree(tmp_path, round_folder), days, runs=runs))
    [found] = outcome.of("cross.round")
    assert (found["severity"], found["message"]) == (severity, message)
    assert found["path"] == "results/rack1/resnet"
    assert actual in found["actual"]
    assert outcome.official == "accepted"


@pytest.mark.parametrize("round_folder", ["v0.7", "v1.0", "v1.1"])
@pytest.mark.parametrize(
    ("days", "factor"),
    [(0, 1), (0, 0.001), (0, 0), (0, -1), (20_000, 1), (0, 1e9), (0, 1e300)],
    ids=["in time", "seconds", "zero", "negative", "far future", "farther", "no number"],
)
def test_runs_in_time_and_wrong_clocks_are_no_finding(
    round_folder: str, days: int, factor: float, tmp_path: Path
) -> None:
    rules = check(moved(make_tree(tmp_path, round_folder), days, factor)).rules()
    assert not rules & {"cross.round", "cross.round-rules", "review.crashed"}


def published(name: str) -> Path:
    """A folder of a published organisation."""
    folder = SHARED / name
    if not folder.is_dir():
        pytest.skip(f"no {name} in ../shared")
    return folder


def test_published_runs_of_another_round_are_named() -> None:
    found = check(published("corpus/v4.1/Krai")).of("cross.round")
    assert [one["severity"] for one in found] == ["warning"] * 2
    assert all("in time for v3.1 " in one["actual"] for one in found)


@pytest.mark.parametrize(("name", "entries"), [("corpus/v5.0/krai", 2), ("corpus/v3.0/Krai", 1)])
def test_published_runs_that_were_submitted_again_are_one_question(name: str, entries: int) -> None:
    outcome = check(published(name))
    assert len(outcome.of("entry.resubmitted")) == entries
    assert outcome.of("cross.round") == []


def test_logs_of_the_round_before_lack_the_keys_that_came_since(tmp_path: Path) -> None:
    folder = tmp_path / "v6.1" / "MiTAC"
    shutil.copytree(published("corpus/v5.1/MiTAC"), folder)
    outcome = check(folder)
    [found] = outcome.of("cross.round-rules")
    assert "in time for v5.1 (deadline 2025-10-10)" in found["actual"]
    assert len({one["rule"] for one in outcome.findings if one["rule"].startswith("key.")}) == 9
    text = run("check", folder).stdout
    first, _, rest = text.partition("[cross.round-rules]")
    assert "To fix: 11 findings" in first
    assert "[key." not in text
    assert "explains: 9 findings in 90 places of key.* (-v shows them)" in rest
    # A key that the logs would have lacked in their own round is no consequence of the other round.
    for log in folder.glob("results/*/*/result_0.txt"):
        log.write_text("".join(line for line in log.read_text().splitlines(keepends=True) if KEPT not in line))
    outcome = check(folder)
    assert outcome.of("entry.resubmitted")
    assert not outcome.of("cross.round-rules")
