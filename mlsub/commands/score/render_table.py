"""The results table for people: what a submitter looks for, in 120 columns."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import groupby

import msgspec
from rich.box import SIMPLE
from rich.cells import cell_len
from rich.console import Console
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from mlsub.findings import Verdict
from mlsub.io.plain import plain
from mlsub.present.report import (
    VERDICT_STYLES,
    counts_of,
    grouped,
    print_beside,
    print_counts_of_bert,
    print_group,
    print_heading,
    print_summary,
    print_unchecked,
)
from mlsub.score.cells import rounded
from mlsub.submission.report import EntryResult, Report

#: Bypasses that are told one by one; JSON has them all.
MAX_BYPASSES = 10
#: Characters shown of a benchmark or a division, which may be any text; no real one is longer.
_LONGEST = 20
#: Columns of the terminal: for the system, between columns, and before a system below its organisation.
_LEAST_SYSTEM, _GAP, _INDENT = 10, 2, 2
_JOULES_IN_MJ = 1e6
_NONE = "-"
_UNTESTED = "not-required"
_RCP_STYLES = {"pass": "green", "fail": "bold red", "missing": "bold red", "bypassed": "yellow"}


class _Column(msgspec.Struct, frozen=True):
    """One column: its head, what it shows of an entry, and whether that is a number."""

    head: str
    cell: Callable[[EntryResult], Text]
    number: bool = False


def render_table(reports: Sequence[Report], out: Console) -> None:
    """Print the score of each entry, and what kept a report from having any."""
    for number, report in enumerate(reports):
        if number:
            out.print()
        print_heading(report, out)
        if report.entries:
            out.print(results_table(report.entries, out.width))
            print_counts_of_bert(report.entries, out)
            for line in _legend(report.entries):
                out.print(line)
        elif report.logs:
            for log in report.logs:
                minutes = "no run interval" if log.minutes is None else f"{log.minutes:.6f} minutes"
                out.print(f"{plain(log.path)}: {minutes}, {log.official}")
        else:
            for group in grouped(report.findings):
                print_group(group, out)
        _print_counts(report, out, alone=len(reports) == 1)
    print_unchecked(reports, out)


def _print_counts(report: Report, out: Console, *, alone: bool) -> None:
    """Print how much is accepted: in a list of results one entry does not reject the others."""
    counts = counts_of(report)
    if not counts:
        print_summary(report, out, alone=alone)
        return
    out.print(Text(", ".join(counts), style="bold"))
    parts = {entry.official for entry in report.entries} | {system.official for system in report.systems}
    if report.entries and report.official is Verdict.REJECTED and Verdict.REJECTED not in parts:
        out.print("The package around them is rejected; mlsub check says why.")
    print_beside(report, out)


def results_table(entries: Sequence[EntryResult], width: int) -> Table:
    """One row an entry, below its organisation where there are several.

    Columns that would be empty for all entries are left out. Where ``width`` (columns of the terminal) is short, names
    of systems break into several lines; below what the figures need, the terminal breaks the lines itself.
    """
    columns = _columns(entries)
    least = _least_width(columns, entries)
    table = Table(box=SIMPLE, padding=(0, 1, 0, 0), pad_edge=False, show_edge=False)
    table.width = least if least > width else None
    table.add_column("system", overflow="fold")
    for column in columns:
        table.add_column(column.head, justify="right" if column.number else "left", no_wrap=True)
    many = len({entry.organisation for entry in entries}) > 1
    for organisation, members in groupby(entries, key=lambda entry: entry.organisation):
        if many:
            table.add_row(Text(plain(organisation), style="bold"))
        for entry in members:
            system = Padding(Text(plain(entry.system)), (0, 0, 0, _INDENT * many))
            table.add_row(system, *(column.cell(entry) for column in columns))
    return table


def _least_width(columns: Sequence[_Column], entries: Sequence[EntryResult]) -> int:
    """The width that no figure is cut off in, with a little room for the systems."""
    cells = ((column.head, *(column.cell(entry).plain for entry in entries)) for column in columns)
    system = min(_LEAST_SYSTEM, max(len(entry.system) for entry in entries) + _INDENT)
    return system + sum(_GAP + max(cell_len(line) for cell in of for line in cell.split("\n")) for of in cells)


def _columns(entries: Sequence[EntryResult]) -> list[_Column]:
    """The columns beside the system's."""
    shown = [
        _Column("benchmark", _benchmark),
        _Column("division", lambda entry: Text(_bounded(entry.division or _NONE))),
        _Column("converged", lambda entry: Text(f"{entry.converged} of {entry.runs}"), number=True),
    ]
    if any(entry.rcp.verdict != _UNTESTED for entry in entries):
        shown += [
            _Column("batch\nsize", lambda entry: Text(_short(entry.rcp.batch_size)), number=True),
            _Column("convergence", lambda entry: Text(_short(entry.rcp.mean)), number=True),
            _Column("RCP", _rcp),
        ]
    expected = not all(entry.score.as_expected for entry in entries)
    energy = any(entry.energy for entry in entries)
    # Beside both there is no room in 120 columns; CSV and JSON have the factor too.
    if any(entry.score.scaling != 1 for entry in entries) and not (expected and energy):
        shown.append(_Column("scaling", _scaling, number=True))
    shown.append(_Column("minutes", lambda entry: Text(_fixed(entry.score.published)), number=True))
    if expected:
        shown.append(_Column("expected", _expected, number=True))
    if energy:
        shown.append(_Column("energy\nin MJ", _energy, number=True))
    shown.append(_Column("verdict", _verdict))
    return shown


