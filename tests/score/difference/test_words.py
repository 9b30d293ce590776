"""The answer in words."""

from __future__ import annotations

import msgspec
import pytest

from mlsub.io.show import in_digits
from mlsub.score.difference.decompose import TimePart
from mlsub.score.difference.measure import ConvergenceSummary, EntrySide
from mlsub.score.difference.words import answer, part_words, rate, rates

SIDE = EntrySide(
    organisation_name="ACME",
    benchmark_name="resnet",
    benchmark_title="ResNet-50",
    division_name="closed",
    organisation="ACME",
    system="rack1",
    benchmark="resnet",
    division="closed",
    path="results/rack1/resnet",
    usage="training",
    round="1.0",
    official="accepted",
    runs=5,
    counted=3,
    minutes_of="score",
    unscaled=10.0,
    scaling=1.0,
    minutes=10.0,
    expected_scaling=1.0,
    expected=10.0,
    accelerator=None,
    accelerators=None,
    accelerator_minutes=None,
    convergence=ConvergenceSummary(unit="epochs", runs=5, verdict="pass"),
    work=40.0,
    throughput=5.25,
    batch_size=None,
    phases={},
)


def lasting(minutes: float | None, throughput: float | None = 10.5) -> EntrySide:
    return msgspec.structs.replace(SIDE, minutes=minutes, throughput=throughput)


@pytest.mark.parametrize(
    ("part", "words"),
    [
        (TimePart(name="work", old=44, new=38, unit="epochs", minutes=-1), "fewer epochs 44 -> 38"),
        (TimePart(name="work", old=2e6, new=2.5e6, unit="samples", minutes=1), "more samples 2,000,000 -> 2,500,000"),
        (TimePart(name="work", old=3, new=3, unit="steps", minutes=0), "as many steps 3 -> 3"),
        (
            TimePart(name="pace", old=2, new=1, unit="s per epoch", minutes=-1, of="training"),
            "training 100.0 % faster per epoch: 5.25 -> 10.5 samples/s",
        ),
        (
            TimePart(name="pace", old=1, new=2, unit="s per sample", minutes=1, of="run"),
            "the run 50.0 % slower per sample",
        ),
        (
            TimePart(name="pace", old=4, new=2, unit="accelerator-s per step", minutes=1, of="inside"),
            "training, evaluation and pauses 100.0 % faster per step and accelerator",
        ),
        (TimePart(name="pace", old=0, new=2, unit="s per epoch", minutes=1, of="run"), "the run as fast per epoch"),
        (TimePart(name="accelerators", old=16, new=64, unit="accelerators", minutes=-9), "accelerators 16 -> 64"),
        (TimePart(name="scaling", old=1, new=1.098, unit="times", minutes=3), "scaling 1 -> 1.098"),
        (TimePart(name="pauses", old=95, new=5.52, unit="s", minutes=-1.5), "pauses 95.0 s -> 5.5 s"),
    ],
)
def test_parts(part: TimePart, words: str) -> None:
    assert part_words(part, SIDE, lasting(5)) == words


def test_amounts_and_rates() -> None:
    assert [in_digits(value) for value in (0.5, 38, 999.25, 1234.5)] == ["0.5", "38", "999.25", "1,234"]
    assert [rate(value) for value in (0.0123, 5.254, 27049.4)] == ["0.0123", "5.25", "27,049"]


def test_the_largest_parts_come_first_and_small_ones_together() -> None:
    parts = (
        TimePart(name="start", old=0, new=0.06, unit="s", minutes=0.001),
        TimePart(name="pauses", old=10, new=70, unit="s", minutes=1.0),
        TimePart(name="end", old=190, new=9.94, unit="s", minutes=-3.001),
    )
    assert answer(SIDE, lasting(8), parts, None) == (
        "B is 20.0 % shorter (1.25x, 10.0 -> 8.00 min): end of the run 190.0 s -> 9.9 s (-3.00 min), "
        "pauses 10.0 s -> 70.0 s (+1.00 min), all else +0.00 min."
    )


@pytest.mark.parametrize(
    ("one", "other", "words"),
    [
        (2.8216, 2.8167, ["2.822", "2.817"]),
        (2.82161, 2.82158, ["2.82161", "2.82158"]),
        (27049.41, 27049.36, ["27,049.41", "27,049.36"]),
        (99.96, 100.2, ["99.96", "100.2"]),
        (5.25, 10.5, ["5.25", "10.5"]),
        (5.0, 5.0, ["5", "5"]),
    ],
)
def test_rates_have_as_many_digits_as_tell_them_apart(one: float, other: float, words: list[str]) -> None:
    assert rates(one, other) == words


@pytest.mark.parametrize(
    ("minutes", "words"),
    [
        (20.0, "A and B train different benchmarks, ResNet-50 and BERT. They take 10.0 and 20.0 min."),
        (None, "A and B train different benchmarks, ResNet-50 and BERT."),
    ],
)
def test_times_of_two_benchmarks_are_not_compared(minutes: float | None, words: str) -> None:
    other = msgspec.structs.replace(lasting(minutes), benchmark_name="bert", benchmark_title="BERT")
    assert answer(SIDE, other, (), "they train different benchmarks") == words


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        (10, 10, "B takes as long as A (10.0 -> 10.0 min)."),
        (10, 20, "B is 100.0 % longer (0.50x, 10.0 -> 20.0 min)."),
        (1200, 0.125, "B is 100.0 % shorter (9600.00x, 1200 -> 0.125 min)."),
        (10, 10.01, "B is 0.1 % longer (1.00x, 10.000000 -> 10.010000 min)."),
        (10, -1, "The times are 10.0 -> -1.00 min."),
        (None, 1, "A has no time to compare."),
        (None, None, "A and B have no time to compare."),
    ],
)
def test_times(old: float | None, new: float | None, words: str) -> None:
    assert answer(lasting(old), lasting(new), (), None) == words
