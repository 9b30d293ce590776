"""Sizes of data sets: what fits, what does not, and what is passed over."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mlsub.io.data import shipped
from mlsub.review import cadence as dataset
from mlsub.review.cadence import DataSet, audit_dataset
from mlsub.rounds import get_round, known_rounds
from tests.review.folding import make_run

SIZES = shipped(dataset.__file__, "dataset.yaml", dict[str, dict[str, list[DataSet]]])
TRAIN, EVAL = "run.train-samples", "run.eval-samples"

# Round, benchmark, batch size, train_samples, eval_samples, and the rules that are broken in Closed.
CASES: dict[str, tuple[str, str, int | None, Any, Any, set[str]]] = {
    "resnet": ("1.0", "resnet", 3200, 1281167, 50000, set()),
    "resnet, whole batches": ("1.0", "resnet", 32768, 1277952, 65536, set()),
    "resnet, one more": ("2.0", "resnet", 2048, 1281168, 50000, set()),
    "resnet, one more and no batch size": ("2.0", "resnet", None, 1281168, 50000, {TRAIN}),
    "resnet, a part": ("3.1", "resnet", 2048, 160000, 6400, {TRAIN, EVAL}),
    "resnet, a batch less to evaluate": ("3.1", "resnet", 2048, 1281167, 49152, {EVAL}),
    "bert": ("1.0", "bert", 448, 2550016, 10000, set()),
    "bert, padded": ("4.1", "bert", 66, 3630000, 10002, set()),
    "bert, a list": ("1.1", "bert", 6144, [3872218], [10000], set()),
    "bert, half": ("1.1", "bert", 448, 1, 5000, {EVAL}),
    "ssd, images of either count": ("1.0", "ssd", 912, 117266, 5000, set()),
    "ssd, batches": ("4.0", "ssd", 256, 4572, 97, set()),
    "ssd, batches rounded down": ("3.1", "ssd", 256, 4571, 97, set()),
    "ssd, too few batches": ("3.1", "ssd", 256, 4500, 90, {TRAIN, EVAL}),
    "retinanet, batches": ("5.0", "retinanet", 96, 12191, 259, set()),
    "maskrcnn": ("0.7", "maskrcnn", 256, 118287, 5000, set()),
    "maskrcnn, constants": ("1.1", "maskrcnn", 96, 40000, 1, {TRAIN, EVAL}),
    "dlrm": ("1.0", "dlrm", 55296, 4195197692, 89137318, set()),
    "dlrm, as far as planned": ("1.0", "dlrm", 55296, 3775334400, 89137319, set()),
    "gpt3, tokens": ("4.0", "gpt3", 2048, 1258291200, 11590004, set()),
    "gpt3, other tokens": ("4.0", "gpt3", 2048, 1258291200, 11590005, {EVAL}),
    "lora": ("5.0", "llama2_70b_lora", 8, 3901, 173, set()),
    "lora, more": ("5.0", "llama2_70b_lora", 8, 4000, 200, {TRAIN, EVAL}),
    "unet3d is checked officially": ("1.0", "unet3d", 56, 1, 1, set()),
    "a benchmark nobody knows": ("1.0", "digits", 32, 1, 1, set()),
    "nothing logged": ("1.0", "resnet", 3200, None, None, set()),
    "text": ("1.0", "resnet", 3200, "1281167", True, set()),
}


def found(case: tuple[str, str, int | None, Any, Any, set[str]], division: str) -> dict[str, Any]:
    round_, benchmark, batch, train, test, _ = case
    run = make_run(benchmark, division=division, train_samples=train, eval_samples=test, global_batch_size=batch)
    return {finding.rule: finding for finding in audit_dataset(run, "log", "training", round_)}


@pytest.mark.parametrize("name", CASES)
def test_the_sizes_are_those_of_the_data_set(name: str) -> None:
    case = CASES[name]
    assert set(found(case, "closed")) == case[5]
    # Open may train on something else.
    assert set(found(case, "open")) == case[5] - {TRAIN}


def test_a_finding_names_the_record_and_the_sizes() -> None:
    findings = found(CASES["maskrcnn, constants"], "closed")
    assert (findings[TRAIN].line, findings[TRAIN].expected, findings[TRAIN].actual) == (
        3,
        "118,287 or 117,266",
        "40,000",
    )
    assert (findings[EVAL].line, findings[EVAL].expected, findings[EVAL].actual) == (4, "5,000", "1")
    assert "training rules" in findings[EVAL].source


@given(batch=st.integers(1, 100_000), off=st.integers(-200_000, 200_000))
def test_training_may_be_off_by_less_than_a_batch_and_evaluation_only_upwards(batch: int, off: int) -> None:
    case = ("1.0", "resnet", batch, 1281167 + off, 50000 + off, set[str]())
    rules = found(case, "closed")
    assert (TRAIN in rules) == (off != 0 and abs(off) >= batch)
    assert (EVAL in rules) == (off != 0 and not 0 < off < batch)


def test_every_benchmark_of_the_table_exists_and_says_why_it_is_silent() -> None:
    for usage, benchmarks in SIZES.items():
        known = {name for round_ in known_rounds(usage) for name in get_round(usage, round_).benchmarks}
        assert set(benchmarks) <= known
        for facts in benchmarks.values():
            for size in (size for fact in facts for size in (fact.train_samples, fact.eval_samples)):
                assert bool(size.sizes) != bool(size.silent)