def _benchmark(entry: EntryResult) -> Text:
    way = f" ({entry.scaling_type})" if entry.scaling_type else ""
    return Text(_bounded(entry.benchmark) + way)


def _bounded(text: str) -> str:
    text = plain(text)
    return text if len(text) <= _LONGEST else text[: _LONGEST - 1] + "…"


def _rcp(entry: EntryResult) -> Text:
    verdict = entry.rcp.verdict
    mark = "*" if entry.rcp.otherwise else ""
    return Text(_NONE if verdict == _UNTESTED else f"{verdict}{mark}", style=_RCP_STYLES.get(verdict, ""))


def _scaling(entry: EntryResult) -> Text:
    return Text(_NONE if entry.score.scaling == 1 else rounded(entry.score.scaling, 4))


def _expected(entry: EntryResult) -> Text:
    return Text("" if entry.score.as_expected else _fixed(entry.score.expected))


def _energy(entry: EntryResult) -> Text:
    scaled = entry.energy.scaled if entry.energy else None
    return Text(_fixed(None if scaled is None else scaled / _JOULES_IN_MJ))


def _verdict(entry: EntryResult) -> Text:
    return Text(entry.official.value, style=VERDICT_STYLES[entry.official])


def _fixed(value: float | None) -> str:
    return _NONE if value is None else rounded(value, 3)


def _short(value: float | None) -> str:
    """A number of epochs or samples, or a batch size: three decimals at most, none where it is large."""
    if value is None:
        return _NONE
    return rounded(value, 3).rstrip("0").rstrip(".") if abs(value) < 1e5 else rounded(value, 0)


def _legend_of_minutes(entries: Sequence[EntryResult]) -> Iterator[str]:
    scaled = any(entry.score.scaling != 1 for entry in entries)
    times = " times the factor of scaling.json" if scaled else ""
    yield f"minutes: published, the olympic mean of the times to train{times}; a noncompliant run counts as slowest"
    if any(entry.scaling_type == "weak" for entry in entries):
        yield "minutes of weak scaling: from the first run_start to the last run_stop"
    if not all(entry.score.as_expected for entry in entries):
        yield "expected: minutes with the factor of the convergence test; --write-scaling writes a missing scaling.json"


def _legend(entries: Sequence[EntryResult]) -> Iterator[str]:
    units: dict[str, list[str]] = {}
    for entry in entries:
        if entry.rcp.unit is not None and entry.rcp.mean is not None:
            units.setdefault(entry.rcp.unit, []).append(plain(entry.benchmark))
    if units:
        counted = "; ".join(f"{unit} ({', '.join(dict.fromkeys(names))})" for unit, names in units.items())
        yield f"convergence: olympic mean of the runs, in {counted}"
    yield from _legend_of_minutes(entries)
    if any(entry.energy for entry in entries):
        yield "energy: of the timed part, scaled as the minutes are"
    bypassed = [entry for entry in entries if entry.rcp.bypass is not None]
    for entry in bypassed[:MAX_BYPASSES]:
        yield f"{plain(entry.path)}: the RCP test is bypassed by {plain(entry.rcp.bypass or '')}"
    if len(bypassed) > MAX_BYPASSES:
        yield f"and {len(bypassed) - MAX_BYPASSES} more bypasses"
