"""The numbers of result files, and runs that were made apart from the others."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

import pytest
import yaml

from mlsub.submission.result import Result
from tests.review.runs.build import delay, entry, observed, the_one

#: Orders of runs in time, with the hours before each, and what is said of them.
ORDERS = yaml.safe_load(Path(__file__).with_name("orders.yaml").read_text("utf-8"))


def test_numbers_left_out() -> None:
    names = [f"result_{n}.txt" for n in (0, 1, 2, 4, 5, 6, 7, 8, 9, 12)]
    assert the_one("inspect.numbering", entry(names=names)).numbers["holes"] == [3, 10, 11]


def test_names_of_a_batch_system_have_no_holes() -> None:
    assert observed(entry(names=[f"result_4960-2405{n}_{n}.txt" for n in range(10)])) == {}


def test_a_run_that_was_made_after_the_others() -> None:
    found = the_one("inspect.order", entry({7: lambda made: delay(made, "init_start", 30 * 3_600_000)}))
    assert found.numbers["order"] == [0, 1, 2, 3, 4, 5, 6, 8, 9, 7]
    assert found.numbers["late"] == [7]
    assert re.fullmatch(
        r"result_7\.txt began 2\d\.\d h after the others had ended; in time order 0, 1, 2, 3, 4, 5, 6, 8, 9, 7; "
        r"they usually wait 4\d\.\d min for each other",
        str(found.finding.actual),
    )


def test_a_run_that_was_made_long_before_the_others() -> None:
    made = in_time([1, 8, 9, 0, 2, 3, 4, 5, 6, 7], [1, 24 * 80])
    found, first, second = the_one("inspect.order", made), *(made.logs[n].run.timeline for n in (1, 8))
    assert found.numbers["wait_ms"] == (second.run_start or 0) - (first.run_stop or 0)
    assert re.match(
        r"result_1\.txt ended 80\.0 days before the others began; in time order 1, 8, ", str(found.finding.actual)
    )


def in_time(order: Sequence[int], waits_h: Sequence[float] = ()) -> Result:
    """Runs in this order of time, so many hours apart, an hour where nothing is said."""
    waits = [*waits_h, *[1.0] * (len(order) - len(waits_h))]
    at_h = {number: sum(waits[: place + 1]) for place, number in enumerate(order)}
    shifts = {
        number: (lambda made, by=(hour - number) * 3_600_000: delay(made, "init_start", by))
        for number, hour in at_h.items()
    }
    return entry(shifts, runs=len(order))


@pytest.mark.parametrize(("order", "waits", "late"), ORDERS["reported"])
def test_runs_made_apart(order: list[int], waits: list[float], late: list[int]) -> None:
    [found] = observed(in_time(order, waits))["inspect.order"]
    assert found.numbers["late"] == late


@pytest.mark.parametrize(("order", "waits"), ORDERS["silent"])
def test_an_order_that_says_nothing(order: list[int], waits: list[float]) -> None:
    assert observed(in_time(order, waits)) == {}
