"""The statistics of the RCP test: against scipy, against figures worked out by hand, and by what must always hold."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from mlsub.convergence import (
    ALPHA,
    TOLERANCE,
    interpolate_linear,
    least_accepted_mean,
    mean_of,
    quantile_of,
    stdev_of,
    t_distribution,
    threshold_of,
    trim,
)

DEGREES = (1, 2, 3, 5, 8, 13, 18, 28, 38, 50, 100, 1000)
TS = (-50.0, -9.0, -3.0, -1.7, -1.0, -0.1, 0.0, 0.3, 1.0, 2.5, 8.0, 40.0)
whole = st.integers(3, 60)


@pytest.mark.parametrize("degrees", DEGREES)
def test_students_t_is_that_of_scipy(degrees: int) -> None:
    for t in TS:
        assert t_distribution(t, degrees) == pytest.approx(stats.t.cdf(t, degrees), rel=1e-9, abs=1e-12)


def test_the_distribution_ends_where_it_should() -> None:
    assert (t_distribution(-math.inf, 5), t_distribution(0, 5), t_distribution(math.inf, 5)) == (0.0, 0.5, 1.0)
    with pytest.raises(ValueError, match="above zero"):
        t_distribution(1, 0)


def test_olympic_means_leave_out_one_and_one_or_four_and_four() -> None:
    assert trim([5, 1, 9, 3], "bert") == [3, 5]
    assert trim(range(40), "unet3d") == list(range(4, 36))
    assert trim([1, 2], "bert") == []
    assert trim([1, 2, 3], "unet3d") == []


#: What logs and reference files hold: epochs to three digits, samples, and what a run that never converged counts as.
POINTS = st.one_of(
    st.integers(0, 10**15 - 1),
    st.integers(0, 200_000).map(lambda thousandths: thousandths / 1000),
    st.floats(-1e15, 1e15),
    st.just(1e9),
)


@given(st.one_of(st.lists(POINTS, min_size=1, max_size=60), st.lists(POINTS, min_size=120, max_size=600)))
def test_mean_and_stdev_are_those_of_numpy_to_the_last_bit(values: list[float]) -> None:
    assert mean_of(values) == float(np.mean(values))
    assert stdev_of(values) == float(np.std(values))


@pytest.mark.parametrize("number", [*range(1, 42), 127, 128, 129, 136, 137, 255, 256, 257, 1000])
def test_every_number_of_values_is_summed_in_the_order_of_numpy(number: int) -> None:
    values = [math.sin(n) * 10 ** (n % 13) for n in range(number)]
    assert (mean_of(values), stdev_of(values)) == (float(np.mean(values)), float(np.std(values)))


def test_a_mean_within_one_unit_in_the_last_place_of_the_limit() -> None:
    assert mean_of([4.773, 4.909, 5.318]) == 4.999999999999999


@given(st.integers(1, 10**6), st.integers(1, 10**6), st.integers(1, 10**6), st.floats(0, 1e9), st.floats(0, 1e9))
def test_interpolation_is_that_of_numpy_to_the_last_bit(at: int, low: int, more: int, one: float, other: float) -> None:
    at, high = low + at % (more + 1), low + more
    assert interpolate_linear(at, (low, one), (high, other)) == float(np.interp(at, [low, high], [one, other]))


@given(st.floats(1e-3, 1e9), st.floats(1e-3, 1e9))
def test_the_limit_goes_through_the_greatest_speedup(mean: float, minimum: float) -> None:
    reference = np.float64(mean)
    assert threshold_of(mean, minimum) == float(reference / (reference / np.float64(minimum)))


@given(st.floats(1, 1e6), st.floats(0.001, 0.2), whole, whole)
def test_the_limit_is_where_scipys_test_turns(mean: float, part: float, reference: int, runs: int) -> None:
    stdev = mean * part
    limit = least_accepted_mean(mean, stdev, reference, runs)
    assert 0 <= limit <= mean

    def p_value(candidate: float) -> float:
        found = stats.ttest_ind_from_stats(candidate, stdev, runs, mean, stdev, reference, equal_var=True)
        return float(found.pvalue / 2)

    assert p_value(limit + 2 * TOLERANCE) > ALPHA
    if limit > 3 * TOLERANCE:
        assert p_value(limit - 2 * TOLERANCE) < ALPHA


def test_without_spread_only_the_mean_itself_is_accepted() -> None:
    assert least_accepted_mean(40.0, 0.0, 8, 3) == 40.0
    assert least_accepted_mean(40.0, 2.0, 1, 1) == 40.0  # No degree of freedom.


def test_a_limit_worked_out_by_hand() -> None:
    # Mean 100, stdev 5, 18 runs against 8: t of 24 degrees at 5 % is -1.71088, times 5 * sqrt(1/18 + 1/8) = 2.12459.
    assert least_accepted_mean(100.0, 5.0, 18, 8) == pytest.approx(100 - 1.71088 * 2.12459, abs=1e-3)


def by_bisection(mean: float, stdev: float, reference_runs: int, runs: int) -> float:
    """The official search, which asks the distribution itself at every step."""
    degrees, low, high = reference_runs + runs - 2, 0.0, mean
    spread = stdev * math.sqrt(1 / reference_runs + 1 / runs)
    middle = previous = mean / 2
    while high - low > TOLERANCE:
        above = t_distribution((middle - mean) / spread, degrees) > ALPHA
        low, high = (low, middle) if above else (middle, high)
        previous, middle = middle, (low + high) / 2
        if middle == previous:
            break
    return middle


@pytest.mark.parametrize("degrees", [*range(1, 80), 99, 100, 1000, 9999, 10_000])
def test_the_quantile_is_that_of_scipy(degrees: int) -> None:
    assert quantile_of(degrees) == pytest.approx(stats.t.ppf(ALPHA, degrees), rel=1e-10)


@given(whole, whole, st.floats(1e-3, 1e9), st.floats(1e-12, 1e3))
def test_the_limit_is_that_of_the_official_search(runs: int, reference_runs: int, mean: float, relative: float) -> None:
    expected = by_bisection(mean, mean * relative, reference_runs, runs)
    assert least_accepted_mean(mean, mean * relative, reference_runs, runs) == expected


@given(
    whole, whole, st.integers(1, 20), st.sampled_from([0, 1e-16, -1e-16, 1e-12, -1e-12, 9.99e-10, -1.01e-9]), st.data()
)
def test_the_limit_is_the_same_where_a_step_of_the_search_meets_the_quantile(
    runs: int, reference_runs: int, depth: int, off: float, data: st.DataObject
) -> None:
    mean, below = 1e4, data.draw(st.integers(1, 2**depth - 1)) / 2**depth
    spread = -mean * below / (quantile_of(reference_runs + runs - 2) * (1 + off))
    stdev = spread / math.sqrt(1 / reference_runs + 1 / runs)
    expected = by_bisection(mean, stdev, reference_runs, runs)
    assert least_accepted_mean(mean, stdev, reference_runs, runs) == expected


@pytest.mark.parametrize(("mean", "minimum"), [(0.0, 5.0), (5.0, 0.0), (0.0, 0.0)])
def test_a_limit_without_a_speedup_is_the_least_mean_itself(mean: float, minimum: float) -> None:
    assert threshold_of(mean, minimum) == minimum
