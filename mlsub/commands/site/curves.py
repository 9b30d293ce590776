"""The training curves of an entry: what its runs measured on the way, over their progress and over time."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import msgspec

from mlsub.commands.site.model import Cell, Drawn, Row, Section, Table, counted, heads, number_of, text_of
from mlsub.commands.watch.reference import number
from mlsub.convergence.algorithm import unit_of, unit_words
from mlsub.convergence.target import Band, Measures, Target, target_of
from mlsub.log.report import LogReport
from mlsub.present.chart import Axis, Series
from mlsub.rounds import Round
from mlsub.rules.values import Stated

#: Evaluations of one run, and of one entry, that are shown; published ones stay far below. What is left out is named.
MAX_POINTS, MAX_ALL = 2000, 40_000
#: Measures of one benchmark that get charts of their own; there are two at most in any round.
_MAX_MEASURES = 4
#: Colours of runs: those of the palette that mean nothing else.
_COLOURS = (0, 1, 2, 3, 4, 6, 8, 9)
_COUNTS = ("epoch_num", "samples_count", "step_num")
#: The table that the charts are drawn from, and two of its columns; those of the measures follow.
_TABLE, MINUTES, _PLACE = "evaluations", 2, 3
_WORDS = {"epoch_num": "epochs", "samples_count": "samples", "step_num": "steps"}


class Seen(msgspec.Struct, frozen=True):
    """One evaluation: minutes since run_start, how far the training had come, and the measures by name."""

    minutes: float | None
    place: float | None
    values: dict[str | None, float]


class Curve(msgspec.Struct, frozen=True):
    """The evaluations of one run."""

    run: str
    seen: tuple[Seen, ...]


def section_of_curves(logs: Sequence[LogReport], benchmark: str, round_: Round) -> Section:
    """The curves of all runs with the target line, and the evaluations as a table.

    Args:
        logs: the runs of one entry.
        benchmark: whose target and unit hold.
        round_: likewise.
    """
    limit = max(1, min(MAX_POINTS, MAX_ALL // max(1, len(logs))))
    target = _target(logs, benchmark, round_)
    count = _count(logs, benchmark)
    unit = _unit(count, benchmark, round_)
    curves = [Curve(name_of(log), tuple(_seen(log, target, count, limit))) for log in logs]
    measures = list(dict.fromkeys(name for curve in curves for seen in curve.seen for name in seen.values))
    words = [f"Target: {target.words}." if target else "The rules of the round name no target."]
    if not measures:
        return Section(key="curves", title="Training curves", words=(*words, "No run has an evaluation to draw."))
    if any(len(log.run.evaluations) > limit for log in logs):
        words.append(f"The first {limit} evaluations of each run are shown.")
    charts = [
        chart
        for at, measure in enumerate(measures[:_MAX_MEASURES])
        for chart in _charts(curves, measures, at, _band(target, measure), unit)
    ]
    return Section(
        key="curves",
        title="Training curves",
        words=tuple(words),
        charts=tuple(charts),
        data=(_table(curves, measures, unit),),
    )


def name_of(log: LogReport) -> str:
    """How pages call a run: its file's name without the ending."""
    return text_of(log.path.rpartition("/")[2].removesuffix(".gz").removesuffix(".txt"), 60)


def _target(logs: Sequence[LogReport], benchmark: str, round_: Round) -> Target | None:
    if not logs:
        return None
    return target_of(round_, logs[0].division, benchmark, Stated(logs[0].run.hyperparameters))


def _count(logs: Sequence[LogReport], benchmark: str) -> str | None:
    """The metadata that most evaluations state their progress by; that of the reference first."""
    evaluations = [evaluation for log in logs for evaluation in log.run.evaluations]
    wanted = unit_of(benchmark)
    names = sorted(_COUNTS, key=lambda name: name != wanted)
    stated = {name: sum(number(getattr(one, name)) is not None for one in evaluations) for name in names}
    best = max(names, key=lambda name: stated[name])
    return best if stated[best] else None


def _unit(count: str | None, benchmark: str, round_: Round) -> str | None:
    if count is None:
        return None
    if count == unit_of(benchmark) and benchmark in round_.benchmarks:
        return unit_words(benchmark, round_)
    return _WORDS[count]


