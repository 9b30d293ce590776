"""What was found of a result, the worst first: by the rules, and where runs were compared with each other."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from mlsub.commands.site.facts import FINDINGS_WORDS, findings_table, places_of
from mlsub.commands.site.model import Cell, Row, Section, Table, heads, text_of
from mlsub.findings import Finding, Severity
from mlsub.present.document import Findings
from mlsub.present.findings import grouped
from mlsub.review.runs.undone import parted
from mlsub.rules.catalogue import catalogue

#: Whose findings are those of ``mlsub inspect``.
_FORENSIC = "inspect."
_NAMES = {Severity.ERROR: "error", Severity.WARNING: "warning", Severity.INFO: "note"}
_FORENSICS = (
    "What stands out when these runs are compared with each other and with the other runs of this site. None of it is "
    "an accusation, and none is part of a verdict: warnings are worth asking the submitter about, and notes are good "
    "to know."
)
_UNCHANGED = "as it is"


def sections_of_findings(findings: Sequence[Finding], *, forgiven: bool) -> Iterator[Section]:
    """The findings on a result by severity, and those of forensics, if there are any, in a section of their own.

    Args:
        findings: those of one entry.
        forgiven: the entry is accepted, so that a rejecting defect is that of a forgiven run.
    """
    ruled = [finding for finding in findings if not finding.rule.startswith(_FORENSIC)]
    tables = tuple(
        findings_table(Findings(tuple(some), forgiven=forgiven), _caption(severity, some))
        for severity, some in _by_severity(ruled)
    )
    words = (_counted(ruled), FINDINGS_WORDS) if ruled else ("None.",)
    yield Section(key="findings", title="Findings", words=words, tables=tables)
    forensic = [finding for finding in findings if finding.rule.startswith(_FORENSIC)]
    if forensic:
        tables = tuple(_forensics(some, _caption(severity, some)) for severity, some in _by_severity(forensic))
        yield Section(key="forensics", title="Forensics", words=(_counted(forensic), _FORENSICS), tables=tables)


def _by_severity(findings: Sequence[Finding]) -> Iterator[tuple[Severity, list[Finding]]]:
    """Errors, warnings and notes, as far as there are any."""
    for severity in _NAMES:
        some = [finding for finding in findings if finding.severity is severity]
        if some:
            yield severity, some


def _many(count: int, severity: Severity) -> str:
    return f"{count:,} {_NAMES[severity]}{'s' * (count != 1)}"


def _caption(severity: Severity, findings: Sequence[Finding]) -> str:
    return _many(len(grouped(findings)), severity).capitalize()


def _counted(findings: Sequence[Finding]) -> str:
    """How many defects there are of each severity, the same in many places once."""
    counts = [_many(len(grouped(some)), severity) for severity, some in _by_severity(findings)]
    return f"{' and '.join([', '.join(counts[:-1]), counts[-1]] if len(counts) > 1 else counts)}."


def _forensics(findings: Sequence[Finding], caption: str) -> Table:
    return Table(
        caption=caption,
        heads=heads("what stands out", "figures", "the score without it", "what would explain it", "places"),
        rows=tuple(_row(group) for group in grouped(findings)),
    )


def _row(group: Sequence[Finding]) -> Row:
    first = group[0]
    known = catalogue().get(first.rule)
    title = known.title if known else first.message
    figures, scores = zip(*(parted(finding.actual or "") for finding in group), strict=True)
    return Row(
        (
            Cell(text_of(title), note=first.rule),
            Cell(_lines(figures) or "–"),
            Cell(_lines(scores) or _UNCHANGED),
            Cell(text_of(first.fix) if first.fix else "–"),
            places_of(group),
        )
    )


def _lines(texts: Sequence[str]) -> str:
    return "\n".join(text_of(text) for text in dict.fromkeys(texts) if text)
