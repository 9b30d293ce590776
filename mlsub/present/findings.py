"""Findings as blocks: each defect once, with all its places, or how many there are of each rule."""

from __future__ import annotations

from collections import Counter
from collections.abc import Container, Iterable, Iterator, Sequence
from itertools import groupby

import msgspec

from mlsub.findings import Finding, Kind, Severity, Suppression, Verdict
from mlsub.io.data import group_by_key
from mlsub.io.show import first_few, plural
from mlsub.present.document import Cell, Facts, Findings, Lines, Meaning, Section, Span
from mlsub.rules.catalogue import find_causes
from mlsub.submission.report import Choice, Detail, Report, choose

#: Defects of one rule shown on a terminal, and lines of places of each; pages and JSON have them all.
MAX_DEFECTS, MAX_PLACES = 50, 10
MEANINGS: dict[Severity, Meaning] = {Severity.ERROR: "bad", Severity.WARNING: "note", Severity.NOTE: "plain"}
#: Rules whose findings are counted.
_COUNTED = 20
_TO_FIX, _NOT_CHECKED = "to fix", "not checked"


def shown_of(choice: Choice, detail: Detail | None, *, fail_on: Severity | None = None, page: bool = False) -> Choice:
    """A choice with how much is shown; in full if nothing is said of it: review findings alone, a page."""
    every = page or choice.only is Kind.REVIEW
    return msgspec.structs.replace(choice, detail=detail or ("full" if every else "usual"), fail_on=fail_on)


def _groups(report: Report, choice: Choice) -> Iterator[tuple[str, list[Finding], bool]]:
    """The findings asked for, by what they mean for a reader: what is to be fixed first, what nobody has to fix last.

    Where nothing rejects, warnings are worth reading. What is suppressed is left out unless it rejects.

    Yields:
        The name of a group, its findings, and whether they are shown in full if nothing else is asked for.
    """
    rejecting = set(report.rejecting())
    chosen = [f for f in choose(report, choice).findings if f.suppressed is None or f in rejecting]
    official = [finding for finding in chosen if finding.kind is Kind.OFFICIAL and finding not in rejecting]
    accepted = report.official is Verdict.ACCEPTED
    first = _NOT_CHECKED if report.official is Verdict.NOT_CHECKED else _TO_FIX
    yield first, [f for f in chosen if f in rejecting], True
    yield "your own rules", [f for f in chosen if f.kind is Kind.HOUSE], True
    yield "official warnings", [f for f in official if f.severity is not Severity.NOTE], accepted
    yield "official notes", [f for f in official if f.severity is Severity.NOTE], False
    for severity in Severity:
        found = [f for f in chosen if f.kind is Kind.REVIEW and f.severity is severity]
        counts = choice.fail_on is not None and severity.rank <= choice.fail_on.rank
        yield f"review {severity}s", found, counts or severity is Severity.ERROR


def answer(report: Report, choice: Choice) -> tuple[list[Section], Facts]:
    """The findings that a choice shows: some in full, a section a group, and of the others how many there are by rule.

    A finding that explains others stands in the first group that has one of them; unless all is shown, they are folded.
    What waivers and the baseline suppress, and what options and settings hide, is never left out without a word.
    """
    full: list[Section] = []
    counts: list[tuple[str, str]] = []
    groups = list(_groups(report, choice))
    every = [finding for _, findings, _ in groups for finding in findings]
    causes = find_causes(every)
    placed: set[Finding] = set()
    for name, of_group, usual in groups:
        in_full = choice.detail == "full" or (usual and choice.detail == "usual")
        explaining = {causes[one].defect for one in of_group if in_full and one in causes}
        first = [one for one in every if one.defect in explaining] if explaining else []
        findings = {one: None for one in (*first, *of_group) if one not in placed}
        if findings and in_full:
            placed.update(findings)
            folded = {one: None for one in findings if choice.detail == "usual" and causes.get(one) in findings}
            shown = tuple(one for one in findings if one not in folded)
            block = Findings(shown, forgiven=name not in (_TO_FIX, _NOT_CHECKED), folded=tuple(folded))
            more = " (more on a rule: mlsub explain RULE)" if name == _TO_FIX else ""
            full.append(Section(f"{name[0].upper()}{name[1:]}: {_size(list(findings))}{more}", (block,)))
        elif findings:
            counts.append((name, tally(list(findings))))
    if counts:
        counts[-1] = (counts[-1][0], f"{counts[-1][1]} (-v shows {'them' if len(counts) == 1 else 'all'})")
    return full, Facts((*counts, *_not_counted(choose(report, choice))))


def _not_counted(report: Report) -> Iterator[tuple[str, str]]:
    """What each waiver covers, what the baseline has, and how many findings are hidden."""
    for by, names in group_by_key((one.suppressed, one.rule) for one in report.findings if one.suppressed).items():
        findings = plural(defects(f for f in report.findings if f.suppressed == by), "finding")
        if by.by == "waiver":
            yield "waived", f"{findings} of {', '.join(dict.fromkeys(names))}: {why_suppressed(by)}"
        else:
            yield "known", f"{findings} of {plural(len(set(names)), 'rule')}, in the baseline {by.source}"
    yield from hidden(report)


