"""The detectors on the published results: what they find there, and the clean sets in which they find nothing."""

from __future__ import annotations

import statistics
from collections import defaultdict
from collections.abc import Sequence

import pytest

from mlsub.review.runs import quality as evaluations
from mlsub.review.runs.detect import observe_runs
from mlsub.review.runs.model import Observation
from mlsub.review.runs.numbers import ratio_of
from mlsub.review.runs.pace import pauses_of
from mlsub.review.runs.quality import chance_of_range
from mlsub.rules.catalogue import catalogue
from mlsub.submission.result import Result
from mlsub.workspace import Settings
from tests.gathering import gather
from tools.support.corpus import CORPUS

pytestmark = pytest.mark.skipif(not CORPUS.is_dir(), reason="published results are not there")

GRAPHCORE = "v1.1/Graphcore/results"


@pytest.fixture(scope="module")
def entries() -> Sequence[Result]:
    """All published entries, read once."""
    return gather([str(CORPUS)], Settings(jobs=1))[0]


@pytest.fixture(scope="module")
def found(entries: Sequence[Result]) -> dict[str, dict[str, list[Observation]]]:
    """What is found, by rule and entry."""
    by_rule: dict[str, dict[str, list[Observation]]] = defaultdict(lambda: defaultdict(list))
    for path, observations in observe_runs(entries).items():
        for observation in observations:
            by_rule[observation.finding.rule][path].append(observation)
    return by_rule


@pytest.mark.slow
def test_two_sets_are_stretched_and_no_other(found: dict[str, dict[str, list[Observation]]]) -> None:
    stretched = {path: of[0].numbers for path, of in found["inspect.stretched"].items()}
    told = {path: (f"{n['factor']:.6f}", f"{n['minutes_undone']:.6f}") for path, n in stretched.items()}
    assert told == {
        f"{GRAPHCORE}/ipu-pod16-POPART-closed/bert": ("1.098000", "29.778467"),
        f"{GRAPHCORE}/ipu-pod64-POPART-closed/bert": ("1.118000", "9.448748"),
    }
    assert [f"{n['minutes']:.6f}" for n in stretched.values()] == ["32.696756", "10.563702"]


def test_overlaps_of_runs_one_after_the_other(found: dict[str, dict[str, list[Observation]]]) -> None:
    numbers = {path: of[0].numbers for path, of in found["inspect.overlap"].items() if of}
    assert {path: (n["pairs"], n["pairs_unstretched"]) for path, n in numbers.items()} == {
        f"{GRAPHCORE}/ipu-pod16-POPART-closed/bert": (8, 0),
        "v2.1/Intel/results/4-nodes-SPR-pytorch/dlrm": (1, 1),
    }


def test_runs_made_apart(found: dict[str, dict[str, list[Observation]]]) -> None:
    late = {path.replace("/results/", "/"): of[0].numbers["late"] for path, of in found["inspect.order"].items() if of}
    assert late == {
        "hpc-v3.0/Clemson/18xR750-2xA100-PCIe-80GB/strong/openfold": [1],
        "v1.0/Google/tpu-v4-256-TF/dlrm": [1],
        "v1.0/Google/tpu-v4-4096-TF/resnet": [3],
        "v1.0/Habana/SYS-420GH-TNGR/bert": [0, 9, 5],
        "v2.0/Graphcore/ipu-pod16-POPART-closed/bert": [7],
        "v5.0/Google/cloud-tpu-trillium-256-maxdiffusion/stable_diffusion": [3, 9],
        "v5.1/AMD/MI300X_EPYC_9575F_pytorch_llama2_70b/llama2_70b_lora": [7],
        "v5.1/AMD/MI350X_EPYC_9575F_pytorch/llama2_70b_lora": [0, 1],
    }


def test_a_day_between_consecutive_runs_is_a_warning(found: dict[str, dict[str, list[Observation]]]) -> None:
    told = [
        path.replace("/results/", "/")
        for path, of in found["inspect.order"].items()
        if of and of[0].finding.severity == "warning"
    ]
    assert sorted(told) == [
        "hpc-v3.0/Clemson/18xR750-2xA100-PCIe-80GB/strong/openfold",
        "v1.0/Habana/SYS-420GH-TNGR/bert",
        "v5.1/AMD/MI300X_EPYC_9575F_pytorch_llama2_70b/llama2_70b_lora",
        "v5.1/AMD/MI350X_EPYC_9575F_pytorch/llama2_70b_lora",
    ]


