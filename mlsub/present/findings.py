"""Findings as blocks: each defect once, with all its places, or how many there are of each rule."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
from itertools import groupby
from typing import NamedTuple, TypeVar

import msgspec

from mlsub.findings import Finding, Kind, Severity, Suppression, Verdict
from mlsub.io.show import first_few, plural
from mlsub.present.document import Cell, Facts, Findings, Lines, Meaning, Section, Span
from mlsub.rules.catalogue import find_causes
from mlsub.submission.report import Choice, Detail, Report, choose

#: Defects of one rule shown on a terminal, and lines of places of each; pages and JSON have them all.
MAX_DEFECTS, MAX_PLACES = 50, 10
#: Files in one row, and lines of a file; what is left out is counted.
MAX_FILES, MAX_LINES = 20, 10
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
    rules: dict[Suppression, list[str]] = {}
    for found in report.findings:
        if found.suppressed is not None:
            rules.setdefault(found.suppressed, []).append(found.rule)
    for by, names in rules.items():
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
    worst: dict[str, int] = {}
    for finding in findings:
        worst[finding.rule] = min(finding.severity.rank, worst.get(finding.rule, len(Severity)))
    order = sorted(counts, key=lambda rule: (worst[rule], -counts[rule], rule))
    counted = first_few((f"{rule} {counts[rule]}" for rule in order), _COUNTED, "rule")
    return f"{_size(findings)}: {counted}"


#: What a finding is called that does not count.
SUPPRESSED = {"waiver": "waived", "baseline": "known"}


def grouped(findings: Iterable[Finding], first: Container[Finding] = ()) -> list[list[Finding]]:
    """The same defect in many places is one group; those with one of ``first`` come first, then what rejects."""
    groups: dict[tuple[object, ...], list[Finding]] = {}
    for finding in findings:
        groups.setdefault(finding.defect, []).append(finding)
    return sorted(groups.values(), key=lambda group: (not any(one in first for one in group), *_rank(group)))


def _rank(group: Sequence[Finding]) -> tuple[int, int, str]:
    first = group[0]
    return (list(Kind).index(first.kind), first.severity.rank, first.rule)


def sections(block: Findings, *, whole: bool = True) -> Iterator[Section]:
    """One section a defect: what is wrong, then expected, found, where, fix and source, and what it explains.

    What explains others comes first. If not ``whole``, defects of a rule and places beyond a bound are only counted.
    """
    explained: dict[Finding, list[Finding]] = {}
    for one, cause in find_causes((*block.findings, *block.folded)).items():
        explained.setdefault(cause, []).append(one)
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
    group: Sequence[Finding], most: int | None = MAX_PLACES, most_files: int = MAX_FILES
) -> Iterator[tuple[str, Cell]]:
    """What there is to know of a defect: expected, found, in (its places), fix, source.

    ``most`` are the lines of places, None for all, and ``most_files`` the files in one.
    """
    first, found = group[0], {finding.actual for finding in group}
    if first.expected is not None:
        yield "expected", first.expected
    if len(found) == 1 and first.actual is not None:
        yield "found", first.actual
    places = list(rows(group, own=len(found) > 1, whole=most is None, most_files=most_files))
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


#: Names and runs of numbers between two brackets; where there are more, the others have brackets of their own.
MAX_PARTS = 40
#: What was found stands behind each file up to this length; where it is longer, each has a row of its own.
_SHORT = 30
#: A number in a name, short enough to count with.
_NUMBER = re.compile(r"(?<![0-9])[0-9]{1,9}(?![0-9])")
#: Numbers of one name that are tried, the last first.
_TRIED = 4
#: Folders deeper than this are not compared part by part.
_DEEPEST = 16
#: Signs of the notation itself: what holds one is never part of a pattern.
_NOTATION = frozenset("{},")

#: Its name, what was found there, and whether the file as a whole is meant.
_File = tuple[str, str | None, bool]
#: The lines and the found value that all files of an item have in common.
_Mark = tuple[tuple[int | None, ...], str | None]

_T = TypeVar("_T")


class PlaceRow(NamedTuple):
    """One line of places: how many findings it stands for, and how many of them it does not show."""

    words: tuple[str | Span, ...]
    findings: int
    left_out: int


class _Item(NamedTuple):
    """Files of a folder that have a mark in common, as one pattern."""

    pattern: str
    mark: _Mark
    files: int


def rows(
    findings: Iterable[Finding], *, own: bool, whole: bool = False, most_files: int = MAX_FILES
) -> Iterator[PlaceRow]:
    """Where findings are: a row a folder, or one for folders that have all in common but one part of their names.

    Args:
        findings: the same defect in all its places.
        own: say of each place what was found there.
        whole: leave nothing out.
        most_files: so many in a row at most, unless ``whole``.
    """
    known = [(*one.path.rpartition("/")[::2], one.line, one.actual if own else None) for one in findings]
    most = None if whole else MAX_PARTS
    short = all(len(found or "") <= _SHORT and not set(found or "") & set(",()") for *_, found in known)
    folders: dict[tuple[str, str | None], dict[_File, dict[int | None, None]]] = {}
    for folder, name, line, found in known:
        files = folders.setdefault((folder, None if short else found), {})
        files.setdefault((name, found if short else None, line is None), {})[line] = None
    alike: dict[tuple[tuple[_Item, ...], str | None], list[str]] = {}
    for (folder, found), files in folders.items():
        alike.setdefault((_items(files, most), found), []).append(folder)
    for (items, found), names in alike.items():
        for pattern, count in _folders(names, most):
            yield _row(pattern, count, items, found, None if whole else most_files)


def _items(files: Mapping[_File, Iterable[int | None]], most: int | None) -> tuple[_Item, ...]:
    """The files of a folder, those with the same lines and the same found value together."""
    marks: dict[_Mark, list[str]] = {}
    for (name, found, _), lines in files.items():
        marks.setdefault((tuple(sorted(lines, key=lambda line: line or 0)), found), []).append(name)
    return tuple(
        _Item(pattern, mark, count) for mark, names in marks.items() for pattern, count in patterns(names, most)
    )


def _row(folder: str, folders: int, items: Sequence[_Item], found: str | None, most_files: int | None) -> PlaceRow:
    most_lines = None if most_files is None else MAX_LINES
    words: list[str | Span] = []
    alone = len(items) == 1
    if folder:
        words += [Span(f"{folder}/", "path")] if alone else [Span(folder, "path"), ": "]
    shown = items[:most_files]
    for number, item in enumerate(shown):
        lines, each = item.mark
        words += [", "] if number else []
        words.append(Span(item.pattern + _lines(lines[:most_lines]), "path"))
        words += [f" ({each})"] if each is not None else []
    words += [f" ({'' if alone else 'each: '}{found})"] if found is not None else []
    findings = sum(item.files * len(item.mark[0]) for item in items)
    seen = sum(item.files * len(item.mark[0][:most_lines]) for item in shown)
    return PlaceRow(_joined(words), folders * findings, folders * (findings - seen))


def _joined(words: Sequence[str | Span]) -> tuple[str | Span, ...]:
    """A folder and its only file are one path."""
    match words:
        case [Span(folder, "path"), Span(name, "path"), *rest]:
            return (Span(folder + name, "path"), *rest)
    return tuple(words)


def _lines(lines: Sequence[int | None]) -> str:
    known = [str(line) for line in lines if line is not None]
    return f":{','.join(known)}" if known else ""


def patterns(names: Sequence[str], most: int | None = None) -> Iterator[tuple[str, int]]:
    """Names as patterns of so many parts at most, each with the number of names that it stands for.

    Names that differ in one number alone are one pattern, such as ``result_{0..3,5}.txt``. Numbers with leading zeros
    count on with them: ``{08..11}`` is 08, 09, 10 and 11.
    """
    alike: dict[tuple[str, str], dict[str, str]] = {}
    for name in names:
        if not _NOTATION & set(name):
            for number in list(_NUMBER.finditer(name))[-_TRIED:]:
                alike.setdefault((name[: number.start()], name[number.end() :]), {})[number[0]] = name
    pattern_of: dict[str, tuple[str, int]] = {}
    for (begin, end), numbers in sorted(alike.items(), key=lambda one: -len(one[1])):
        free = {number: name for number, name in numbers.items() if name not in pattern_of}
        for runs in _few(_runs(free), most) if len(free) > 1 else ():
            some = [free[number] for run in runs for number in run]
            if len(some) > 1:
                pattern_of.update(dict.fromkeys(some, (f"{begin}{{{_numbers(runs)}}}{end}", len(some))))
    yield from dict.fromkeys(pattern_of.get(name, (_alone(name), 1)) for name in names)


def _alone(name: str) -> str:
    """A name as it is; one that could be read as a pattern stands in quotes."""
    return f'"{name}"' if {"{", "}"} & set(name) else name


def _few(things: Iterable[_T], most: int | None, parts: Callable[[_T], int] = lambda _: 1) -> Iterator[list[_T]]:
    """As many at a time as have so many parts together, and at least one."""
    some: list[_T] = []
    room = most
    for thing in things:
        if room is not None and most is not None:
            if some and parts(thing) > room:
                yield some
                some, room = [], most
            room -= parts(thing)
        some.append(thing)
    if some:
        yield some


def _runs(numbers: Iterable[str]) -> list[list[str]]:
    """Numbers in order, those that follow each other together."""
    runs: list[list[str]] = []
    for number in sorted(numbers, key=lambda text: (int(text), len(text))):
        if runs and str(int(runs[-1][-1]) + 1).zfill(len(runs[-1][-1])) == number:
            runs[-1].append(number)
        else:
            runs.append([number])
    return runs


def _numbers(runs: Iterable[Sequence[str]]) -> str:
    """Runs of numbers, those of three or more as ``first..last``."""
    return ",".join(f"{run[0]}..{run[-1]}" if len(run) > 2 else ",".join(run) for run in runs)


def _folders(folders: Sequence[str], most: int | None) -> Iterator[tuple[str, int]]:
    """Folders as patterns, each with the number of folders; folders that differ in one part of their path are one."""
    left = dict.fromkeys(folders)
    alike: dict[tuple[tuple[str, ...], tuple[str, ...]], list[str]] = {}
    for folder in filter(None, folders) if len(folders) > 1 else ():
        parts = tuple(folder.split("/"))
        for at in range(len(parts)) if len(parts) <= _DEEPEST and not _NOTATION & set(folder) else ():
            alike.setdefault((parts[:at], parts[at + 1 :]), []).append(folder)
    for (begin, end), members in sorted(alike.items(), key=lambda one: -len(one[1])):
        free = [folder for folder in members if folder in left]
        if len(free) > 1:
            names = [folder.split("/")[len(begin)] for folder in free]
            for found in _few(patterns(names, most), most, lambda one: one[0].count(",") + 1):
                part = found[0][0] if len(found) == 1 else f"{{{','.join(pattern for pattern, _ in found)}}}"
                yield "/".join((*begin, part, *end)), sum(count for _, count in found)
            for folder in free:
                del left[folder]
    for folder in left:
        yield "/".join(map(_alone, folder.split("/"))), 1
