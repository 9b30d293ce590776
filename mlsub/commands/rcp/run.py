"""What the commands on reference convergence points answer, and how near the limit the entries of reports are."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import ClassVar

import msgspec

from mlsub.convergence.curves import Figures, Plan, ReferenceTable
from mlsub.convergence.margin import Bootstrap, Margin, Untested, benchmark_held, margin_of, untested
from mlsub.findings import Verdict
from mlsub.present.envelope import Answer
from mlsub.rounds import get_round
from mlsub.submission.report import Report
from mlsub.workspace import in_one_line

_UNTESTED = "not-required"


class Points(Answer, frozen=True, kw_only=True):
    """The reference points of a benchmark."""

    SCHEMA: ClassVar[int] = 2

    reference: ReferenceTable


class Planned(Answer, frozen=True, kw_only=True):
    """What runs at a batch size need."""

    SCHEMA: ClassVar[int] = 2

    plan: Plan


class NewPoint(Figures, frozen=True, kw_only=True):
    """A reference point that was built; ``replaces`` is the mean of the installed one of its batch size, if any.

    ``kept`` says whether the official pruning keeps it among the installed points.
    """

    replaces: float | None


class NewReference(Answer, frozen=True, kw_only=True):
    """A reference file that was built, and how its points lie beside the installed ones; means are in ``unit``."""

    SCHEMA: ClassVar[int] = 1

    file: str
    benchmark: str
    unit: str
    installed: int
    points: tuple[NewPoint, ...]
    notes: tuple[str, ...]


class PackageMargins(msgspec.Struct, frozen=True, kw_only=True):
    """How the entries of one path stand; ``untested`` are those that no reference applies to."""

    usage: str
    round: str
    round_from: str | None
    root: str
    entries: tuple[Margin, ...]
    untested: tuple[Untested, ...]

    def name_of(self, entry: Margin | Untested) -> str:
        """An entry by its path; by its folder where that is what was asked for."""
        return self.root.rpartition("/")[2] if entry.path == "." else entry.path


class Margins(Answer, frozen=True, kw_only=True):
    """How near the limit results are, and how their chances were computed."""

    SCHEMA: ClassVar[int] = 3

    bootstrap: Bootstrap
    reports: tuple[PackageMargins, ...]

    @property
    def entries(self) -> tuple[Margin, ...]:
        """The entries of all paths."""
        return tuple(entry for report in self.reports for entry in report.entries)


def margins_of(
    reports: Sequence[Report], overlay: str | None, bootstrap: Bootstrap, further: int | None, own: str | None
) -> Margins:
    """How all entries stand.

    Args:
        reports: those without entries are left out; see :func:`unchecked`.
        overlay: the user's own rule file.
        bootstrap: how chances are computed.
        further: of how many further runs the chance is; None for as many as an entry has.
        own: a file of reference points in place of the installed ones.
    """
    return Margins(
        bootstrap=bootstrap,
        reports=tuple(_of_report(report, overlay, bootstrap, further, own) for report in reports if report.entries),
    )


def _of_report(
    report: Report, overlay: str | None, bootstrap: Bootstrap, further: int | None, own: str | None
) -> PackageMargins:
    of = get_round(str(report.usage), str(report.round), overlay)
    return PackageMargins(
        usage=of.usage,
        round=str(report.round),
        round_from=report.round_from,
        root=report.root,
        entries=tuple(
            margin_of(entry, benchmark_held(report, entry, of), of, bootstrap, further=further, own=own)
            for entry in report.entries
            if entry.rcp.verdict != _UNTESTED
        ),
        untested=tuple(untested(entry, of) for entry in report.entries if entry.rcp.verdict == _UNTESTED),
    )


def unchecked(reports: Sequence[Report]) -> Iterator[str]:
    """What could not be looked at, and why."""
    for report in reports:
        if report.official is Verdict.NOT_CHECKED:
            yield from (in_one_line(finding) for finding in report.findings if finding.rejects)
        elif not report.entries:
            yield "a log by itself is not an entry; name its folder"
