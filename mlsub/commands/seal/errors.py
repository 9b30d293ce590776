"""Why something was not sealed or not opened: it could not be done, or what is there has findings."""

from __future__ import annotations

from collections.abc import Sequence

from mlsub.findings import Finding
from mlsub.io.errors import MlsubError


class SealError(MlsubError):
    """It could not be done; the text says what, why, and how to mend it."""


class RefusedError(Exception):
    """It was looked at and refused.

    Attributes:
        findings: why; at least one.
    """

    def __init__(self, findings: Sequence[Finding]) -> None:
        super().__init__(findings[0].message)
        self.findings = tuple(findings)


def reason_of(error: OSError) -> str:
    """What the system says is wrong, without the path, which the caller names."""
    return error.strerror or str(error)
