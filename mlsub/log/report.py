"""What is known of one log after its one reading."""

from __future__ import annotations

from typing import Any

import msgspec

from mlsub.findings import Finding
from mlsub.io.data import reduced
from mlsub.log.reading import Crash
from mlsub.log.run import Run
from mlsub.log.trace import Intervals, Traced
from mlsub.rounds import Round

#: Findings on a file that holds no run at all.
NO_RUN = frozenset(("log.unreadable", "log.empty", "log.no-records", "log.wide-encoding"))
#: Findings on single runs, beside those on seeds, that reject an entry even where it may hold a noncompliant run.
DECIDING = NO_RUN | {"official.crash", "rcp.no-point"}


class LogReport(msgspec.Struct, frozen=True, kw_only=True, array_like=True):
    """One log, read and judged.

    ``compliant`` is the official verdict; ``undecodable`` whether a record stops the official parser; ``minutes``
    the time to train, from records the official parser misses where it sees none. ``crash`` is where the official
    compliance checker ends in a traceback, so that the whole package gets no verdict. ``trace`` and
    ``intervals`` are there where they were asked for, and the log can be read.
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
    crash: Crash | None = None
    trace: Traced | None = None
    intervals: Intervals | None = None

    def __reduce__(self) -> str | tuple[Any, ...]:
        return reduced(self) or super().__reduce__()

    def counts_in(self, round_: Round) -> bool:
        """Return whether its time counts: it is compliant, or where no package checker asked for that, it converged."""
        return self.compliant if round_.package_checker else self.run.converged

    @property
    def name(self) -> str:
        """The file's name."""
        return self.path.rpartition("/")[2]

    @property
    def lasting(self) -> bool:
        """Whether it rests on the log alone, and not on an error of the moment, so that it may be cached."""
        return not any(finding.transient for finding in self.findings)

    def at(self, path: str) -> LogReport:
        """Return the report on the same log under another path."""
        if self.path == path:
            return self
        findings = tuple(msgspec.structs.replace(finding, path=path) for finding in self.findings)
        return msgspec.structs.replace(self, path=path, findings=findings)

    @property
    def without_run(self) -> bool:
        """Whether the file holds no run at all: empty, binary, in an encoding nobody reads, or unreadable."""
        return bool(self.findings) and any(finding.rule in NO_RUN for finding in self.findings)
