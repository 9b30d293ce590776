"""Runs for the audit tests: from a few facts, and from published logs."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from mlsub.log.event import Event
from mlsub.log.events import EventTally, LogReader, read_log
from mlsub.log.run import Run, RunFold
from mlsub.submission.model import LogReport
from tests.log.pushing import fold as fold


def events(records: Sequence[tuple[str, Any, dict[str, Any]]], step_ms: float = 10_000.0) -> list[Event]:
    """Events of records (key, value, metadata): one a line, and ten seconds apart."""
    return [
        Event(line=line, time_ms=line * step_ms, key=key, value=value, metadata=metadata)
        for line, (key, value, metadata) in enumerate(records, 1)
    ]


def make_run(
    benchmark: str, places: Iterable[Any] = (), count: str = "epoch_num", division: str = "closed", **values: Any
) -> Run:
    """A successful run that was evaluated at some places; ``values`` are hyperparameters."""
    records: list[tuple[str, Any, dict[str, Any]]] = [
        ("submission_benchmark", benchmark, {}),
        ("submission_division", division, {}),
        *((key, value, {}) for key, value in values.items()),
        ("run_start", None, {}),
    ]
    for place in places:
        records += [("block_start", None, {}), ("eval_accuracy", 0.5, {count: place})]
    return fold(events([*records, ("run_stop", None, {"status": "success"})]))


def report_of(run: Run, path: str = "result_0.txt") -> LogReport:
    """The report on a compliant log in which this run was read."""
    names = dict.fromkeys(("benchmark", "division", "status", "minutes"))
    return LogReport(path=path, compliant=True, undecodable=False, run=run, findings=(), **names)


def read_run(file: Path) -> Run:
    """The run of a published log."""
    tally = EventTally()
    folding = RunFold(tally)
    read_log(file, LogReader([folding], tally=tally))
    return folding.finish()
