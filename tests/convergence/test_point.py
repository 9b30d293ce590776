"""Stable Diffusion converges at the first step that meets FID and CLIP, however they are logged."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mlsub.convergence.verdict import paired_convergence_point, paired_rule
from mlsub.log.run import Evaluation
from mlsub.rounds import get_round
from tools.oracle.shared import ABSENT, folder, present, recorded_entries
from tools.support.judging import report_on

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


@pytest.mark.skipif(not present(), reason=ABSENT)
def test_published_runs_converge_where_the_official_tool_says() -> None:
    """The recorded mean of an entry is that of its runs without the fastest and the slowest."""
    compared = 0
    for round_name in ROUNDS:
        for path, entry in recorded_entries(round_name).items():
            answer = (entry.get("rcp") or {}).get("epochs") or {}
            if not path.endswith("/stable_diffusion") or not answer.get("mean"):
                continue
            points = sorted(_points(folder(round_name) / path, round_name))
            kept = points[1:-1]
            assert sum(kept) / len(kept) == pytest.approx(answer["mean"]), path
            compared += 1
    assert compared >= 5


def _points(entry: Path, round_name: str) -> list[float]:
    found = []
    for log in sorted(entry.glob("result_*.txt")):
        run = report_on(log, "training", round_name).run
        point = paired_convergence_point(run.evaluations, _rule(round_name))
        found.append(1e9 if point is None or run.status != "success" else point)
    return found
