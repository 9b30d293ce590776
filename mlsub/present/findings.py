"""Findings as blocks: each defect once, with all its places, or how many there are of each rule."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby
from typing import Literal, NamedTuple

import msgspec

from mlsub.findings import Finding, Kind, Severity, Suppression, Verdict
from mlsub.present.document import Cell, Facts, Findings, Lines, Meaning, Section, Span
from mlsub.present.places import rows
from mlsub.submission.report import Choice, Report, choose

#: Defects of one rule shown on a terminal, and lines of places of each; pages and JSON have them all.
MAX_DEFECTS, MAX_PLACES = 50, 10
MEANINGS: dict[Severity, Meaning] = {Severity.ERROR: "bad", Severity.WARNING: "note", Severity.INFO: "plain"}
_ORDER = {Severity.ERROR: 0, Severity.WARNING: 1, Severity.INFO: 2}
#: Rules whose findings are counted.
_COUNTED = 20
_TO_FIX, _NOT_CHECKED = "to fix", "not checked"

#: The verdict alone; with tables and counts; with what rejects or was warned of; with all findings.
Detail = Literal["quiet", "summary", "usual", "full"]


class View(msgspec.Struct, frozen=True, kw_only=True):
    """What is shown of reports, and how much of it; ``strict`` says that review findings count."""

    choice: Choice = Choice()
    detail: Detail = "usual"
    strict: bool = False

    @classmethod
    def of(cls, choice: Choice, detail: Detail | None, *, strict: bool = False, page: bool = False) -> View:
        """What is shown in full if nothing is said of the detail: what counts, review findings alone, all on a page."""
        every = page or strict or choice.only is Kind.REVIEW
        return cls(choice=choice, detail=detail or ("full" if every else "usual"), strict=strict)


class Group(NamedTuple):
    """Findings that mean the same for a reader; ``usual``: they are shown in full if nothing else is asked for."""

    name: str
    findings: tuple[Finding, ...]
    usual: bool


def groups(report: Report, choice: Choice = Choice()) -> Iterator[Group]:  # noqa: B008  (frozen)
    """The findings asked for: what is to be fixed first, what nobody has to fix last.

    Where nothing rejects, warnings are worth reading. What is suppressed is left out unless it rejects.
    """
    rejecting = set(report.rejecting())
    chosen = [f for f in choose(report, choice).findings if f.suppressed is None or f in rejecting]
    official = [finding for finding in chosen if finding.kind is Kind.OFFICIAL and finding not in rejecting]
    accepted = report.official is Verdict.ACCEPTED
    first = _NOT_CHECKED if report.official is Verdict.NOT_CHECKED else _TO_FIX
    for name, findings, usual in (
        (first, [f for f in chosen if f in rejecting], True),
        ("your own rules", [f for f in chosen if f.kind is Kind.HOUSE], True),
        ("official warnings", [f for f in official if f.severity is not Severity.INFO], accepted),
        ("official notes", [f for f in official if f.severity is Severity.INFO], False),
        ("review", [f for f in chosen if f.kind is Kind.REVIEW], False),
    ):
        if findings:
            yield Group(name, tuple(findings), usual)


def answer(report: Report, view: View) -> tuple[list[Section], Facts]:
    """The findings that a view shows: some in full, a section a group, and of the others how many there are by rule.

    What waivers and the baseline suppress, and what options and settings hide, is never left out without a word.
    """
    full: list[Section] = []
    counts: list[tuple[str, str]] = []
    for name, findings, usual in groups(report, view.choice):
        if view.detail == "full" or (usual and view.detail == "usual"):
            shown = Findings(findings, forgiven=name not in (_TO_FIX, _NOT_CHECKED))
            more = " (more on a rule: mlsub explain RULE)" if name == _TO_FIX else ""
            full.append(Section(f"{name[0].upper()}{name[1:]}: {_size(findings)}{more}", (shown,)))
        else:
            counts.append((name, tally(findings)))
    if counts:
        counts[-1] = (counts[-1][0], f"{counts[-1][1]} (-v shows {'them' if len(counts) == 1 else 'all'})")
    return full, Facts((*counts, *_not_counted(choose(report, view.choice))))


def _not_counted(report: Report) -> Iterator[tuple[str, str]]:
    """What each waiver covers, what the baseline has, and how many findings are hidden."""
    rules: dict[Suppression, list[str]] = {}
    for found in report.findings:
        if found.suppressed is not None:
            rules.setdefault(found.suppressed, []).append(found.rule)
    for by, names in rules.items():
        findings = many(len(names), "finding")
        if by.by == "waiver":
            yield "waived", f"{findings} of {', '.join(dict.fromkeys(names))}: {why_suppressed(by)}"
        else:
            yield "known", f"{findings} of {many(len(set(names)), 'rule')}, in the baseline {by.source}"
    yield from hidden(report)


def hidden(report: Report) -> Iterator[tuple[str, str]]:
    """How many findings options and settings hide; nothing where they hide none."""
    if report.hidden:
        by_what = ", ".join(f"{one.findings} by {one.by}" for one in report.hidden)
        yield "hidden", f"{many(sum(one.findings for one in report.hidden), 'finding')} ({by_what})"


def _size(findings: Sequence[Finding]) -> str:
    defects = len(grouped(findings))
    return many(defects, "finding") + (f" in {many(len(findings), 'place')}" if len(findings) > defects else "")


def tally(findings: Sequence[Finding]) -> str:
    """How many findings there are of each rule: the worst first, then those with most."""
    counts = Counter(finding.rule for finding in findings)
    worst: dict[str, int] = {}
    for finding in findings:
        worst[finding.rule] = min(_ORDER[finding.severity], worst.get(finding.rule, len(_ORDER)))
    order = sorted(counts, key=lambda rule: (worst[rule], -counts[rule], rule))
    said = ", ".join(f"{rule} {counts[rule]}" for rule in order[:_COUNTED])
    more = f" and {many(len(order) - _COUNTED, 'more rule')}" if len(order) > _COUNTED else ""
    return f"{many(len(findings), 'finding')}: {said}{more}"


def many(count: int, thing: str) -> str:
    """``1 finding``, ``2 findings``."""
    return f"{count} {thing}{'s' * (count != 1)}"


#: What a finding is called that does not count.
SUPPRESSED = {"waiver": "waived", "baseline": "known"}


def grouped(findings: Iterable[Finding]) -> list[list[Finding]]:
    """The same defect in many places is one group; what rejects comes first."""
    groups: dict[tuple[object, ...], list[Finding]] = {}
    for finding in findings:
        key = (finding.rule, finding.message, finding.expected, finding.fix, finding.severity, finding.suppressed)
        groups.setdefault(key, []).append(finding)
    return sorted(groups.values(), key=_rank)


def _rank(group: Sequence[Finding]) -> tuple[int, int, str]:
    first = group[0]
    return (list(Kind).index(first.kind), _ORDER[first.severity], first.rule)


def sections(block: Findings, *, whole: bool = True) -> Iterator[Section]:
    """One section a defect: what is wrong, then expected, found, where, fix and source.

    If not ``whole``, those of one rule and the places of each are so many at most, and what is left out is counted.
    """
    for _, alike in groupby(grouped(block.findings), key=_rank):
        defects = list(alike)
        shown = defects if whole else defects[:MAX_DEFECTS]
        for group in shown:
            yield _section(group, block, None if whole else MAX_PLACES)
        if left := len(defects) - len(shown):
            rule, meaning = defects[0][0].rule, MEANINGS[defects[0][0].severity]
            more = f"and {many(left, 'more finding')} of this rule; --format json lists all "
            yield Section((Span(more, meaning), Span(f"[{rule}]", "code")), (), meaning)


def _section(group: Sequence[Finding], block: Findings, most: int | None) -> Section:
    first = group[0]
    meaning = MEANINGS[first.severity]
    head = (Span(label_of(first, block), meaning), f": {first.message} ", Span(f"[{first.rule}]", "code"))
    return Section(head, (Facts(tuple(facts_of(group, most))),), meaning)


def label_of(first: Finding, block: Findings) -> str:
    """Kind and severity of a defect, as the block shows it."""
    kind = first.severity.value if first.kind is Kind.OFFICIAL else f"{first.kind.value} {first.severity.value}"
    label = kind if block.label is None else block.label
    if first.suppressed is not None:
        return f"{SUPPRESSED[first.suppressed.by]} {label}"
    return f"forgiven {label}" if block.forgiven and first.rejects else label


def facts_of(group: Sequence[Finding], most: int | None = MAX_PLACES) -> Iterator[tuple[str, Cell]]:
    """What there is to know of a defect: expected, found, in (its places, in so many lines at most), fix, source."""
    first, found = group[0], {finding.actual for finding in group}
    if first.expected is not None:
        yield "expected", first.expected
    if len(found) == 1 and first.actual is not None:
        yield "found", first.actual
    places = list(rows(group, own=len(found) > 1, whole=most is None))
    shown = places[:most]
    more = sum(row.left_out for row in shown) + sum(row.findings for row in places[len(shown) :])
    yield "in", Lines((*(row.words for row in shown), *([f"and {more} more place{'s' * (more > 1)}"] if more else [])))
    if first.fix is not None:
        yield "fix", first.fix
    if first.suppressed is not None:
        yield SUPPRESSED[first.suppressed.by], why_suppressed(first.suppressed)
    yield "source", first.source


def why_suppressed(by: Suppression) -> str:
    """Why a finding does not count, until when, and who says so."""
    return f"{by.reason} ({f'until {by.until}; ' if by.until else ''}{by.source})"
