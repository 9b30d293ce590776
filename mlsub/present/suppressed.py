"""What waivers and the baseline suppress, and what options and settings hide: in short, and never without a word."""

from __future__ import annotations

from collections.abc import Iterator

from mlsub.findings import Suppression
from mlsub.present.findings import many, why_suppressed
from mlsub.submission.report import Report


def suppressed_lines(report: Report) -> Iterator[str]:
    """A line for each waiver that covers something, for the baseline, and for what is hidden."""
    rules: dict[Suppression, list[str]] = {}
    for found in report.findings:
        if found.suppressed is not None:
            rules.setdefault(found.suppressed, []).append(found.rule)
    for by, names in rules.items():
        findings = many(len(names), "finding")
        if by.by == "waiver":
            yield f"waived: {findings} of {', '.join(dict.fromkeys(names))}: {why_suppressed(by)}"
        else:
            yield f"known: {findings} of {many(len(set(names)), 'rule')}, in the baseline {by.source}"
    if report.hidden:
        by_what = ", ".join(f"{one.by} {one.findings}" for one in report.hidden)
        yield f"hidden: {many(sum(one.findings for one in report.hidden), 'finding')} ({by_what})"
