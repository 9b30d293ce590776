"""The live view on a terminal: a row for each run, and above it what is worth keeping."""

from __future__ import annotations

from collections.abc import Sequence

from rich.console import Console, Group
from rich.live import Live
from rich.table import Table
from rich.text import Text

from mlsub.commands.watch.document import Outlet, duration, number, value_words
from mlsub.commands.watch.model import Concluded, Ended, Found, RunSoFar, WatchEvent, counts_against
from mlsub.commands.watch.sofar import LogSoFar
from mlsub.findings import Severity
from mlsub.io.show import plain, plural

_COLUMNS = ("log", "phase", "timed", "evaluation", "findings")
_PHASES = {
    "waiting": "dim",
    "init": "cyan",
    "run": "green",
    "evaluating": "green",
    "stopped": "bold",
    "lost": "bold yellow",
}
_SEVERITIES = {Severity.ERROR: "bold red", Severity.WARNING: "yellow", Severity.NOTE: "cyan"}
_OFFICIAL = {"compliant": "bold green", "accepted": "bold green", "not-checked": "bold yellow"}
#: Silence is shown from so many seconds on.
_QUIET_S = 60.0
#: Columns kept for the names of logs on a narrow terminal.
_LOG_WIDTH = 14


class LiveView(Outlet):
    """Shows the runs in place, and findings and verdicts above them."""

    def __init__(self, console: Console) -> None:
        super().__init__(console.file)
        self._live = Live(console=console, auto_refresh=False, vertical_overflow="ellipsis")

    def show(self, event: WatchEvent) -> None:
        """Print what should stay to be read."""
        if isinstance(event, Concluded):
            self.close()
        before = self.runs.get(getattr(event, "path", ""))
        line = self.line(event)
        if isinstance(event, RunSoFar) and event.restart is None:
            known = before.problem if before is not None else None
            if event.problem is None or event.problem == known:
                return
        self._live.console.print(Text(line or "", style=_style(event)))

    def draw(self, logs: Sequence[LogSoFar], at_ms: int) -> None:
        """Show where the runs stand."""
        self._live.start()
        self._live.update(picture(logs, at_ms), refresh=True)

    def close(self) -> None:
        """Leave the last picture standing."""
        self._live.stop()


def picture(logs: Sequence[LogSoFar], at_ms: int) -> Group:
    """Return the table of runs, and below it the targets, each once."""
    table = Table(box=None, padding=(0, 2, 0, 0), pad_edge=False)
    longest = max((len(log.path) for log in logs), default=0)
    for name in _COLUMNS:
        least = min(longest, _LOG_WIDTH) if name == "log" else None
        table.add_column(name, no_wrap=True, overflow="ellipsis", min_width=least)
    runs = [log.so_far() for log in logs]
    for log, run in zip(logs, runs, strict=True):
        phase = Text(_phase(log, run, at_ms), style=_PHASES[run.phase])
        cells = (plain(log.path), phase, _timed(log, at_ms), _evaluation(run), _findings(log))
        table.add_row(*(Text(cell) if isinstance(cell, str) else cell for cell in cells))
    targets = dict.fromkeys(f"target: {plain(run.target)}" for run in runs if run.target is not None)
    return Group(table, *(Text(line, style="dim") for line in targets))


def _phase(log: LogSoFar, run: RunSoFar, at_ms: int) -> str:
    more = ""
    if run.problem is not None:
        more = plain(run.problem)
    elif run.phase == "stopped":
        more = plain(run.status or "no status")
    elif log.quiet_s(at_ms) >= _QUIET_S and log.ended is None:
        more = f"quiet {duration(log.quiet_s(at_ms) * 1000)}"
    elif run.blocks or run.epochs:
        more = plural(*max((run.blocks, "block"), (run.epochs, "epoch"), key=lambda one: one[0]))
    return f"{run.phase}\n{more}".rstrip("\n")


def _timed(log: LogSoFar, at_ms: int) -> str:
    if log.initialising_ms is not None:
        return duration(log.initialising_ms)
    running = log.running_ms(at_ms)
    timed = duration(log.timed_ms)
    return timed if running is None else f"{timed}\nnow {duration(running)}"


def _evaluation(run: RunSoFar) -> str:
    last = run.evaluation
    if last is None:
        return "-"
    value = plain(f"{last.measure} {value_words(last.value)}" if last.measure else value_words(last.value))
    progress = f"\n{number(last.progress)} {last.unit or ''}".rstrip() if last.progress is not None else ""
    return f"{value}{' reached' if last.reached else ''}{progress}"


def _findings(log: LogSoFar) -> Text:
    if log.ended is not None:
        return Text(log.ended.official, style=_OFFICIAL.get(log.ended.official, "bold red"))
    return Text(f"{len(log.findings)}", style="bold red" if any(map(counts_against, log.findings)) else "")


def _style(event: WatchEvent) -> str:
    if isinstance(event, Found):
        return _SEVERITIES[event.finding.severity]
    if isinstance(event, (Ended, Concluded)):
        return _OFFICIAL.get(str(event.official), "bold red")
    return "yellow"
