"""The entries of reports whose runs are compared with each other."""

from __future__ import annotations

import os
from collections.abc import Sequence

from mlsub.log.run import RunFold
from mlsub.log.trace import Trace, Traced, trace_of
from mlsub.review.runs.model import Entry
from mlsub.rounds import get_round
from mlsub.submission.model import LogReport
from mlsub.submission.report import Report
from mlsub.workspace.schedule import Checked


def place_below(above: str, report: Report, path: str) -> str:
    """Return a path of a report relative to a folder above its root."""
    return os.path.relpath(os.path.join(report.root, path), above)  # noqa: PTH118


def entries_of(checked: Sequence[Checked], above: str, overlay: str | None = None) -> list[Entry]:
    """Return the entries of reports that have logs, with their traces.

    Args:
        checked: reports whose logs were read with :class:`mlsub.log.trace.Traced`.
        above: the folder that their paths are relative to.
        overlay: a checked overlay file.
    """
    facts = {(id(one), system.path): system.facts for one in checked for system in one.report.systems}
    return [
        Entry(
            path=place_below(above, one.report, result.path),
            round=get_round(result.usage, result.round, overlay),
            organisation=result.organisation,
            system=result.system,
            benchmark=result.benchmark,
            scaling_type=result.scaling_type,
            traces=tuple(_trace(place_below(above, one.report, log.path), log) for log in result.logs),
            facts=facts.get((id(one), result.description_path or "")),
        )
        for one in checked
        for result in one.results
        if result.logs
    ]


def _trace(path: str, log: LogReport) -> Trace:
    """What is compared of a log; of one that cannot be read, why."""
    for found in log.findings:
        if found.rule in ("log.unreadable", "rule.crashed"):
            why = found.actual or found.message.removeprefix("The log cannot be read: ")
            return Trace(path=path, run=RunFold().finish(), unreadable=why)
    return trace_of(path, log.run, log.trace or Traced())
