"""The report as text for people: verdict and entries first, then each defect once, with all its places."""

from __future__ import annotations

import io
import sys
from collections.abc import Iterable, Sequence
from itertools import islice
from typing import IO

from rich.console import Console
from rich.text import Text

from mlsub.findings import Finding, Kind, Severity, Verdict
from mlsub.io.plain import plain
from mlsub.present.entries import beside, counts_of_bert, entries_table, partly_checked
from mlsub.present.entries import counts_of as counts_of
from mlsub.present.findings import MAX_PLACES as MAX_PLACES
from mlsub.present.findings import grouped as grouped
from mlsub.present.text import FILE_WIDTH, lines
from mlsub.submission.report import EntryResult, Report

_STYLES = {Severity.ERROR: "bold red", Severity.WARNING: "yellow", Severity.INFO: "cyan"}
VERDICT_STYLES = {
    Verdict.ACCEPTED: "bold green",
    Verdict.REJECTED: "bold red",
    Verdict.NOT_CHECKED: "bold yellow",
}


class Terminal(Console):
    """A console that leaves a closed pipe to whoever ends the command, instead of ending it itself."""

    def on_broken_pipe(self) -> None:
        """Let the error that is being handled go on."""
        raise


def console(stream: IO[str] | None = None) -> Console:
    """A console that colours terminals only, honours NO_COLOR, and never breaks lines that go to a file."""
    stream = sys.stdout if stream is None else stream
    width = None if stream.isatty() else 1000
    if isinstance(stream, io.TextIOWrapper):
        # An output that knows few characters costs those characters, never the answer.
        stream.reconfigure(errors="backslashreplace")
    return Terminal(file=stream, soft_wrap=True, highlight=False, markup=False, emoji=False, width=width)


def render_text(reports: Sequence[Report], out: Console) -> None:
    """Print reports."""
    for number, report in enumerate(reports):
        if number:
            out.print()
        print_heading(report, out)
        if report.entries:
            print_entries(report.entries, out)
            if note := counts_of_bert(report.entries):
                out.print(note)
        for group in grouped(report.findings):
            print_group(group, out, forgiven=report.official is Verdict.ACCEPTED)
        print_summary(report, out, alone=len(reports) == 1)
    if partly := partly_checked(reports):
        out.print()
        out.print(plain(partly))


def print_heading(report: Report, out: Console) -> None:
    """Print what was checked, and by which rules."""
    title = Text()
    if report.round is not None and report.usage is not None:
        title.append(f"{report.usage} v{report.round}", style="bold")
        if report.round_from is not None:
            title.append(f" (read off the folder {plain(report.round_from)})")
        title.append(": ")
    title.append(plain(report.root))
    out.print(title)
    if report.usage == "rehearsal":
        out.print("A rehearsal: real training, but not an MLPerf result.", style="yellow")


def print_entries(entries: Iterable[EntryResult], out: Console) -> None:
    """Print one row an entry: what it is, what came of it, and its time to train in minutes."""
    width = out.width if out.is_terminal else FILE_WIDTH
    for line in lines(entries_table(entries), width, colour=out.color_system is not None and not out.no_color):
        out.file.write(f"{line}\n")


def print_group(group: list[Finding], out: Console, *, forgiven: bool = False, label: str | None = None) -> None:
    """Print one defect. ``forgiven``: the whole is accepted, so a rejecting defect is that of a forgiven run.

    ``label`` stands in the place of kind and severity.
    """
    first = group[0]
    head = Text()
    if label is None:
        label = first.severity.value if first.kind is Kind.OFFICIAL else f"{first.kind.value} {first.severity.value}"
    if forgiven and first.rejects:
        label = f"forgiven {label}"
    head.append(label, style=_STYLES[first.severity])
    head.append(f": {plain(first.message)} ")
    head.append(f"[{first.rule}]", style="dim")
    out.print(head)
    if first.expected is not None:
        out.print(f"  expected: {plain(first.expected)}")
    found = {finding.actual for finding in group}
    if len(found) == 1 and first.actual is not None:
        out.print(f"  found:    {plain(first.actual)}")
    for finding in islice(group, MAX_PLACES):
        place = plain(finding.path) + (f":{finding.line}" if finding.line is not None else "")
        own = f"  ({plain(finding.actual)})" if len(found) > 1 and finding.actual is not None else ""
        out.print(f"    {place}{own}")
    if len(group) > MAX_PLACES:
        out.print(f"    and {len(group) - MAX_PLACES} more places")
    if first.fix is not None:
        out.print(f"  fix:      {plain(first.fix)}")
    out.print(f"  source:   {plain(first.source)}", style="dim")


def print_summary(report: Report, out: Console, *, alone: bool = True) -> None:
    """Print the verdict, and how many findings there are; ``alone`` says that nothing else was asked for."""
    line = Text(report.official.value, style=VERDICT_STYLES[report.official])
    unchecked = "nothing could be checked" if alone else "this part could not be checked"
    line.append(f": {', '.join(counts_of(report)) or unchecked}")
    out.print(line)
    print_beside(report, out)


def print_beside(report: Report, out: Console) -> None:
    """Print how many findings there are that are not part of the official verdict."""
    for line in beside(report):
        out.print(line)
