"""What an inspection answers."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import ClassVar

import msgspec

from mlsub.findings import Finding, Severity
from mlsub.present.envelope import Answer
from mlsub.review.runs.model import Observation

_WEIGHT = {Severity.ERROR: 100, Severity.WARNING: 10, Severity.INFO: 1}


class Inspected(msgspec.Struct, frozen=True, kw_only=True):
    """One entry and what was found of it.

    ``path`` is relative to the folder that all that was inspected has in common; ``division`` is what all logs that
    state one agree on; ``organisation_name`` and ``benchmark_name`` are the same in every round. ``with_records``
    counts logs that hold a record; ``unreadable`` has those that do not open, with the reason.
    """

    path: str
    round: str
    organisation: str
    organisation_name: str
    system: str
    benchmark: str
    benchmark_name: str
    division: str | None
    runs: int
    with_records: int
    observations: tuple[Observation, ...]
    unreadable: dict[str, str]

    @property
    def weight(self) -> int:
        """A warning weighs more than any number of notes there are rules for."""
        rules = {o.finding.rule: o.finding.severity for o in self.observations if o.finding.suppressed is None}
        return sum(_WEIGHT[severity] for severity in rules.values())


def _weighed(entry: Inspected, weigh: Callable[[Sequence[Finding]], tuple[Finding, ...]]) -> Inspected:
    replace = msgspec.structs.replace
    found = (replace(one, finding=kept) for one in entry.observations for kept in weigh((one.finding,)))
    return replace(entry, observations=tuple(found))


class Inspection(Answer, frozen=True, kw_only=True):
    """Everything one inspection found: the entry with most to ask about first, entries without findings last."""

    SCHEMA: ClassVar[int] = 5

    entries: tuple[Inspected, ...]

    @property
    def found(self) -> bool:
        """Whether there is a finding that counts."""
        return any(one.finding.suppressed is None for entry in self.entries for one in entry.observations)

    def weighed(self, weigh: Callable[[Sequence[Finding]], tuple[Finding, ...]]) -> Inspection:
        """The same with what the settings make of the findings."""
        return msgspec.structs.replace(self, entries=tuple(_weighed(entry, weigh) for entry in self.entries))

    @property
    def read(self) -> int:
        """How many logs hold a record."""
        return sum(entry.with_records for entry in self.entries)


class Frequency(msgspec.Struct, frozen=True):
    """How often a rule applies: entries with a finding, of all entries, and findings."""

    rule: str
    title: str
    entries: int
    of: int
    findings: int


class Rates(Answer, frozen=True, kw_only=True):
    """How often each rule applies to entries that hold so many logs."""

    SCHEMA: ClassVar[int] = 2

    entries: int
    logs: int
    rates: tuple[Frequency, ...]
