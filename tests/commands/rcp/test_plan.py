"""``mlsub rcp plan``: the chance of passing, the runs that may fail, and what is asked in evaluations."""

from __future__ import annotations

import xml.etree.ElementTree as ET
from pathlib import Path
from statistics import NormalDist

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mlsub.commands.rcp.run import plan
from mlsub.convergence import cut_of
from mlsub.convergence.chance import chance_like
from mlsub.review.cadence import evaluations_asked
from mlsub.rounds import get_round
from tools.support.runner import answer_schema, run


def test_the_document_has_runs_chance_and_evaluations() -> None:
    found = run("rcp", "plan", "llama2_70b_lora", "--round", "5.1", "--batch-size", "20", "--format", "json").document
    answer_schema("rcp plan").validate(found)
    assert (found["schema"], found["runs"], found["may_fail"]) == (3, 10, 1)
    # Every 384 samples, rounded up to whole batches; the first after floor(0.125 * 20 + 2) + 1 of them.
    assert (found["first_evaluation"], found["evaluation_interval"]) == (2000, 400)
    assert 0.9 < found["chance"] < 1


def test_a_mean_is_so_many_evaluations() -> None:
    planned = plan(get_round("training", "5.1"), "llama31_8b", 64, "published")
    assert [planned.evaluations(samples) for samples in (12_288, 12_288 * 18)] == [1, 18]
    text = run("rcp", "plan", "llama31_8b", "--round", "5.1", "--batch-size", "64").stdout
    assert "226645 samples (18.4 evaluations)" in text and "218922 samples (17.8 evaluations) or more" in text


def test_where_the_rules_count_another_unit_nothing_is_said_of_evaluations() -> None:
    planned = plan(get_round("training", "4.0"), "stable_diffusion", 1024, "published")
    assert planned.plan.unit == "samples"
    assert planned.evaluations(512_000) == 1
    assert planned.evaluations(1024) is None
    assert evaluations_asked("minigo", "training", "1.0", 32) is None
    counted = plan(get_round("hpc", "3.0"), "deepcam", 2048, "published")
    assert (counted.first_evaluation, counted.evaluations(1.0)) == (None, None)
    assert "evaluations" not in run("rcp", "plan", "deepcam", "--usage", "hpc", "--batch-size", "2048").stdout


def test_what_the_round_takes_off_the_limit_is_said() -> None:
    text = run("rcp", "plan", "llama31_405b", "--round", "5.1", "--batch-size", "1152").stdout
    assert "accepted:    an olympic mean of 239264 samples or more" in text
    assert "46080 samples below the limit of the test, which alone accepts 285344 or more" in " ".join(text.split())
    # floor(0.0026 * 1152 + 12) evaluations are skipped.
    assert "the rules ask for one at 276480 samples, then every 18432" in " ".join(text.split())
    assert "mean:        313344 samples (3.0 evaluations), stdev 10642" in text
    shown = " ".join(run("rcp", "show", "llama31_405b", "--round", "5.1").stdout.split())
    assert "accepted from: 46080 samples below the limit of the test: the official checker allows it" in shown
    assert "below the limit of the test" not in run("rcp", "show", "llama31_8b", "--round", "5.1").stdout


def test_where_the_limit_is_the_mean_nothing_is_scaled() -> None:
    text = run("rcp", "plan", "retinanet", "--round", "5.1", "--batch-size", "256").stdout
    assert "accepted:    an olympic mean of 4 epochs (4.0 evaluations) or more" in text
    assert "scaled up" not in text


def test_a_batch_size_without_a_reference_has_no_chance() -> None:
    outcome = run("rcp", "plan", "llama31_8b", "--round", "5.1", "--batch-size", "4096")
    assert (outcome.status, "chance" in outcome.stdout, "runs: " in outcome.stdout) == (1, False, True)


@given(
    mean=st.floats(1, 1e6), spread=st.floats(0.001, 0.3), part=st.floats(-0.2, 0.2), runs=st.sampled_from([5, 10, 40])
)
def test_the_chance_is_about_that_of_the_mean_of_normal_runs(
    mean: float, spread: float, part: float, runs: int
) -> None:
    """An olympic mean spreads a little more than a mean of the same runs, and a little less than one of the kept."""
    name = "unet3d" if runs == 40 else "resnet"
    stdev, limit = spread * mean, mean * (1 - part)
    kept = runs - 2 * cut_of(name)
    chance = chance_like(mean, stdev, limit, runs, name)
    bounds = [NormalDist(mean, stdev / count**0.5).cdf(2 * mean - limit) for count in (runs, kept)]
    assert min(bounds) - 0.03 <= chance <= max(bounds) + 0.03
    assert chance_like(mean, 0, limit, runs, name) == (mean >= limit)


@pytest.mark.parametrize("words", [["show", "resnet"], ["plan", "resnet", "--batch-size", "4000"]])
def test_the_picture_has_the_points_the_curve_and_the_limit(words: list[str], tmp_path: Path) -> None:
    file = tmp_path / "points.svg"
    assert run("rcp", *words, "--round", "4.0", "-o", file).status == 0
    said = {one.text for one in ET.parse(file).iter("{http://www.w3.org/2000/svg}text")}  # noqa: S314
    assert {"reference mean", "stdev", "limit", "pruned", "mean between points", "limit between points"} <= said
    assert ("mean of this batch size" in said) == (words[0] == "plan")
