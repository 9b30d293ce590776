"""How near the limit an entry is, and the chance that further runs pass: by hand, by simulation, by what must hold."""

from __future__ import annotations

import math
from random import Random
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mlsub.convergence import t_distribution
from mlsub.convergence.chance import LEAST_RUNS, Bootstrap, chance_of, completion_of
from mlsub.convergence.curves import plan_of
from mlsub.convergence.margin import benchmark_tested, margin_of, why_untested
from mlsub.rounds import get_round
from mlsub.submission.report import EntryResult, RcpResult
from tests.score.reports import make_entry, make_log, make_report, make_score

SMALL = Bootstrap(resamples=800, worlds=400)
#: ResNet in v2.1 at batch size 3264: mean 35.1538, stdev 0.5329, accepted from 34.5526.
ROUND = get_round("training", "2.1")
REFERENCE = {"reference_mean": 35.15, "reference_stdev": 0.53, "reference_runs": 15, "minimum": 34.5}


def entry(points: tuple[float | None, ...], runs: int | None = None, **rcp: Any) -> EntryResult:
    kept = sorted(point for point in points if point is not None)[1:]
    kept = kept[: len(points) - 2]
    mean = math.fsum(kept) / len(kept) if kept else None
    usual: dict[str, Any] = {"verdict": "pass", "how": "exact", "unit": "epochs", "batch_size": 3264, "mean": mean}
    return make_entry(
        path="results/rack1/resnet",
        benchmark="resnet",
        runs=len(points) if runs is None else runs,
        rcp=RcpResult(points=points, **{**usual, **REFERENCE, **rcp}),
        score=make_score(20.0, 1.05, 1.01),
    )


def test_the_distance_to_the_limit_by_hand() -> None:
    found = margin_of(entry((35, 36, 37, 35, 38)), "resnet", ROUND, SMALL)
    assert (found.verdict, found.stands, found.olympic) == ("pass", True, True)
    assert (found.mean, found.limit) == (36.0, 34.5)
    assert (found.distance, found.percent) == (1.5, pytest.approx(100 * 1.5 / 34.5))
    assert (found.runs, found.needed, found.converged) == (5, 5, 5)
    assert (found.unscaled, found.published, found.expected) == (20.0, 21.0, 20.2)
    assert (found.scaling, found.expected_scaling) == (1.05, 1.01)
    assert found.chance is not None and found.chance.runs == 5
    assert found.completion is None and found.notes == ()


def test_an_entry_below_the_limit_does_not_stand() -> None:
    found = margin_of(entry((34, 33, 34, 35, 34), verdict="fail"), "resnet", ROUND, SMALL)
    assert (found.verdict, found.stands, found.distance) == ("fail", False, -0.5)


def test_fewer_runs_than_an_entry_has_leave_the_verdict_open() -> None:
    found = margin_of(entry((35, 36, 37), mean=36.0), "resnet", ROUND, SMALL)
    assert (found.verdict, found.stands, found.runs, found.needed) == ("open", True, 3, 5)
    assert found.completion is not None and 0.5 < found.completion < 1
    assert "3 of 5 runs are present" in found.notes[0]
    below = margin_of(entry((33, 34, 34), verdict="fail"), "resnet", ROUND, SMALL)
    assert (below.verdict, below.stands) == ("open", False)
    assert margin_of(entry((34.5, 34.5, 34.5)), "resnet", ROUND, SMALL).stands


def test_two_runs_have_a_plain_mean_and_the_reference_of_their_batch_size() -> None:
    ended: dict[str, Any] = {"verdict": "fail", "how": "insufficient-convergence", "mean": None}
    bare = dict.fromkeys(REFERENCE)
    found = margin_of(entry((35.0, 36.0), **ended, **bare), "resnet", ROUND, SMALL)
    plan = plan_of(ROUND, "resnet", 3264)
    assert (found.verdict, found.mean, found.olympic) == ("open", 35.5, False)
    assert (found.limit, found.reference_mean, found.reference_stdev) == (plan.minimum, plan.mean, plan.stdev)
    assert found.distance == pytest.approx(35.5 - (plan.minimum or 0))
    assert found.chance is None
    assert any(f"{LEAST_RUNS} or more runs have to converge" in note for note in found.notes)


