"""The live view on a terminal: a row for each run, and above it what is worth keeping."""

from __future__ import annotations

from collections.abc import Sequence

from rich.console import Console, Group
from rich.live import Live
from rich.table import Table
from rich.text import Text

from mlsub.commands.watch.document import Outlet, duration, line_of, reference_words, value_words
from mlsub.commands.watch.news import Concluded, Ended, Found, News, Restarted, Warned, counts_against, number
from mlsub.commands.watch.sofar import LogSoFar
from mlsub.findings import Severity
from mlsub.io.show import plain, plural

_COLUMNS = ("log", "phase", "timed", "evaluation", "to target", "findings")
_FORECASTS = {
    "reached": "reached",
    "too-early": "too early",
    "flat": "no nearer",
    "far": "not in sight",
    "from": "from {0}",
    "between": "{0}-{1}",
}
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

    def show(self, event: News) -> None:
        """Print what should stay to be read."""
        if isinstance(event, Concluded):
            self.close()
        if isinstance(event, (Found, Warned, Restarted, Ended, Concluded)):
            self._live.console.print(Text(line_of(event), style=_style(event)))

    def draw(self, logs: Sequence[LogSoFar], at_ms: int) -> None:
        """Show where the runs stand."""
        self._live.start()
        self._live.update(picture(logs, at_ms), refresh=True)

    def close(self) -> None:
        """Leave the last picture standing."""
        self._live.stop()


def picture(logs: Sequence[LogSoFar], at_ms: int) -> Group:
    """Return the table of runs, and below it what they are compared with."""
    table = Table(box=None, padding=(0, 2, 0, 0), pad_edge=False)
    longest = max((len(log.path) for log in logs), default=0)
    for name in _COLUMNS:
        least = min(longest, _LOG_WIDTH) if name == "log" else None
        table.add_column(name, no_wrap=True, overflow="ellipsis", min_width=least)
    for log in logs:
        phase = Text(_phase(log, at_ms), style=_PHASES[log.phase])
        cells = (plain(log.path), phase, _timed(log, at_ms), _evaluation(log), _to_target(log), _findings(log))
        table.add_row(*(Text(cell) if isinstance(cell, str) else cell for cell in cells))
    return Group(table, *(Text(line, style="dim") for line in _below(logs)))


def _below(logs: Sequence[LogSoFar]) -> list[str]:
    """The targets and references of the runs, each once."""
    lines: dict[str, None] = {}
    for identity in (log.identity for log in logs if log.identity is not None):
        if identity.target is not None:
            lines[f"target: {plain(identity.target)}"] = None
        if identity.reference is not None:
            size = number(identity.reference.batch_size)
            pace = "; ref: its mean at this pace" if identity.reference.mean is not None else ""
            lines[f"reference at batch size {size}: {reference_words(identity.reference)}{pace}"] = None
    return list(lines)


def _phase(log: LogSoFar, at_ms: int) -> str:
    state = log.state(log.phase)
    more = ""
    if log.problem is not None:
        more = plain(log.problem)
    elif state.phase == "stopped":
        more = plain(state.status or "no status")
    elif log.quiet_s(at_ms) >= _QUIET_S and log.ended is None:
        more = f"quiet {duration(log.quiet_s(at_ms) * 1000)}"
    elif state.blocks or state.epochs:
        more = plural(*max((state.blocks, "block"), (state.epochs, "epoch"), key=lambda one: one[0]))
    return f"{state.phase}\n{more}".rstrip("\n")


def _timed(log: LogSoFar, at_ms: int) -> str:
    if log.initialising_ms is not None:
        return duration(log.initialising_ms)
    running = log.running_ms(at_ms)
    timed = duration(log.timed_ms)
    return timed if running is None else f"{timed}\nnow {duration(running)}"


def _evaluation(log: LogSoFar) -> str:
    last = log.evaluation
    if last is None:
        return "-"
    value = plain(f"{last.measure} {value_words(last.value)}" if last.measure else value_words(last.value))
    return f"{value}\n{number(last.progress)}" if last.progress is not None else value


def _to_target(log: LogSoFar) -> str:
    last = log.evaluation
    if last is None or last.reached is None:
        return "-"
    curve, by = last.forecast, last.by_reference_ms
    earliest = duration(max(curve.not_before_ms or 0.0, log.timed_ms or 0.0))
    words = _FORECASTS[curve.state].format(earliest, duration(curve.not_after_ms))
    return f"{words}\nref {duration(by)}" if by is not None else words


def _findings(log: LogSoFar) -> Text:
    if log.ended is not None:
        return Text(log.ended.official, style=_OFFICIAL.get(log.ended.official, "bold red"))
    return Text(f"{len(log.findings)}", style="bold red" if any(map(counts_against, log.findings)) else "")


def _style(event: News) -> str:
    if isinstance(event, Found):
        return _SEVERITIES[event.finding.severity]
    if isinstance(event, (Ended, Concluded)):
        return _OFFICIAL.get(str(event.official), "bold red")
    return "yellow"
