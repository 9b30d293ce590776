"""Times multiplied after the runs: found where they are, and nowhere else."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mlsub.commands.audit.facts import edit_factor, lengths_of
from tests.review.folding import read_run


def stretched(factor: Fraction, durations: list[int]) -> list[tuple[float, float]]:
    """Runs whose stop was moved to a multiple of what they took, in whole ms."""
    return [(round(taken * factor), taken) for taken in durations]


@given(
    st.integers(1020, 1500),
    st.lists(st.integers(400_000, 4_000_000), min_size=3, max_size=10).filter(
        lambda all_: max(all_) - min(all_) > 1000
    ),
)
def test_a_factor_is_found_as_it_was(thousandths: int, durations: list[int]) -> None:
    assert edit_factor(stretched(Fraction(thousandths, 1000), durations)) == Fraction(thousandths, 1000)


def test_a_factor_of_more_digits() -> None:
    assert edit_factor(stretched(Fraction("1.02265"), [1_900_000, 2_000_000, 2_100_000])) == Fraction("1.02265")


CLEAN = {
    "no silence": [(600_003, 600_000)] * 5,
    "a constant silence": [(660_000 + n * 7_000, 600_000 + n * 7_000) for n in range(5)],
    "two runs": stretched(Fraction("1.1"), [600_000, 700_000]),
    "one run that is not": [
        *stretched(Fraction("1.1"), [600_000] * 4),
        (671_000, 600_000),
    ],
    "a ratio of a rounding": stretched(Fraction("1.001"), [6_000_000, 7_000_000, 8_000_000]),
    "nothing before the stop": [(600_000, 0)] * 5,
    "none": [],
}


@pytest.mark.parametrize("name", CLEAN)
def test_what_was_not_edited(name: str) -> None:
    assert edit_factor(CLEAN[name]) is None


def line(key: str, time_ms: int) -> str:
    return f':::MLLOG {{"time_ms": {time_ms}, "key": "{key}", "value": null, "event_type": "", "metadata": {{}}}}\n'


def test_the_end_of_a_run_is_read_from_its_log(tmp_path: Path) -> None:
    file = tmp_path / "result_0.txt"
    events = [("init_start", 1), ("run_start", 10), ("eval_accuracy", 90), ("train_samples", 100), ("run_stop", 200)]
    file.write_text("".join(line(*event) for event in events) + line("late", 500))
    assert lengths_of(read_run(file)) == (190, 90)
    file.write_text("".join(line(*event) for event in events[:-1]))
    assert lengths_of(read_run(file)) == (0, 0)
