"""What is said of a report: by which rules, the verdict and what it rests on, and how much is accepted."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

import msgspec
from msgspec.structs import replace

from mlsub.findings import Finding, Kind, Severity, Verdict
from mlsub.io.show import first_few, plural
from mlsub.present.document import Block, Column, Findings, Items, Span, Table, Text, table_of
from mlsub.present.entries import COMPLIANT, MEANINGS, results_table, verdict_span
from mlsub.present.findings import defects, tally
from mlsub.submission.report import EntryResult, LogResult, Report, SystemResult

#: Rules that are named behind what they reject; organisations, and folders of benchmarks, that are named.
_NAMED_RULES, _NAMED_ORGANISATIONS, _NAMED_FOLDERS = 3, 10, 5
REHEARSAL = "A rehearsal: real training, but not an MLPerf result."
#: What is said of a round without a package checker.
BY_LOGS = "the round had no package checker: the verdict on an entry is that of its logs"


class _Part(msgspec.Struct, frozen=True):
    """Things of one kind in a report: how many there are, how many are good, and the paths of those that reject it."""

    things: str
    good: str
    bad: str
    count: int
    accepted: int
    rejecting: tuple[str, ...]


def package_blocks(report: Report) -> Iterator[Block]:
    """A package that is to be written: its entries, all findings, the verdict, and how many are not part of it."""
    yield results_table(report.entries)
    yield Findings(report.findings, forgiven=report.official is Verdict.ACCEPTED)
    yield from summary(report)


def summary(report: Report, *, alone: bool = True) -> Iterator[Block]:
    """The verdict, and how many findings there are that are not part of it; ``alone``: nothing else was asked for."""
    yield verdict_line(report, alone=alone)
    yield Items(tuple(count_unofficial(report)))


def verdict_line(
    report: Report, *, alone: bool = True, counting: Report | None = None, fail_on: Severity | None = None
) -> Text:
    """The verdict, what rejects, how much is accepted, and what else the exit status is 1 for.

    Args:
        report: the report, with all its findings.
        alone: nothing else was asked for.
        counting: the same with the findings that count, if not all do.
        fail_on: the least severity of review findings that count.
    """
    parts = list(_parts(report))
    organisations = organisations_of(report) if report.official is Verdict.REJECTED else {}
    bad = [name for name, rejected in organisations.items() if rejected]
    some = first_few(bad, _NAMED_ORGANISATIONS)
    first = f"{len(bad)} of {len(organisations)} organisations ({some}): " if bad else ""
    first += ", ".join(_rejecting(report, parts))
    rest = ", ".join(_accepted(part) for part in parts if part.count and not part.rejecting)
    if report.official is Verdict.NOT_CHECKED:
        rest = "nothing could be checked" if alone else "this part could not be checked"
    also = _counted_besides(report if counting is None else counting, fail_on=fail_on)
    words = "; ".join(filter(None, (first, rest, also)))
    raised = ""
    if report.official is Verdict.ACCEPTED and (count := defects(report.review_errors())):
        raised = f", with {plural(count, 'error')} that a reviewer will raise"
    return Text((verdict_span(report.official), f"{report.own_files}{raised}: {words}"))


def single_logs(report: Report) -> list[LogResult]:
    """The logs that are part of no entry."""
    folders = {entry.path for entry in report.entries}
    return [log for log in report.logs if (log.path.rpartition("/")[0] or ".") not in folders]


def counts_of(report: Report) -> list[str]:
    """How many entries, logs and system descriptions are accepted, each in words."""
    return [_accepted(part) for part in _parts(report) if part.count]


def count_unofficial(report: Report, hint: str = "") -> Iterator[str]:
    """How many findings there are that are not part of the official verdict, by rule."""
    for name, kind in (("your own rules", Kind.HOUSE), ("review", Kind.REVIEW)):
        found = [finding for finding in report.findings if finding.kind is kind and finding.suppressed is None]
        if found:
            yield f"{name}: {tally(found)}{f' ({hint})' if hint else ''}"


def _parts(report: Report) -> Iterator[_Part]:
    """Yield the entries, the logs and the system descriptions; logs of no entry alone where some of them reject."""
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
    left: Sequence[Finding] = report.rejecting() if report.official is Verdict.REJECTED else ()
    for part in parts:
        if part.rejecting:
            inside, left = _split_findings(left, part.rejecting)
            yield f"{len(part.rejecting)} of {part.count} {part.things} {part.bad}{_name_rules(inside)}"
    if left:
        yield f"{plural(len(left), 'error')} in the package{_name_rules(left)}"


def _split_findings(findings: Iterable[Finding], paths: Iterable[str]) -> tuple[list[Finding], list[Finding]]:
    """Split findings into those in the files or folders at ``paths``, and the others."""
    places = set(paths)
    inside: list[Finding] = []
    outside: list[Finding] = []
    for finding in findings:
        parts = finding.path.split("/")
        above = {".", *("/".join(parts[:length]) for length in range(1, len(parts) + 1))}
        (outside if places.isdisjoint(above) else inside).append(finding)
    return inside, outside


def _name_rules(findings: Iterable[Finding]) -> str:
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
    _, left = _split_findings(report.rejecting(), rejecting)
    bad = {of[path] for path in rejecting} | {finding.path.partition("/")[0] for finding in left} - {"."}
    known = sorted({*of.values(), *bad})
    return {name: name in bad for name in known} if len(known) > 1 else {}


def _counted_besides(report: Report, *, fail_on: Severity | None) -> str:
    """Return which findings end the command with 1 although the report is accepted."""
    if report.official is not Verdict.ACCEPTED or not report.exit_status(fail_on=fail_on):
        return ""
    counted = [finding for finding in report.findings if finding.suppressed is None and finding.counts(fail_on)]
    house, review = (defects(f for f in counted if f.kind is kind) for kind in (Kind.HOUSE, Kind.REVIEW))
    said = [f"against your own rules: {plural(house, 'error')}"] if house else []
    said += [f"--fail-on {fail_on} counts {plural(review, 'review finding')}"] if review else []
    return ", ".join(said)


def organisations_table(report: Report) -> Table:
    """Return one row an organisation: how many of its entries, logs and system descriptions are accepted."""
    rejected = organisations_of(report)

    def accepted(things: Iterable[EntryResult | LogResult | SystemResult]) -> Iterator[str]:
        good: dict[str, list[bool]] = {name: [] for name in rejected}
        for thing in things:
            good[thing.organisation].append(MEANINGS[thing.official] == "good")
        return (f"{sum(each)} of {len(each)}" if each else "-" for each in good.values())

    verdicts = [verdict_span(Verdict.REJECTED if bad else Verdict.ACCEPTED) for bad in rejected.values()]
    return table_of(
        (
            (Column("organisation", when_narrow="shorten"), tuple(rejected)),
            (Column("entries", number=True), tuple(accepted(report.entries))),
            (Column("logs", number=True, leave_out=2), tuple(accepted(report.logs))),
            (Column("system descriptions", number=True, leave_out=1), tuple(accepted(report.systems))),
            (Column("verdict", when_narrow="keep"), verdicts),
        )
    )


def round_line(
    usage: str | None, round_: str | None, round_from: str | None, judged_by: str | None = None
) -> Text | None:
    """By which rules something was checked; None where nobody knows."""
    if usage is None or round_ is None:
        return None
    by_logs = f"; {BY_LOGS}" if judged_by == "log-checker" else ""
    return Text((Span(f"{usage} v{round_}", "strong"), ("" if round_from is None else read_off(round_from)) + by_logs))


def rehearsal_note(usage: str | None) -> Text | None:
    """Return what a result of a rehearsal is not; None for any other."""
    return Text(Span(REHEARSAL, "note")) if usage == "rehearsal" else None


def without_logs(folders: Sequence[str]) -> str | None:
    """Which folders of benchmarks have no logs, and what that means for best results; None where all have some."""
    if not folders:
        return None
    names = ", ".join(sorted({folder.rpartition("/")[2] for folder in folders}))
    return (
        f"{plural(len(folders), 'benchmark folder')} without result logs ({first_few(folders, _NAMED_FOLDERS)}): "
        f"the best of {names} is the best of the results given"
    )


def missing_results(report: Report) -> str | None:
    """The same of a report."""
    return without_logs([folder.path for folder in report.without_logs])


def read_off(round_from: str) -> str:
    """What gave the round: a folder above, or the manifest, whose name has an ending."""
    what = "manifest" if round_from.endswith((".yaml", ".yml", ".sha256")) else "folder"
    return f" (read off the {what} {round_from})"


def partly_checked(reports: Sequence[Report]) -> str | None:
    """What became of each of several things asked for, None unless only a part could be checked."""
    if len({report.official is Verdict.NOT_CHECKED for report in reports}) < 2:
        return None
    verdicts = []
    for report in reports:
        asked = next((finding.path for finding in report.findings if finding.rejects), report.root)
        where = asked if report.official is Verdict.NOT_CHECKED else report.root
        verdicts.append(f"{where}: {report.official.value}{report.own_files}")
    return f"Not everything could be checked. {'; '.join(verdicts)}"


def without_contents(report: Report) -> Report:
    """Return what :func:`partly_checked` needs of a report, which takes little memory."""
    if report.official is Verdict.NOT_CHECKED:
        return report
    return replace(report, logs=(), entries=(), systems=(), without_logs=(), findings=(), hidden=())
