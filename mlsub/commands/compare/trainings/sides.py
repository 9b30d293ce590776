"""What there is to know of an entry when it is compared: score, convergence, phases, machine."""

from __future__ import annotations

import json
import math
from collections.abc import Sequence

import msgspec

from mlsub.commands.compare.packages.reading import Entry
from mlsub.commands.compare.trainings.decompose import Measured
from mlsub.commands.compare.trainings.model import Convergence, EntrySide, PhaseTime
from mlsub.commands.compare.trainings.phases import TIMED, Phases, phases_of
from mlsub.convergence.algorithm import algorithm_of, newest_algorithm, unit_words
from mlsub.convergence.point import paired_rule
from mlsub.convergence.runs import BEYOND, progress_of
from mlsub.convergence.units import unit_of_counts
from mlsub.divisions import CLOSED
from mlsub.log.changes import agreed_values
from mlsub.log.intervals import Intervals
from mlsub.log.report import LogReport
from mlsub.log.run import Timeline
from mlsub.rounds import Round, get_round
from mlsub.rules.load import benchmark, rules_for
from mlsub.submission.report import EntryResult


class Known(msgspec.Struct, frozen=True):
    """An entry with all that it is compared by; ``measured`` is None, and ``why`` says it, where time has no parts."""

    entry: Entry
    side: EntrySide
    measured: Measured | None
    why: str | None = None


def know(entry: Entry) -> Known:
    """Gather what an entry is compared by; its logs have been read with their :class:`Intervals`."""
    report, result = entry.reading.checked.report, entry.result
    round_ = get_round(report.usage or "training", str(report.round))
    logs = entry.logs
    counted, minutes_of = counting(logs, result, round_)
    unscaled = _sane(
        result.score.unscaled if minutes_of == "score" else _mean([logs[n].minutes or 0.0 for n in counted])
    )
    points, unit = _points(entry, round_)
    phases = _phases_of([logs[n] for n in counted])
    work = [float(point) for n in counted if (point := points[n]) is not None]
    measured = Measured(
        phases=phases or (),
        scaling=result.score.scaling,
        work=tuple(work) if len(work) == len(counted) else None,
        unit=unit,
        # How many samples make one unit of progress.
        samples=_number(logs, "train_samples") if unit == "epochs" else 1.0 if unit == "samples" else None,
        accelerators=entry.accelerators,
    )
    why = None if phases else "no run has a time that counts, or its log cannot be read"
    if result.scaling_type == "weak":
        why = "models of weak scaling train side by side"
    side = _side(entry, round_, _Time(minutes_of, unscaled, len(counted)), points, measured)
    return Known(entry, side, None if why else measured, why)


def counting(logs: Sequence[LogReport], entry: EntryResult, round_: Round) -> tuple[list[int], str]:
    """The runs behind the entry's time, by their place; and whether it is its ``score``, or the ``mean`` of them.

    The olympic mean drops the fastest and the slowest.
    """
    timed = [n for n, log in enumerate(logs) if log.minutes is not None and math.isfinite(log.minutes)]
    if entry.score.unscaled is None or entry.scaling_type == "weak":
        return timed, "mean" if entry.score.unscaled is None else "score"
    known = entry.benchmark in round_.benchmarks
    dropped = benchmark(round_.usage, round_.name, entry.benchmark).forgiven if known else 0
    minutes = [log.minutes if log.counts_in(round_) and log.minutes is not None else math.inf for log in logs]
    ordered = sorted(range(len(logs)), key=lambda n: minutes[n])
    return ordered[dropped : len(ordered) - dropped], "score"


class _Time(msgspec.Struct, frozen=True):
    """The time of an entry before scaling, where it is from, and how many runs are in it."""

    minutes_of: str
    unscaled: float | None
    counted: int


def _scaled(time: _Time, factor: float) -> float | None:
    return None if time.unscaled is None else _sane(time.unscaled * factor)


