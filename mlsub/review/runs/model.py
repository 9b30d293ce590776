"""What the detectors look at, and what they find."""

from __future__ import annotations

import re

import msgspec

from mlsub.log.trace import Trace
from mlsub.rounds import Round


class Entry(msgspec.Struct, frozen=True, kw_only=True):
    """One system and benchmark with its logs, in the order of its files.

    ``path`` is relative to what was asked for; ``division`` what all logs say that say one.
    """

    path: str
    round: Round
    organisation: str
    system: str
    benchmark: str
    scaling_type: str | None
    traces: tuple[Trace, ...]

    @property
    def division(self) -> str | None:
        """The division that all logs which say one agree on."""
        said = {self._said(trace, "submission_division") for trace in self.traces} - {None}
        return said.pop() if len(said) == 1 else None

    @property
    def round_order(self) -> tuple[int, ...]:
        """The round as numbers that sort by time."""
        return tuple(int(part) for part in re.findall(r"\d{1,6}", self.round.name))

    @property
    def runs_started(self) -> frozenset[float]:
        """When the runs started (ms): what tells runs apart, wherever their logs lie."""
        return frozenset(t.run.timeline.run_start for t in self.traces if t.run.timeline.run_start is not None)

    @property
    def known_benchmark(self) -> str | None:
        """The benchmark by the name of the round's rules: the folder's, or what the logs say; None for neither."""
        if self.benchmark in self.round.benchmarks:
            return self.benchmark
        said = (self._said(trace, "submission_benchmark") for trace in self.traces)
        return next((name for name in said if name in self.round.benchmarks), None)

    @staticmethod
    def _said(trace: Trace, key: str) -> str | None:
        value = trace.run.identity.get(key)
        return value[:200] if isinstance(value, str) else None
