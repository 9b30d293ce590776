"""Runs, intervals and initialisations that take much longer than the same of the entry's other runs."""

from __future__ import annotations

import statistics
from collections.abc import Iterator, Sequence

from mlsub.log.trace import MAX_TIME_MS, Lengths, Trace
from mlsub.review.runs.model import Entry
from mlsub.review.runs.observation import Observation, observe, seconds
from mlsub.review.runs.progress import reached
from mlsub.review.runs.thresholds import thresholds

#: Below this (ms) the noise of a busy file system is larger than any habit.
_LEAST_MS = 1_000
#: Of an entry's runs so many are compared; published entries have 50 at most.
_MAX_RUNS = 200


def find_pace(entry: Entry) -> Iterator[Observation]:
    """Runs that need much more time for the same progress than the others do; the first one in time apart."""
    limits = thresholds()
    paces = [(trace, pace) for trace in entry.traces[:_MAX_RUNS] if (pace := _pace(trace)) is not None]
    if len(paces) < limits.interval_runs:
        return
    first = min(paces, key=lambda pair: pair[0].run.timeline.run_start or 0)[0]
    for n, (trace, pace) in enumerate(paces):
        others = [other for m, (_, other) in enumerate(paces) if m != n]
        habit = statistics.median(others)
        deviation = statistics.median(abs(other - habit) for other in others)
        if pace < limits.pace_times * habit or pace - habit < limits.pace_deviations * deviation:
            continue
        slow_first = trace is first
        yield observe(
            "inspect.slow-first-run" if slow_first else "inspect.pace",
            entry,
            "The first run is much slower than the others" if slow_first else "A run is much slower than the others",
            f"{pace / habit:.3f} times the time for the same progress, of {len(paces)} runs",
            at=trace,
            times=pace / habit,
        )


def _pace(trace: Trace) -> float | None:
    whole, far = trace.run.duration_ms, reached(trace)
    return whole / far[1] if whole is not None and whole > _LEAST_MS and far is not None else None


def find_slow_intervals(entry: Entry) -> Iterator[Observation]:
    """Blocks, epochs or evaluations of a run that take much longer than the same one in the entry's other runs."""
    limits = thresholds()
    traces = entry.traces[:_MAX_RUNS]
    if len(traces) < limits.interval_runs + 1:
        return
    for name, intervals in _tables(traces):
        for n, trace in enumerate(traces):
            whole = trace.run.duration_ms
            worst = _worst(intervals, n) if whole is not None and whole > 0 else None
            if worst is None or whole is None:
                continue
            place, habit = worst
            length = intervals[n].lengths[place]
            if length < limits.interval_times * habit or length - habit < max(limits.interval_share * whole, _LEAST_MS):
                continue
            yield observe(
                "inspect.slow-interval",
                entry,
                f"One {name} of a run takes much longer than the same one in the entry's other runs",
                f"{name} {place + 1}: {seconds(length)}, {seconds(habit)} in the median of the others; "
                f"{(length - habit) / whole:.1%} of the run",
                at=trace,
                line=intervals[n].lines[place],
                length_ms=length,
                habit_ms=habit,
            )


def _tables(traces: Sequence[Trace]) -> Iterator[tuple[str, list[Lengths]]]:
    """Epochs where the runs log them, else blocks; and evaluations."""
    epochs = [trace.epochs for trace in traces]
    if any(len(one.lengths) > 1 for one in epochs):
        yield "epoch", epochs
    else:
        yield "block", [trace.blocks for trace in traces]
    yield "evaluation", [trace.evals for trace in traces]


def _worst(intervals: Sequence[Lengths], n: int) -> tuple[int, float] | None:
    """The interval of a run that exceeds the same of the others by most, and their median (ms)."""
    least, worst = thresholds().interval_runs, None
    most = 0.0
    lengths = intervals[n].lengths
    for place in sorted(range(len(lengths)), key=lambda place: -lengths[place])[:5]:
        others = [one.lengths[place] for m, one in enumerate(intervals) if m != n and len(one.lengths) > place]
        habit = statistics.median(others) if len(others) >= least else lengths[place]
        if lengths[place] - habit > most:
            most, worst = lengths[place] - habit, (place, habit)
    return worst


def find_long_init(entry: Entry) -> Iterator[Observation]:
    """Runs whose initialisation takes much longer than that of the entry's other runs."""
    limits = thresholds()
    inits = [(trace, init) for trace in entry.traces[:_MAX_RUNS] if (init := _init(trace)) is not None]
    if len(inits) < limits.interval_runs:
        return
    for n, (trace, init) in enumerate(inits):
        habit = statistics.median(other for m, (_, other) in enumerate(inits) if m != n)
        if init >= limits.init_times * habit and init - habit >= limits.init_ms:
            yield observe(
                "inspect.long-init",
                entry,
                "A run initialises for much longer than the entry's other runs",
                f"{seconds(init)}, {seconds(habit)} in the median of the others",
                at=trace,
                init_ms=init,
                habit_ms=habit,
            )


def _init(trace: Trace) -> float | None:
    """From init_start to run_start, in ms."""
    start, run_start = trace.run.timeline.init_start, trace.run.timeline.run_start
    if start is None or run_start is None:
        return None
    length = run_start - start
    return length if 0 < length < MAX_TIME_MS else None
