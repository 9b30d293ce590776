"""What is known of one entry of a comparison: how far its runs trained, and in which phases their time went."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterable, Sequence
from itertools import groupby
from operator import itemgetter
from typing import TypeVar

import msgspec

from mlsub.convergence import unit_of_counts, unit_words
from mlsub.convergence.verdict import progress_of
from mlsub.log.changes import agreed_values
from mlsub.log.lengths import Intervals, Span
from mlsub.log.reading import usable_number
from mlsub.log.run import Run
from mlsub.rules.load import entry_requirements
from mlsub.submission.model import LogReport
from mlsub.submission.result import Result

#: A smaller number counts nothing.
_LEAST = 1e-9
T = TypeVar("T")


class Phases(msgspec.Struct, frozen=True, kw_only=True):
    """Where the time of one run goes, in ms; None for a phase whose intervals are not logged.

    ``init`` comes before the clock starts. The other phases add up to the time to train: ``start`` is from run_start to
    the first training or evaluation, ``before_evaluation`` are the pauses from training to an evaluation, ``pauses``
    all others between two intervals, ``end`` is what follows the last. ``training`` is inside of epochs and blocks,
    less the evaluations in them. Where neither is logged, ``undivided`` is everything but evaluations.
    """

    init: float | None = None
    start: float | None = None
    training: float | None = None
    before_evaluation: float | None = None
    evaluation: float | None = None
    pauses: float | None = None
    end: float | None = None
    undivided: float | None = None


#: The phases that add up to the time to train, in the order of a run.
TIMED = ("start", "training", "before_evaluation", "evaluation", "pauses", "end", "undivided")


class ConvergenceSummary(msgspec.Struct, frozen=True, kw_only=True):
    """How far the runs had to train, in ``unit`` (epochs, samples, steps or tokens).

    ``mean``, ``minimum`` and ``maximum`` are over the ``runs`` that converged and say where; None without any.
    ``verdict`` and ``scaling`` are those of the convergence test, ``minimum_accepted`` its limit for the mean.
    """

    unit: str
    runs: int
    minimum: float | None = None
    mean: float | None = None
    maximum: float | None = None
    verdict: str
    scaling: float = 1.0
    minimum_accepted: float | None = None


class EntrySide(msgspec.Struct, frozen=True, kw_only=True):
    """One side of a pair.

    ``minutes`` are compared: ``unscaled`` times ``scaling``, the published score. ``minutes_of`` is ``score``, or
    ``mean`` where there is no score and the mean of the runs that have a time stands in for ``unscaled``. ``counted``
    runs are in it. ``expected`` is ``unscaled`` times ``expected_scaling``, the factor of the convergence test.
    ``work`` is how far those runs trained, in the unit of ``convergence``; ``throughput`` samples a second of training.
    ``organisation_name``, ``benchmark_name`` and ``division_name`` are the names that are the same in every round,
    for whatever the folders and the description say. ``phases`` are in seconds, the mean over the runs that count; None
    where the intervals of one are not logged. ``run`` is the file of the run where one run alone is compared.
    ``evaluations`` and ``blocks`` are how many a run has, the mean over the runs that count; ``curve`` is minutes since
    run_start and quality at each evaluation of the run whose time is the median of theirs.
    """

    organisation: str
    system: str
    benchmark: str
    division: str | None
    organisation_name: str
    benchmark_name: str
    benchmark_title: str
    division_name: str | None
    path: str
    usage: str
    round: str
    official: str
    runs: int
    counted: int
    minutes_of: str
    unscaled: float | None
    scaling: float
    minutes: float | None
    expected_scaling: float
    expected: float | None
    accelerator: str | None
    accelerators: int | None
    accelerator_minutes: float | None
    convergence: ConvergenceSummary
    work: float | None
    throughput: float | None
    batch_size: float | None
    phases: dict[str, float | None]
    run: str | None = None
    evaluations: float | None = None
    blocks: float | None = None
    curve: tuple[tuple[float, float], ...] = ()

    @property
    def trains(self) -> tuple[str, str]:
        """What is trained: usage and benchmark."""
        return self.usage, self.benchmark_name

    @property
    def name(self) -> str:
        """System and benchmark, and the run where it is one."""
        return " ".join(filter(None, (self.system, self.benchmark, self.run)))


class MeasuredEntry(msgspec.Struct, frozen=True, kw_only=True):
    """A result, and what its logs say about its time.

    ``counted`` is the number of runs behind the time, ``unscaled`` the time in minutes: that of the score, or the mean
    of those runs. ``phases`` has the phases of each of them, and is empty where they are not known of all; ``work`` is
    how far each of them trained, in the unit of ``convergence``, None where that is not known of all. ``samples`` is
    the number of samples in one unit, None where that is not known. ``undivided`` says why the time has no parts.
    ``blocks`` is how many a run has, the mean over the runs that count.
    ``logs`` are those of the runs that count.
    """

    result: Result
    convergence: ConvergenceSummary
    counted: int = 0
    unscaled: float | None = None
    phases: tuple[Phases, ...] = ()
    work: tuple[float, ...] | None = None
    samples: float | None = None
    batch_size: float | None = None
    undivided: str | None = None
    blocks: float | None = None
    logs: tuple[LogReport, ...] = ()

    @property
    def side(self) -> EntrySide:
        """The fields of the answer; of the same name are those of the result, of its score, and of this."""
        result, score, accelerators = self.result, self.result.score, self.result.accelerators_count or None
        minutes, expected = (
            None if self.unscaled is None else usable_number(self.unscaled * factor)
            for factor in (score.scaling, score.expected_scaling)
        )
        names = ["init", *TIMED]
        if all(run.undivided is None for run in self.phases):
            names.remove("undivided")
        means = {name: _mean(_all_known(getattr(run, name) for run in self.phases) or ()) for name in names}
        phases = {name: None if mean is None else mean / 1000 for name, mean in means.items()}
        work = _mean(self.work or ())
        training = phases["training"]
        fields = {
            name: getattr(source, name)
            for source in (result, score, self)
            for name in source.__struct_fields__
            if name in EntrySide.__struct_fields__
        }
        fields |= {
            "division_name": shown_division(result),
            "official": result.verdict,
            "minutes_of": "mean" if score.unscaled is None else "score",
            "minutes": minutes,
            "expected": expected,
            "accelerator": result.accelerator_model_name,
            "accelerators": accelerators,
            "accelerator_minutes": minutes * accelerators if minutes is not None and accelerators else None,
            "work": work,
            "throughput": work * self.samples / training if work and self.samples and training else None,
            "phases": phases,
            "run": result.logs[0].name if len(result.logs) == 1 else None,
            "evaluations": _mean([len(log.run.evaluations) for log in self.logs]),
            "curve": _curve_of(median_run(self.logs)),
        }
        return EntrySide(**fields)


def measure(result: Result) -> MeasuredEntry:
    """Return a result with its times; its logs have been read with their :class:`Intervals`."""
    logs, rcp, score, round_ = result.logs, result.rcp, result.score, result.rules
    batch_size = _logged_number(result, "global_batch_size")
    # As the convergence test counts, in Open too.
    if rcp.points:
        points, unit = rcp.points, rcp.logs_unit or rcp.unit or unit_words(result.benchmark, round_)
    else:
        points = progress_of(runs_of(result), result.benchmark, round_).by_run
        unit = unit_of_counts(points, result.benchmark, round_, batch_size)
    converged = [float(point) for point in points if point is not None]
    counted = _counted_logs(result)
    mean = _mean([logs[n].minutes or 0.0 for n in counted])
    regions = _all_known(_timed_region(logs[n]) for n in counted) or ()
    phases = tuple(phases_of(*region) for region in regions)
    undivided = None if phases else "no run has a time that counts, or its log cannot be read"
    return MeasuredEntry(
        result=result,
        convergence=ConvergenceSummary(
            unit=unit,
            runs=len(converged),
            minimum=min(converged, default=None),
            mean=_mean(converged),
            maximum=max(converged, default=None),
            verdict=rcp.verdict,
            scaling=rcp.scaling,
            minimum_accepted=rcp.minimum if rcp.logs_unit is None else None,
        ),
        counted=len(counted),
        unscaled=usable_number(mean if score.unscaled is None else score.unscaled),
        phases=phases,
        work=_all_known(points[n] for n in counted),
        samples=_logged_number(result, "train_samples") if unit == "epochs" else 1.0 if unit == "samples" else None,
        batch_size=batch_size,
        blocks=_mean([_count_blocks(intervals, run) for intervals, run, _ in regions]),
        logs=tuple(logs[n] for n in counted),
        undivided="models of weak scaling train side by side" if result.scaling_type == "weak" else undivided,
    )


def median_run(logs: Iterable[LogReport]) -> LogReport | None:
    """Return the run with the median time of those with evaluations; None where none has any."""
    evaluated = sorted((log for log in logs if log.run.evaluations), key=lambda log: log.minutes or 0.0)
    return evaluated[len(evaluated) // 2] if evaluated else None


def _curve_of(log: LogReport | None) -> tuple[tuple[float, float], ...]:
    """Minutes since run_start and value of each evaluation of a run; of several measures the first that it logs."""
    start = None if log is None else usable_number(log.run.timeline.run_start)
    if log is None or start is None:
        return ()
    found = []
    for one in log.run.evaluations:
        time, value = usable_number(one.time_ms), usable_number(one.value)
        if time is not None and value is not None and one.metric == log.run.evaluations[0].metric:
            found.append(((time - start) / 60_000, float(value)))
    return tuple(found)


def shown_division(result: Result) -> str | None:
    """Return the division that the description means; as written where that is none."""
    return result.division_name or result.division


def runs_of(result: Result) -> list[Run]:
    """Return the runs of an entry, in the order of the files."""
    return [log.run for log in result.logs]


def _counted_logs(result: Result) -> list[int]:
    """The places of the logs behind the entry's time: the olympic mean drops the fastest and the slowest."""
    logs, round_ = result.logs, result.rules
    if result.score.unscaled is None or result.scaling_type == "weak":
        return [n for n, log in enumerate(logs) if log.minutes is not None and math.isfinite(log.minutes)]
    dropped = 0
    if result.benchmark in round_.benchmarks:
        dropped = entry_requirements(round_.usage, round_.name, result.benchmark, round_.overlay).forgiven
    minutes = [log.minutes if log.counts_in(round_) and log.minutes is not None else math.inf for log in logs]
    ordered = sorted(range(len(logs)), key=lambda n: minutes[n])
    return ordered[dropped : len(ordered) - dropped]