def test_more_failures_than_are_forgiven_are_certain_even_early() -> None:
    ended: dict[str, Any] = {"verdict": "fail", "how": "insufficient-convergence", "mean": None}
    found = margin_of(entry((None, None, 36.0), **ended), "resnet", ROUND, SMALL)
    assert (found.verdict, found.mean) == ("fail", None)
    assert "2 runs did not converge; 1 may" in found.notes
    early = margin_of(entry((None, 35.0, 36.0), **ended), "resnet", ROUND, SMALL)
    assert early.verdict == "open"


@pytest.mark.parametrize(
    ("rcp", "verdict", "note"),
    [
        ({"how": "no-batch-size", "verdict": "fail"}, "fail", "do not agree on batch size"),
        ({"how": "no-point", "verdict": "fail"}, "fail", "does not show where it converged"),
        ({"how": "missing", "verdict": "missing"}, "missing", "no reference point is that large"),
        ({"how": "no-reference", "verdict": "missing"}, "missing", "no reference to compare it with"),
    ],
)
def test_what_has_no_figures_says_why(rcp: dict[str, Any], verdict: str, note: str) -> None:
    bare = dict.fromkeys(REFERENCE)
    bare.update(mean=None, batch_size=None)
    found = margin_of(entry((35.0, 36.0, 37.0), **{**bare, **rcp}), "resnet", ROUND, SMALL)
    assert (found.verdict, found.stands, found.chance, found.distance) == (verdict, False, None, None)
    [words] = found.notes
    assert note in words


@pytest.mark.parametrize("rcp", [{"how": "no-point"}, {"how": "crash"}, {"unit": "samples", "logs_unit": "epochs"}])
def test_points_that_are_not_known_have_no_chance_and_no_note_on_it(rcp: dict[str, Any]) -> None:
    found = margin_of(entry((35.0, 36.0), runs=5, verdict="fail", **rcp), "resnet", ROUND, SMALL)
    assert found.chance is None
    assert not any("chance" in note for note in found.notes)


def test_a_bypass_and_the_other_way_of_counting_are_told() -> None:
    other = RcpResult(verdict="pass", counted="train_samples", mean=3e6)
    found = margin_of(
        entry((30.0,) * 5, verdict="bypassed", bypass="package_checker_params", also=other), "resnet", ROUND, SMALL
    )
    assert found.stands
    assert "package_checker_params turns off the test" in found.notes
    assert "counted by train_samples: pass (the mean is 3000000)" in found.notes
    apart = RcpResult(verdict="fail", counted="epoch_num", unit="samples", logs_unit="epochs")
    told = "counted by epoch_num: fail (not comparable: the logs count epochs, the reference samples)"
    assert told in margin_of(entry((36.0,) * 5, also=apart), "resnet", ROUND, SMALL).notes
    same = RcpResult(verdict="pass", counted="train_samples", mean=36.0)
    assert margin_of(entry((36.0,) * 5, also=same), "resnet", ROUND, SMALL).notes[1:] == ()


def test_points_beyond_any_real_one_cost_the_chance_and_nothing_else() -> None:
    found = margin_of(entry((1e300, 2e300, 36.0, 37.0, 38.0), mean=37.0), "resnet", ROUND, SMALL)
    assert (found.chance, found.mean) == (None, 37.0)
    assert "a convergence point is beyond any real one, so no chance can be computed" in found.notes


@pytest.mark.parametrize(
    ("how", "words"),
    [
        ("open-division", "the Open division has no convergence test"),
        ("round-without-test", "MLPerf Training v2.1 had no convergence test"),
        ("unknown-benchmark", '"resnet" is not a benchmark of MLPerf Training v2.1'),
        ("benchmark-without-test", "resnet is not compared with a reference in any round"),
        ("round-of-your-own", "a round of your own has only the reference points named with --rcp"),
        ("unknown-division", '"closed" is not a division, so it is not known whether it is tested'),
    ],
)
def test_an_entry_that_is_not_tested_says_why(how: str, words: str) -> None:
    assert why_untested(entry((), verdict="not-required", how=how), ROUND) == words


