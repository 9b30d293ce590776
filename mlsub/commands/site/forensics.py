"""What ``mlsub inspect`` finds of the results, from the logs as they were judged."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path

from msgspec.structs import replace

from mlsub.commands.inspect.run import inspect
from mlsub.commands.site.results import logs_of
from mlsub.findings import Finding
from mlsub.log.trace import Traced, trace_of
from mlsub.review.runs.model import Entry
from mlsub.rounds import get_round
from mlsub.submission.report import Report
from mlsub.workspace import Checked


def with_forensics(checked: Sequence[Checked], overlay: str | None = None) -> list[Checked]:
    """The reports with the forensic findings on each of their entries; verdicts stay what they are.

    Args:
        checked: reports of all that is compared, whose logs were read with
            :class:`mlsub.log.trace.TraceFold`.
        overlay: a checked overlay file.
    """
    roots = [os.path.abspath(one.report.root) for one in checked if one.report.entries]  # noqa: PTH100  (links stay)
    above = os.path.commonpath(roots) if roots else ""
    entries = [entry for one in checked for entry in _entries(one, above, overlay)]
    found = {one.path: [it.finding for it in one.observations] for one in inspect(entries).entries}
    return [replace(one, report=_with(one.report, found, above)) for one in checked]


def _with(report: Report, found: Mapping[str, Sequence[Finding]], above: str) -> Report:
    more = [
        replace(finding, path=entry.path, line=None)
        for entry in report.entries
        for finding in found.get(_place(above, report, entry.path), ())
    ]
    return replace(report, findings=(*report.findings, *more))


def _entries(one: Checked, above: str, overlay: str | None) -> list[Entry]:
    """The entries of a report as forensics takes them."""
    report, logs = one.report, logs_of(one)
    return [
        Entry(
            path=_place(above, report, entry.path),
            round=get_round(str(report.usage), str(report.round), overlay),
            organisation=entry.organisation,
            system=entry.system,
            benchmark=entry.benchmark,
            scaling_type=entry.scaling_type,
            traces=tuple(
                trace_of(_place(above, report, log.path), log.run, log.fact(Traced) or Traced())
                for log in logs.get(entry.path, ())
            ),
        )
        for entry in report.entries
    ]


def _place(above: str, report: Report, path: str) -> str:
    """A path of a report, relative to the folder that all reports are below."""
    return os.path.relpath(Path(report.root, path), above)
