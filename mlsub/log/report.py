"""What is known of one log after its one reading."""

from __future__ import annotations

import msgspec

from mlsub.findings import Finding
from mlsub.log.run import Run

#: Findings on a file that holds no run at all.
NO_RUN = frozenset(("log.unreadable", "log.empty", "log.no-records", "log.wide-encoding"))


class LogReport(msgspec.Struct, frozen=True, kw_only=True):
    """One log, read and judged.

    ``compliant`` is the official verdict; ``undecodable`` whether a record stops the official parser; ``minutes``
    the time to train, from records the official parser misses where it sees none.
    """

    path: str
    compliant: bool
    undecodable: bool
    benchmark: str | None
    division: str | None
    status: str | None
    minutes: float | None
    run: Run
    findings: tuple[Finding, ...]

    @property
    def without_run(self) -> bool:
        """Whether the file holds no run at all: empty, binary, in an encoding nobody reads, or unreadable."""
        return any(finding.rule in NO_RUN for finding in self.findings)