def _logged_number(result: Result, key: str) -> float | None:
    """What most runs logged of a key, if it is a number that counts something."""
    value = usable_number(json.loads(agreed_values(runs_of(result)).get(key, "null")))
    return float(value) if value is not None and value > _LEAST else None


def _all_known(values: Iterable[T | None]) -> tuple[T, ...] | None:
    """The values; None where one of them is."""
    every = tuple(values)
    known = tuple(value for value in every if value is not None)
    return known if len(known) == len(every) else None


def _mean(values: Sequence[float]) -> float | None:
    return sum(values) / len(values) if values else None


def _timed_region(log: LogReport) -> tuple[Intervals, Span, float | None] | None:
    """The intervals of a log, its run_start and run_stop, and how long it initialised, in ms; None without the two."""
    times = log.run.timeline
    start, stop = usable_number(times.run_start), usable_number(times.run_stop)
    if start is None or stop is None or log.intervals is None:
        return None
    began, ended = usable_number(times.init_start), usable_number(times.init_stop)
    return log.intervals, (start, stop), None if began is None or ended is None else ended - began


def _count_blocks(intervals: Intervals, run: Span) -> int:
    """How many blocks lie in the timed region of a run, be it with a part."""
    return sum(begin < run[1] and end > run[0] for begin, end in intervals.block)


