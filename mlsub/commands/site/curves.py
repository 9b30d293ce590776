"""The training curves of an entry: what its runs measured on the way, over their progress and over time."""

from __future__ import annotations

import statistics
from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import Any

import msgspec

from mlsub.commands.site.model import Cell, Row, Runs, Section, Table, counted, heads, number_of, text_of
from mlsub.commands.site.spread import MIN_RUNS, Goal, Line, Window, band_of, spread_of, window_of
from mlsub.convergence.algorithm import unit_of, unit_of_counts
from mlsub.convergence.target import Band, Measures, Target, target_of
from mlsub.log.reading import usable_number as number
from mlsub.log.report import LogReport
from mlsub.present.chart import Axis, Series
from mlsub.rounds import Round
from mlsub.rules.values import Stated
from mlsub.submission.report import RcpResult

#: Evaluations of one run, and of one entry, that are shown; published ones stay far below. What is left out is named.
MAX_POINTS, MAX_ALL = 2000, 40_000
#: Measures of one benchmark that get charts of their own; there are two at most in any round.
_MAX_MEASURES = 4
#: Colours of runs: those of the palette that mean nothing else.
_COLOURS = (0, 1, 2, 3, 4, 6, 8, 9)
_COUNTS = ("epoch_num", "samples_count", "step_num")
#: The table that the charts are drawn from, and two of its columns; those of the measures follow.
_TABLE, MINUTES, _PLACE = "evaluations", 2, 3
_SPREAD = (
    "The line is the median of the runs, the band the {}. Between two evaluations of a run its value is interpolated "
    "linearly, and a run that has ended counts with its last value."
)
_AFTERWARDS = (
    "Most runs were evaluated when their training was over, from checkpoints. The times of these evaluations say "
    "nothing of the training, so there is no chart over minutes."
)
#: The share of a run after which its training is over, if all of several evaluations come later.
_LATE = 0.9
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