def test_stated_lengths_that_disagree(found: dict[str, dict[str, list[Observation]]]) -> None:
    told = {
        path.replace("/Graphcore/results/ipu-", " "): (of[0].numbers["runs"], of[0].numbers["off_ms"].values())
        for path, of in found["inspect.stated-time"].items()
    }
    assert {path: (runs, round(max(map(abs, off)), 1)) for path, (runs, off) in told.items()} == {
        "v1.1 pod128-POPART-closed/bert": (6, 63.4),
        "v1.1 pod128-POPART-open/bert": (5, 29.5),
        "v2.0 pod128-POPART-closed/bert": (1, 36.1),
        "v2.0 pod256-POPART-closed/bert": (2, 33.1),
        "v2.0 pod64-POPART-closed/bert": (1, 32.4),
    }


def test_the_target_reached_an_evaluation_earlier(found: dict[str, dict[str, list[Observation]]]) -> None:
    runs = {path: list(of[0].numbers["runs"]) for path, of in found["inspect.target-earlier"].items() if "v2.0" in path}
    assert runs == {
        "v2.0/Graphcore/results/ipu-pod128-TF1-closed/resnet": ["result_4.txt"],
        "v2.0/Graphcore/results/ipu-pod256-TF1-closed/resnet": ["result_3.txt", "result_4.txt"],
    }


def test_a_cold_first_run(found: dict[str, dict[str, list[Observation]]]) -> None:
    path = f"{GRAPHCORE}/ipu-pod64-POPART-open/bert"
    assert found["inspect.silent-gap"][path][0].numbers["gap_ms"] == pytest.approx(143_900, abs=100)
    assert found["inspect.long-init"][path][0].numbers["init_ms"] == pytest.approx(1_368_700, abs=2_000)
    assert path in found["inspect.slow-first-run"]


def test_what_the_resnet_gain_is_made_of(found: dict[str, dict[str, list[Observation]]]) -> None:
    [observation] = found["inspect.changed"][f"{GRAPHCORE}/ipu-pod16-TF1/resnet"]
    assert str(observation.finding.actual).startswith(
        "since v1.0/Graphcore/results/ipu-pod16-TF1/resnet: 37.115211 to 28.334533 minutes (-23.66%), "
        "global_batch_size 1920 to 3200, gradient_accumulation_steps 6 to 10, opt_learning_rate_warmup_epochs 5 to 2, "
        'opt_name "sgd" to "lars", opt_weight_decay 2.5e-05 to 5e-05, last epoch_num 44 to 38, '
        "pause from block_stop to block_start 97.7 s to 0.0 s"
    )


@pytest.mark.parametrize("rule", [rule for rule in catalogue() if rule.startswith("inspect.")])
def test_clean_published_sets_are_left_alone(
    entries: Sequence[Result], found: dict[str, dict[str, list[Observation]]], rule: str
) -> None:
    """Sets that were looked at by hand and have nothing of the kind."""
    for clean in (
        "v1.0/Inspur/results/nf5688m6_mxnet/resnet",
        "v2.0/MosaicML/results/8xA100_80GB-baseline/resnet",
        "v5.1/MiTAC/results/8xMI325X_2xEPYC_9755/llama2_70b_lora",
    ):
        assert clean in {entry.path for entry in entries}
        assert clean not in found[rule]


def test_most_published_entries_have_no_long_pause(entries: Sequence[Result]) -> None:
    """What thresholds.yaml says of pauses."""
    shares = [max((share for share, _ in pauses_of(entry).values()), default=0.0) for entry in entries]
    assert sum(share < 0.04 for share in shares) / len(shares) > 0.95


def test_the_room_between_published_results_and_thresholds(
    entries: Sequence[Result], monkeypatch: pytest.MonkeyPatch
) -> None:
    """What thresholds.yaml says of spread and throughput: how many entries can be tested, and how near they come."""
    chances: list[float] = []

    def noted(values: Sequence[float], runs: int, width: float) -> float:
        chances.append(chance_of_range(values, runs, width))
        return chances[-1]

    monkeypatch.setattr(evaluations, "chance_of_range", noted)
    assert not [observation for entry in entries for observation in evaluations.find_small_spread(entry)]
    assert (len(chances), round(min(chances), 4)) == (67, 0.0089)
    ratios = [[ratio for log in entry.logs if (ratio := ratio_of(log)) is not None] for entry in entries]
    medians = [statistics.median(of) for of in ratios if of]
    assert (len(medians), round(min(medians), 4), round(max(medians), 4)) == (55, 1.0025, 1.2218)
