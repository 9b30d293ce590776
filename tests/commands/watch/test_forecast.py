"""The forecast on curves whose end is known: right where it says something, silent where nothing can be said."""

from __future__ import annotations

import math
import random
from collections.abc import Callable
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mlsub.commands.watch.forecast import FAR, NEAR, REACHED, TOO_EARLY, Forecast, all_of, forecast, monotone
from mlsub.convergence.target import Band

UP = Band(None, 0.759, 1.0)
DOWN = Band(None, 0.0, 3.3)
MINUTE = 60_000.0
Curve = Callable[[float], float]

#: (name, value at a minute, band, minute at which the target is reached)
RISING: list[tuple[str, Curve, Band, float]] = [
    ("line", lambda t: 0.01 * t, UP, 75.9),
    ("logarithm", lambda t: 0.2 * math.log(t), UP, math.exp(0.759 / 0.2)),
    ("square root", lambda t: 0.1 * math.sqrt(t), UP, 7.59**2),
    ("saturating", lambda t: 0.9 - 1.5 / t, UP, 1.5 / 0.141),
    ("power law of a loss", lambda t: 3.0 + 3 / t**0.7, DOWN, (3 / 0.3) ** (1 / 0.7)),
    ("falling line", lambda t: 6 - 0.1 * t, DOWN, 27.0),
    ("falling logarithm", lambda t: 6 - 0.7 * math.log(t), DOWN, math.exp(2.7 / 0.7)),
]


def points(curve: Curve, minutes: list[float], noise: float = 0.0, seed: int = 0) -> list[tuple[float, float]]:
    chance = random.Random(seed)
    return [(minute * MINUTE, curve(minute) + chance.gauss(0, noise)) for minute in minutes]


@pytest.mark.parametrize(("curve", "band", "end"), [case[1:] for case in RISING], ids=[case[0] for case in RISING])
@pytest.mark.parametrize("noise", [0.0, 0.002])
def test_smooth_curves_end_where_the_forecast_says(curve: Curve, band: Band, end: float, noise: float) -> None:
    step = end / 20
    told = 0
    for count in range(1, 20):
        found = forecast(points(curve, [step * n for n in range(1, count + 1)], noise, count), band)
        if count < 4:
            assert found == TOO_EARLY
        if found.not_before_ms is not None:
            slack = 1.0 if noise == 0 else 1.1
            assert step * count * MINUTE * 0.999 <= found.not_before_ms <= end * MINUTE * slack
        if found.not_after_ms is not None:
            told += 1
            assert end * MINUTE * 0.999 <= found.not_after_ms <= NEAR * step * count * MINUTE
    assert told >= 1


def test_one_odd_evaluation_moves_little() -> None:
    minutes = [float(n) for n in range(1, 11)]
    clean = points(lambda t: 0.06 * t, minutes)
    odd = [*clean[:5], (clean[5][0], 0.05), *clean[6:]]
    before, after = forecast(clean, UP), forecast(odd, UP)
    assert before.not_before_ms is not None and after.not_before_ms is not None
    assert after.not_before_ms == pytest.approx(before.not_before_ms, rel=0.1)


@pytest.mark.parametrize(
    ("values", "state"),
    [
        ([], "too-early"),
        ([0.1, 0.2, 0.3], "too-early"),
        ([0.5, 0.5, 0.5, 0.5], "flat"),
        ([0.6, 0.5, 0.4, 0.3], "flat"),
        ([0.1, 0.1001, 0.1002, 0.1003], "far"),
        ([0.1, 0.2, 0.3, 0.76], "reached"),
        ([0.1, 0.2, 0.3, 0.5], "from"),
        ([0.1, 0.2, 0.4, 0.6, 0.7], "from"),
        ([0.001 * minute**2.5 for minute in range(1, 12)], "from"),
    ],
)
def test_what_cannot_be_said_is_not_said(values: list[float], state: str) -> None:
    found = forecast([((n + 1) * MINUTE, value) for n, value in enumerate(values)], UP)
    assert found.state == state and found.not_after_ms is None


def test_from_above_and_from_below_are_told_by_the_values() -> None:
    band = Band(None, 2.6, 2.69)
    falling = [((n + 30) * MINUTE, 2.74 - 0.005 * n) for n in range(10)]
    rising = [((n + 30) * MINUTE, 2.5 + 0.01 * n) for n in range(10)]
    assert forecast(falling, band).state == "between"
    assert forecast(rising, band).state == "between"
    assert forecast([(MINUTE, 2.65)], band) == forecast([(MINUTE, 0.1)], Band(None, None, None)) == REACHED


def test_times_that_do_not_grow_are_left_out() -> None:
    same = [(MINUTE, 0.1), (MINUTE, 0.2), (0.0, 0.3), (-MINUTE, 0.3), (math.nan, 0.4), (2 * MINUTE, math.inf)]
    assert forecast(same, UP) == TOO_EARLY


ANY, BOUND = st.floats(allow_nan=True, allow_infinity=True), st.floats(-1e300, 1e300) | st.none()


@given(st.lists(st.tuples(ANY | st.floats(0, 1e9), ANY | st.floats(0, 1)), max_size=14), BOUND, BOUND)
def test_no_curve_whatever_gives_a_wild_number(
    curve: list[tuple[float, float]], low: float | None, high: float | None
) -> None:
    found = forecast(curve, Band(None, low, high))
    times = [t for t, v in curve if math.isfinite(t) and math.isfinite(v) and t > 0]
    if found.not_before_ms is not None:
        assert 0 < found.not_before_ms <= FAR * max(times)
    if found.not_after_ms is not None:
        assert found.not_before_ms is not None
        assert found.not_before_ms <= found.not_after_ms <= NEAR * max(times)
    assert (found.state in ("from", "between")) == (found.not_before_ms is not None)
    assert (found.state == "between") == (found.not_after_ms is not None)


@given(st.lists(st.floats(-1e6, 1e6), min_size=1, max_size=30))
def test_monotone_values_never_fall_and_keep_their_mean(values: list[float]) -> None:
    smooth = monotone(values)
    assert len(smooth) == len(values)
    assert all(b >= a - 1e-6 for a, b in pairwise(smooth))
    assert math.fsum(smooth) == pytest.approx(math.fsum(values), abs=1e-4)
    assert monotone([1, 2, 2.5, 7, 6]) == [1, 2, 2.5, 6.5, 6.5]


def test_several_measures_wait_for_the_last() -> None:
    early, late = Forecast("between", 10.0, 20.0), Forecast("between", 12.0, 30.0)
    assert all_of([early, late]) == Forecast("between", 12.0, 30.0)
    assert all_of([early, REACHED]) == early
    assert all_of([REACHED, REACHED]) == REACHED
    assert all_of([early, Forecast("from", 5.0)]) == Forecast("from", 10.0)
    assert all_of([early, Forecast("flat")]) == Forecast("flat")
    assert all_of([early, TOO_EARLY, Forecast("far")]) == TOO_EARLY
    assert all_of([]) == TOO_EARLY
