"""Runs that stop below the target, go on after they have reached it, or converge too near together for chance."""

from __future__ import annotations

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mlsub.review.runs.quality import chance_of_range
from tests.review.runs.build import Record, at, entry, every, observed, put, records, the_one


def test_the_target_reached_earlier() -> None:
    found = the_one("inspect.target-earlier", entry({2: lambda made: put(made, "eval_accuracy", 0.7301, -2)}))
    blocks = len([record for record in records(2) if record["key"] == "eval_accuracy"])
    assert found.numbers["runs"] == {"result_2.txt": {"met": blocks - 1, "of": blocks}}


def opened(made: list[Record]) -> None:
    put(made, "submission_division", "open")


def test_open_may_have_another_target() -> None:
    def change(made: list[Record]) -> None:
        opened(made)
        put(made, "eval_accuracy", 0.7301, -2)

    assert observed(entry(every(opened) | {2: change})) == {}


@pytest.mark.parametrize(("least", "found"), [(0.7222, False), (0.7214, True)])
def test_a_higher_target_of_the_submitters_own(least: float, found: bool) -> None:
    """Each run passes 0.7209 and goes on; what they end at has a round number below it, or has not."""

    def change(made: list[Record]) -> None:
        put(made, "eval_accuracy", 0.7209 if found is False else 0.7213, -2)
        put(made, "eval_accuracy", least, -1)

    assert ("inspect.target-earlier" in observed(entry(every(change)))) is found


def stops_below(made: list[Record]) -> None:
    """run_stop a millisecond after an evaluation below the target; the next one, behind it, reaches it."""
    last = at(made, "eval_accuracy", -1)
    stop = made.pop()
    before = at(made, "eval_accuracy", -2)
    made[before]["value"] = 0.7193
    made.insert(before + 1, stop | {"time_ms": made[before]["time_ms"] + 1})
    assert made[last + 1]["value"] >= 0.72


def fastest(count: int) -> list[int]:
    minutes = {n: log.run.minutes or 0.0 for n, log in enumerate(entry().logs)}
    return sorted(minutes, key=lambda n: minutes[n])[:count]


def test_four_runs_that_stop_below_the_target() -> None:
    runs = fastest(4)
    found = the_one("inspect.stops-below", entry(dict.fromkeys(runs, stops_below)))
    assert set(found.numbers["runs"]) == {f"result_{n}.txt" for n in runs}
    actual = str(found.finding.actual)
    assert actual.startswith("4 of 10 runs, the 4 fastest: result_")
    assert " at 0.7193, 1 ms before run_stop, " in actual
    # By the rules one run may fall out at each end, so four that do not count leave no score.
    assert found.numbers["minutes_undone"] is None
    rest = sorted(log.run.minutes or 0.0 for n, log in enumerate(entry().logs) if n not in runs)
    assert found.numbers["minutes"] < rest[0]
    assert actual.endswith(
        f"; the target is reached after run_stop in 4; {found.numbers['minutes']:.6f} minutes as logged, no score with "
        "them counted as not converged: 4 such runs, and 1 may fall out; the other 6 have an olympic mean of "
        f"{sum(rest[1:-1]) / 4:.6f} minutes"
    )


def test_one_run_that_stops_below_the_target_may_fall_out() -> None:
    [run] = fastest(1)
    found = the_one("inspect.stops-below", entry({run: stops_below}))
    times = sorted(log.run.minutes or 0.0 for n, log in enumerate(entry().logs) if n != run)
    assert found.numbers["minutes_undone"] == pytest.approx(sum(times[1:]) / 8)
    assert ", the fastest: result_" in str(found.finding.actual)
    assert str(found.finding.actual).endswith(f" {sum(times[1:]) / 8:.6f} with it counted as not converged")


def test_runs_that_reached_the_target_and_stop_below_it() -> None:
    def earlier_above(made: list[Record]) -> None:
        put(made, "eval_accuracy", 0.7301, -2)
        put(made, "eval_accuracy", 0.7193, -1)

    runs = fastest(4)
    found = the_one("inspect.stops-below", entry(dict.fromkeys(runs, earlier_above)))
    said, others = str(found.finding.actual).split("; the other 6 have an olympic mean of ")
    assert said.endswith(" if they had ended where they reached it")
    assert found.numbers["minutes_undone"] < found.numbers["minutes"] < float(others.split()[0])
    assert "; the target is reached before that in 4; " in said


def test_runs_that_never_reach_the_target() -> None:
    def never(made: list[Record]) -> None:
        put(made, "eval_accuracy", 0.7193, -1)

    found = the_one("inspect.stops-below", entry({fastest(1)[0]: stops_below, fastest(2)[1]: never}))
    assert "; the target is reached after run_stop in 1, nowhere in 1; " in str(found.finding.actual)
    assert found.numbers["minutes_undone"] is None


def test_open_may_stop_anywhere() -> None:
    assert "inspect.stops-below" not in observed(
        entry(every(opened) | {2: lambda made: (opened(made), stops_below(made))})
    )


@given(st.lists(st.integers(0, 6).map(float), min_size=1, max_size=5), st.integers(1, 4), st.integers(0, 6).map(float))
def test_the_chance_is_that_of_counting_all_draws(values: list[float], runs: int, width: float) -> None:
    draws = list(itertools.product(values, repeat=runs))
    near = sum(max(draw) - min(draw) <= width for draw in draws)
    assert chance_of_range(values, runs, width) == pytest.approx(near / len(draws))


@given(st.lists(st.floats(1, 1e6), min_size=1, max_size=20), st.integers(1, 40), st.floats(0, 1e6), st.floats(0, 1e6))
def test_a_wider_range_is_likelier(values: list[float], runs: int, width: float, more: float) -> None:
    assert 0 <= chance_of_range(values, runs, width) <= chance_of_range(values, runs, width + more) + 1e-12 <= 1 + 2e-12


def test_runs_at_one_place_are_certain_where_the_reference_is() -> None:
    assert chance_of_range([35.0] * 20, 5, 0.0) == 1.0


def test_ten_runs_at_one_of_twenty_places() -> None:
    assert chance_of_range([float(n) for n in range(20)], 10, 0.0) == pytest.approx(20 * (1 / 20) ** 10)
