"""What ``mlsub inspect`` finds of the results, told beside the findings of the check."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import msgspec

from mlsub.commands.inspect.gather import gather
from mlsub.commands.inspect.run import inspect
from mlsub.findings import Finding
from mlsub.log.trace import Trace, Traced, trace_of
from mlsub.submission.report import Report
from mlsub.workspace import Checked, Settings

#: Round, organisation, and the place below ``results/``.
_Key = tuple[str, str, str]


def with_forensics(checked: Sequence[Checked], paths: Sequence[str], settings: Settings) -> list[Checked]:
    """The reports with the forensic findings on each of their entries; verdicts stay what they are.

    Args:
        checked: reports of what lies below the paths.
        paths: what is inspected, all of it held side by side.
        settings: what the caller knows better than the folders.

    Raises:
        MlsubError: there is nothing to inspect below a path.
    """
    entries, _ = gather(paths, settings, known=_known(checked))
    found: dict[_Key, list[Finding]] = {}
    for one in inspect(entries).entries:
        of_entry = found.setdefault(_key(one.round, one.organisation, one.path), [])
        of_entry += [observation.finding for observation in one.observations]
    return [msgspec.structs.replace(one, report=_told(one.report, found)) for one in checked]


def _known(checked: Sequence[Checked]) -> dict[str, Trace]:
    """The logs that were read for forensics when they were judged, by their files."""
    return {
        str(Path(one.report.root, log.path)): trace_of(log.path, log.run, traced)
        for one in checked
        for log in one.logs
        if (traced := log.fact(Traced)) is not None
    }


def _told(report: Report, found: dict[_Key, list[Finding]]) -> Report:
    more = [
        msgspec.structs.replace(finding, path=entry.path, line=None)
        for entry in report.entries
        for finding in found.get(_key(report.round or "", entry.organisation, entry.path), ())
    ]
    return msgspec.structs.replace(report, findings=(*report.findings, *more))


def _key(round_: str, organisation: str, path: str) -> _Key:
    return round_.removeprefix("v"), organisation, path.rpartition("results/")[2]
