"""The results of reports as documents: what a submitter looks for, and the rows of the official results table."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import groupby

from msgspec.structs import replace

from mlsub.divisions import CLOSED
from mlsub.findings import Verdict
from mlsub.io.data import group_by_key
from mlsub.io.show import rounded, shortened
from mlsub.present import document as doc
from mlsub.present.entries import (
    COLUMNS,
    count_unofficial,
    counts_of,
    logs_table,
    missing_results,
    notes_on_rcp,
    partly_checked,
    rehearsal_note,
    results_table,
    round_line,
    summary,
)
from mlsub.present.tables import ResultColumn, Row, columns, legible
from mlsub.score.alike import SystemSize, system_size
from mlsub.submission.report import Report
from mlsub.submission.result import CPU_ONLY, Result
from mlsub.systems.fields import aliases, category, close_category

#: Bypasses that are named one by one; JSON has them all.
MAX_BYPASSES = 10
#: Unknown statuses that are reported one by one.
_MAX_NOTES = 10
_COLUMNS = (
    *("organisation", "system", "accelerators", "accelerator", "benchmark", "division", "converged", "batch"),
    *("convergence", "RCP", "scaling", "minutes", "expected", "scale", "MJ", "verdict"),
)
#: Accelerators that a chart tells apart; the least frequent ones are one colour.
_KINDS = 7
#: The colour of what does not count, and the longest organisation that a title names.
_ASIDE, _LONGEST = 5, 30


def document_of(reports: Sequence[Report], results: Sequence[Result]) -> doc.Document:
    """The score of each entry, and what kept a report from having any; ``results`` are those that are shown."""
    alone, by_root = len(reports) == 1, {root: list(some) for root, some in groupby(results, lambda one: one.root)}
    return doc.document(
        "Results",
        *(
            doc.section(doc.Span(report.root, "path"), *_report(report, by_root.get(report.root, []), alone=alone))
            for report in reports
        ),
        doc.Text(partly) if (partly := partly_checked(reports)) else None,
    )


def _report(report: Report, entries: Sequence[Result], *, alone: bool) -> Iterator[doc.Block | None]:
    yield round_line(report.usage, report.round, report.round_from, report.judged_by)
    yield rehearsal_note(report.usage)
    if entries:
        notes = dict(_notes(entries, report.judged_by))
        columns = [replace(COLUMNS[name], note=notes.get(name, "")) for name in _COLUMNS]
        yield results_table(entries, columns, whole=True)
        yield _minutes_chart([entry.columns() for entry in entries])
        yield doc.Items(tuple(_bypasses(entries)))
    elif report.logs:
        yield logs_table(report.logs)
    else:
        yield doc.Findings(report.findings)
    yield from _counts(report, alone=alone)


def _minutes_chart(rows: Sequence[Row]) -> doc.Chart | None:
    """Draw the minutes of results of one round by benchmark, division and size; None of fewer than two."""
    timed = [row for row in rows if (row["published_minutes"] or 0) > 0 and row["scaling_type"] != "weak"]
    if len(timed) < 2:
        return None
    places = [_place(row) for row in timed]
    sizes = sorted(set(places))
    accepted = [row for row in timed if row["verdict"] == Verdict.ACCEPTED]
    kinds = Counter(map(_kind, accepted)).most_common()
    named = [kind for kind, _ in kinds[: len(kinds) if len(kinds) <= _KINDS + 1 else _KINDS]]
    series: dict[str, list[tuple[float, ...]]] = {name: [] for name in (*named, "others", "rejected")}
    for row, size in zip(timed, places, strict=True):
        kind = "rejected" if row["verdict"] != Verdict.ACCEPTED else _kind(row) if _kind(row) in named else "others"
        series[kind].append((row["published_minutes"], sizes.index(size)))
    rejected = doc.Series("rejected", "hollow", _ASIDE, tuple(series.pop("rejected")))
    drawn = tuple(doc.Series(name, "marks", at, tuple(some)) for at, (name, some) in enumerate(series.items()))
    words = {"accelerator": "{0}", "node": "{0} node{1}", "": "?"}
    names = tuple(
        f"{name}{division}, {words[unit].format(number, 's' * (number != 1))}" for name, division, unit, number in sizes
    )
    title = f"Minutes to train by benchmark and size, {_whose(timed)}"
    about = f"{len(timed)} results; farther left is faster. Compare results of one row: one division, one size."
    y = doc.Axis("benchmark, accelerators", names=names)
    return doc.Chart(title=title, about=about, x=doc.Axis("minutes", log=True), y=y, series=(*drawn, rejected))


def _place(row: Row) -> tuple[str, str, str, int]:
    """Return what results in one row have in common: benchmark, division, and the unit and number of their size."""
    division = "" if row["division_name"] == CLOSED.name else f" {row['division_name'] or 'of no division'}"
    size = system_size(row["accelerators_count"], row["number_of_nodes"]) or SystemSize(0, "")
    return row["benchmark"], division, size.unit, size.number


def _whose(rows: Sequence[Row]) -> str:
    """Name the round of results, and the organisation where they are of one."""
    names = {row["organisation"] for row in rows}
    whose = f" of {shortened(names.pop(), _LONGEST)}" if len(names) == 1 else ""
    return f"{rows[0]['usage']} v{rows[0]['round']}{whose}"


def _kind(row: Row) -> str:
    return str(row["accelerator_name"] or ("unknown" if row["accelerators_count"] != 0 else CPU_ONLY))


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


def _notes(entries: Sequence[Result], judged_by: str | None) -> Iterator[tuple[str, doc.Cell]]:
    """Yield the columns whose names do not say what they hold of these entries, and what that is."""
    tested = (entry for entry in entries if entry.rcp.unit is not None and entry.rcp.mean is not None)
    if units := group_by_key((entry.rcp.unit, entry.benchmark) for entry in tested):
        counted = "; ".join(f"{unit} ({', '.join(dict.fromkeys(names))})" for unit, names in units.items())
        yield "convergence", f"olympic mean of the runs, in {counted}"
    if rcp := tuple(note.words for note in notes_on_rcp(entries)):
        yield "RCP", doc.Lines(rcp)
    scaled = any(entry.score.scaling not in (None, 1) for entry in entries)
    times = " times the factor of scaling.json" if scaled else ""
    weak = any(entry.scaling_type == "weak" for entry in entries)
    slowest = "a noncompliant run" if judged_by != "log-checker" else "a run that did not converge"
    end = "; of weak scaling: from the first run_start to the last run_stop of the compliant runs" if weak else ""
    yield "minutes", f"published, the olympic mean of the times to train{times}; {slowest} counts as slowest{end}"
    yield "expected", "minutes with the factor of the convergence test; --write-scaling writes a missing scaling.json"
    yield "scale", "instance scale of weak scaling: the accelerators that train one model, or nodes without any"
    yield "MJ", "energy of the timed part, scaled as the minutes are"


def _bypasses(entries: Sequence[Result]) -> Iterator[tuple[doc.Span | str, ...]]:
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
        rehearsal_note(usage),
        _minutes_chart(rows),
        doc.Table(heads, tuple(tuple(_row_cell(row, column) for column in shown) for row in rows)),
    )


def _is_shown(column: ResultColumn, rows: Sequence[Row]) -> bool:
    if column.markdown == "filled":
        return any(row[column.name] is not None for row in rows)
    return column.markdown == "always"


def _row_cell(row: Row, column: ResultColumn) -> doc.Cell:
    value = row[column.name]
    if value is None:
        return ""
    if not isinstance(value, str):
        return rounded(value, column.decimals)
    return doc.Span(column.title.lower(), link=value) if column.link else " ".join(legible(value).split())


def status_notes(reports: Sequence[Report]) -> Iterator[str]:
    """Yield a line for each system description whose status is not a known availability, with what it may mean."""
    systems = [system for report in reports for system in report.systems]
    stated = [(system.path, system.facts.status) for system in systems if system.facts is not None]
    unknown = [(path, status) for path, status in stated if status is not None and category(status) is None]
    for path, status in unknown[:_MAX_NOTES]:
        close, known = close_category(status), ", ".join(dict.fromkeys(aliases().values()))
        hint = f"Did you mean {close}?" if close else f"Known are {known}."
        yield f"{path}: the status {status[:80]!r} is not a known availability. {hint}"
    if len(unknown) > _MAX_NOTES:
        yield f"and {len(unknown) - _MAX_NOTES} more system descriptions with an unknown status"
