"""The training curves of a result: what its runs measured on the way, over their progress and over time."""

from __future__ import annotations

import math
import statistics
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from msgspec.structs import replace

from mlsub.commands.site.page import clean, number_text, plain_table
from mlsub.commands.site.results import SiteResult
from mlsub.convergence import unit_of, unit_of_counts
from mlsub.convergence.target import MeasureReader, QualityTarget, TargetBand, target_of
from mlsub.log.reading import usable_number
from mlsub.present.document import Chart, Section, Table, Text
from mlsub.rules.constraints import StatedValues
from mlsub.score.difference.measure import median_run
from mlsub.submission.model import LogReport

#: Evaluations of an entry that are shown; few entries have more. What is left out is said.
MAX_ALL = 500
#: Measures of one benchmark that get charts of their own; there are two at most in any round.
_MAX_MEASURES = 4
#: Evaluations of one run that are drawn beside those of another result.
_MAX_BESIDE = 120
_WORDS = {"epoch_num": "epochs", "samples_count": "samples", "step_num": "steps"}
#: The table that the charts are drawn from, and two of its columns; those of the measures follow.
TABLE, MINUTES, _PROGRESS = "evaluations", 1, 2
_AFTERWARDS = (
    "Most runs were evaluated when their training was over, from checkpoints. The times of these evaluations say "
    "nothing of the training, so there is no chart over minutes."
)
#: What stands for a list of places that is that of the run above, or its beginning.
DITTO = "″"
#: The share of a run after which its training is over, if all of several evaluations come later.
_LATE = 0.9


class Evaluated(NamedTuple):
    """One evaluation: minutes since run_start, how far the training had come, and the measures by name."""

    minutes: float | None
    progress: float | None
    values: dict[str | None, float]


#: The evaluations of one run.
Curve = Sequence[Evaluated]
#: A run: x (progress or minutes) and y (quality) of its evaluations, in the order of x.
Line = Sequence[tuple[float, ...]]


class Goal(NamedTuple):
    """The target as a chart needs it: ``up`` says that values reach it from below."""

    level: float
    up: bool


def run_name(log: LogReport) -> str:
    """Return how pages call a run: its file's name without the ending."""
    return clean(log.name.removesuffix(".gz").removesuffix(".txt"), 60)


