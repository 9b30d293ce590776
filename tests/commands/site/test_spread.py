"""The part of a chart near the target, case by case, and what holds for all."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from mlsub.commands.site.curves import Goal, window_of

CASES: dict[str, dict[str, Any]] = yaml.safe_load((Path(__file__).parent / "spread.yaml").read_text())
FINITE = st.floats(-1e6, 1e6)
LINES = st.lists(st.lists(st.tuples(FINITE, FINITE), max_size=200).map(sorted), max_size=6)


@pytest.mark.parametrize("case", CASES["window"].values(), ids=CASES["window"])
def test_the_part_of_a_chart_near_the_target(case: dict[str, Any]) -> None:
    found = window_of(case["runs"], Goal(case["target"], case["up"]))
    assert (found and [*found["x"], *found["y"]]) == (case["window"] and pytest.approx(case["window"]))


@given(LINES, FINITE, st.booleans())
def test_a_window_has_the_target_and_the_last_evaluation(
    lines: list[list[tuple[float, float]]], level: float, up: bool
) -> None:
    found = window_of(lines, Goal(level, up))
    if found is not None:
        assert found["x"][0] < found["x"][1] == max(line[-1][0] for line in lines if line)
        assert found["y"][0] < level < found["y"][1]
