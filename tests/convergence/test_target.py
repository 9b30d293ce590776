"""The target of every benchmark of every round, and what its evaluations tell, one by one or two together."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mlsub.convergence.target import MeasureReader, TargetBand, target_of
from mlsub.convergence.verdict import paired_convergence_point, paired_rule
from mlsub.log.event import Event
from mlsub.log.run import Evaluation
from mlsub.rounds import Round, get_round, known_rounds, usages
from mlsub.rules.constraints import StatedValues

ROUNDS = [get_round(usage, name) for usage in usages() for name in known_rounds(usage)]


@pytest.mark.parametrize("round_", ROUNDS, ids=[round_.title for round_ in ROUNDS])
def test_every_benchmark_has_a_target_with_bounds(round_: Round) -> None:
    for name in round_.benchmarks:
        stated = StatedValues()
        stated.state("global_batch_size", 9000)
        target = target_of(round_, "closed", name, stated)
        if round_.name == "0.6":
            assert target is None
            continue
        assert target is not None and target.words
        assert all(band.low is not None or band.high is not None for band in target.bands)


def test_what_is_not_known_has_no_target() -> None:
    round_ = get_round("training", "1.0")
    assert target_of(round_, None, None, StatedValues()) is None
    assert target_of(round_, "closed", "no-such-benchmark", StatedValues()) is None
    assert target_of(round_, "no-such-division", "resnet", StatedValues()) is None


def test_a_target_that_depends_on_the_batch_size() -> None:
    round_ = get_round("training", "0.7")
    for size, goal in ((8192, 0.706), (512, 0.712), (None, None)):
        stated = StatedValues()
        if size is not None:
            stated.state("global_batch_size", size)
        target = target_of(round_, "closed", "bert", stated)
        assert target is not None and target.bands == (TargetBand(None, goal, 1.0),)


def evaluation(value: Any, **metadata: Any) -> Event:
    return Event(line=1, time_ms=1, key="eval_accuracy", value=value, metadata=metadata)


def measures(round_name: str, benchmark: str) -> MeasureReader:
    target = target_of(get_round("training", round_name), "closed", benchmark, StatedValues())
    assert target is not None
    return MeasureReader(target, StatedValues())


def test_one_measure() -> None:
    reader = measures("1.0", "resnet")
    assert reader.read(evaluation(0.7)).values == {None: 0.7}
    assert not reader.read(evaluation(0.7)).reached
    assert reader.read(evaluation(0.759)).reached
    assert not reader.read(evaluation(1.0)).reached


@pytest.mark.parametrize("value", ["0.9", None, [], {}, True, float("nan"), float("inf"), 10**400])
def test_values_that_are_no_measure(value: Any) -> None:
    assert measures("1.0", "resnet").read(evaluation(value)).values == {}


def test_an_object_of_measures() -> None:
    reader = measures("1.0", "maskrcnn")
    low = reader.read(evaluation({"BBOX": 0.38, "SEGM": 0.3, "other": 1}))
    assert low.values == {"BBOX": 0.38, "SEGM": 0.3} and not low.reached
    assert reader.read(evaluation({"BBOX": 0.377, "SEGM": 0.339})).reached
    assert not reader.read(evaluation({"BBOX": 0.38})).reached
    assert not reader.read(evaluation(0.5)).reached


def test_measures_that_come_one_by_one() -> None:
    reader = measures("4.0", "stable_diffusion")
    assert not reader.read(evaluation(80.0, metric="FID", samples_count=1)).reached
    assert not reader.read(evaluation(0.2, metric="CLIP", samples_count=2)).reached
    both = reader.read(evaluation(80.0, metric="FID", samples_count=2))
    assert both.reached and both.values == {"FID": 80.0}
    for strange in (
        {},
        {"metric": []},
        {"metric": "other", "samples_count": 1},
        {"metric": "FID", "samples_count": []},
    ):
        assert reader.read(evaluation(1.0, **strange)).values == {}


def test_steps_that_are_never_complete_are_let_go() -> None:
    reader = measures("4.0", "stable_diffusion")
    for step in range(10_000):
        reader.read(evaluation(80.0, metric="FID", samples_count=step))
    asked = (evaluation(0.2, metric="CLIP", samples_count=step) for step in (9_999, 9_936, 9_935, 1))
    assert [reader.read(one).reached for one in asked] == [True, True, False, False]


ROUNDS = ("3.1", "4.0", "4.1", "5.0")


def _rule(round_name: str):
    rule = paired_rule(get_round("training", round_name), "stable_diffusion")
    assert rule is not None
    return rule


def _logged(*measures: tuple[int, str, object]) -> list[Evaluation]:
    return [
        Evaluation(line=line, time_ms=float(line), value=value, samples_count=step, metric=metric)
        for line, (step, metric, value) in enumerate(measures)
    ]


@pytest.mark.parametrize(
    ("measures", "point"),
    [
        ([(1, "FID", 80.0), (1, "CLIP", 0.16)], 1),
        ([(1, "FID", 90.0), (1, "CLIP", 0.15)], 1),
        ([(1, "FID", 80.0), (2, "CLIP", 0.16)], None),
        ([(2, "FID", 80.0), (1, "FID", 95.0), (1, "CLIP", 0.2), (2, "CLIP", 0.2)], 2),
        ([(3, "FID", 80.0), (3, "CLIP", 0.2), (2, "FID", 80.0), (2, "CLIP", 0.2)], 2),
        ([(1, "FID", 80.0), (1, "CLIP", 0.1), (2, "FID", 91.0), (2, "CLIP", 0.2)], None),
        ([(1, "FID", "80"), (1, "CLIP", 0.2)], None),
        ([], None),
    ],
)
def test_the_first_step_that_meets_both_counts(measures: list[tuple[int, str, object]], point: int | None) -> None:
    assert paired_convergence_point(_logged(*measures), _rule("5.0")) == point


@given(st.permutations([(1, "FID", 95.0), (1, "CLIP", 0.2), (2, "FID", 85.0), (2, "CLIP", 0.2), (3, "FID", 80.0)]))
def test_the_order_of_the_records_does_not_matter(measures: list[tuple[int, str, object]]) -> None:
    assert paired_convergence_point(_logged(*measures), _rule("4.0")) == 2


def test_other_benchmarks_have_no_measures_to_put_together() -> None:
    assert paired_rule(get_round("training", "5.0"), "bert") is None
