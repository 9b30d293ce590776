"""Why a recorder refuses to go on."""

from __future__ import annotations

from collections.abc import Sequence

from mlsub.findings import Finding
from mlsub.io.errors import MlsubError


class EmitError(MlsubError):
    """The recorder cannot do what was asked; the text says what, and how to fix it."""


class LogInUseError(EmitError):
    """Another process writes the same log."""


class DoomedRunError(EmitError):
    """The run cannot become a compliant result any more; ``findings`` say why."""

    def __init__(self, findings: Sequence[Finding]) -> None:
        self.findings = tuple(findings)
        super().__init__("the run cannot become a compliant result:\n" + "\n".join(map(tell, self.findings)))


def tell(finding: Finding) -> str:
    """A finding in a few lines, as mlsub check prints it."""
    facts = {"expected": finding.expected, "found": finding.actual, "fix": finding.fix}
    lines = [f"    {f'{name}:':9} {text}" for name, text in facts.items() if text is not None]
    return "\n".join([f"  {finding.message} [{finding.rule}]", *lines])
