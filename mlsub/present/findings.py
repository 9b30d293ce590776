"""Findings as blocks: each defect once, with all its places."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from mlsub.findings import Finding, Kind, Severity, Suppression
from mlsub.present.document import Cell, Facts, Findings, Lines, Meaning, Section, Span

#: Places shown for one defect; JSON has them all.
MAX_PLACES = 10
MEANINGS: dict[Severity, Meaning] = {Severity.ERROR: "bad", Severity.WARNING: "note", Severity.INFO: "plain"}
_ORDER = {Severity.ERROR: 0, Severity.WARNING: 1, Severity.INFO: 2}

#: What a finding is called that does not count.
SUPPRESSED = {"waiver": "waived", "baseline": "known"}


def grouped(findings: Iterable[Finding]) -> list[list[Finding]]:
    """The same defect in many places is one group; what rejects comes first."""
    groups: dict[tuple[object, ...], list[Finding]] = {}
    for finding in findings:
        key = (finding.rule, finding.message, finding.expected, finding.fix, finding.severity, finding.suppressed)
        groups.setdefault(key, []).append(finding)

    def rank(group: list[Finding]) -> tuple[int, int, str]:
        first = group[0]
        return (list(Kind).index(first.kind), _ORDER[first.severity], first.rule)

    return sorted(groups.values(), key=rank)


def sections(block: Findings) -> Iterator[Section]:
    """One section a defect: what is wrong, then expected, found, where, fix and source."""
    for group in grouped(block.findings):
        first = group[0]
        meaning = MEANINGS[first.severity]
        head = (Span(label_of(first, block), meaning), f": {first.message} ", Span(f"[{first.rule}]", "code"))
        yield Section(head, (Facts(tuple(facts_of(group))),), meaning)


def label_of(first: Finding, block: Findings) -> str:
    """Kind and severity of a defect, as the block shows it."""
    kind = first.severity.value if first.kind is Kind.OFFICIAL else f"{first.kind.value} {first.severity.value}"
    label = kind if block.label is None else block.label
    if first.suppressed is not None:
        return f"{SUPPRESSED[first.suppressed.by]} {label}"
    return f"forgiven {label}" if block.forgiven and first.rejects else label


def facts_of(group: Sequence[Finding]) -> Iterator[tuple[str, Cell]]:
    """What there is to know of a defect: expected, found, in (its places), fix, source."""
    first, found = group[0], {finding.actual for finding in group}
    if first.expected is not None:
        yield "expected", first.expected
    if len(found) == 1 and first.actual is not None:
        yield "found", first.actual
    places = [_place(finding, own=len(found) > 1) for finding in group[:MAX_PLACES]]
    more = (f"and {len(group) - MAX_PLACES} more places",) if len(group) > MAX_PLACES else ()
    yield "in", Lines((*places, *more))
    if first.fix is not None:
        yield "fix", first.fix
    if first.suppressed is not None:
        yield SUPPRESSED[first.suppressed.by], why_suppressed(first.suppressed)
    yield "source", first.source


def why_suppressed(by: Suppression) -> str:
    """Why a finding does not count, until when, and who says so."""
    return f"{by.reason} ({f'until {by.until}; ' if by.until else ''}{by.source})"


def _place(finding: Finding, *, own: bool) -> tuple[str | Span, ...]:
    """Where it is; with what was found there if that differs from place to place."""
    place = Span(finding.path + (f":{finding.line}" if finding.line is not None else ""), "path")
    return (place, f" ({finding.actual})") if own and finding.actual is not None else (place,)
