"""How far a run had come at each evaluation, and whether one stands at its end."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mlsub.io.data import load_yaml
from mlsub.review.run import audit_ending, audit_progress
from tests.review.folding import events, fold, make_run

TABLES = load_yaml(Path(__file__).with_name("progress.yaml"))
SUCCESS = {"status": "success"}


@pytest.mark.parametrize(("benchmark", "places", "actual"), TABLES["backwards"])
def test_evaluations_never_go_backwards(benchmark: str, places: list[Any], actual: str | None) -> None:
    findings = list(audit_progress(make_run(benchmark, places), "log", "training", "4.1"))
    assert [(f.rule, f.actual) for f in findings] == ([("run.progress-backwards", actual)] if actual else [])


@given(places=st.lists(st.integers(0, 5), max_size=8))
def test_each_step_backwards_is_seen(places: list[int]) -> None:
    backwards = [line for line, (a, b) in enumerate(pairwise(places), 1) if b < a]
    findings = list(audit_progress(make_run("rnnt", places), "log", "training", "1.0"))
    assert [f.line for f in findings] == [3 + 2 * (line + 1) for line in backwards[:1]]


@pytest.mark.parametrize(
    ("samples", "steps", "batch", "broken"),
    [
        (512_000, 500, 1024, False),
        (512_000, 1000, 1024, True),
        (512_100, 500, 1024, False),
        (121_266, 842, 144, False),
        (512_000, None, 1024, False),
        (None, 500, 1024, False),
        (512_000, 500, None, False),
        (512_000, 500, "1024", False),
        (512_000, 10**400, 1024, False),
    ],
)
def test_samples_are_steps_times_the_batch_size(samples: Any, steps: Any, batch: Any, broken: bool) -> None:
    records = [("global_batch_size", batch, {}), ("eval_accuracy", 0.1, {"samples_count": samples, "step_num": steps})]
    findings = list(audit_progress(fold(events(records)), "log", "training", "4.1"))
    assert [(f.rule, f.line) for f in findings] == ([("run.progress-steps", 2)] if broken else [])


@pytest.mark.parametrize(
    ("places", "values", "actual"),
    [
        ([16, 32, 48], {"global_batch_size": 8}, None),
        ([16, 31, 48], {"global_batch_size": 8}, "31, 1 of 2 evaluations"),
        # The last batch of an epoch may be smaller: of all where nobody knows how many samples it has.
        ([16, 32, 45], {"global_batch_size": 8}, None),
        ([16, 32, 45], {"global_batch_size": 8, "train_samples": 45}, None),
        ([16, 32, 45], {"global_batch_size": 8, "train_samples": 46}, "45, 1 of 3 evaluations"),
        ([16, 45, 61], {"global_batch_size": 8, "train_samples": 45}, None),
        ([3, "9", None, 3], {"global_batch_size": 2}, "3, 1 of 1 evaluation"),
        ([3, 5, 7], {}, None),
        ([3, 5, 7], {"global_batch_size": "2"}, None),
    ],
)
def test_evaluations_are_after_whole_batches(places: list[Any], values: dict[str, Any], actual: str | None) -> None:
    run = make_run("llama31_8b", places, "samples_count", **values)
    found = [one for one in audit_progress(run, "log", "training", "5.1") if one.rule == "run.progress-batch"]
    assert [one.actual for one in found] == ([actual] if actual else [])
    assert {one.expected for one in found} <= {f"a multiple of global_batch_size {values.get('global_batch_size')}"}


def test_epochs_are_no_samples() -> None:
    run = make_run("bert", [3, 5, 7], "epoch_num", global_batch_size=2)
    assert list(audit_progress(run, "log", "training", "5.0")) == []


@pytest.mark.parametrize(("keys", "actual"), TABLES["endings"].values(), ids=TABLES["endings"])
def test_a_successful_run_ends_with_an_evaluation(keys: list[str], actual: str | None) -> None:
    run = fold(events([(key, None, SUCCESS if key == "run_stop" else {}) for key in ("run_start", *keys)]))
    findings = list(audit_ending(run, "log"))
    assert [(f.rule, f.actual) for f in findings] == ([("run.eval-missing", actual)] if actual else [])
    if findings:
        assert findings[0].line == keys.index("run_stop") + 2


@pytest.mark.parametrize("status", ["aborted", None, "abort", 0])
def test_a_run_that_claims_no_success_needs_no_evaluation(status: Any) -> None:
    run = fold(events([("run_start", None, {}), ("block_start", None, {}), ("run_stop", None, {"status": status})]))
    assert list(audit_ending(run, "log")) == []


def test_a_block_that_is_opened_as_the_run_stops_is_no_training() -> None:
    keys = ["run_start", "block_start", "eval_accuracy", "block_start", "run_stop"]
    quick = events([(key, None, SUCCESS if key == "run_stop" else {}) for key in keys], step_ms=400.0)
    assert list(audit_ending(fold(quick), "log")) == []


@pytest.mark.parametrize(
    ("starts", "found"),
    [([5, 10, 15], False), ([10, 15, 5], True), ([], True)],
    ids=["beside", "out of order", "unknown"],
)
def test_evaluations_beside_the_training_end_in_any_order(starts: list[int], found: bool) -> None:
    """Of several that are under way the first, which compiles, may end last."""
    records: list[Any] = [("run_start", None, {})]
    records += [("eval_start", None, {"epoch_num": place}) for place in starts]
    for place in (10, 15, 5):
        records += [("eval_accuracy", 0.1, {"epoch_num": place}), ("eval_stop", None, {"epoch_num": place})]
    run = fold(events([*records, ("run_stop", None, SUCCESS)]))
    findings = list(audit_progress(run, "log", "training", "1.0"))
    assert bool(findings) is found
