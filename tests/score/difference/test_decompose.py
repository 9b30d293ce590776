"""A difference in time is shared out exactly."""

from __future__ import annotations

from fractions import Fraction

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mlsub.score.difference.decompose import TimePart, decompose, shares
from mlsub.score.difference.measure import TIMED, MeasuredEntry, Phases
from tests.score.difference.test_words import SIDE
from tests.score.reports import make_result, make_score

RESULT = make_result()

MS = st.floats(0, 1e9, allow_nan=False)
FRACTIONS = st.fractions(min_value=Fraction(1, 1000), max_value=1000, max_denominator=1000)


def of(parts: tuple[TimePart, ...]) -> dict[str, float]:
    return {part.name: part.minutes for part in parts}


def measured(
    *phases: Phases,
    work: tuple[float, ...] | None = None,
    unit: str = "epochs",
    scaling: float = 1.0,
    accelerators: int | None = None,
    samples: float | None = None,
) -> MeasuredEntry:
    """A training whose runs have these phases."""
    convergence = msgspec.structs.replace(SIDE.convergence, unit=unit)
    result = msgspec.structs.replace(RESULT, score=make_score(10.0, scaling), accelerators_count=accelerators)
    return MeasuredEntry(result=result, convergence=convergence, phases=phases, work=work, samples=samples)


@st.composite
def phases(draw: st.DrawFn) -> Phases:
    kind = draw(st.sampled_from(["full", "no evaluation", "undivided"]))
    if kind == "undivided":
        return Phases(undivided=draw(MS), evaluation=draw(st.none() | MS))
    names = set(TIMED) - {"undivided"} - ({"evaluation", "before_evaluation"} if kind == "no evaluation" else set())
    return Phases(**{name: draw(MS) for name in names})


@st.composite
def sides(draw: st.DrawFn) -> MeasuredEntry:
    runs = draw(st.lists(phases(), min_size=1, max_size=4))
    work = draw(st.none() | st.lists(st.floats(0, 1e9), min_size=len(runs), max_size=len(runs)))
    return measured(
        *runs,
        scaling=draw(st.floats(0.5, 2)),
        work=None if work is None else tuple(work),
        unit=draw(st.sampled_from(["epochs", "samples", "steps"])),
        samples=draw(st.none() | st.floats(1, 1e9)),
        accelerators=draw(st.none() | st.integers(1, 10**6)),
    )


def minutes(side: MeasuredEntry) -> Fraction:
    total = sum(Fraction(getattr(run, name) or 0) for run in side.phases for name in TIMED)
    return total / len(side.phases) / 60_000 * Fraction(side.result.score.scaling)


@given(sides(), sides())
def test_the_parts_add_up_to_the_difference(old: MeasuredEntry, new: MeasuredEntry) -> None:
    parts = decompose(old, new)
    difference = minutes(new) - minutes(old)
    size = max(sum(abs(part.minutes) for part in parts), 1e-9)
    assert float(sum(Fraction(part.minutes) for part in parts) - difference) == pytest.approx(0, abs=1e-9 * size)


@given(sides(), sides())
def test_the_way_back_is_the_way_there_with_the_other_sign(old: MeasuredEntry, new: MeasuredEntry) -> None:
    there, back = of(decompose(old, new)), of(decompose(new, old))
    assert there.keys() == back.keys()
    assert all(there[name] == -back[name] for name in there)


@given(sides())
def test_nothing_differs_from_itself(side: MeasuredEntry) -> None:
    assert all(part.minutes == 0 and part.old == part.new for part in decompose(side, side))


@given(st.lists(st.tuples(FRACTIONS, FRACTIONS), min_size=1, max_size=4))
def test_shares_of_a_product_are_exact(pairs: list[tuple[Fraction, Fraction]]) -> None:
    old, new = [pair[0] for pair in pairs], [pair[1] for pair in pairs]
    before = after = Fraction(1)
    for one, other in pairs:
        before, after = before * one, after * other
    found = shares(old, new)
    assert sum(found) == after - before
    # What does not change is no cause, and what shrinks makes nothing longer.
    assert all((share > 0) == (other > one) for share, (one, other) in zip(found, pairs, strict=True) if share)
    assert all(share == 0 for share, (one, other) in zip(found, pairs, strict=True) if one == other)


def test_two_factors_are_shared_at_the_mean_of_the_other() -> None:
    assert shares([Fraction(44), Fraction(10)], [Fraction(38), Fraction(8)]) == [-6 * 9, -2 * 41]


def run(**times: float) -> Phases:
    return Phases(**{"start": 0.0, "training": 0.0, "pauses": 0.0, "end": 0.0} | times)


def test_work_pace_accelerators_phases_and_scaling() -> None:
    old = measured(run(training=600_000.0, end=60_000.0), work=(10.0,), accelerators=8)
    new = measured(run(training=240_000.0, end=60_000.0), work=(8.0,), accelerators=16, scaling=1.5)
    found = {part.name: part for part in decompose(old, new)}
    assert list(found) == ["start", "work", "pace", "accelerators", "pauses", "end", "scaling"]
    assert (found["work"].old, found["work"].new, found["work"].unit) == (10, 8, "epochs")
    assert (found["pace"].old, found["pace"].new, found["pace"].unit) == (480, 480, "accelerator-s per epoch")
    assert found["pace"].minutes == 0
    assert (found["accelerators"].old, found["accelerators"].new) == (8, 16)
    # 10 epochs of 1 min become 8 of half a minute: 2 epochs fewer at 0.75 min, and 9 epochs at half a minute less;
    # both at the mean scaling of 1.25.
    assert found["work"].minutes == pytest.approx(-2 * 0.75 * 1.25)
    assert found["accelerators"].minutes == pytest.approx(-9 * 0.5 * 1.25)
    assert found["scaling"].minutes == pytest.approx(0.5 * (11 + 5) / 2)


def test_without_progress_training_is_one_part() -> None:
    for work in (None, (0.0,), (1.0, 2.0)):
        old = measured(run(training=60_000.0), work=work)
        assert of(decompose(old, measured(run(training=120_000.0), work=(1.0,))))["training"] == 1


def test_units_that_differ_meet_in_samples_or_not_at_all() -> None:
    old = measured(run(training=60_000.0), work=(2.0,), unit="epochs", samples=100)
    new = measured(run(training=60_000.0), work=(400.0,), unit="samples", samples=1)
    work = decompose(old, new)[1]
    assert (work.name, work.old, work.new, work.unit) == ("work", 200, 400, "samples")
    steps = measured(*new.phases, work=(7.0,), unit="steps")
    assert "work" not in of(decompose(old, steps))


def test_counts_that_lie_far_apart_are_not_of_one_unit() -> None:
    run = Phases(start=0.0, training=60_000.0, pauses=0.0, end=0.0)
    epochs, samples = (measured(run, work=(work,), unit="samples", samples=1.0) for work in (1.0, 2.5e6))
    assert "work" not in of(decompose(epochs, samples))
    near = measured(run, work=(5e4,), unit="samples", samples=1.0)
    assert "work" in of(decompose(near, samples))


def test_who_logs_no_evaluation_is_compared_by_what_both_tell() -> None:
    old = measured(run(training=60_000.0, before_evaluation=6_000.0, evaluation=54_000.0))
    new = measured(run(training=90_000.0))
    assert of(decompose(old, new)) == {"start": 0, "inside": -0.5, "end": 0}
    undivided = measured(Phases(undivided=180_000.0))
    assert of(decompose(old, undivided)) == {"run": 1}
