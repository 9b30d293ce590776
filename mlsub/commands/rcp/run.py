"""What the commands on reference convergence points answer, and how near the limit the entries of reports are."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import ClassVar

from mlsub.convergence.chance import Bootstrap
from mlsub.convergence.curves import BatchPlan, ReferenceTable
from mlsub.convergence.margin import Margin, PackageMargins, margins_of
from mlsub.convergence.reference import Point
from mlsub.findings import Finding, Verdict
from mlsub.present.envelope import Answer
from mlsub.submission.report import Report
from mlsub.workspace import in_one_line


class Points(Answer, frozen=True, kw_only=True):
    """The reference points of a benchmark."""

    SCHEMA: ClassVar[int] = 2

    reference: ReferenceTable


class Planned(Answer, frozen=True, kw_only=True):
    """What runs at a batch size need."""

    SCHEMA: ClassVar[int] = 2

    plan: BatchPlan


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
