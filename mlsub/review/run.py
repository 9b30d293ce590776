"""Audit of one run: times, status and event types that cannot be right, and the rules that are only written."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from difflib import get_close_matches
from typing import Any

from mlsub.findings import Finding
from mlsub.io.show import show
from mlsub.log.run import Run, expected_event_type
from mlsub.review.cadence import audit_cadence
from mlsub.review.dataset import audit_dataset
from mlsub.review.ending import audit_ending
from mlsub.review.progress import audit_progress
from mlsub.rules.catalogue import finding
from mlsub.rules.isolate import reviewed

_STATUSES = ("success", "aborted")


def audit_run(run: Run, path: str, usage: str, round_: str) -> Iterator[Finding]:
    """The findings on one run.

    Args:
        run: what the log tells.
        path: the log, relative to the report's root.
        usage: ``training`` or ``hpc``; the written rules are kept by usage and round.
        round_: the round whose rules hold, like ``1.0``.
    """
    review: dict[str, Callable[[], Iterator[Finding]]] = {
        "run.interval-negative": lambda: _interval(run, path),
        "run.clock-backwards": lambda: _clock(run, path),
        "run.status-unknown": lambda: _status(run, path),
        "run.event-type": lambda: _event_types(run, path),
        "run.eval-missing": lambda: audit_ending(run, path),
        "run.progress-backwards": lambda: audit_progress(run, path, usage, round_),
        "run.eval-cadence": lambda: audit_cadence(run, path, usage, round_),
        "run.train-samples": lambda: audit_dataset(run, path, usage, round_),
    }
    for rule, work in review.items():
        yield from reviewed(rule, path, work)


def _event_types(run: Run, path: str) -> Iterator[Finding]:
    for key, (found, line) in sorted(run.event_types.items(), key=lambda item: item[1][1]):
        yield finding(
            "run.event-type",
            path,
            f"{key} has an event type that contradicts its name",
            line=line,
            expected=expected_event_type(key),
            actual=found[:40],
        )


def _interval(run: Run, path: str) -> Iterator[Finding]:
    duration = run.duration_ms
    if duration is not None and duration < 0:
        yield finding(
            "run.interval-negative",
            path,
            "run_stop is earlier than run_start",
            line=run.lines.get("run_stop"),
            expected="run_stop after run_start",
            actual=f"{duration / 60_000:g} minutes",
        )


def _clock(run: Run, path: str) -> Iterator[Finding]:
    clock = run.clock
    if clock is not None:
        yield finding(
            "run.clock-backwards",
            path,
            "A record is older than the one before it",
            line=clock.first_line,
            expected="times that never decrease",
            actual=f"{clock.count} step{'s' if clock.count > 1 else ''} back, {clock.worst_ms:g} ms at most",
        )


def _status(run: Run, path: str) -> Iterator[Finding]:
    if run.status_line is None:
        return
    status: Any = run.status
    if status is None or status == "":
        yield finding(
            "run.status-missing",
            path,
            "run_stop does not say how the run ended",
            line=run.status_line,
            expected=" or ".join(_STATUSES),
            actual=show(status),
        )
    elif status == "aborted":
        yield finding(
            "run.status-aborted",
            path,
            "The run was aborted before it reached its target",
            line=run.status_line,
            expected="success",
            actual="aborted",
        )
    elif status != "success":
        close = get_close_matches(show(status, 40).strip('"').lower(), _STATUSES, n=1, cutoff=0.5)
        yield finding(
            "run.status-unknown",
            path,
            "run_stop has an unknown status",
            line=run.status_line,
            expected=" or ".join(_STATUSES),
            actual=show(status),
            fix=f"Did you mean {close[0]}?" if close else None,
        )
