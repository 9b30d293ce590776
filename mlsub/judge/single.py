"""A single log, asked for by itself."""

from __future__ import annotations

from pathlib import Path

from mlsub.findings import Verdict
from mlsub.io.show import readable
from mlsub.judge.package import Part, log_result
from mlsub.log.report import LogReport
from mlsub.submission.locate import locate


def single_log(path: Path, log: LogReport) -> Part:
    """What a single log adds to a report: it is accepted if it is compliant.

    A log that cannot even be opened was not checked.
    """
    if any(f.rule == "log.unreadable" for f in log.findings):
        verdict = Verdict.NOT_CHECKED
    else:
        verdict = Verdict.ACCEPTED if log.compliant else Verdict.REJECTED
    organisation = locate(path).organisation
    said = log.run.identity.get("submission_org")
    name = organisation.name if organisation else readable(said[:200]) if isinstance(said, str) else ""
    return Part(verdict, (log_result(log, name),), (), (), log.findings)
