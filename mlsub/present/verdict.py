"""The verdict in one line, which says what rejects."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import msgspec

from mlsub.findings import Finding, Kind, Severity, Verdict
from mlsub.io.show import first_few, plural
from mlsub.present.document import Block, Items, Meaning, Span, Text
from mlsub.present.findings import tally
from mlsub.submission.report import LogResult, Report

MEANINGS: dict[Verdict, Meaning] = {
    Verdict.ACCEPTED: "good",
    Verdict.REJECTED: "bad",
    Verdict.NOT_CHECKED: "note",
}
COMPLIANT = "compliant"
#: Rules that are named behind what they reject, and organisations that are named.
_NAMED_RULES, _NAMED = 3, 10


class _Part(msgspec.Struct, frozen=True):
    """Things of one kind in a report: how many there are, how many are good, and the paths of those that reject it."""

    things: str
    good: str
    bad: str
    count: int
    accepted: int
    rejecting: tuple[str, ...]


def summary(report: Report, *, alone: bool = True, hint: str = "") -> Iterator[Block]:
    """The verdict, and how many findings there are that are not part of it.

    Args:
        report: the report.
        alone: nothing else was asked for.
        hint: how these findings are shown, where they are not.
    """
    yield verdict_line(report, alone=alone)
    yield Items(tuple(beside(report, hint)))


def verdict_line(report: Report, *, alone: bool = True, counting: Report | None = None, strict: bool = False) -> Text:
    """The verdict, what rejects, how much is accepted, and what else the exit status is 1 for.

    Args:
        report: the report, with all its findings.
        alone: nothing else was asked for.
        counting: the same with the findings that count, if not all do.
        strict: review findings count.
    """
    parts = list(_parts(report))
    first = _rejected_organisations(report) + ", ".join(_rejecting(report, parts))
    rest = ", ".join(_accepted(part) for part in parts if part.count and not part.rejecting)
    if report.official is Verdict.NOT_CHECKED:
        rest = "nothing could be checked" if alone else "this part could not be checked"
    also = _also(report if counting is None else counting, strict=strict)
    words = "; ".join(filter(None, (first, rest, also)))
    return Text((Span(report.official.value, MEANINGS[report.official]), f": {words}"))


def single_logs(report: Report) -> list[LogResult]:
    """The logs that are part of no entry."""
    folders = {entry.path for entry in report.entries}
    return [log for log in report.logs if (log.path.rpartition("/")[0] or ".") not in folders]


def counts_of(report: Report) -> list[str]:
    """How many entries, logs and system descriptions are accepted, each in words."""
    return [_accepted(part) for part in _parts(report) if part.count]


def beside(report: Report, hint: str = "") -> Iterator[str]:
    """How many findings there are that are not part of the official verdict, by rule."""
    for name, kind in (("your own rules", Kind.HOUSE), ("review", Kind.REVIEW)):
        found = [finding for finding in report.findings if finding.kind is kind and finding.suppressed is None]
        if found:
            yield f"{name}: {tally(found)}{f' ({hint})' if hint else ''}"


def _parts(report: Report) -> Iterator[_Part]:
    entries, systems = report.entries, report.systems
    bad = tuple(entry.path for entry in entries if entry.official is Verdict.REJECTED)
    yield _Part("entries", "accepted", "rejected", len(entries), len(entries) - len(bad), bad)
    single = single_logs(report)
    bad = tuple(log.path for log in single if log.official != COMPLIANT)
    good = sum(log.official == COMPLIANT for log in report.logs)
    if entries and bad:
        yield _Part("single logs", "compliant", "noncompliant", len(single), len(single) - len(bad), bad)
        bad = ()
    yield _Part("logs", "compliant", "noncompliant", len(report.logs), good, bad)
    bad = tuple(system.path for system in systems if system.official is Verdict.REJECTED)
    yield _Part("system descriptions", "accepted", "rejected", len(systems), len(systems) - len(bad), bad)


def _accepted(part: _Part) -> str:
    return f"{part.accepted} of {part.count} {part.things} {part.good}"


def _rejecting(report: Report, parts: Iterable[_Part]) -> Iterator[str]:
    """What rejects, with the rules it breaks."""
    left = report.rejecting() if report.official is Verdict.REJECTED else ()
    for part in parts:
        if part.rejecting:
            inside, left = _divided(left, part.rejecting)
            yield f"{len(part.rejecting)} of {part.count} {part.things} {part.bad}{_rules(inside)}"
    if left:
        yield f"{plural(len(left), 'error')} in the package{_rules(left)}"


def _divided(findings: Iterable[Finding], paths: Iterable[str]) -> tuple[tuple[Finding, ...], tuple[Finding, ...]]:
    """The findings in files or folders, and the others."""
    places = set(paths)
    inside: list[Finding] = []
    outside: list[Finding] = []
    for finding in findings:
        parts = finding.path.split("/")
        above = {".", *("/".join(parts[:length]) for length in range(1, len(parts) + 1))}
        (outside if places.isdisjoint(above) else inside).append(finding)
    return tuple(inside), tuple(outside)


def _rules(findings: Iterable[Finding]) -> str:
    names = dict.fromkeys(finding.rule for finding in findings)
    return f" ({first_few(names, _NAMED_RULES, 'rule')})" if names else ""


def organisations_of(report: Report) -> dict[str, bool]:
    """The organisations of a folder of several, and whether each is rejected; nothing where there is only one."""
    of = {entry.path: entry.organisation for entry in report.entries}
    of |= {system.path: system.organisation for system in report.systems}
    of |= {log.path: log.organisation for log in report.logs}
    if not all(path.startswith(f"{name}/") for path, name in of.items()):
        return {}
    rejecting = [path for part in _parts(report) for path in part.rejecting]
    _, left = _divided(report.rejecting(), rejecting)
    bad = {of[path] for path in rejecting} | {finding.path.partition("/")[0] for finding in left} - {"."}
    known = sorted({*of.values(), *bad})
    return {name: name in bad for name in known} if len(known) > 1 else {}


def _rejected_organisations(report: Report) -> str:
    known = organisations_of(report) if report.official is Verdict.REJECTED else {}
    bad = [name for name, rejected in known.items() if rejected]
    return f"{len(bad)} of {len(known)} organisations ({first_few(bad, _NAMED)}): " if bad else ""


def _also(report: Report, *, strict: bool) -> str:
    """What an accepted report ends the command with 1 for."""
    if report.official is not Verdict.ACCEPTED or not report.exit_status(strict=strict):
        return ""
    counted = [finding for finding in report.findings if finding.suppressed is None]
    house = sum(f.kind is Kind.HOUSE and f.severity is Severity.ERROR for f in counted)
    review = sum(f.kind is Kind.REVIEW for f in counted) if strict else 0
    said = [f"against your own rules: {plural(house, 'error')}"] if house else []
    said += [f"--strict counts {plural(review, 'review finding')}"] if review else []
    return ", ".join(said)