def test_an_entry_without_a_description_says_that() -> None:
    undescribed = msgspec.structs.replace(entry((), verdict="not-required", how="unknown-division"), division=None)
    assert why_untested(undescribed, ROUND) == "no system description names its division"


@pytest.mark.parametrize(
    ("path", "logged", "round_name", "name"),
    [
        *(("rack1/resnet", "bert", "2.1", "resnet"), ("rack1/resnet", "bert", "3.0", "bert")),
        *(("rack1/resnet", "minigo", "3.0", "resnet"), ("rack2/resnet", "bert", "3.0", "resnet")),
    ],
)
def test_from_v30_on_the_logs_name_the_benchmark(path: str, logged: str, round_name: str, name: str) -> None:
    found, log = entry((35,) * 5), make_log(path=f"results/{path}/result_0.txt", benchmark=logged)
    report = make_report(found, logs=(log,), round=round_name)
    assert benchmark_tested(report, found, get_round("training", round_name)) == name


# The chance.


@pytest.mark.parametrize(
    ("points", "few"),
    [((35.0, 35.0, 36.0, 36.0, 36.0), True), ((35.0, 35.0, 35.0, 35.0, None), True), ((35, 36, 37, 35, 35), False)],
)
def test_few_distinct_points_make_the_chance_a_hint(points: tuple[float | None, ...], few: bool) -> None:
    notes = margin_of(entry(points), "resnet", ROUND, SMALL).notes
    assert [note for note in notes if "no more than 2 distinct points" in note] == list(notes[:few])


@pytest.mark.parametrize(("limit", "chance"), [(34.9, 1.0), (35.0, 1.0), (35.1, 0.0)])
def test_identical_runs_are_certain_as_far_as_they_tell_and_say_so(limit: float, chance: float) -> None:
    found = chance_of((35.0,) * 5, limit, 5, "resnet")
    assert found is not None
    assert (found.value, found.low, found.high, found.certain) == (chance, None, None, True)
    told = margin_of(entry((35.0,) * 5, minimum=limit), "resnet", ROUND, SMALL)
    assert told.chance == found
    assert any("all 5 runs converge at the same point" in note for note in told.notes)


def test_with_one_point_and_failures_the_chance_is_that_few_enough_fail() -> None:
    # A share of failures from Beta(1, 3), at most 1 of 10: 3/13 for none, 10 · B(2, 12) / B(1, 3) for one.
    found = chance_of((35.0, 35.0, 35.0, None), 34.0, 10, "resnet")
    assert found is not None and found.low is not None and found.high is not None
    assert found.value == pytest.approx(3 / 13 + 10 * 3 / 156, abs=0.02)
    assert found.low < 0.1 and found.high > 0.9
    below = chance_of((33.0, 33.0, 33.0, None), 34.0, 10, "resnet")
    assert below is not None and below.value == 0


def test_for_many_further_runs_the_chance_is_that_of_students_t() -> None:
    # The mean of 200 runs is nearly that of their distribution, whose place the runs at hand leave uncertain by
    # s/√n · t of 4 degrees.
    points = (98.0, 99.0, 100.0, 101.0, 102.0)
    spread = math.sqrt(2.5)
    for t in (-2.0, -0.5, 0.0, 1.0):
        limit = 100 + t * spread / math.sqrt(5)
        found = chance_of(points, limit, 200, "resnet", Bootstrap(resamples=2000))
        assert found is not None
        assert found.value == pytest.approx(1 - t_distribution(t, 4), abs=0.03)


def test_the_mean_of_few_runs_is_what_the_limit_is_asked_of() -> None:
    """Half of the runs at hand lie on either side, so at the middle the chance is a half."""
    found = chance_of((98.0, 99.0, 101.0, 102.0), 100.0, 10, "resnet")
    assert found is not None and found.low is not None and found.high is not None
    assert found.value == pytest.approx(0.5, abs=0.05)
    assert found.low < 0.1 < 0.9 < found.high


points = st.lists(st.one_of(st.integers(20, 60), st.none()), min_size=1, max_size=12).map(tuple)
enough = points.filter(lambda found: len(found) - found.count(None) >= LEAST_RUNS)


