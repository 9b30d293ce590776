"""Reports: their parts as blocks of a document, and the lines with the verdict."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import cast

import msgspec

from mlsub.findings import Finding, Kind, Severity, Verdict
from mlsub.io.show import first_few, plural
from mlsub.present.document import Block, Cell, Column, Findings, Items, Meaning, Span, Table, Text, table_of
from mlsub.present.findings import defects, tally
from mlsub.submission.report import EntryResult, LogResult, RcpResult, Report, SystemResult

MEANINGS: dict[Verdict, Meaning] = {
    Verdict.ACCEPTED: "good",
    Verdict.REJECTED: "bad",
    Verdict.NOT_CHECKED: "note",
}
COMPLIANT = "compliant"
#: Rules that are named behind what they reject; organisations, and folders of benchmarks, that are named.
_NAMED_RULES, _NAMED_ORGANISATIONS, _NAMED_FOLDERS = 3, 10, 5


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
    yield entries_table(report.entries)
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
    return Text((Span(report.official.value, MEANINGS[report.official]), f"{report.own_files}{raised}: {words}"))


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
            inside, left = _split_findings(left, part.rejecting)
            yield f"{len(part.rejecting)} of {part.count} {part.things} {part.bad}{_name_rules(inside)}"
    if left:
        yield f"{plural(len(left), 'error')} in the package{_name_rules(left)}"


def _split_findings(
    findings: Iterable[Finding], paths: Iterable[str]
) -> tuple[tuple[Finding, ...], tuple[Finding, ...]]:
    """Split findings into those in the files or folders at ``paths``, and the others."""
    places = set(paths)
    inside: list[Finding] = []
    outside: list[Finding] = []
    for finding in findings:
        parts = finding.path.split("/")
        above = {".", *("/".join(parts[:length]) for length in range(1, len(parts) + 1))}
        (outside if places.isdisjoint(above) else inside).append(finding)
    return tuple(inside), tuple(outside)


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


_GOOD = (Verdict.ACCEPTED, COMPLIANT)
#: What is said of a round without a package checker.
BY_LOGS = "the round had no package checker: the verdict on an entry is that of its logs"


def entries_table(entries: Iterable[EntryResult], *, organisations: bool = False) -> Table:
    """One row an entry: what it is, what came of it, and its time to train in minutes.

    ``organisations``: name them even if all entries are of one.
    """
    return table_of(_entry_columns(list(entries), organisations=organisations), "system")


def _entry_columns(entries: Sequence[EntryResult], *, organisations: bool) -> Iterator[tuple[Column, Sequence[Cell]]]:
    if organisations or len({entry.organisation for entry in entries}) > 1:
        yield Column("organisation", when_narrow="shorten"), [entry.organisation for entry in entries]
    yield Column("system", when_narrow="shorten"), [entry.system for entry in entries]
    yield Column("benchmark", when_narrow="keep"), [entry.benchmark for entry in entries]
    yield Column("division", leave_out=3), [(entry.division or "-")[:20] for entry in entries]
    yield Column("runs", number=True, leave_out=4), [str(entry.runs) for entry in entries]
    yield Column("compliant", number=True, leave_out=5), [str(entry.compliant) for entry in entries]
    yield Column("converged", number=True, leave_out=6), [str(entry.converged) for entry in entries]
    scores = [entry.score for entry in entries]
    yield Column("minutes", number=True), [_minutes(score.published) for score in scores]
    if any(score.scaling != 1 for score in scores):
        yield Column("scaling", number=True, leave_out=2), [f"{score.scaling:.6f}" for score in scores]
    if not all(score.as_expected for score in scores):
        expected = ["" if score.as_expected else _minutes(score.expected) for score in scores]
        yield Column("expected", number=True, leave_out=1), expected
    yield Column("RCP", when_narrow="keep"), [rcp_words(entry.rcp) for entry in entries]
    yield verdict_column(entries)


def verdict_column(entries: Sequence[EntryResult], leave_out: int = 0) -> tuple[Column, Sequence[Cell]]:
    """Return the column with the verdicts on entries."""
    column = Column("verdict", when_narrow="keep", leave_out=leave_out)
    return column, [Span(entry.official.value, MEANINGS[entry.official]) for entry in entries]


def organisations_table(report: Report) -> Table:
    """One row an organisation: how many of its entries, logs and system descriptions are accepted."""
    columns = (
        Column("organisation", when_narrow="shorten"),
        Column("entries", number=True),
        Column("logs", number=True, leave_out=2),
        Column("system descriptions", number=True, leave_out=1),
        Column("verdict", when_narrow="keep"),
    )
    known = organisations_of(report)
    counted: dict[str, list[list[bool]]] = {name: [[], [], []] for name in known}
    for number, things in enumerate((report.entries, report.logs, report.systems)):
        for thing in cast("tuple[EntryResult | LogResult | SystemResult, ...]", things):
            counted[thing.organisation][number].append(thing.official in _GOOD)
    verdicts = {True: Verdict.REJECTED, False: Verdict.ACCEPTED}
    rows: list[tuple[Cell, ...]] = [
        (
            name,
            *(f"{sum(good)} of {len(good)}" if good else "-" for good in counted[name]),
            Span(verdicts[rejected].value, MEANINGS[verdicts[rejected]]),
        )
        for name, rejected in known.items()
    ]
    return Table(columns, tuple(rows))


def logs_table(logs: Iterable[LogResult]) -> Table:
    """One row a log: what it says it is, and what came of it."""
    known = list(logs)
    verdicts = [Span(log.official, "good" if log.official == COMPLIANT else "bad") for log in known]
    return table_of(
        (
            (Column("log", when_narrow="shorten"), [Span(log.path, "path") for log in known]),
            (Column("benchmark", when_narrow="keep"), [(log.benchmark or "-")[:20] for log in known]),
            (Column("division", leave_out=2), [(log.division or "-")[:20] for log in known]),
            (Column("status", leave_out=1), [(log.status or "-")[:20] for log in known]),
            (Column("minutes", number=True), [_minutes(log.minutes) for log in known]),
            (Column("verdict", when_narrow="keep"), verdicts),
        )
    )


def _minutes(value: float | None) -> str:
    return "-" if value is None else f"{value:.6f}"


def round_line(
    usage: str | None, round_: str | None, round_from: str | None, judged_by: str | None = None
) -> Text | None:
    """By which rules something was checked; None where nobody knows."""
    if usage is None or round_ is None:
        return None
    by_logs = f"; {BY_LOGS}" if judged_by == "log-checker" else ""
    return Text((Span(f"{usage} v{round_}", "strong"), ("" if round_from is None else read_off(round_from)) + by_logs))


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


def rcp_words(rcp: RcpResult) -> str:
    """The verdict of the convergence test, by which count of BERT it is, and what of the logs does not fit."""
    if rcp.verdict == "not-required":
        return "-"
    by = " by train_samples" if rcp.counted == "train_samples" else ""
    units = ", not comparable" if rcp.logs_unit is not None else ""
    logs = ", other logs" if rcp.logs_benchmark is not None else ""
    return f"{rcp.verdict}{by}{units}{logs}{'*' if rcp.otherwise is not None else ''}"


def notes_on_rcp(entries: Iterable[EntryResult]) -> Iterator[Text]:
    """What :func:`rcp_words` leaves unsaid of some entries."""
    tested = [(entry.benchmark, entry.rcp) for entry in entries]
    counts = dict.fromkeys((rcp.also.counted, rcp.also.verdict) for _, rcp in tested if rcp.also and rcp.otherwise)
    if counts:
        yield Text(f"* {'; '.join(f'{verdict} if BERT is counted by {by}' for by, verdict in counts)}")
    names: dict[str, dict[str, None]] = {}
    for name, rcp in tested:
        if rcp.incomparable is not None:
            names.setdefault(rcp.incomparable, {})[name] = None
    for why, benchmarks in names.items():
        yield Text(f"{', '.join(benchmarks)}: {why}")
    for name, logs in dict.fromkeys((name, rcp.logs_benchmark) for name, rcp in tested if rcp.logs_benchmark):
        yield Text(f"{name}, other logs: they name {logs[:20]}, so that their RCP verdict says nothing of {name}")


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
    return msgspec.structs.replace(report, logs=(), entries=(), systems=(), without_logs=(), findings=(), hidden=())
