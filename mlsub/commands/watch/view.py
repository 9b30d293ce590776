"""The live view on a terminal: a row for each run, and above it what is worth keeping."""

from __future__ import annotations

from collections.abc import Sequence

from rich.console import Console, Group
from rich.live import Live
from rich.table import Table
from rich.text import Text

from mlsub.commands.watch.lines import line_of, reference_words
from mlsub.commands.watch.news import Concluded, Ended, Found, News, Restarted, Warned
from mlsub.commands.watch.outlet import Outlet
from mlsub.commands.watch.run import Row
from mlsub.commands.watch.words import duration, number, value_words
from mlsub.findings import Severity
from mlsub.io.show import plain

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
_SEVERITIES = {Severity.ERROR: "bold red", Severity.WARNING: "yellow", Severity.INFO: "cyan"}
_OFFICIAL = {"compliant": "bold green", "accepted": "bold green", "not-checked": "bold yellow"}
#: Silence is shown from so many seconds on.
_QUIET_S = 60.0
#: Columns kept for the names of logs on a narrow terminal.
_LOG_WIDTH = 14


class LiveView(Outlet):
    """Shows the runs in place, and findings and verdicts above them."""

    def __init__(self, console: Console) -> None:
        self._live = Live(console=console, auto_refresh=False, vertical_overflow="ellipsis")

    def tell(self, news: News) -> None:
        """Print what should stay to be read."""
        if isinstance(news, Concluded):
            self.close()
        if isinstance(news, (Found, Warned, Restarted, Ended, Concluded)):
            self._live.console.print(Text(line_of(news), style=_style(news)))

    def draw(self, rows: Sequence[Row]) -> None:
        """Show where the runs stand."""
        self._live.start()
        self._live.update(picture(rows), refresh=True)

    def close(self) -> None:
        """Leave the last picture standing."""
        self._live.stop()


def picture(rows: Sequence[Row]) -> Group:
    """The table of runs, and below it what they are compared with."""
    table = Table(box=None, padding=(0, 2, 0, 0), pad_edge=False)
    longest = max((len(row.path) for row in rows), default=0)
    for name in _COLUMNS:
        least = min(longest, _LOG_WIDTH) if name == "log" else None
        table.add_column(name, no_wrap=True, overflow="ellipsis", min_width=least)
    for row in rows:
        table.add_row(*_cells(row))
    return Group(table, *(Text(line, style="dim") for line in _below(rows)))


def _below(rows: Sequence[Row]) -> list[str]:
    """The targets and references of the runs, each once."""
    lines: dict[str, None] = {}
    for said in (row.identity for row in rows if row.identity is not None):
        if said.target is not None:
            lines[f"target: {plain(said.target)}"] = None
        if said.reference is not None:
            size = number(said.reference.batch_size)
            pace = "; ref: its mean at this pace" if said.reference.mean is not None else ""
            lines[f"reference at batch size {size}: {reference_words(said.reference)}{pace}"] = None
    return list(lines)


def _cells(row: Row) -> list[Text]:
    return [
        Text(plain(row.path)),
        Text(_phase(row), style=_PHASES[row.state.phase]),
        Text(_timed(row)),
        Text(_evaluation(row)),
        Text(_to_target(row)),
        _findings(row),
    ]


def _phase(row: Row) -> str:
    state = row.state
    more = ""
    if row.problem is not None:
        more = plain(row.problem)
    elif state.phase == "stopped":
        more = plain(state.status or "no status")
    elif row.quiet_s >= _QUIET_S and row.official is None:
        more = f"quiet {duration(row.quiet_s * 1000)}"
    elif state.blocks or state.epochs:
        count, what = max((state.blocks, "block"), (state.epochs, "epoch"), key=lambda one: one[0])
        more = f"{count} {what}{'s' if count > 1 else ''}"
    return f"{state.phase}\n{more}".rstrip("\n")


def _timed(row: Row) -> str:
    if row.initialising_ms is not None:
        return duration(row.initialising_ms)
    if row.timed.by_wall is None:
        return duration(row.timed.by_log)
    return f"{duration(row.timed.by_log)}\nnow {duration(row.timed.by_wall)}"


def _evaluation(row: Row) -> str:
    last = row.evaluation
    if last is None:
        return "-"
    value = plain(f"{last.measure} {value_words(last.value)}" if last.measure else value_words(last.value))
    return f"{value}\n{number(last.progress)}" if last.progress is not None else value


def _to_target(row: Row) -> str:
    last = row.evaluation
    if last is None or last.reached is None:
        return "-"
    curve, by = last.forecast, last.by_reference_ms
    earliest = duration(max(curve.not_before_ms or 0.0, row.timed.by_log or 0.0))
    words = _FORECASTS[curve.state].format(earliest, duration(curve.not_after_ms))
    return f"{words}\nref {duration(by)}" if by is not None else words


def _findings(row: Row) -> Text:
    if row.official is not None:
        return Text(row.official, style=_OFFICIAL.get(row.official, "bold red"))
    return Text(f"{row.findings}", style="bold red" if row.doomed else "")


def _style(news: News) -> str:
    if isinstance(news, Found):
        return _SEVERITIES[news.finding.severity]
    if isinstance(news, (Ended, Concluded)):
        return _OFFICIAL.get(str(news.official), "bold red")
    return "yellow"