def hidden(report: Report) -> Iterator[tuple[str, str]]:
    """How many findings options and settings hide; nothing where they hide none."""
    if report.hidden:
        by_what = ", ".join(f"{one.findings} by {one.by}" for one in report.hidden)
        yield "hidden", f"{plural(sum(one.findings for one in report.hidden), 'finding')} ({by_what})"


def _size(findings: Sequence[Finding]) -> str:
    count = defects(findings)
    return plural(count, "finding") + (f" in {plural(len(findings), 'place')}" if len(findings) > count else "")


def defects(findings: Iterable[Finding]) -> int:
    """How many defects there are: a finding is one, with all its places."""
    return len({finding.defect for finding in findings})


def tally(findings: Sequence[Finding]) -> str:
    """How many findings there are of each rule: the worst first, then those with most."""
    counts = Counter(group[0].rule for group in grouped(findings))
    ranks = group_by_key((finding.rule, finding.severity.rank) for finding in findings)
    order = sorted(counts, key=lambda rule: (min(ranks[rule]), -counts[rule], rule))
    counted = first_few((f"{rule} {counts[rule]}" for rule in order), _COUNTED, "rule")
    return f"{_size(findings)}: {counted}"


#: What a finding is called that does not count.
SUPPRESSED = {"waiver": "waived", "baseline": "known"}


def grouped(findings: Iterable[Finding], first: Container[Finding] = ()) -> list[list[Finding]]:
    """The same defect in many places is one group; those with one of ``first`` come first, then what rejects."""
    groups = group_by_key((finding.defect, finding) for finding in findings).values()
    return sorted(groups, key=lambda group: (not any(one in first for one in group), *_rank(group)))


def _rank(group: Sequence[Finding]) -> tuple[int, int, str]:
    first = group[0]
    return (list(Kind).index(first.kind), first.severity.rank, first.rule)


def sections(block: Findings, *, whole: bool = True) -> Iterator[Section]:
    """One section a defect: what is wrong, then expected, found, where, fix and source, and what it explains.

    What explains others comes first. If not ``whole``, defects of a rule and places beyond a bound are only counted.
    """
    explained = group_by_key((cause, one) for one, cause in find_causes((*block.findings, *block.folded)).items())
    for _, alike in groupby(grouped(block.findings, explained), key=_rank):
        defects = list(alike)
        shown = defects if whole else defects[:MAX_DEFECTS]
        for group in shown:
            consequences = [one for cause in group for one in explained.get(cause, ())]
            yield _section(group, block, consequences, None if whole else MAX_PLACES)
        if left := len(defects) - len(shown):
            rule, meaning = defects[0][0].rule, MEANINGS[defects[0][0].severity]
            more = f"and {plural(left, 'more finding')} of this rule; --format json lists all "
            yield Section((Span(more, meaning), Span(f"[{rule}]", "code")), (), meaning)


def _section(group: Sequence[Finding], block: Findings, consequences: Sequence[Finding], most: int | None) -> Section:
    first = group[0]
    meaning = MEANINGS[first.severity]
    head = (Span(label_of(first, block), meaning), f": {first.message} ", Span(f"[{first.rule}]", "code"))
    facts = list(facts_of(group, most))
    if consequences:
        families = dict.fromkeys(f"{one.rule.partition('.')[0]}.*" for one in consequences)
        more = "" if set(block.folded).isdisjoint(consequences) else " (-v shows them)"
        facts.append(("explains", f"{_size(consequences)} of {', '.join(families)}{more}"))
    return Section(head, (Facts(tuple(facts)),), meaning)


def label_of(first: Finding, block: Findings) -> str:
    """Kind and severity of a defect, as the block shows it."""
    kind = first.severity.value if first.kind is Kind.OFFICIAL else f"{first.kind.value} {first.severity.value}"
    label = kind if block.label is None else block.label
    if first.suppressed is not None:
        return f"{SUPPRESSED[first.suppressed.by]} {label}"
    return f"forgiven {label}" if block.forgiven and first.rejects else label


def facts_of(
    group: Sequence[Finding], most: int | None = MAX_PLACES, most_files: int | None = None, root: str = ""
) -> Iterator[tuple[str, Cell]]:
    """What there is to know of a defect: expected, found, in (its places), fix, source.

    ``most`` are the lines of places, None for all, and ``most_files`` the files in one, None for as many as usual;
    ``root`` is that of links to them, see :func:`mlsub.present.places.rows`.
    """
    # Where there is nothing to tell, nobody needs them.
    from mlsub.present.places import MAX_FILES, rows

    first, found = group[0], {finding.actual for finding in group}
    if first.expected is not None:
        yield "expected", first.expected
    if len(found) == 1 and first.actual is not None:
        yield "found", first.actual
    places = list(rows(group, own=len(found) > 1, whole=most is None, most_files=most_files or MAX_FILES, root=root))
    shown = places[:most]
    more = sum(row.left_out for row in shown) + sum(row.findings for row in places[len(shown) :])
    yield "in", Lines((*(row.words for row in shown), *([f"and {plural(more, 'more place')}"] if more else [])))
    if first.fix is not None:
        yield "fix", first.fix
    if first.suppressed is not None:
        yield SUPPRESSED[first.suppressed.by], why_suppressed(first.suppressed)
    yield "source", first.source


def why_suppressed(by: Suppression) -> str:
    """Why a finding does not count, until when, and who says so."""
    return f"{by.reason} ({f'until {by.until}; ' if by.until else ''}{by.source})"
