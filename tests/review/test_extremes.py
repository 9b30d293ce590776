"""No number or shape in a log makes a review rule of a run fail, whatever key or metadata it stands in."""

from __future__ import annotations

import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from mlsub.log.event import Event
from mlsub.review.run import audit_run
from mlsub.rounds import get_round, known_rounds
from tests.review.folding import fold
from tools.oracle.generate import Combination
from tools.oracle.log import generated
from tools.oracle.oracle import official
from tools.support.judging import report_on

EXTREMES: tuple[Any, ...] = (
    *(0, -0.0, 1, -1, 0.5, 5e-324, -5e-324, 1e308, -1e308, 10**15 - 1, 1e15, 10**400, -(10**400)),
    *(float("inf"), -float("inf"), float("nan"), True, False, None, "", "1e999", "success", "\ud800"),
    *([], [1], [[{}]], {}, {"epoch_num": [1]}, {"a": {"b": [None]}}),
)
TIMES = (0.0, -0.0, 5e-324, 1e308, -1e308, float("inf"), -float("inf"), float("nan"))
#: What the rules of a run read: keys, and metadata of evaluations and of the end.
KEYS = ("submission_benchmark", "submission_division", "global_batch_size", "train_samples", "eval_samples")
COUNTS = ("epoch_num", "samples_count", "step_num", "metric")


def _crashes(events: list[Event], usage: str, round_: str) -> list[str | None]:
    found = audit_run(fold(events), "result_0.txt", usage, round_)
    return [f.actual for f in found if f.rule == "review.crashed"]


def _log(rng: random.Random, benchmark: str) -> list[Event]:
    """A run with about every fourth value replaced by an extreme one."""
    counts = [dict(zip(COUNTS, (n * 4 + 1, n * 1000, n, "FID"), strict=True)) for n in range(rng.randrange(6))]
    size = rng.choice((1, 32, 4096, 10**15 - 1, 0.1))
    plan: list[tuple[str, Any, Any]] = [
        *zip(KEYS, (benchmark, rng.choice(("closed", "open")), size, 1_281_167, 50_000), ({},) * 5, strict=True),
        ("init_start", None, {}),
        ("run_start", None, {}),
        *(event for count in counts for event in (("block_start", None, {}), ("eval_accuracy", 0.1, count))),
        ("run_stop", None, {"status": "success"}),
    ]
    return list(_spoilt(rng, plan))


def _spoilt(rng: random.Random, plan: list[tuple[str, Any, Any]]) -> Iterator[Event]:
    for line, (key, value, metadata) in enumerate(plan, 1):
        if line > 2 and rng.random() < 0.25:
            value = rng.choice(EXTREMES)
        metadata = {name: rng.choice(EXTREMES) if rng.random() < 0.25 else here for name, here in metadata.items()}
        yield Event(
            line=line,
            time_ms=rng.choice(TIMES) if rng.random() < 0.1 else line * 1e4,
            key=key,
            value=value,
            metadata=rng.choice(EXTREMES) if rng.random() < 0.1 else metadata,
            event_type=rng.choice(EXTREMES) if rng.random() < 0.1 else "POINT_IN_TIME",
        )


@pytest.mark.parametrize(
    ("usage", "round_"), [(usage, name) for usage in ("training", "hpc") for name in known_rounds(usage)]
)
def test_runs_of_extreme_values_are_reviewed(usage: str, round_: str) -> None:
    rng = random.Random(f"{usage} {round_}")
    for benchmark in get_round(usage, round_).benchmarks:
        for number in range(60):
            events = _log(rng, benchmark)
            assert _crashes(events, usage, round_) == [], (benchmark, number, events)


@pytest.mark.parametrize(
    "values",
    [
        {"global_batch_size": 5e-324, "eval_samples": 97},
        {"global_batch_size": 5e-324, "train_samples": float("inf"), "eval_samples": 97},
        {"global_batch_size": 10**400, "train_samples": 4572, "eval_samples": float("inf")},
    ],
    ids=str,
)
def test_an_open_log_with_extreme_values_is_compliant_as_it_officially_is(values: dict[str, Any], tmp_path: Path):
    log = generated(Combination("4.1", "ssd", "open", None))
    for key, value in values.items():
        places = log.places(key)
        like = places[0] if places else log.places("submission_org")[0]
        line = log.like(like, key=key, value=value)
        log = log.replaced(like, line) if places else log.inserted(like + 1, line)
    file = tmp_path / "result_0.txt"
    file.write_bytes(log.content())
    report = report_on(file, "training", "4.1")
    assert official(file, "4.1").compliant
    assert report.compliant
    assert not {f.rule for f in report.findings} & {"rule.crashed", "review.crashed"}
