"""How near the limit of the convergence test the entries of reports are."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from mlsub.commands.rcp.model import Margins, PackageMargins
from mlsub.convergence.chance import Bootstrap
from mlsub.convergence.margin import benchmark_held, margin_of, untested
from mlsub.findings import Verdict
from mlsub.rounds import get_round
from mlsub.submission.report import Report
from mlsub.workspace import in_one_line

_UNTESTED = "not-required"


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
