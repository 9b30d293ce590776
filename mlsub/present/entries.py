"""A report in tables and words: the columns of results, the verdict and what it rests on, and what is left unsaid."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

import msgspec
from msgspec.structs import replace

from mlsub.findings import Finding, Kind, Severity, Verdict
from mlsub.io.show import first_few, plural, rounded, shortened
from mlsub.present.document import Block, Cell, Column, Findings, Items, Meaning, Span, Table, Text, table_of
from mlsub.present.findings import defects, tally
from mlsub.submission.report import EntryResult, LogResult, RcpResult, Report

COMPLIANT = "compliant"
#: How a verdict on a log, an entry or a package is coloured.
MEANINGS: dict[str, Meaning] = {
    **{Verdict.ACCEPTED: "good", Verdict.REJECTED: "bad", Verdict.NOT_CHECKED: "note"},
    **{COMPLIANT: "good", "noncompliant": "bad"},
}
_RCP_MEANINGS: dict[str, Meaning] = {"pass": "good", "fail": "bad", "missing": "bad", "bypassed": "note"}
_NONE = "-"
#: Characters shown of a benchmark or a division, which may be any text; no real one is longer.
_LONGEST = 20
#: Rules that are named behind what they reject; organisations, and folders of benchmarks, that are named.
_NAMED_RULES, _NAMED_ORGANISATIONS, _NAMED_FOLDERS = 3, 10, 5
REHEARSAL = "A rehearsal: real training, but not an MLPerf result."
#: What is said of a round without a package checker.
BY_LOGS = "the round had no package checker: the verdict on an entry is that of its logs"


def verdict_span(official: str) -> Span:
    """Return a verdict in its colour."""
    return Span(str(official), MEANINGS[official])


class EntryColumn(Column, frozen=True, kw_only=True):
    """A column of the results table.

    ``value`` gives what it has of an entry, which is an :class:`EntryResult` or what a command has in place of one; a
    number is shown with so many ``decimals``. An ``optional`` column is left out where it has nothing of any entry.
    """

    value: Callable[[Any], Cell | float | None]
    decimals: int = 0
    optional: bool = False

    def cell(self, entry: Any) -> Cell:
        """Return the cell of an entry: here numbers get their digits."""
        value = self.value(entry)
        if value is None:
            return _NONE
        return rounded(value, self.decimals) if isinstance(value, int | float) else value


def _benchmark(entry: EntryResult) -> Cell:
    return _bounded(entry.benchmark) + (f" ({entry.scaling_type})" if entry.scaling_type else "")


def _accelerator(result: Any) -> Cell | None:
    name = result.accelerator
    return _bounded(name) if name else None


def _bounded(text: str | None) -> str:
    return shortened(text or _NONE, _LONGEST)


def _count(value: float | None) -> Cell | None:
    """A number of epochs or samples, or a batch size: three decimals at most, none where it is large."""
    if value is None:
        return None
    return rounded(value, 3).rstrip("0").rstrip(".") if abs(value) < 1e5 else rounded(value, 0)


def _rcp(entry: EntryResult) -> Cell | None:
    if entry.rcp.verdict == "not-required":
        return None
    return Span(rcp_words(entry.rcp), _RCP_MEANINGS.get(entry.rcp.verdict, "plain"))


def _scaling(entry: EntryResult) -> float | None:
    return None if entry.score.scaling == 1 else entry.score.scaling


def _expected(entry: EntryResult) -> Cell | float | None:
    return "" if entry.score.as_expected else entry.score.expected


def _megajoules(entry: EntryResult) -> float | None:
    scaled = entry.energy.scaled if entry.energy else None
    return None if scaled is None else scaled / 1e6


def _to_the_limit(entry: Any) -> Cell | None:
    """How far a margin or a status lies above the limit of the convergence test."""
    return None if entry.percent is None else f"{entry.percent:+.2f} %"


_COLUMNS = (
    EntryColumn("organisation", when_narrow="shorten", value=lambda entry: entry.organisation),
    EntryColumn("system", when_narrow="shorten", value=lambda entry: entry.system),
    EntryColumn("accelerators", number=True, optional=True, value=lambda entry: entry.accelerators_count),
    EntryColumn("accelerator", leave_out=1, optional=True, value=_accelerator),
    EntryColumn("benchmark", when_narrow="keep", value=_benchmark),
    EntryColumn("division", when_narrow="keep", leave_out=3, value=lambda entry: _bounded(entry.division)),
    EntryColumn("compliant", number=True, leave_out=4, value=lambda entry: f"{entry.compliant} of {entry.runs}"),
    EntryColumn("converged", number=True, leave_out=5, value=lambda entry: f"{entry.converged} of {entry.runs}"),
    EntryColumn("batch", number=True, leave_out=6, optional=True, value=lambda entry: _count(entry.rcp.batch_size)),
    EntryColumn("convergence", number=True, leave_out=7, optional=True, value=lambda entry: _count(entry.rcp.mean)),
    EntryColumn("RCP", when_narrow="keep", leave_out=2, optional=True, value=_rcp),
    EntryColumn("scaling", number=True, leave_out=2, optional=True, decimals=4, value=_scaling),
    EntryColumn("minutes", number=True, decimals=3, value=lambda entry: entry.minutes),
    EntryColumn("expected", number=True, leave_out=1, optional=True, decimals=3, value=_expected),
    EntryColumn("scale", number=True, optional=True, value=lambda entry: entry.score.instance_scale),
    EntryColumn("MJ", number=True, optional=True, decimals=3, value=_megajoules),
    EntryColumn("to the limit", number=True, value=_to_the_limit),
    EntryColumn("verdict", when_narrow="keep", value=lambda entry: entry.official and verdict_span(entry.official)),
)
#: The columns of the results table by their names: each command picks those that it shows.
COLUMNS = {column.name: column for column in _COLUMNS}
#: What check, merge and pack show of an entry.
_JUDGED = (
    *("organisation", "system", "benchmark", "division", "compliant", "converged"),
    *("minutes", "scaling", "expected", "RCP", "verdict"),
)


def results_table(
    entries: Sequence[Any],
    columns: Iterable[str | EntryColumn] = _JUDGED,
    *,
    organisations: bool = False,
    whole: bool = False,
) -> Table:
    """Return the results table: one row an entry.

    Args:
        entries: what its rows are of.
        columns: names of ``COLUMNS``, and columns of the command's own.
        organisations: name the organisation even if it is the same of all entries.
        whole: names fold in place of being shortened; those of systems may go where organisations are named.
    """
    shown: list[tuple[Column, Sequence[Cell]]] = []
    key: str | None = None
    for column in (COLUMNS[one] if isinstance(one, str) else one for one in columns):
        cells = [column.cell(entry) for entry in entries]
        if column.name == "organisation" and not organisations and len(set(cells)) < 2:
            continue
        if column.optional and all(cell in ("", _NONE) for cell in cells):
            continue
        if whole and column.when_narrow == "shorten":
            key = column.name if key is None else key
            column = replace(column, when_narrow="parts", leave_out=int(column.name != key))
        shown.append((column, cells))
    return table_of(shown, key or "system")


def logs_table(logs: Sequence[LogResult]) -> Table:
    """Return one row a log: what it says it is, and what came of it."""
    columns = (
        EntryColumn("log", when_narrow="shorten", value=lambda log: Span(log.path, "path")),
        EntryColumn("benchmark", when_narrow="keep", value=lambda log: _bounded(log.benchmark)),
        "division",
        EntryColumn("status", when_narrow="keep", leave_out=1, value=lambda log: _bounded(log.status)),
        *("minutes", "verdict"),
    )
    return results_table(logs, columns)


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
    have = "has" if len(folders) == 1 else "have"
    return (
        f"{plural(len(folders), 'benchmark folder')} {have} no result logs here "
        f"({first_few(folders, _NAMED_FOLDERS)}): the best of {names} may be missing"
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
