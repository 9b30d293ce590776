"""Times multiplied after the runs; that they are found, and nothing else, is tested in ``tests/review/runs``."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path

import pytest

from mlsub.commands.audit.facts import edit_factor, lengths_of
from tests.review.folding import read_run


@pytest.mark.parametrize(
    ("durations", "factor"),
    [
        ([1_900_000, 2_000_000, 2_100_000], Fraction("1.02265")),
        ([600_000, 700_000], None),
        ([0] * 5, None),
        ([], None),
    ],
)
def test_a_factor_is_found_as_it_was(durations: list[int], factor: Fraction | None) -> None:
    lengths = [(round(taken * (factor or Fraction("1.1"))), taken) for taken in durations]
    assert edit_factor(lengths) == factor


def line(key: str, time_ms: int) -> str:
    return f':::MLLOG {{"time_ms": {time_ms}, "key": "{key}", "value": null, "event_type": "", "metadata": {{}}}}\n'


def test_the_end_of_a_run_is_read_from_its_log(tmp_path: Path) -> None:
    file = tmp_path / "result_0.txt"
    events = [("init_start", 1), ("run_start", 10), ("eval_accuracy", 90), ("train_samples", 100), ("run_stop", 200)]
    file.write_text("".join(line(*event) for event in events) + line("late", 500))
    assert lengths_of(read_run(file)) == (190, 90)
    file.write_text("".join(line(*event) for event in events[:-1]))
    assert lengths_of(read_run(file)) == (0, 0)