def _seen(log: LogReport, target: Target | None, count: str | None, limit: int) -> Iterator[Seen]:
    start = number(log.run.timeline.run_start)
    measures = Measures(target, Stated(log.run.hyperparameters)) if target else None
    for evaluation in log.run.evaluations[:limit]:
        of_target = measures.read(evaluation.event("eval_accuracy")).values if measures else None
        values = dict(_values(evaluation.value)) if of_target is None else of_target
        time = number(evaluation.time_ms)
        minutes = None if start is None or time is None else (time - start) / 60_000
        place = number(getattr(evaluation, count)) if count else None
        if values:
            yield Seen(minutes, place, values)


def _values(value: Any) -> Iterator[tuple[str | None, float]]:
    """The numbers of an evaluation whose benchmark has no target in the rules."""
    if isinstance(value, dict):
        for name, part in list(value.items())[:_MAX_MEASURES]:
            if number(part) is not None:
                yield str(name), float(part)
    elif number(value) is not None:
        yield None, float(value)


def _band(target: Target | None, measure: str | None) -> Band | None:
    return next((band for band in target.bands if band.name == measure), None) if target else None


def _charts(
    curves: Sequence[Curve], measures: Sequence[str | None], at: int, band: Band | None, unit: str | None
) -> Iterator[Drawn]:
    measure = measures[at]
    quality = text_of(measure, 40) if measure else "quality"
    for key, by, title in (("place", unit, f"Progress ({unit})"), ("minutes", "minutes", "Minutes since run_start")):
        series = [
            Series(name=curve.run, style="line", points=points, colour=_COLOURS[place % len(_COLOURS)])
            for place, curve in enumerate(curves)
            if (points := _points(curve, measure, key))
        ]
        if by is None or not series:
            continue
        line = _line(series, band)
        if line is not None:
            series.append(line)
        yield Drawn(
            key=f"curve-{at}-{key}",
            title=f"{quality.capitalize() if measure is None else quality} over {by}",
            about=_about(series, quality, by, line),
            x=Axis(title),
            y=Axis(quality),
            series=tuple(series),
            listed="line",
            table=_TABLE,
            across=MINUTES if key == "minutes" else _PLACE,
            up=(_PLACE if unit is None else _PLACE + 1) + at,
        )


def _points(curve: Curve, measure: str | None, key: str) -> tuple[tuple[float, ...], ...]:
    found = ((getattr(seen, key), seen.values.get(measure)) for seen in curve.seen)
    # Some benchmarks are evaluated after the run, in any order: the table keeps that of the log.
    return tuple(sorted((x, y) for x, y in found if x is not None and y is not None))


def _line(series: Sequence[Series], band: Band | None) -> Series | None:
    """The target as a line over all runs: of two bounds the one that the first evaluation lies beyond."""
    if band is None or (band.low is None and band.high is None):
        return None
    first = series[0].points[0][1]
    level = band.low if band.low is not None else band.high
    if band.high is not None and first > band.high:
        level = band.high
    places = [point[0] for one in series for point in one.points]
    low, high = min(places), max(places)
    assert level is not None  # noqa: S101  (one of the two bounds is there)
    return Series(name=f"target {number_of(level)}", style="rule", points=((low, level), (high, level)), colour=5)


def _about(series: Sequence[Series], quality: str, by: str, line: Series | None) -> str:
    runs = len(series) - (line is not None)
    ends = [one.points[-1][1] for one in series if one.style == "line"]
    about = f"The {quality} of {counted(runs, 'run')} over {by}"
    about += f"; last values from {number_of(min(ends))} to {number_of(max(ends))}"
    return f"{about}, {line.name}." if line else f"{about}."


def _table(curves: Sequence[Curve], measures: Sequence[str | None], unit: str | None) -> Table:
    """A row for each run, with its evaluations as lists."""
    named = (text_of(measure, 40) if measure else "quality" for measure in measures)
    titles = ("run", "evaluation", "minutes since run_start", *((unit,) if unit else ()), *named)
    rows = []
    for curve in curves:
        count = len(curve.seen)
        lists = [
            [seen.minutes for seen in curve.seen],
            *([[seen.place for seen in curve.seen]] if unit else []),
            *([seen.values.get(measure) for seen in curve.seen] for measure in measures),
        ]
        number_ = Cell(f"1 to {count}" if count > 1 else str(count))
        rows.append(Row((Cell(curve.run), number_, *(Cell(" ".join(map(number_of, values))) for values in lists))))
    return Table(
        caption="Evaluations of all runs",
        heads=heads(*titles, numbers=len(titles) - 1),
        rows=tuple(rows),
        lists=True,
        key=_TABLE,
    )
