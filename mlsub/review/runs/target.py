"""Runs that met the target an evaluation earlier than the one they report."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from mlsub.convergence.target import Measures, target_of
from mlsub.divisions import CLOSED
from mlsub.log.event import Event
from mlsub.log.run import MAX_EVALUATIONS, Evaluation
from mlsub.log.trace import Trace
from mlsub.review.runs.model import Entry
from mlsub.review.runs.observation import Observation, listed, name_of, observe
from mlsub.review.runs.progress import before_stop
from mlsub.rules.values import Stated


def find_met_earlier(entry: Entry) -> Iterator[Observation]:
    """Successful runs with an evaluation before the last one that reaches the target already."""
    earlier, name = {}, entry.known_benchmark
    for trace in entry.traces:
        if trace.run.converged and len(trace.run.evaluations) < MAX_EVALUATIONS:
            evaluations = before_stop(trace)
            met = _met(entry, name, trace, evaluations)
            last = len(evaluations) - 1
            # Evaluations logged twice, and measures that come one by one, share their place.
            if met is not None and met < last and _later(evaluations[met], evaluations[last]):
                earlier[name_of(trace)] = (met, last)
    if not earlier:
        return
    shown = [f"{name} at evaluation {met + 1} of {last + 1}" for name, (met, last) in earlier.items()]
    yield observe(
        "inspect.target-earlier",
        entry,
        "Runs reach the target at an earlier evaluation than their last",
        f"{len(earlier)} of {len(entry.traces)} runs: {listed(shown, 3)}",
        expected="an end at the first evaluation that reaches the target",
        runs={name: {"met": met + 1, "of": last + 1} for name, (met, last) in earlier.items()},
    )


def _later(one: Evaluation, other: Evaluation) -> bool:
    for count in ("samples_count", "epoch_num", "step_num"):
        a, b = getattr(one, count), getattr(other, count)
        if isinstance(a, (int, float)) and isinstance(b, (int, float)):
            return a < b
    return one.time_ms < other.time_ms


def _met(entry: Entry, name: str | None, trace: Trace, evaluations: Sequence[Evaluation]) -> int | None:
    """The first evaluation that reaches the target of round and benchmark; None for none."""
    stated = Stated()
    for key, value in trace.run.hyperparameters.items():
        stated.state(key, value)
    # Open has to reach the same quality; what it logs is not bound to say so, so its own rules ask for none.
    target = target_of(entry.round, CLOSED.name, name, stated)
    if target is None:
        return None
    measures = Measures(target, stated)
    for n, evaluation in enumerate(evaluations):
        if measures.read(_event(target.key, evaluation)).reached:
            return n
    return None


def _event(key: str, evaluation: Evaluation) -> Event:
    """An evaluation as the record it was."""
    metadata: dict[str, Any] = {
        name: value
        for name in ("epoch_num", "samples_count", "step_num", "metric")
        if (value := getattr(evaluation, name)) is not None
    }
    return Event(time_ms=evaluation.time_ms, key=key, value=evaluation.value, metadata=metadata)
