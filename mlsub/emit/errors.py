"""Why a recorder refuses to go on."""

from __future__ import annotations

from collections.abc import Sequence

from mlsub.findings import Finding
from mlsub.io import MlsubError


class EmitError(MlsubError):
    """The recorder cannot do what was asked; the text says what, and how to fix it."""


class LogInUseError(EmitError):
    """Another process writes the same log."""


class EmitWarning(UserWarning):
    """The rules have something against the run, and the recorder was asked only to report it."""


class DoomedRunError(EmitError):
    """The run cannot become a compliant result any more; ``findings`` say why."""

    def __init__(self, findings: Sequence[Finding]) -> None:
        self.findings = tuple(findings)
        super().__init__("the run cannot become a compliant result:\n" + "\n".join(map(describe, self.findings)))


def describe(finding: Finding) -> str:
    """Return a finding in a few lines, as mlsub check prints it."""
    facts = {"expected": finding.expected, "found": finding.actual, "fix": finding.fix}
    lines = [f"    {f'{name}:':9} {text}" for name, text in facts.items() if text is not None]
    return "\n".join([f"  {finding.message} [{finding.rule}]", *lines])