def section_of_curves(
    logs: Sequence[LogReport], benchmark: str, round_: Round, rcp: RcpResult | None = None
) -> Section:
    """The curves of all runs with the target line, and the evaluations as a table.

    Args:
        logs: the runs of one entry.
        benchmark: whose target and unit hold.
        round_: likewise.
        rcp: the convergence test of the entry, which may tell that the logs count in another unit.
    """
    limit = max(1, min(MAX_POINTS, MAX_ALL // max(1, len(logs))))
    target = _target(logs, benchmark, round_)
    count = _count(logs, benchmark)
    unit = _unit(logs, count, benchmark, round_, rcp)
    curves = [Curve(name_of(log), tuple(_seen(log, target, count, limit))) for log in logs]
    measures = list(dict.fromkeys(name for curve in curves for seen in curve.seen for name in seen.values))
    words = [f"Target: {target.words}." if target else "The rules of the round name no target."]
    if not measures:
        return Section(key="curves", title="Training curves", words=(*words, "No run has an evaluation to draw."))
    if any(len(log.run.evaluations) > limit for log in logs):
        words.append(f"The first {limit} evaluations of each run are shown.")
    if len(curves) >= MIN_RUNS:
        words.append(_SPREAD.format(band_of(len(curves))))
    late = _made_afterwards(logs, curves)
    if late:
        words.append(_AFTERWARDS)
    charts = [
        chart
        for at, measure in enumerate(measures[:_MAX_MEASURES])
        for chart in _charts(curves, measures, at, _band(target, measure), unit)
        if not (late and chart.across == MINUTES)
    ]
    return Section(
        key="curves",
        title="Training curves",
        words=tuple(words),
        charts=tuple(charts),
        data=(_table(curves, measures, unit),),
    )


def _made_afterwards(logs: Sequence[LogReport], curves: Sequence[Curve]) -> bool:
    """Whether most runs were evaluated when their training was over."""
    ends = [_at_the_end(curve.seen, log.minutes) for log, curve in zip(logs, curves, strict=True) if curve.seen]
    return 2 * sum(ends) > len(ends)


def _at_the_end(seen: Sequence[Seen], length: float | None) -> bool:
    """Whether a run of so many minutes was evaluated several times at its end, or after run_stop."""
    times = [one.minutes for one in seen if one.minutes is not None]
    if not times or length is None:
        return False
    return min(times) > length or (len(times) > 2 and min(times) > _LATE * length)


def name_of(log: LogReport) -> str:
    """How pages call a run: its file's name without the ending."""
    return _name(log.path)


@lru_cache(maxsize=4096)
def _name(path: str) -> str:
    return text_of(path.rpartition("/")[2].removesuffix(".gz").removesuffix(".txt"), 60)


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


def _unit(
    logs: Sequence[LogReport], count: str | None, benchmark: str, round_: Round, rcp: RcpResult | None
) -> str | None:
    if count is None:
        return None
    answers = (rcp, rcp.also) if rcp is not None else ()
    other = next((one.logs_unit for one in answers if one is not None and one.counted == count), None)
    if other is not None:
        return other
    if count == unit_of(benchmark) and benchmark in round_.benchmarks:
        runs = [log.run for log in logs]
        last = [number(getattr(run.evaluations[-1], count)) for run in runs if run.evaluations]
        sizes = [number(run.hyperparameters.get("global_batch_size")) for run in runs]
        return unit_of_counts(last, benchmark, round_, next(filter(None, sizes), None))
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
) -> Iterator[Runs]:
    """Over progress and over minutes: all of the training, then the part near the target."""
    measure = measures[at]
    quality = text_of(measure, 40) if measure else "quality"
    near = []
    for key, by, title in (("place", unit, f"Progress ({unit})"), ("minutes", "minutes", "Minutes since run_start")):
        runs = tuple(
            Series(name=curve.run, style="line", points=points, colour=_COLOURS[place % len(_COLOURS)])
            for place, curve in enumerate(curves)
            if (points := _points(curve, measure, key))
        )
        if by is None or not runs:
            continue
        lines = [run.points for run in runs]
        goal = _goal(lines, band)
        chart = Runs(
            key=f"curve-{at}-{key}",
            title=f"{quality.capitalize() if measure is None else quality} over {by}",
            about=_about(runs, quality, by, goal),
            x=Axis(title),
            y=Axis(quality),
            series=(*runs, *((_line(lines, goal),) if goal else ())),
            listed="line",
            table=_TABLE,
            across=MINUTES if key == "minutes" else _PLACE,
            up=(_PLACE if unit is None else _PLACE + 1) + at,
            spread=spread_of(lines),
            band=band_of(len(lines)),
            goal=goal,
        )
        yield chart
        window = window_of(lines, goal) if goal else None
        if window is not None and goal is not None:
            near.append(_near(chart, lines, goal, window, f"{chart.title} near the target", by))
    yield from near


def _near(chart: Runs, lines: Sequence[Line], goal: Goal, window: Window, title: str, by: str) -> Runs:
    """The part of a chart where its runs cross the target."""
    crossings = [next((x for x, y in line if goal.reached(y)), None) for line in lines]
    there = [x for x in crossings if x is not None]
    about = f"{len(there)} of {counted(len(lines), 'run')} reach{'es' * (len(lines) == 1)} {number_of(goal.level)}"
    if there:
        about += f", the first at {number_of(min(there))} {by} and the last at {number_of(max(there))}"
    about += ": each evaluation is a dot, and the one that reaches the target is larger."
    return msgspec.structs.replace(chart, key=f"{chart.key}-near", title=title, about=about, spread=(), window=window)


def _points(curve: Curve, measure: str | None, key: str) -> tuple[tuple[float, ...], ...]:
    found = ((getattr(seen, key), seen.values.get(measure)) for seen in curve.seen)
    # Some benchmarks are evaluated after the run, in any order: the table keeps that of the log.
    return tuple(sorted((x, y) for x, y in found if x is not None and y is not None))


def _goal(lines: Sequence[Line], band: Band | None) -> Goal | None:
    """The target: of two bounds the one that evaluations lie beyond, or else the one that the last ones lie nearer to.

    FID is to be from 0 to 90 and CLIP from 0.15 to 1, and nothing says which of the bounds is the target.
    """
    if band is None or (band.low is None and band.high is None):
        return None
    if band.low is None or band.high is None:
        return Goal(band.low, up=True) if band.low is not None else Goal(band.high or 0.0, up=False)
    values = [point[1] for line in lines for point in line]
    above, below = max(values) > band.high, min(values) < band.low
    last = statistics.median(line[-1][1] for line in lines)
    nearer = band.high - last < last - band.low
    return Goal(band.high, up=False) if (above if above != below else nearer) else Goal(band.low, up=True)


def _line(lines: Sequence[Line], goal: Goal) -> Series:
    """The target as a line over all runs."""
    places = [point[0] for line in lines for point in line]
    ends = ((min(places), goal.level), (max(places), goal.level))
    return Series(name=f"target {number_of(goal.level)}", style="rule", points=ends, colour=5)


def _about(runs: Sequence[Series], quality: str, by: str, goal: Goal | None) -> str:
    ends = [run.points[-1][1] for run in runs]
    about = f"The {quality} of {counted(len(runs), 'run')} over {by}"
    about += f"; last values from {number_of(min(ends))} to {number_of(max(ends))}"
    return f"{about}, target {number_of(goal.level)}." if goal else f"{about}."


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
