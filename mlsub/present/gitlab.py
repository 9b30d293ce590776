"""Results as GitLab's code quality report.

See https://docs.gitlab.com/ci/testing/code_quality/#code-quality-report-format.
"""

from __future__ import annotations

import json

from mlsub.findings import Severity
from mlsub.io.show import plain
from mlsub.present.ci import CiFinding, CiReport, Outcome

_LEVELS = {Severity.ERROR: "major", Severity.WARNING: "minor", Severity.INFO: "info"}
_OUTCOMES = {Outcome.COUNTS: "critical", Outcome.NOT_CHECKED: "blocker", Outcome.WAIVED: "info"}


def render(results: CiReport) -> str:
    """A list of violations as JSON in plain ASCII."""
    return json.dumps([_violation(result) for result in results.all], indent=2) + "\n"


def _violation(result: CiFinding) -> dict[str, object]:
    return {
        "description": "; ".join(result.lines),
        "check_name": result.finding.rule,
        "fingerprint": result.identity,
        "severity": _severity(result),
        # GitLab asks for a line; a finding of a whole file is shown at its first.
        "location": {"path": plain(result.file), "lines": {"begin": result.finding.line or 1}},
    }


def _severity(result: CiFinding) -> str:
    """An error that counts is critical; what somebody waived is information."""
    if result.outcome is Outcome.COUNTS and result.level is not Severity.ERROR:
        return _LEVELS[result.level]
    return _OUTCOMES.get(result.outcome, _LEVELS[result.level])
