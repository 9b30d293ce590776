"""What waivers and the baseline suppress, and what options and settings hide: in short, and never without a word."""

from __future__ import annotations

from collections.abc import Iterator

import msgspec

from mlsub.findings import Suppression
from mlsub.present.findings import why_suppressed
from mlsub.submission.report import Report


def without_suppressed(report: Report) -> Report:
    """The report without what is suppressed, but with all that rejects: nobody should have to ask why."""
    kept = tuple(found for found in report.findings if found.suppressed is None or found.rejects)
    return msgspec.structs.replace(report, findings=kept)


def suppressed_lines(report: Report) -> Iterator[str]:
    """A line for each waiver that covers something, for the baseline, and for what is hidden."""
    rules: dict[Suppression, list[str]] = {}
    for found in report.findings:
        if found.suppressed is not None:
            rules.setdefault(found.suppressed, []).append(found.rule)
    for by, names in rules.items():
        findings = _findings(len(names))
        if by.by == "waiver":
            yield f"waived: {findings} of {', '.join(dict.fromkeys(names))}: {why_suppressed(by)}"
        else:
            yield f"known: {findings} of {_many(len(set(names)), 'rule')}, in the baseline {by.source}"
    if report.hidden:
        by_what = ", ".join(f"{one.by} {one.findings}" for one in report.hidden)
        yield f"hidden: {_findings(sum(one.findings for one in report.hidden))} ({by_what})"


def _findings(count: int) -> str:
    return _many(count, "finding")


def _many(count: int, thing: str) -> str:
    return f"{count} {thing}{'s' * (count != 1)}"
