"""What the commands on reference convergence points answer, and how near the limit the entries of reports are."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import ClassVar

from mlsub.convergence import Cutoff
from mlsub.convergence.chance import Bootstrap, chance_like
from mlsub.convergence.curves import BatchPlan, ReferenceTable, plan_of
from mlsub.convergence.margin import Margin, PackageMargins, margins_of
from mlsub.convergence.reference import Point
from mlsub.findings import Finding, Verdict
from mlsub.present.envelope import Answer
from mlsub.review.cadence import evaluations_asked
from mlsub.rounds import Round
from mlsub.rules.load import entry_requirements
from mlsub.submission.report import Report
from mlsub.workspace import in_one_line


class Points(Answer, frozen=True, kw_only=True):
    """The reference points of a benchmark."""

    SCHEMA: ClassVar[int] = 2

    reference: ReferenceTable


class Planned(Answer, frozen=True, kw_only=True):
    """What runs at a batch size need.

    An entry has ``runs``, of which ``may_fail`` may fail. ``chance`` (0 to 1) is that of passing for runs that spread
    as the reference's do. The rules ask for evaluations at ``first_evaluation`` and ``evaluation_interval`` apart, in
    the unit of the plan; both are None where they count another one.
    """

    SCHEMA: ClassVar[int] = 3

    plan: BatchPlan
    runs: int
    may_fail: int
    chance: float | None
    first_evaluation: float | None
    evaluation_interval: float | None

    def evaluations(self, value: float) -> float | None:
        """Return how many evaluations a run has had that is so far; None before the first, and of another unit."""
        if not self.evaluation_interval or self.first_evaluation is None or value < self.first_evaluation:
            return None
        return 1 + (value - self.first_evaluation) / self.evaluation_interval


class NewPoint(Point, frozen=True, kw_only=True):
    """A reference point that was built; ``replaces`` is the mean of the installed one of its batch size, if any.

    ``kept`` says whether the official pruning keeps it among the installed points.
    """

    kept: bool
    replaces: float | None


class NewReference(Answer, frozen=True, kw_only=True):
    """A reference file that was built, and how its points lie beside the installed ones; means are in ``unit``.

    ``findings`` are what makes its runs no submission, if they need not be one.
    """

    SCHEMA: ClassVar[int] = 2

    file: str
    benchmark: str
    unit: str
    installed: int
    points: tuple[NewPoint, ...]
    notes: tuple[str, ...]
    findings: tuple[Finding, ...] = ()


class Margins(Answer, frozen=True, kw_only=True):
    """How near the limit results are, and how their chances were computed."""

    SCHEMA: ClassVar[int] = 4

    bootstrap: Bootstrap
    reports: tuple[PackageMargins, ...]

    @property
    def entries(self) -> tuple[Margin, ...]:
        """The entries of all paths."""
        return tuple(entry for report in self.reports for entry in report.entries)


def plan(round_: Round, benchmark: str, batch_size: float, cutoff: Cutoff) -> Planned:
    """Return what runs of a benchmark need at a batch size.

    Raises:
        MlsubError: there is no reference, or the installed file is broken.
    """
    needs = entry_requirements(round_.usage, round_.name, benchmark, round_.overlay)
    found, chance = plan_of(round_, benchmark, batch_size, cutoff), None
    if found.mean is not None and found.stdev is not None and found.minimum is not None:
        chance = chance_like(found.mean, found.stdev, found.minimum, needs.runs, benchmark)
    unit, *asked = evaluations_asked(benchmark, round_.usage, round_.name, batch_size) or ("",)
    first, every = asked if unit == found.unit else (None, None)
    numbers = {"first_evaluation": first, "evaluation_interval": every, "chance": chance}
    return Planned(plan=found, runs=needs.runs, may_fail=needs.forgiven, **numbers)


def find_margins(reports: Sequence[Report], overlay: str | None, own: str | None) -> Margins:
    """Return how near the limit the entries of reports are.

    Args:
        reports: what was checked.
        overlay: the user's own rules.
        own: the user's own reference file.
    """
    bootstrap = Bootstrap()
    found = (margins_of(report, overlay, bootstrap, own) for report in reports if report.entries)
    return Margins(bootstrap=bootstrap, reports=tuple(found))


def unchecked(reports: Sequence[Report]) -> Iterator[str]:
    """Yield what could not be looked at, and why."""
    for report in reports:
        if report.official is Verdict.NOT_CHECKED:
            yield from (in_one_line(finding) for finding in report.findings if finding.rejects)
        elif not report.entries:
            yield "a log by itself is not an entry; name its folder"