def _side(entry: Entry, round_: Round, time: _Time, points: Sequence[float | None], measured: Measured) -> EntrySide:
    result, score, facts = entry.result, entry.result.score, entry.facts
    accelerators, samples = measured.accelerators, measured.samples
    minutes = _scaled(time, score.scaling)
    work = _mean(measured.work) if measured.work else None
    phases = phase_times(measured.phases)
    training = next((phase.seconds for phase in phases if phase.name == "training"), None)
    same = ("organisation", "system", "benchmark", "division", "path", "runs")
    return EntrySide(
        **{name: getattr(result, name) for name in same},
        organisation_name=entry.meant[0],
        benchmark_name=entry.held.benchmark,
        benchmark_title=entry.held.title,
        division_name=entry.division,
        usage=round_.usage,
        round=round_.name,
        official=result.official.value,
        counted=time.counted,
        minutes_of=time.minutes_of,
        unscaled=time.unscaled,
        scaling=score.scaling,
        minutes=minutes,
        expected_scaling=score.expected_scaling,
        expected=_scaled(time, score.expected_scaling),
        accelerator=facts.accelerator_model_name if facts else None,
        accelerators=accelerators,
        accelerator_minutes=minutes * accelerators if minutes is not None and accelerators else None,
        convergence=_convergence(result, measured.unit, points),
        work=work,
        throughput=work * samples / training if work and samples and training else None,
        batch_size=_number(entry.logs, "global_batch_size"),
        phases=phases,
    )


def phase_times(runs: Sequence[Phases]) -> tuple[PhaseTime, ...]:
    """The mean of each phase over the runs; None where one of them does not log it."""
    names = ("init", *(name for name in TIMED if name != "undivided" or any(run.undivided is not None for run in runs)))
    return tuple(PhaseTime(name=name, seconds=_mean_seconds([getattr(run, name) for run in runs])) for name in names)


def _mean_seconds(values: Sequence[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return sum(known) / len(known) / 1000 if known and len(known) == len(values) else None


def _convergence(entry: EntryResult, unit: str, points: Sequence[float | None]) -> Convergence:
    known = [float(point) for point in points if point is not None]
    return Convergence(
        unit=unit,
        runs=len(known),
        minimum=min(known, default=None),
        mean=_mean(known),
        maximum=max(known, default=None),
        verdict=entry.rcp.verdict,
        scaling=entry.rcp.scaling,
        minimum_accepted=entry.rcp.minimum if entry.rcp.logs_unit is None else None,
    )


def _points(entry: Entry, round_: Round) -> tuple[tuple[float | None, ...], str]:
    """How far each run trained until it converged, and in what unit: as the convergence test counts, in Open too."""
    name, rcp, runs = entry.result.benchmark, entry.result.rcp, [log.run for log in entry.logs]
    if rcp.points:
        return rcp.points, rcp.logs_unit or rcp.unit or unit_words(name, round_)
    algorithm = algorithm_of(round_.usage, round_.name) or newest_algorithm()
    known = name in round_.benchmarks
    paired = paired_rule(rules_for(round_.usage, round_.name, CLOSED.name, name)) if known else None
    points = progress_of(runs, name, algorithm, paired).by_run
    return points, unit_of_counts(points, name, round_, _number(entry.logs, "global_batch_size"))


def _number(logs: Sequence[LogReport], key: str) -> float | None:
    """What most runs logged of a key, if it is a number that counts something."""
    value = json.loads(agreed_values([log.run for log in logs]).get(key, "null"))
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not 1e-9 < value < BEYOND:
        return None
    return float(value)


def _sane(value: float | None) -> float | None:
    """A time that can be computed with; what is beyond comes from broken clocks."""
    return value if value is not None and abs(value) < BEYOND else None


def _mean(values: Sequence[float]) -> float | None:
    return sum(values) / len(values) if values else None


def _phases_of(logs: Sequence[LogReport]) -> tuple[Phases, ...] | None:
    """The phases of runs; None where the times of one are not known."""
    phases = []
    for log in logs:
        timeline = log.run.timeline
        start, stop = _sane(timeline.run_start), _sane(timeline.run_stop)
        if start is None or stop is None:
            return None
        intervals = log.fact(Intervals)
        if intervals is None:
            return None
        phases.append(_phases(intervals, timeline, (start, stop)))
    return tuple(phases)


def _phases(intervals: Intervals, timeline: Timeline, run: tuple[float, float]) -> Phases:
    start, stop = _sane(timeline.init_start), _sane(timeline.init_stop)
    return phases_of(intervals, run, None if start is None or stop is None else stop - start)
