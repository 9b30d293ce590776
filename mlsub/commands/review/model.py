"""What ``mlsub review`` answers: for each organisation a verdict, what to ask, and tables of what its entries state."""

from __future__ import annotations

from typing import Annotated, Any, ClassVar

import msgspec

from mlsub.findings import Finding, Kind, Says, Severity, Verdict
from mlsub.present.envelope import Answer
from mlsub.review.disclosure import Disclosure, StatedValue
from mlsub.submission.report import EntryResult
from mlsub.systems.names import Naming


class Ask(msgspec.Struct, frozen=True, kw_only=True):
    """One defect with all its places, as a question to the submitter.

    ``findings`` are its places, with file and line, and what was found there. ``figures`` are the numbers behind those
    that compare runs, unrounded, in the order of ``findings``: times in ms where the name ends so, else minutes.
    """

    rule: str
    kind: Kind
    severity: Severity
    question: str
    why: str
    findings: Annotated[tuple[Finding, ...], Says(minItems=1)]
    figures: tuple[dict[str, Any], ...] = ()


class LeftOutRun(msgspec.Struct, frozen=True):
    """A run that the olympic mean leaves out."""

    path: str
    why: Annotated[str, Says(enum=["noncompliant", "not converged", "fastest", "slowest"])]


class Reference(msgspec.Struct, frozen=True):
    """Whose hyperparameters are beside an entry's: the file of reference data, and the batch size in it."""

    file: str
    batch_size: int | float


class Hyperparameter(msgspec.Struct, frozen=True):
    """What an entry states, that of the round before, and the reference; None where one does not state it."""

    name: str
    value: StatedValue | None
    reference: Any
    before: StatedValue | None = None


class ReviewedEntry(EntryResult, frozen=True, kw_only=True):
    """An entry as ``mlsub check`` has it, and what a review adds.

    ``margin_percent`` is the mean above the limit of the convergence test, None where it has no mean. ``before`` is the
    path of the same submitter's entry of the round before, where it is at hand. ``reference`` has the entry's batch
    size, or the next smaller one with data.
    """

    benchmark_name: str
    margin_percent: float | None
    left_out: tuple[LeftOutRun, ...]
    disclosure: Disclosure
    hyperparameters: tuple[Hyperparameter, ...] = ()
    reference: Reference | None = None
    before: str | None = None


class DescribedName(msgspec.Struct, frozen=True):
    """A name in a system description, the file at ``path``, and how it should be written; one that is has no line."""

    path: str
    naming: Naming
    line: int | None = None


class Organisation(msgspec.Struct, frozen=True, kw_only=True):
    """One organisation in one round; its paths are relative to the root of the review.

    ``verdict`` is the line that ``mlsub check`` ends with. ``without_logs`` are folders of benchmarks without a result
    log, which are no ``entries``. ``asks`` are errors and warnings, ``notes`` the rest.
    ``fine`` says what was looked at and gave nothing to ask, ``to_read`` what is left to a person, by benchmark.
    """

    name: str
    organisation_name: str
    path: str
    usage: str | None
    round: str | None
    official: Verdict
    verdict: str
    logs: int
    entries: tuple[ReviewedEntry, ...]
    without_logs: tuple[str, ...] = ()
    names: tuple[DescribedName, ...] = ()
    asks: tuple[Ask, ...] = ()
    notes: tuple[Ask, ...] = ()
    fine: tuple[str, ...] = ()
    to_read: dict[str, tuple[str, ...]] = {}

    def count(self, severity: Severity) -> int:
        """Return how many defects of a severity count."""
        asked = (*self.asks, *self.notes)
        return sum(ask.severity is severity and ask.findings[0].suppressed is None for ask in asked)

    @property
    def rank(self) -> tuple[int, int, int, str]:
        """Where it comes: what could not be checked and the worst first."""
        errors, warnings = self.count(Severity.ERROR), self.count(Severity.WARNING)
        return -(self.official is Verdict.NOT_CHECKED), -errors, -warnings, self.path


class Review(Answer, frozen=True, kw_only=True):
    """The review of some organisations, that with most to ask about first. ``unread`` says what could not be read."""

    SCHEMA: ClassVar[int] = 4

    root: str
    organisations: tuple[Organisation, ...]
    unread: tuple[str, ...] = ()

    @property
    def exit_status(self) -> int:
        """2 where something could not be read, 1 where there is something to ask, else 0."""
        if self.unread or any(one.official is Verdict.NOT_CHECKED for one in self.organisations):
            return 2
        asked = (ask for one in self.organisations for ask in one.asks)
        return int(any(ask.findings[0].suppressed is None for ask in asked))


class Frequency(msgspec.Struct, frozen=True):
    """How often a rule applies: entries with a finding, of all entries, and findings."""

    rule: str
    title: str
    entries: int
    of: int
    findings: int


class Rates(Answer, frozen=True, kw_only=True):
    """How often each rule that compares runs applies to entries that hold so many logs."""

    SCHEMA: ClassVar[int] = 2

    entries: int
    logs: int
    rates: tuple[Frequency, ...]
