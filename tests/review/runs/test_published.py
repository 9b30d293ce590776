"""The detectors on the published results: what they find there, and the clean sets in which they find nothing."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

from mlsub.io.data import load_yaml
from mlsub.review.runs import quality as evaluations
from mlsub.review.runs.detect import observe_runs
from mlsub.review.runs.model import Observation
from mlsub.review.runs.pace import measure_pauses
from mlsub.review.runs.quality import chance_of_range
from mlsub.rules.catalogue import catalogue
from mlsub.submission.result import Result
from mlsub.workspace import Context
from tests.gathering import gather
from tools.support.corpus import CORPUS

pytestmark = pytest.mark.skipif(not CORPUS.is_dir(), reason="published results are not there")

GRAPHCORE = "v1.1/Graphcore/results"
#: Rules, the entries that they have findings on, and of each finding the severity and some of its numbers.
EXPECTED = load_yaml(Path(__file__).with_name("published.yaml"))


@pytest.fixture(scope="module")
def entries() -> Sequence[Result]:
    """All published entries, read once."""
    return gather([str(CORPUS)], Context(jobs=1))[0]


@pytest.fixture(scope="module")
def found(entries: Sequence[Result]) -> dict[str, dict[str, list[Observation]]]:
    """What is found, by rule and entry."""
    by_rule: dict[str, dict[str, list[Observation]]] = defaultdict(lambda: defaultdict(list))
    for path, observations in observe_runs(entries).items():
        for observation in observations:
            by_rule[observation.finding.rule][path].append(observation)
    return by_rule


#: What is compared of an observation, by rule.
NUMBERS: dict[str, Callable[[dict[str, Any]], list[Any]]] = {
    "inspect.stretched": lambda of: [f"{of[name]:.6f}" for name in ("factor", "minutes_undone", "minutes")],
    "inspect.overlap": lambda of: [of["pairs"], of["pairs_unstretched"]],
    "inspect.order": lambda of: of["late"],
}


@pytest.mark.slow
@pytest.mark.parametrize("rule", NUMBERS)
def test_the_numbers_of_every_published_entry_with_a_finding(
    found: dict[str, dict[str, list[Observation]]], rule: str
) -> None:
    told = {path: [of[0].finding.severity, NUMBERS[rule](of[0].numbers)] for path, of in found[rule].items() if of}
    assert told == EXPECTED[rule]


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
    shares = [max((share for share, _ in measure_pauses(entry).values()), default=0.0) for entry in entries]
    assert sum(share < 0.04 for share in shares) / len(shares) > 0.95


def test_the_room_between_published_results_and_thresholds(
    entries: Sequence[Result], monkeypatch: pytest.MonkeyPatch
) -> None:
    """What thresholds.yaml says of spread: how many entries can be tested, and how near they come."""
    chances: list[float] = []

    def noted(values: Sequence[float], runs: int, width: float) -> float:
        chances.append(chance_of_range(values, runs, width))
        return chances[-1]

    monkeypatch.setattr(evaluations, "chance_of_range", noted)
    assert not [observation for entry in entries for observation in evaluations.find_small_spread(entry)]
    assert (len(chances), round(min(chances), 4)) == (67, 0.0089)
