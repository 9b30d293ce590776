"""The timeline of an entry's runs: initialisation, the timed part, and the evaluations in it."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime

from mlsub.commands.site.curves import MAX_POINTS, MINUTES, name_of
from mlsub.commands.site.model import (
    Cell,
    Column,
    Drawn,
    Section,
    Table,
    cell_of,
    minutes_of,
    table_of,
    text_of,
)
from mlsub.log.reading import usable_number as number
from mlsub.log.report import LogReport
from mlsub.present.chart import Axis, Series

#: Runs in one chart; the largest entries have forty.
MAX_RUNS = 100
_NOT_COMPLIANT = Cell("not compliant", badge="bad")


def section_of_runs(logs: Sequence[LogReport], evaluations: Table | None = None) -> Section:
    """The runs of one entry side by side, each from its own run_start, and their times as a table.

    Args:
        logs: the runs.
        evaluations: the table of their evaluations on the same page, if there is one.
    """
    shown = logs[:MAX_RUNS]
    spans = [(place, log, _span(log)) for place, log in enumerate(shown)]
    init = tuple((span[0], 0.0, float(place)) for place, _, span in spans if span[0] is not None)
    timed = tuple((0.0, span[1], float(place)) for place, _, span in spans if span[1] is not None)
    found = [_evaluations(log) for log in shown]
    marks = tuple((minutes, float(place)) for place, seen in enumerate(found) for minutes in seen)
    in_table = evaluations is not None and all(
        _as_listed(seen, row.cells[MINUTES].text) for seen, row in zip(found, evaluations.rows, strict=False)
    )
    series = (
        Series(name="initialisation", style="spans", points=init, colour=7),
        Series(name="timed, run_start to run_stop", style="spans", points=timed, colour=0),
        Series(name="evaluation", style="marks", points=marks, colour=1),
    )
    chart = Drawn(
        key="timeline",
        title="Runs, each from its own run_start",
        about=f"{len(timed)} of {len(shown)} runs have a timed part; the table below has their times.",
        x=Axis("Minutes since run_start"),
        y=Axis("Run"),
        series=tuple(one for one in series if one.points),
        categories=tuple(name_of(log) for log in shown),
        listed="marks" if in_table else "",
        table=evaluations.key if evaluations is not None and in_table else "",
        across=MINUTES,
    )
    more = (f"The first {MAX_RUNS} of {len(logs)} runs are drawn.",) if len(logs) > MAX_RUNS else ()
    charts = (chart,) if timed or init else ()
    table = table_of("Runs and their times", logs, _COLUMNS)
    return Section(key="runs", title="Run timeline", words=more, charts=charts, tables=(table,))


def _span(log: LogReport) -> tuple[float | None, float | None]:
    """Minutes from run_start to init_start (negative) and to run_stop."""
    timeline = log.run.timeline
    start, stop, before = (number(time) for time in (timeline.run_start, timeline.run_stop, timeline.init_start))
    return (
        None if start is None or before is None or before > start else (before - start) / 60_000,
        None if start is None or stop is None else (stop - start) / 60_000,
    )


def _evaluations(log: LogReport) -> list[float]:
    start = number(log.run.timeline.run_start)
    times = [number(evaluation.time_ms) for evaluation in log.run.evaluations[:MAX_POINTS]]
    return [] if start is None else [(time - start) / 60_000 for time in times if time is not None]


def _as_listed(seen: Sequence[float], listed: str) -> bool:
    """Whether the evaluations that have a time are those that a list has, which are the ones with a value."""
    return len(seen) == len(listed.split()) and "–" not in listed


def _when(time_ms: float | None) -> Cell:
    """A time of a log for people; a number that no calendar has a time for is shown as it is."""
    time = number(time_ms)
    if time is None:
        return Cell("–")
    try:
        shown = datetime.fromtimestamp(time / 1000, UTC).strftime("%Y-%m-%d %H:%M:%S")
    except (OverflowError, ValueError, OSError):
        return Cell(f"{time:g} ms", time)
    return Cell(shown)  # Which sorts by its text.


def _initialisation(log: LogReport) -> Cell:
    before, _ = _span(log)
    return minutes_of(None if before is None else -before)


_COLUMNS: tuple[Column[LogReport], ...] = (
    Column("run", lambda log: Cell(name_of(log))),
    Column("status", lambda log: Cell(text_of(log.status, 40) if isinstance(log.status, str) else "–")),
    Column("checked", lambda log: Cell("compliant", badge="good") if log.compliant else _NOT_COMPLIANT),
    Column("init_start (UTC)", lambda log: _when(log.run.timeline.init_start)),
    Column("run_start (UTC)", lambda log: _when(log.run.timeline.run_start)),
    Column("run_stop (UTC)", lambda log: _when(log.run.timeline.run_stop)),
    Column("initialisation, minutes", _initialisation, True),
    Column("time to train, minutes", lambda log: minutes_of(log.minutes), True),
    Column("evaluations", lambda log: cell_of(len(log.run.evaluations)), True),
)
