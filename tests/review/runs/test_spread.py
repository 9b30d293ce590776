"""The chance behind the finding on spread: exact for the runs of the reference, and careful."""

from __future__ import annotations

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mlsub.review.runs.quality import chance_of_range


@given(
    st.lists(st.integers(0, 6).map(float), min_size=1, max_size=5),
    st.integers(1, 4),
    st.integers(0, 6).map(float),
)
def test_the_chance_is_that_of_counting_all_draws(values: list[float], runs: int, width: float) -> None:
    draws = list(itertools.product(values, repeat=runs))
    near = sum(max(draw) - min(draw) <= width for draw in draws)
    assert chance_of_range(values, runs, width) == pytest.approx(near / len(draws))


@given(
    st.lists(st.floats(1, 1e6), min_size=1, max_size=20),
    st.integers(1, 40),
    st.floats(0, 1e6),
    st.floats(0, 1e6),
)
def test_a_wider_range_is_likelier(values: list[float], runs: int, width: float, more: float) -> None:
    assert 0 <= chance_of_range(values, runs, width) <= chance_of_range(values, runs, width + more) + 1e-12 <= 1 + 2e-12


def test_runs_at_one_place_are_certain_where_the_reference_is() -> None:
    assert chance_of_range([35.0] * 20, 5, 0.0) == 1.0


def test_ten_runs_at_one_of_twenty_places() -> None:
    assert chance_of_range([float(n) for n in range(20)], 10, 0.0) == pytest.approx(20 * (1 / 20) ** 10)
