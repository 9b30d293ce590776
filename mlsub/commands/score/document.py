"""The results of reports as documents: what a submitter looks for, and the rows of the official results table."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby

from mlsub.findings import Verdict
from mlsub.present import document as doc
from mlsub.present.entries import (
    count_unofficial,
    counts_of,
    missing_results,
    notes_on_rcp,
    partly_checked,
    rcp_words,
    round_line,
    summary,
    verdict_column,
)
from mlsub.present.tables import ResultColumn as Described
from mlsub.present.tables import Row, columns, legible, rounded
from mlsub.submission.report import EntryResult, Report
from mlsub.systems.fields import aliases, category, close_category

#: Bypasses that are named one by one; JSON has them all.
MAX_BYPASSES = 10
#: Characters shown of a benchmark or a division, which may be any text; no real one is longer.
_LONGEST = 20
#: Unknown statuses that are reported one by one.
_MAX_NOTES = 10
_JOULES_IN_MJ = 1e6
_NONE = "-"
_UNTESTED = "not-required"
_RCP: dict[str, doc.Meaning] = {"pass": "good", "fail": "bad", "missing": "bad", "bypassed": "note"}


def document_of(reports: Sequence[Report]) -> doc.Document:
    """The score of each entry, and what kept a report from having any."""
    return doc.document(
        "Results",
        *(doc.section(doc.Span(report.root, "path"), *_report(report, alone=len(reports) == 1)) for report in reports),
        doc.Text(partly) if (partly := partly_checked(reports)) else None,
    )


def _report(report: Report, *, alone: bool) -> Iterator[doc.Block | None]:
    yield round_line(report.usage, report.round, report.round_from, report.judged_by)
    if report.usage == "rehearsal":
        yield doc.Text(doc.Span("A rehearsal: real training, but not an MLPerf result.", "note"))
    if entries := [entry for entry in report.entries if entry.runs]:
        yield results_table(entries)
        yield from notes_on_rcp(entries)
        yield doc.Facts(tuple(_legend(entries, report.judged_by)))
        yield doc.Items(tuple(_bypasses(entries)))
    elif report.logs:
        times = (
            (log, "no run interval" if log.minutes is None else f"{log.minutes:.6f} minutes") for log in report.logs
        )
        yield doc.Items(tuple((doc.Span(log.path, "path"), f": {minutes}, {log.official}") for log, minutes in times))
    else:
        yield doc.Findings(report.findings)
    yield from _counts(report, alone=alone)


def _counts(report: Report, *, alone: bool) -> Iterator[doc.Block]:
    """How much is accepted: in a list of results one entry does not reject the others."""
    counts = counts_of(report)
    if not counts:
        yield from summary(report, alone=alone)
        return
    yield doc.Text((doc.Span(", ".join(counts), "strong"), f";{report.own_files}" if report.own_files else ""))
    if (missing := missing_results(report)) is not None:
        yield doc.Text(doc.Span(missing, "note"))
    parts = {entry.official for entry in report.entries} | {system.official for system in report.systems}
    if report.entries and report.official is Verdict.REJECTED and Verdict.REJECTED not in parts:
        yield doc.Text("The package around them is rejected; mlsub check says why.")
    yield doc.Items(tuple(count_unofficial(report, "mlsub check -v shows them")))


def results_table(entries: Sequence[EntryResult]) -> doc.Table:
    """One row an entry, without columns that would be empty for all; no figure gives way to a narrow terminal."""
    return doc.table_of(_columns(entries), "system")


def _columns(entries: Sequence[EntryResult]) -> Iterator[tuple[doc.Column, Sequence[doc.Cell]]]:
    """The columns that are shown, each with its cell of every entry."""
    if len({entry.organisation for entry in entries}) > 1:
        yield doc.Column("organisation"), [entry.organisation for entry in entries]
    yield doc.Column("system"), [entry.system for entry in entries]
    yield doc.Column("benchmark", when_narrow="keep"), [_benchmark(entry) for entry in entries]
    yield doc.Column("division", when_narrow="keep"), [_bounded(entry.division or _NONE) for entry in entries]
    yield _number("converged"), [f"{entry.converged} of {entry.runs}" for entry in entries]
    if any(entry.rcp.verdict != _UNTESTED for entry in entries):
        yield _number("batch"), [_short(entry.rcp.batch_size) for entry in entries]
        yield _number("convergence"), [_short(entry.rcp.mean) for entry in entries]
        tests = [doc.Span(rcp_words(entry.rcp), _RCP.get(entry.rcp.verdict, "plain")) for entry in entries]
        yield doc.Column("RCP", when_narrow="keep"), tests
    scores = [entry.score for entry in entries]
    if any(score.scaling != 1 for score in scores):
        yield _number("scaling"), [_NONE if score.scaling == 1 else rounded(score.scaling, 4) for score in scores]
    yield _number("minutes"), [_fixed(score.published) for score in scores]
    if not all(score.as_expected for score in scores):
        yield _number("expected"), ["" if score.as_expected else _fixed(score.expected) for score in scores]
    if any(score.instance_scale is not None for score in scores):
        scales = [score.instance_scale for score in scores]
        yield _number("scale"), [_NONE if scale is None else str(scale) for scale in scales]
    if any(entry.energy for entry in entries):
        yield _number("MJ"), [_energy(entry) for entry in entries]
    yield verdict_column(entries)


def _number(name: str) -> doc.Column:
    return doc.Column(name, number=True)


def _benchmark(entry: EntryResult) -> str:
    return _bounded(entry.benchmark) + (f" ({entry.scaling_type})" if entry.scaling_type else "")


def _bounded(text: str) -> str:
    return text if len(text) <= _LONGEST else text[: _LONGEST - 1] + "…"


def _energy(entry: EntryResult) -> str:
    scaled = entry.energy.scaled if entry.energy else None
    return _fixed(None if scaled is None else scaled / _JOULES_IN_MJ)


def _fixed(value: float | None) -> str:
    return _NONE if value is None else rounded(value, 3)


def _short(value: float | None) -> str:
    """A number of epochs or samples, or a batch size: three decimals at most, none where it is large."""
    if value is None:
        return _NONE
    return rounded(value, 3).rstrip("0").rstrip(".") if abs(value) < 1e5 else rounded(value, 0)


def _legend(entries: Sequence[EntryResult], judged_by: str | None) -> Iterator[tuple[str, str]]:
    units: dict[str, list[str]] = {}
    for entry in entries:
        if entry.rcp.unit is not None and entry.rcp.mean is not None:
            units.setdefault(entry.rcp.unit, []).append(entry.benchmark)
    if units:
        counted = "; ".join(f"{unit} ({', '.join(dict.fromkeys(names))})" for unit, names in units.items())
        yield "convergence", f"olympic mean of the runs, in {counted}"
    scaled = any(entry.score.scaling != 1 for entry in entries)
    times = " times the factor of scaling.json" if scaled else ""
    weak = any(entry.scaling_type == "weak" for entry in entries)
    slowest = "a noncompliant run" if judged_by != "log-checker" else "a run that did not converge"
    end = "; of weak scaling: from the first run_start to the last run_stop of the compliant runs" if weak else ""
    yield (
        "minutes",
        f"published, the olympic mean of the times to train{times}; {slowest} counts as slowest{end}",
    )
    if not all(entry.score.as_expected for entry in entries):
        yield (
            "expected",
            "minutes with the factor of the convergence test; --write-scaling writes a missing scaling.json",
        )
    if any(entry.score.instance_scale is not None for entry in entries):
        yield "scale", "instance scale of weak scaling: the accelerators that train one model, or nodes without any"
    if any(entry.energy for entry in entries):
        yield "MJ", "energy of the timed part, scaled as the minutes are"


def _bypasses(entries: Sequence[EntryResult]) -> Iterator[tuple[doc.Span | str, ...]]:
    bypassed = [entry for entry in entries if entry.rcp.bypass is not None]
    for entry in bypassed[:MAX_BYPASSES]:
        yield (doc.Span(entry.path, "path"), f": the RCP test is bypassed by {entry.rcp.bypass}")
    if len(bypassed) > MAX_BYPASSES:
        yield (f"and {len(bypassed) - MAX_BYPASSES} more bypasses",)


def rows_document(rows: Sequence[Row]) -> doc.Document:
    """The rows of the official table, numbers rounded: one table a round."""
    rounds = groupby(rows, lambda row: (row["usage"], row["round"]))
    return doc.document(
        "Results", *(_round(list(group), *of) for of, group in rounds), None if rows else doc.Text("No results.")
    )


def _round(rows: Sequence[Row], usage: str, round_: str) -> doc.Section | None:
    shown = [column for column in columns() if _is_shown(column, rows)]
    heads = tuple(doc.Column(column.title, number=column.kind != "text") for column in shown)
    return doc.section(
        f"{usage} v{round_}",
        doc.Text("A rehearsal: real training, but not an MLPerf result.") if usage == "rehearsal" else None,
        doc.Table(heads, tuple(tuple(_row_cell(row, column) for column in shown) for row in rows)),
    )


def _is_shown(column: Described, rows: Sequence[Row]) -> bool:
    if column.markdown == "filled":
        return any(row[column.name] is not None for row in rows)
    return column.markdown == "always"


def _row_cell(row: Row, column: Described) -> doc.Cell:
    value = row[column.name]
    if value is None:
        return ""
    if not isinstance(value, str):
        return rounded(value, column.decimals)
    return doc.Span(column.title.lower(), link=value) if column.link else " ".join(legible(value).split())


def status_notes(reports: Sequence[Report]) -> tuple[str, ...]:
    """A line for each system description whose status is not a known availability, with what it may mean."""
    unknown = [
        (system.path, system.facts.status)
        for report in reports
        for system in report.systems
        if system.facts is not None and system.facts.status is not None and category(system.facts.status) is None
    ]
    notes = [_status_note(path, status) for path, status in unknown[:_MAX_NOTES]]
    if len(unknown) > _MAX_NOTES:
        notes.append(f"and {len(unknown) - _MAX_NOTES} more system descriptions with an unknown status")
    return tuple(notes)


def _status_note(path: str, status: str) -> str:
    close = close_category(status)
    known = ", ".join(dict.fromkeys(aliases().values()))
    hint = f"Did you mean {close}?" if close else f"Known are {known}."
    return f"{path}: the status {status[:80]!r} is not a known availability. {hint}"
