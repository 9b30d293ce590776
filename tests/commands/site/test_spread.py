"""Median, range and zoom of the runs of an entry, case by case, and what holds for all."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from mlsub.commands.site.curves import Goal, spread_of, window_of

CASES: dict[str, dict[str, Any]] = yaml.safe_load((Path(__file__).parent / "spread.yaml").read_text())
FINITE = st.floats(-1e6, 1e6)
LINES = st.lists(st.lists(st.tuples(FINITE, FINITE), max_size=200).map(sorted), max_size=6)


@pytest.mark.parametrize("case", CASES["spread"].values(), ids=CASES["spread"])
def test_the_median_and_the_range_of_runs(case: dict[str, Any]) -> None:
    found = [value for one in spread_of(case["runs"]) for value in one]
    assert found == pytest.approx([value for one in case["spread"] for value in one])


@pytest.mark.parametrize("case", CASES["window"].values(), ids=CASES["window"])
def test_the_part_of_a_chart_near_the_target(case: dict[str, Any]) -> None:
    found = window_of(case["runs"], Goal(case["target"], case["up"]))
    assert (found and [*found["x"], *found["y"]]) == (case["window"] and pytest.approx(case["window"]))


@given(LINES)
def test_a_spread_lies_within_its_runs(lines: list[list[tuple[float, float]]]) -> None:
    found = spread_of(lines)
    assert len(found) <= 120
    assert [x for x, *_ in found] == sorted(x for x, *_ in found)
    values = [point[1] for line in lines for point in line]
    for _, low, median, high in found:
        assert min(values) - 1e-6 <= low <= median <= high <= max(values) + 1e-6


@given(LINES, FINITE, st.booleans())
def test_a_window_has_the_target_and_the_last_evaluation(
    lines: list[list[tuple[float, float]]], level: float, up: bool
) -> None:
    found = window_of(lines, Goal(level, up))
    if found is not None:
        assert found["x"][0] < found["x"][1] == max(line[-1][0] for line in lines if line)
        assert found["y"][0] < level < found["y"][1]