def curves_section(one: SiteResult) -> Section:
    """Return the curves of all runs of a result with the target line, and the evaluations as a table."""
    logs = one.result.logs
    # Of many evaluations one of ``step`` is shown, counted from the last of a run, which mostly reaches the target.
    most = max((len(log.run.evaluations) for log in logs), default=1) or 1
    step = -(-most // max(1, MAX_ALL // max(1, len(logs))))
    target, count = _target(one), _count(one)
    unit = _unit(one, count)
    curves = [list(_evaluated(log, target, count, step)) for log in logs]
    measures = list(dict.fromkeys(name for curve in curves for it in curve for name in it.values))
    words = [f"Target: {target.words}." if target else "The rules of the round name no target."]
    if not measures:
        words.append("No run has an evaluation to draw.")
        return Section("Training curves", tuple(map(Text, words)), anchor="curves")
    if step > 1:
        words.append(f"One of {step} evaluations is shown, counted from the last of each run.")
    late = [_is_late(curve, log.minutes) for log, curve in zip(logs, curves, strict=True) if curve]
    axes = [("progress", _PROGRESS, unit)] if unit else []
    if 2 * sum(late) > len(late):
        words.append(_AFTERWARDS)
    else:
        axes.append(("minutes", MINUTES, "minutes"))
    charts = [
        chart
        for at, measure in enumerate(measures[:_MAX_MEASURES])
        for chart in _charts(curves, measure, _bounds(target, measure), axes, _PROGRESS + bool(unit) + at)
    ]
    table = _evaluations_table([run_name(log) for log in logs], curves, measures, unit)
    return Section("Training curves", (*map(Text, words), *charts, table), anchor="curves")


def median_curve(one: SiteResult, logs: Sequence[LogReport]) -> dict[str, Any] | None:
    """Return the curve of the run with the median time, as columns of numbers, to draw beside that of another result.

    Args:
        one: the result.
        logs: those of its runs that count.

    Returns:
        Its name, minutes (none where runs are evaluated afterwards), progress, values of the first measure, and the
        target; None where no run has evaluations.
    """
    if (log := median_run(logs)) is None:
        return None
    target, count = _target(one), _count(one)
    curve = list(_evaluated(log, target, count, -(-len(log.run.evaluations) // _MAX_BESIDE)))
    measure = next((name for it in curve for name in it.values), None)
    values = [it.values.get(measure) for it in curve]
    goal = _goal(_bounds(target, measure), [curve], measure, "minutes") if curve else None
    return {
        "run": run_name(log),
        "measure": clean(measure, 40) if measure else "quality",
        "minutes": [] if _is_late(curve, log.minutes) else [_rounded(it.minutes, 4) for it in curve],
        "progress": [_rounded(it.progress, 6) for it in curve],
        "unit": _unit(one, count),
        "values": [_rounded(value, 5) for value in values],
        "goal": goal.level if goal else None,
    }


def _rounded(value: float | None, digits: int) -> float | None:
    return None if value is None or not math.isfinite(value) else float(f"{value:.{digits}g}")


def _is_late(curve: Curve, length: float | None) -> bool:
    """Return whether a run of so many minutes was evaluated several times at its end, or after run_stop."""
    times = [one.minutes for one in curve if one.minutes is not None]
    if not times or length is None:
        return False
    return min(times) > length or (len(times) > 2 and min(times) > _LATE * length)


def _target(one: SiteResult) -> QualityTarget | None:
    if not one.result.logs:
        return None
    first = one.result.logs[0]
    return target_of(one.result.rules, first.division, one.tested_as, StatedValues(first.run.hyperparameters))


def _count(one: SiteResult) -> str | None:
    """Return the metadata that most evaluations state their progress by; that of the reference first."""
    evaluations = [evaluation for log in one.result.logs for evaluation in log.run.evaluations]
    names = sorted(_WORDS, key=lambda name: name != unit_of(one.tested_as))
    stated = {name: sum(usable_number(getattr(it, name)) is not None for it in evaluations) for name in names}
    best = max(names, key=lambda name: stated[name])
    return best if stated[best] else None


def _unit(one: SiteResult, count: str | None) -> str | None:
    """Return the unit of progress: of logs that count otherwise than the reference, as the convergence test says."""
    if count is None:
        return None
    result, tested = one.result, one.tested_as
    answers = [it for it in (result.rcp, result.rcp.also) if it is not None and it.counted == count]
    other = next((it.logs_unit for it in answers if it.logs_unit is not None), None)
    if other is None and count == unit_of(tested) and tested in result.rules.benchmarks:
        runs = [log.run for log in result.logs]
        last = [usable_number(getattr(run.evaluations[-1], count)) for run in runs if run.evaluations]
        sizes = [usable_number(run.hyperparameters.get("global_batch_size")) for run in runs]
        other = unit_of_counts(last, tested, result.rules, next(filter(None, sizes), None))
    return other or _WORDS[count]


def _evaluated(log: LogReport, target: QualityTarget | None, count: str | None, step: int) -> Iterator[Evaluated]:
    """Yield the evaluations of a run that have a value, one of ``step``, the last among them."""
    measures = MeasureReader(target, StatedValues(log.run.hyperparameters)) if target else None
    for evaluation in log.run.evaluations[::-step][::-1]:
        of_target = measures.read(evaluation.event("eval_accuracy")).values if measures else None
        values = dict(_values(evaluation.value)) if of_target is None else of_target
        if values:
            progress = usable_number(getattr(evaluation, count)) if count else None
            yield Evaluated(minutes_since_start(log, evaluation.time_ms), progress, values)


def minutes_since_start(log: LogReport, time_ms: Any) -> float | None:
    """Return how long after run_start a time of a log is, in minutes; None where either is no number."""
    start, time = usable_number(log.run.timeline.run_start), usable_number(time_ms)
    return None if start is None or time is None else (time - start) / 60_000


def _values(value: Any) -> Iterator[tuple[str | None, float]]:
    """Yield the numbers of an evaluation whose benchmark has no target in the rules."""
    if isinstance(value, dict):
        for name, part in list(value.items())[:_MAX_MEASURES]:
            if usable_number(part) is not None:
                yield str(name), float(part)
    elif usable_number(value) is not None:
        yield None, float(value)


def _bounds(target: QualityTarget | None, measure: str | None) -> TargetBand | None:
    return next((band for band in target.bands if band.name == measure), None) if target else None


def _charts(
    curves: Sequence[Curve],
    measure: str | None,
    bounds: TargetBand | None,
    axes: Sequence[tuple[str, int, str]],
    up: int,
) -> Iterator[Chart]:
    """Yield a measure over progress and over minutes.

    Args:
        curves: the runs.
        measure: which measure.
        bounds: what is good enough.
        axes: of each axis the field of evaluations, its column in the table, and the unit.
        up: the column of the measure in the table.
    """
    quality = clean(measure, 40) if measure else "quality"
    for field, across, unit in axes:
        if not any(_points(curve, measure, field) for curve in curves):
            continue
        goal = _goal(bounds, curves, measure, field)
        yield Chart(
            kind="runs",
            title=f"{quality if measure else quality.capitalize()} over {unit}",
            data={
                "x": {"title": "Minutes since run_start" if field == "minutes" else f"Progress ({unit})", "unit": unit},
                "y": {"title": quality},
                "table": {"id": f"table-{TABLE}", "x": across, "y": up},
                "goal": goal and goal._asdict(),
            },
        )


def _points(curve: Curve, measure: str | None, field: str) -> Line:
    """Return the places of a run and its values there, as the log has them."""
    found = ((getattr(one, field), one.values.get(measure)) for one in curve)
    return [(x, y) for x, y in found if x is not None and y is not None]


def _goal(bounds: TargetBand | None, curves: Sequence[Curve], measure: str | None, field: str) -> Goal | None:
    """Return the target: of two bounds the one that evaluations lie beyond, else the one that the last are nearer to.

    FID is to be from 0 to 90 and CLIP from 0.15 to 1, and nothing says which of the bounds is the target.
    """
    if bounds is None or (bounds.low is None and bounds.high is None):
        return None
    if bounds.low is None or bounds.high is None:
        return Goal(bounds.low, up=True) if bounds.low is not None else Goal(bounds.high or 0.0, up=False)
    # Some benchmarks are evaluated after the run, in any order.
    lines = [line for curve in curves if (line := sorted(_points(curve, measure, field)))]
    values = [point[1] for line in lines for point in line]
    above, below = max(values) > bounds.high, min(values) < bounds.low
    last = statistics.median(line[-1][1] for line in lines)
    nearer = bounds.high - last < last - bounds.low
    return Goal(bounds.high, up=False) if (above if above != below else nearer) else Goal(bounds.low, up=True)


def _evaluations_table(
    names: Sequence[str], curves: Sequence[Curve], measures: Sequence[str | None], unit: str | None
) -> Table:
    """Return a row for each run, with its evaluations as lists."""
    named = (clean(measure, 40) if measure else "quality" for measure in measures)
    heads = ("run", "minutes since run_start", *((unit,) if unit else ()), *named)
    rows = []
    for name, curve in zip(names, curves, strict=True):
        lists = [
            ([one.minutes for one in curve], 4),
            *([([one.progress for one in curve], 6)] if unit else []),
            *(([one.values.get(measure) for one in curve], 6) for measure in measures),
        ]
        rows.append([name, *(" ".join(number_text(value, digits) for value in values) for values, digits in lists)])
    table = plain_table("Evaluations of all runs", heads, _with_dittos(rows), anchor=TABLE)
    return replace(table, folded=True, lists=True)


def _with_dittos(rows: Sequence[Sequence[str]]) -> Iterator[list[str]]:
    """Yield the rows, with a ditto mark for the places of a run that are those of the one above, or their beginning."""
    above: Sequence[str] = ()
    for row in rows:
        same = [place for place in range(1, len(row) - 1) if above and f"{above[place]} ".startswith(f"{row[place]} ")]
        yield [DITTO if place in same else text for place, text in enumerate(row)]
        above = [above[place] if place in same else text for place, text in enumerate(row)]
