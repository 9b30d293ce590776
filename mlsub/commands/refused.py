"""What a command could not do, as results for CI."""

from __future__ import annotations

import click

from mlsub.findings import Finding, Verdict
from mlsub.io.errors import MlsubError
from mlsub.io.problems import FileProblemsError
from mlsub.present.ci import CiReport, Outcome, part
from mlsub.rules.catalogue import finding


def refused(command: str, error: MlsubError | click.UsageError) -> CiReport:
    """One part that was not checked, with a finding for each reason."""
    problems = part(f"mlsub {command}", _findings(error), lambda _: Outcome.NOT_CHECKED, verdict=Verdict.NOT_CHECKED)
    return CiReport(command, (problems,))


def _findings(error: MlsubError | click.UsageError) -> list[Finding]:
    if isinstance(error, FileProblemsError):
        return [finding("check.failed", one.path, one.message, line=one.line) for one in error.problems]
    if isinstance(error, click.UsageError):
        return [finding("check.unknown-rule", ".", error.message)]
    return [finding("check.failed", ".", line) for line in error.lines]
