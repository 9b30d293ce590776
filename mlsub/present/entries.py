"""Reports: as one machine answer, and their parts as blocks of a document."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Annotated, ClassVar

from mlsub.findings import Kind, Says, Severity, Verdict
from mlsub.present.document import Block, Cell, Column, Items, Meaning, Span, Table, Text
from mlsub.present.envelope import Answer
from mlsub.submission.report import A_VERDICT_HAS_LOGS, EntryResult, Report

MEANINGS: dict[Verdict, Meaning] = {
    Verdict.ACCEPTED: "good",
    Verdict.REJECTED: "bad",
    Verdict.NOT_CHECKED: "note",
}
RCP = {"pass": "pass", "fail": "fail", "missing": "missing", "bypassed": "bypassed", "not-required": "-"}


class Reports(Answer, frozen=True, kw_only=True):
    """A report for each round, then one for each path that could not be checked. Fields may be added."""

    SCHEMA: ClassVar[int] = 1
    OPEN: ClassVar[bool] = True

    reports: Annotated[tuple[Annotated[Report, Says(**A_VERDICT_HAS_LOGS)], ...], Says(minItems=1)]


def entries_table(entries: Iterable[EntryResult]) -> Table:
    """One row an entry: what it is, what came of it, and its time to train in minutes."""
    known = list(entries)
    many = len({entry.organisation for entry in known}) > 1
    scaled = any(entry.score.scaling != 1 for entry in known)
    expected = not all(entry.score.as_expected for entry in known)
    columns = [
        *[Column("organisation")] * many,
        Column("system", when_narrow="keep"),
        Column("benchmark", when_narrow="keep"),
        Column("division", leave_out=3),
        Column("runs", number=True, leave_out=4),
        Column("compliant", number=True, leave_out=5),
        Column("converged", number=True, leave_out=6),
        Column("minutes", number=True),
        *[Column("scaling", number=True, leave_out=2)] * scaled,
        *[Column("expected", number=True, leave_out=1)] * expected,
        Column("RCP", when_narrow="keep"),
        Column("verdict", when_narrow="keep"),
    ]
    rows: list[tuple[Cell, ...]] = [
        (
            *[entry.organisation] * many,
            entry.system,
            entry.benchmark,
            (entry.division or "-")[:20],
            *map(str, (entry.runs, entry.compliant, entry.converged)),
            _minutes(entry.score.published),
            *[f"{entry.score.scaling:.6f}"] * scaled,
            *["" if entry.score.as_expected else _minutes(entry.score.expected)] * expected,
            RCP[entry.rcp.verdict] + "*" * (entry.rcp.otherwise is not None),
            Span(entry.official.value, MEANINGS[entry.official]),
        )
        for entry in known
    ]
    return Table(tuple(columns), tuple(rows), key=int(many))


def _minutes(value: float | None) -> str:
    return "-" if value is None else f"{value:.6f}"


def summary(report: Report, *, alone: bool = True) -> Iterator[Block]:
    """The verdict, how many of what are accepted, and how many findings are not part of the official verdict.

    ``alone`` says that nothing else was asked for.
    """
    unchecked = "nothing could be checked" if alone else "this part could not be checked"
    counts = ", ".join(counts_of(report)) or unchecked
    yield Text((Span(report.official.value, MEANINGS[report.official]), f": {counts}"))
    yield Items(tuple(beside(report)))


def round_line(usage: str | None, round_: str | None, round_from: str | None) -> Text | None:
    """By which rules something was checked; None where nobody knows."""
    if usage is None or round_ is None:
        return None
    return Text((Span(f"{usage} v{round_}", "strong"), "" if round_from is None else read_off(round_from)))


def read_off(round_from: str) -> str:
    """What gave the round: a folder above, or the manifest, whose name has an ending."""
    what = "manifest" if round_from.endswith((".yaml", ".yml")) else "folder"
    return f" (read off the {what} {round_from})"


def counts_of_bert(entries: Iterable[EntryResult]) -> str | None:
    """What the asterisk means beside a verdict of the convergence test, None where none has it."""
    tested = [entry.rcp for entry in entries if entry.rcp.otherwise is not None]
    counts = dict.fromkeys((rcp.also.counted, rcp.also.verdict) for rcp in tested if rcp.also is not None)
    return f"* {'; '.join(f'{verdict} if BERT is counted by {by}' for by, verdict in counts)}" if counts else None


def partly_checked(reports: Sequence[Report]) -> str | None:
    """What became of each of several things asked for, None unless only a part could be checked."""
    if len({report.official is Verdict.NOT_CHECKED for report in reports}) < 2:
        return None
    return f"Not everything could be checked. {'; '.join(map(_in_short, reports))}"


def _in_short(report: Report) -> str:
    """What was asked for, and the verdict."""
    asked = next((finding.path for finding in report.findings if finding.rejects), report.root)
    return f"{asked if report.official is Verdict.NOT_CHECKED else report.root}: {report.official.value}"


def counts_of(report: Report) -> list[str]:
    """How many entries, logs and system descriptions are accepted, each in words."""
    counts = []
    if report.entries:
        good = sum(entry.official is Verdict.ACCEPTED for entry in report.entries)
        counts.append(f"{good} of {len(report.entries)} entries accepted")
    if report.logs:
        good = sum(log.official == "compliant" for log in report.logs)
        counts.append(f"{good} of {len(report.logs)} logs compliant")
    if report.systems:
        good = sum(system.official is Verdict.ACCEPTED for system in report.systems)
        counts.append(f"{good} of {len(report.systems)} system descriptions accepted")
    return counts


def beside(report: Report) -> Iterator[str]:
    """How many findings there are that are not part of the official verdict, in sentences."""
    house = [f for f in report.findings if f.kind is Kind.HOUSE and f.severity is Severity.ERROR]
    if house:
        files = len({finding.path for finding in house})
        breaks = f"{len(house)} finding{'s' * (len(house) > 1)}"
        yield f"{breaks} of your own rules, in {files} file{'s' * (files > 1)}"
    review = [finding for finding in report.findings if finding.kind is Kind.REVIEW]
    if review:
        rules = len({finding.rule for finding in review})
        yield (
            f"{len(review)} review finding{'s' * (len(review) > 1)} of {rules} rule{'s' * (rules > 1)}, "
            "which only --strict counts. More on a rule: mlsub explain RULE"
        )