def phases_of(intervals: Intervals, run: Span, init: float | None = None) -> Phases:
    """Return the phases of the timed region of a run.

    Where both epochs and blocks are logged, training is what lies in both: some log one epoch around everything, others
    a block around all evaluations.

    Args:
        intervals: those of the log.
        run: run_start and run_stop in ms.
        init: how long the initialisation took, in ms.
    """
    first, last = run
    if intervals.cut or not first <= last:
        return Phases(init=init, undivided=last - first)
    evaluation = _merge_spans(intervals.eval, run)
    epochs, blocks = _merge_spans(intervals.epoch, run), _merge_spans(intervals.block, run)
    trained = _spans_where(all, epochs, blocks) or epochs or blocks
    training = _spans_where(lambda now: now[0] > now[1], trained, evaluation)
    if not training:
        covered = sum(stop - start for start, stop in evaluation)
        return Phases(init=init, undivided=last - first - covered, evaluation=covered if evaluation else None)
    spent = dict.fromkeys(TIMED[:-1], 0.0)
    at, before = first, "start"
    marked = [*((*span, "training") for span in training), *((*span, "evaluation") for span in evaluation)]
    for start, stop, kind in sorted(marked):
        to_evaluation = (before, kind) == ("training", "evaluation")
        gap = "start" if before == "start" else "before_evaluation" if to_evaluation else "pauses"
        spent[gap] += start - at
        spent[kind] += stop - start
        at, before = stop, kind
    spent["end"] += last - at
    unlogged = () if evaluation else ("evaluation", "before_evaluation")
    return Phases(init=init, **{name: value for name, value in spent.items() if name not in unlogged})


def _merge_spans(spans: Iterable[Span], run: Span) -> list[Span]:
    """Spans in the order of time that do not overlap, cut to the timed region, without those that run backwards."""
    merged: list[Span] = []
    for start, stop in sorted((max(start, run[0]), min(stop, run[1])) for start, stop in spans):
        if stop < start:
            continue
        if merged and start <= merged[-1][1]:
            merged[-1] = (merged[-1][0], max(merged[-1][1], stop))
        else:
            merged.append((start, stop))
    return merged


def _spans_where(wanted: Callable[[list[int]], bool], *lists: Sequence[Span]) -> list[Span]:
    """The disjoint spans in which something is true of how many spans of each list are open."""
    edges = [
        (at, n, step) for n, spans in enumerate(lists) for span in spans for at, step in zip(span, (1, -1), strict=True)
    ]
    now, since, found = [0] * len(lists), None, list[Span]()
    for at, group in groupby(sorted(edges), key=itemgetter(0)):
        for _, n, step in group:
            now[n] += step
        if wanted(now) and since is None:
            since = at
        elif not wanted(now) and since is not None:
            found.append((since, at))
            since = None
    return found
