"""mlsub and the official summarizer give one score to entries whose times, runs and factors are odd."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from mlsub import score as judged
from mlsub.convergence.curves import plan_of
from mlsub.rounds import get_round
from mlsub.score import olympic_mean
from tools.oracle.compare import assert_none
from tools.oracle.generate import Combination
from tools.oracle.log import Log, generated
from tools.oracle.packages import CLOSED, build, empty_entry, ours, runs_of
from tools.oracle.scores import Both, compared, lasting, tried
from tools.support.effort import effort
from tools.support.power_folders import node_log

SEED = "ci-1"
SCORES = effort(40, 400, 12)
RESNET = Combination("3.0", "resnet", "open", None)
OC20 = Combination("hpc-3.0", "oc20", "open", None)
NODES, PER_NODE = "number_of_nodes", "accelerators_per_node"


@pytest.mark.slow
def test_odd_entries_get_one_score(tmp_path: Path) -> None:
    assert_none(tried(SEED, 7 * number, tmp_path / str(number)).problem for number in range(SCORES))


def test_a_mean_that_is_off_by_1e_7_is_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def off(minutes: list[float | None], dropped: int) -> float | None:
        mean = olympic_mean(minutes, dropped)
        return None if mean is None else mean * (1 + 1e-7)

    monkeypatch.setattr(judged, "olympic_mean", off)
    assert any(tried(SEED, number, tmp_path / str(number)).problem for number in range(10))


def entry_of(combination: Combination, above: Path, factor: bytes | None = None, *, weak: bool = False) -> Path:
    """An entry of runs that take 10, 11, 12, ... minutes."""
    folder = empty_entry(above, combination, weak=weak)
    for run in range(runs_of(combination)):
        (folder / f"result_{run}.txt").write_bytes(lasting(generated(combination), 10 + run).content())
    if factor is not None:
        (folder / "scaling.json").write_bytes(factor)
    return folder


def asked(combination: Combination, above: Path, factor: bytes | None = None, *, weak: bool = False) -> Both:
    folder = entry_of(combination, above, factor, weak=weak)
    return compared("by hand", folder, combination, weak=weak)


@pytest.mark.parametrize(
    ("combination", "weak", "minutes"), [(RESNET, False, 18.0), (OC20, False, 18.0), (OC20, True, 14.0)], ids=str
)
def test_weak_scaling_is_not_scaled(combination: Combination, weak: bool, minutes: float, tmp_path: Path) -> None:
    both = asked(combination, tmp_path, b'{"scaling_factor": 1.5}', weak=weak)
    assert (both.ours.score.published, both.theirs.minutes) == (minutes, minutes)
    assert both.ours.score.scaling_file is not weak


def test_a_start_at_infinity_is_the_fastest_run_there_and_the_slowest_here(tmp_path: Path) -> None:
    folder = entry_of(RESNET, tmp_path)
    log = generated(RESNET)
    (folder / "result_4.txt").write_bytes(log.altered(log.first("run_start"), time_ms=float("inf")).content())
    both = compared("by hand", folder, RESNET, weak=False)
    assert (both.theirs.minutes, both.ours.score.published, both.problem) == (11.0, 12.0, None)


def _scaled(log: Log, *stated: tuple[str, Any]) -> Log:
    """The log with records of its scale at the beginning; Open logs need none."""
    return log.without(NODES, PER_NODE).inserted(0, *(log.like(0, key=key, value=value) for key, value in stated))


def weak_of(above: Path, *scales: tuple[tuple[str, Any], ...]) -> Path:
    """An entry of weak scaling whose first runs state these scales, and the others that of the last."""
    folder = entry_of(OC20, above, weak=True)
    for run, file in enumerate(sorted(folder.glob("result_*.txt"))):
        stated = scales[min(run, len(scales) - 1)]
        file.write_bytes(_scaled(lasting(generated(OC20), 10 + run), *stated).content())
    return folder


@pytest.mark.parametrize(
    ("stated", "scale"),
    [
        (((NODES, 4), (PER_NODE, 8)), 32),
        (((PER_NODE, 0), (NODES, 4)), 4),
        (((NODES, 2.5), (PER_NODE, "8")), 16),
        (((NODES, True), (PER_NODE, 1)), 1),
        (((NODES, 10**6), (PER_NODE, 8)), 8 * 10**6),
        # What was stated last when both had been; null is nothing.
        (((NODES, 4), (NODES, 5), (PER_NODE, 8), (NODES, 6)), 40),
        (((NODES, None), (PER_NODE, 8), (NODES, 3), (PER_NODE, 2)), 24),
        (((NODES, 4), (NODES, None), (PER_NODE, 8)), None),
        (((NODES, 4),), None),
        (((NODES, "four"), (PER_NODE, 8)), None),
        (((NODES, float("nan")), (PER_NODE, 8)), None),
        ((), None),
    ],
)
def test_the_instance_scale_is_the_official_one(
    stated: tuple[tuple[str, Any], ...], scale: int | None, tmp_path: Path
) -> None:
    folder = weak_of(tmp_path, stated)
    both = compared("by hand", folder, OC20, weak=True)
    assert (both.ours.score.instance_scale, both.theirs.scale, both.problem) == (scale, scale, None)


@pytest.mark.parametrize("nodes", [8, float("inf"), [4], {"n": 4}], ids=str)
def test_runs_of_different_scale_end_the_official_summarizer(nodes: Any, tmp_path: Path) -> None:
    folder = weak_of(tmp_path, ((NODES, 4), (PER_NODE, 8)), ((NODES, nodes), (PER_NODE, 8)))
    both = compared("by hand", folder, OC20, weak=True)
    assert both.theirs.crash is not None
    assert (both.rejecting, both.problem) == (frozenset({"official.crash"}), None)
    assert both.ours.score.instance_scale is None


def test_a_run_without_a_scale_is_a_model_all_the_same(tmp_path: Path) -> None:
    folder = weak_of(tmp_path, (), ((NODES, 4), (PER_NODE, 8)))
    both = compared("by hand", folder, OC20, weak=True)
    assert (both.ours.score.instance_scale, both.theirs.scale, both.problem) == (32, 32, None)


def test_a_noncompliant_run_has_no_scale(tmp_path: Path) -> None:
    folder = weak_of(tmp_path, ((NODES, 4), (PER_NODE, 8)))
    odd = _scaled(lasting(generated(OC20), 90), (NODES, 64), (PER_NODE, 8))
    (folder / "result_99.txt").write_bytes(odd.without("run_start").content())
    both = compared("by hand", folder, OC20, weak=True)
    assert (both.ours.score.instance_scale, both.theirs.scale, both.problem) == (32, 32, None)
    assert both.ours.score.published == both.theirs.minutes == 14.0


def test_strong_scaling_has_no_scale(tmp_path: Path) -> None:
    both = asked(OC20, tmp_path)
    assert (both.ours.score.instance_scale, both.problem) == (None, None)


def test_the_energy_of_weak_scaling_drops_the_least_alone(tmp_path: Path) -> None:
    folder = weak_of(tmp_path, ((NODES, 4), (PER_NODE, 8)))
    (folder / "scaling.json").write_text('{"scaling_factor": 2}')
    for run, watts in enumerate((300, 100, 900, 250, 500)):
        measured = folder / "power" / f"result_{run}"
        measured.mkdir(parents=True)
        (measured / "node_0.txt").write_text(node_log([watts] * 60))
    both = compared("by hand", folder, OC20, weak=True)
    assert both.ours.energy is not None and both.theirs.energy is not None
    assert both.ours.energy.unscaled == both.ours.energy.scaled == pytest.approx(both.theirs.energy, rel=1e-12)
    joules = sorted(each for each in both.ours.energy.runs if each is not None)
    assert both.theirs.energy == pytest.approx(sum(joules[1:]) / 4, rel=1e-12)


@pytest.mark.parametrize("scaling", ["strong", "weak"])
def test_only_strong_scaling_is_said_to_be_scaled(scaling: str, tmp_path: Path) -> None:
    package = build(tmp_path, OC20._replace(division="closed"))
    size = CLOSED[OC20.round][OC20.benchmark]
    plan = plan_of(get_round("hpc", "3.0"), OC20.benchmark, size)
    assert plan.mean is not None and plan.minimum is not None
    for file in package.logs:
        slow = file.read_text()
        assert '"epoch_num": 1000000000' in slow
        near = f'"epoch_num": {(plan.mean + plan.minimum) / 2}'
        file.write_text(re.sub(r'"epoch_num": \d+000000000', near, slow))
    package.entry.parent.rename(package.system / scaling)
    report = ours(package)
    (entry,) = report.entries
    assert (entry.rcp.verdict, entry.rcp.scaling > 1) == ("pass", True)
    assert (entry.score.expected_scaling > 1) is (scaling == "strong")
    assert ("rcp.normalised" in {f.rule for f in report.findings}) is (scaling == "strong")
