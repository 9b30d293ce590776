"""Sizes of data sets: what fits, what does not, and what is passed over."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mlsub.io.data import load_yaml, shipped
from mlsub.review import cadence as dataset
from mlsub.review.cadence import DataSet, audit_dataset
from mlsub.rounds import get_round, known_rounds
from tests.review.folding import make_run

SIZES = shipped(dataset.__file__, "dataset.yaml", dict[str, dict[str, list[DataSet]]])
TRAIN, EVAL = "run.train-samples", "run.eval-samples"

CASES = load_yaml(Path(__file__).with_name("dataset.yaml"))


def found(round_: str, benchmark: str, batch: int | None, *sizes: Any, division: str = "closed") -> dict[str, Any]:
    train, test, *_ = sizes
    run = make_run(benchmark, division=division, train_samples=train, eval_samples=test, global_batch_size=batch)
    return {finding.rule: finding for finding in audit_dataset(run, "log", "training", round_)}


@pytest.mark.parametrize("name", CASES)
def test_the_sizes_are_those_of_the_data_set(name: str) -> None:
    broken = {f"run.{part}-samples" for part in CASES[name][5:]}
    assert set(found(*CASES[name])) == broken
    # Open may train on something else.
    assert set(found(*CASES[name], division="open")) == broken - {TRAIN}


def test_a_finding_names_the_record_and_the_sizes() -> None:
    findings = found("1.1", "maskrcnn", 96, 40_000, 2)
    told = {rule: (finding.line, finding.expected, finding.actual) for rule, finding in findings.items()}
    train = "40,000, a constant that some of NVIDIA's code (tools/train_mlperf.py) logs, whatever it trains on"
    assert told == {TRAIN: (3, "118,287 or 117,266", train), EVAL: (4, "5,000", "2")}
    assert {rule: finding.severity for rule, finding in findings.items()} == {TRAIN: "note", EVAL: "warning"}
    assert "training rules" in findings[EVAL].source


@given(batch=st.integers(1, 100_000), off=st.integers(-200_000, 200_000))
def test_training_may_be_off_by_less_than_a_batch_and_evaluation_only_upwards(batch: int, off: int) -> None:
    rules = found("1.0", "resnet", batch, 1281167 + off, 50000 + off)
    assert (TRAIN in rules) == (off != 0 and abs(off) >= batch)
    assert (EVAL in rules) == (off != 0 and not 0 < off < batch)


def test_every_benchmark_of_the_table_exists_and_says_why_it_is_not_checked() -> None:
    for usage, benchmarks in SIZES.items():
        known = {name for round_ in known_rounds(usage) for name in get_round(usage, round_).benchmarks}
        assert set(benchmarks) <= known
        for facts in benchmarks.values():
            for size in (size for fact in facts for size in (fact.train_samples, fact.eval_samples)):
                assert bool(size.sizes) != bool(size.not_checked)