@given(enough, st.integers(0, 30), st.integers(20, 60), st.sampled_from([("resnet", 5), ("bert", 10), ("unet3d", 12)]))
def test_a_chance_is_one_and_does_not_fall_when_the_runs_are_slower(
    found: tuple[float | None, ...], slower: int, limit: float, what: tuple[str, int]
) -> None:
    name, runs = what
    chance = chance_of(found, limit, runs, name, SMALL)
    moved = chance_of(tuple(None if point is None else point + slower for point in found), limit, runs, name, SMALL)
    assert chance is not None and moved is not None
    assert 0 <= chance.value <= 1
    bounds = [bound for bound in (0, chance.low, chance.high, 1) if bound is not None]
    assert bounds == sorted(bounds)
    assert moved.value >= chance.value - 1e-6


@pytest.mark.parametrize("found", [(35,) * (LEAST_RUNS - 1), (35, *(None,) * 9), (None,) * LEAST_RUNS])
def test_fewer_points_than_that_have_no_chance(found: tuple[float | None, ...]) -> None:
    assert chance_of(found, 30, 5, "resnet", SMALL) is None


@given(points, st.integers(20, 60), st.integers(12, 20), st.integers(0, 2**40))
def test_a_completion_is_a_chance_and_has_its_seed(
    found: tuple[float | None, ...], limit: float, needed: int, seed: int
) -> None:
    with_seed = Bootstrap(seed, 300, 10)
    chance = completion_of(found, limit, needed, "bert", with_seed)
    assert chance == completion_of(found, limit, needed, "bert", with_seed)
    assert chance is None or 0 <= chance <= 1
    assert found.count(None) <= 1 or not chance


def test_the_same_seed_gives_the_same_answer_in_any_order_of_the_runs() -> None:
    some = (35.0, 36.0, 33.0, None, 38.0)
    one = chance_of(some, 34.5, 5, "resnet", Bootstrap(7))
    assert one == chance_of(some[::-1], 34.5, 5, "resnet", Bootstrap(7))
    other = chance_of(some, 34.5, 5, "resnet", Bootstrap(8))
    assert one is not None and other is not None and one != other
    assert one.value == pytest.approx(other.value, abs=0.03)


def test_a_completion_counts_the_runs_at_hand() -> None:
    """Four slow runs are there: a fifth is left out as the fastest or the slowest, whatever it is."""
    assert completion_of((36.0, 37.0, 38.0, 39.0), 36.0, 5, "resnet", SMALL) == 1.0
    fast = completion_of((30.0, 31.0, 32.0, 33.0), 36.0, 5, "resnet", SMALL)
    assert fast == 0.0


@pytest.mark.parametrize(("name", "runs"), [("resnet", 2), ("unet3d", 8)])
def test_too_few_further_runs_have_no_olympic_mean(name: str, runs: int) -> None:
    assert chance_of((35.0, 36.0, 37.0), 30.0, 1, name) is None
    assert chance_of((35.0, 36.0, 37.0), 30.0, runs, name) is None
    assert chance_of((35.0, 36.0, 37.0), 30.0, runs + 1, name, SMALL) is not None


def test_points_that_differ_by_less_than_a_square_can_hold_are_one() -> None:
    found = chance_of((0.0, 1e-200, 0.0), -1.0, 5, "resnet", SMALL)
    assert found is not None and found.value == 1.0


@pytest.mark.parametrize("true", [0.5, 0.9])
def test_the_interval_holds_the_true_chance_about_as_often_as_it_says(true: float) -> None:
    """Entries of 5 runs from a normal distribution; a bootstrap of the values alone holds 0.9 in 6 of 10 cases."""
    rng = Random(1)

    def olympic() -> float:
        return sum(sorted(rng.gauss(100, 5) for _ in range(5))[1:4]) / 3

    limit = sorted(olympic() for _ in range(4000))[int((1 - true) * 4000)]
    held = above = 0
    for seed in range(150):
        found = chance_of([rng.gauss(100, 5) for _ in range(5)], limit, 5, "resnet", Bootstrap(seed, 500, 250))
        assert found is not None and found.low is not None and found.high is not None
        held += found.low <= true <= found.high
        above += found.low > true
    assert held > 0.8 * 150
    assert above < 0.1 * 150
