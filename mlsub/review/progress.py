"""Audit of how far a run says it had come at each evaluation."""

from __future__ import annotations

from collections.abc import Iterator

import msgspec

from mlsub.findings import Finding
from mlsub.io.data import shipped
from mlsub.log.run import Evaluation, Run
from mlsub.review.facts import batch_size, benchmark_of, grouped, holding, number
from mlsub.rules.catalogue import finding

_COUNTS = ("samples_count", "epoch_num")


class Order(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A benchmark whose evaluations may come in any order, and why."""

    since: str
    any_order: str


#: Facts by usage and benchmark, oldest first.
_TABLE = dict[str, dict[str, list[Order]]]


def audit_progress(run: Run, path: str, usage: str, round_: str) -> Iterator[Finding]:
    """Evaluations whose place in training goes backwards, or is not their steps times the batch size."""
    by_usage = shipped(__file__, "order.yaml", _TABLE)
    free = holding(by_usage.get(usage, {}).get(benchmark_of(run), ()), round_)
    if free is None:
        yield from _backwards(run, path)
    yield from _steps(run, path)


def _backwards(run: Run, path: str) -> Iterator[Finding]:
    furthest: dict[str, float] = {}
    steps: list[tuple[Evaluation, str, float, float]] = []
    for evaluation in run.evaluations:
        for name in _COUNTS:
            place = number(getattr(evaluation, name))
            if place is None:
                continue
            before = furthest.get(name, place)
            if place < before:
                steps.append((evaluation, name, before, place))
            furthest[name] = place
            break
    if steps:
        evaluation, name, before, place = steps[0]
        more = f" ({len(steps)} such steps)" if len(steps) > 1 else ""
        yield finding(
            "run.progress-backwards",
            path,
            f"An evaluation has a lower {name} than the one before it",
            line=evaluation.line,
            expected=f"{grouped(before)} or more",
            actual=grouped(place) + more,
        )


def _steps(run: Run, path: str) -> Iterator[Finding]:
    size = batch_size(run)
    if size is None:
        return
    for evaluation in run.evaluations:
        samples, steps = number(evaluation.samples_count), number(evaluation.step_num)
        # The last batch of an epoch may be smaller than the others, or padded.
        if samples is not None and steps is not None and abs(samples - steps * size) > size + samples / 100:
            yield finding(
                "run.progress-steps",
                path,
                "samples_count is not step_num times global_batch_size",
                line=evaluation.line,
                expected=f"{grouped(steps * size)} ({grouped(steps)} steps of {grouped(size)})",
                actual=grouped(samples),
            )
            return
