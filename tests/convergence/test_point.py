"""Stable Diffusion converges at the first step that meets FID and CLIP, however they are logged."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mlsub.convergence.verdict import paired_convergence_point, paired_rule
from mlsub.log.run import Evaluation
from mlsub.rounds import get_round

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
