"""The olympic mean: properties that hold for any times, and a table of cases."""

from __future__ import annotations

import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from mlperf_logging.result_summarizer.result_summarizer import _compute_olympic_average

from mlsub.score.scaled import olympic_mean

TIMES = st.floats(min_value=0.001, max_value=1e6, allow_nan=False)
exactly = settings(derandomize=True, deadline=None)

# Minutes of the runs, how many fall out at each end, the mean.
TABLE: dict[str, tuple[list[float | None], int, float | None]] = {
    "five runs": ([10.0, 11.0, 12.0, 13.0, 14.0], 1, 12.0),
    "in any order": ([14.0, 10.0, 13.0, 11.0, 12.0], 1, 12.0),
    "outliers count for nothing": ([0.5, 11.0, 12.0, 13.0, 9000.0], 1, 12.0),
    "equal runs": ([7.25] * 10, 1, 7.25),
    "one failed is the slowest": ([10.0, None, 12.0, 13.0, 14.0], 1, 13.0),
    "a failed run is slower than any time": ([10.0, 11.0, 12.0, 1e300, None], 1, (11.0 + 12.0 + 1e300) / 3),
    "two failed": ([10.0, None, None, 13.0, 14.0], 1, None),
    "all failed": ([None] * 5, 1, None),
    "four of forty failed": ([None] * 4 + [float(n) for n in range(1, 37)], 4, 20.5),
    "five of forty failed": ([None] * 5 + [float(n) for n in range(1, 36)], 4, None),
    "three runs": ([1.0, 2.0, 30.0], 1, 2.0),
    "too few to drop any": ([1.0, 2.0], 1, None),
    "one run": ([1.0], 1, None),
    "no run": ([], 1, None),
    "no run, none to drop": ([], 0, None),
    "nothing dropped": ([1.0, 2.0, 6.0], 0, 3.0),
    "nothing dropped, one failed": ([1.0, None], 0, None),
    "a negative time is a time": ([-5.0, 1.0, 2.0, 3.0, 4.0], 1, 2.0),
    "not rounded": ([0.1, 0.2, 0.3, 0.4, 0.5], 1, (0.2 + 0.3 + 0.4) / 3),
}


@pytest.mark.parametrize("name", TABLE)
def test_the_table(name: str) -> None:
    minutes, dropped, mean = TABLE[name]
    assert olympic_mean(minutes, dropped) == mean


@exactly
@given(st.lists(TIMES, min_size=9, max_size=40), st.integers(min_value=0, max_value=8))
def test_there_is_a_score_exactly_while_no_more_runs_fail_than_fall_out(minutes: list[float], failed: int) -> None:
    runs = [*minutes[failed:], *[None] * failed]
    assert (olympic_mean(runs, 4) is not None) is (failed <= 4)


@exactly
@given(st.lists(TIMES, max_size=60), st.integers(min_value=0, max_value=5), st.sampled_from([1, 4]))
def test_it_is_that_of_the_official_summarizer_to_the_last_bit(minutes: list[float], failed: int, most: int) -> None:
    official = _compute_olympic_average(list(minutes), failed, most) if failed <= most else None
    assert olympic_mean([*minutes, *[None] * failed], most) == official


@exactly
@given(st.lists(st.one_of(st.none(), TIMES), max_size=40), st.integers(min_value=0, max_value=45))
def test_the_answer_is_a_finite_number_or_none_and_the_input_is_left_alone(
    minutes: list[float | None], dropped: int
) -> None:
    before = list(minutes)
    mean = olympic_mean(minutes, dropped)
    assert mean is None or math.isfinite(mean)
    assert minutes == before
