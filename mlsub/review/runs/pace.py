"""What takes much longer in one run than in the others of its entry, or than published results know."""

from __future__ import annotations

import statistics
from collections.abc import Iterator, Sequence
from typing import TypeVar

from mlsub.log.lengths import Lengths
from mlsub.log.trace import MAX_TIME_MS
from mlsub.review.runs.model import (
    Observation,
    evaluation_places,
    observe,
    show_duration,
    thresholds,
    undo_waits,
)
from mlsub.review.runs.stretch import measure_stretch
from mlsub.rules.catalogue import finding
from mlsub.submission.model import LogReport
from mlsub.submission.result import Result

#: Below this (ms) the noise of a busy file system is larger than any habit.
_LEAST_MS = 1_000
#: Blocks that take less than this share of a pause do not hold the training.
_TRAINED = 0.5
#: Counts whose first one is above this share of the last do not begin at zero.
_FROM_ZERO = 0.9
#: Of an entry's runs so many are compared; published entries have 50 at most.
_MAX_RUNS = 200
#: Between these a run does nothing that its log could show.
_AFTER = frozenset(("run_start", "block_stop", "epoch_stop", "eval_stop", "eval_accuracy"))
_BEFORE = frozenset(("block_start", "epoch_start", "eval_start", "run_stop"))

#: The keys of the records before and after a silence.
Around = tuple[str, str]
_Value = TypeVar("_Value")


def find_pace(entry: Result) -> Iterator[Observation]:
    """Yield runs that need much more time for the same progress than the others do; the first one in time apart."""
    limits = thresholds()
    paces = [(log, pace) for log in entry.logs[:_MAX_RUNS] if (pace := _pace(log)) is not None]
    if len(paces) < limits["interval_runs"]:
        return
    first = min(paces, key=lambda pair: pair[0].run.timeline.run_start or 0)[0]
    for log, pace, others in _with_others(paces):
        habit = statistics.median(others)
        deviation = statistics.median(abs(other - habit) for other in others)
        if pace >= limits["pace_times"] * habit and pace - habit >= limits["pace_deviations"] * deviation:
            rule = "inspect.slow-first-run" if log is first else "inspect.pace"
            actual = f"{pace / habit:.3f} times the time for the same progress, of {len(paces)} runs"
            excess = {log.path: (log.run.duration_ms or 0) * (1 - habit / pace)}
            undone = undo_waits(entry, "at the pace of the others", excess)
            yield observe(entry, finding(rule, log.path, actual=actual), undone, times=pace / habit)


def _with_others(values: Sequence[tuple[LogReport, _Value]]) -> Iterator[tuple[LogReport, _Value, list[_Value]]]:
    """Yield what each run has, and what the others have."""
    for n, (log, value) in enumerate(values):
        yield log, value, [other for m, (_, other) in enumerate(values) if m != n]


def _pace(log: LogReport) -> float | None:
    """Return the time (ms) for one step of progress; None where the evaluations do not show how far the run trained."""
    whole, (_, places) = log.run.duration_ms, evaluation_places(log)
    if whole is None or whole <= _LEAST_MS or min(places, default=0.0) <= 0 or log.run.lengths.beside:
        return None
    # One place for all evaluations is no count; one that begins far from zero goes on from another training; and
    # training that goes on after run_stop is not that of the run.
    counted = len(set(places)) > 1 and min(places) <= _FROM_ZERO * max(places)
    return whole / max(places) if counted and _fits_into_run(log, whole) else None


def _fits_into_run(log: LogReport, whole: float) -> bool:
    """Return whether what a log has before run_stop fits into its time; some go on, and log run_stop in the end."""
    trace = log.trace
    return max(sum(one.lengths) for one in (trace.blocks, trace.epochs, trace.evals)) <= whole + _LEAST_MS


def find_slow_intervals(entry: Result) -> Iterator[Observation]:
    """Yield blocks, epochs or evaluations that take much longer than the same one in the entry's other runs."""
    limits = thresholds()
    logs = entry.logs[:_MAX_RUNS]
    if len(logs) < limits["interval_runs"] + 1:
        return
    have_epochs = any(len(log.trace.epochs.lengths) > 1 for log in logs)
    kinds = {
        "epoch" if have_epochs else "block": [log.trace.epochs if have_epochs else log.trace.blocks for log in logs],
        "evaluation": [log.trace.evals for log in logs],
    }
    for kind, intervals in kinds.items():
        for log, ours, others in _with_others(list(zip(logs, intervals, strict=True))):
            whole = log.run.duration_ms or 0
            place, habit = _find_slowest(ours, others) if whole > 0 else (None, 0.0)
            if place is None:
                continue
            length = ours.lengths[place]
            least = max(limits["interval_share"] * whole, _LEAST_MS)
            if length < limits["interval_times"] * habit or length - habit < least:
                continue
            share = (length - habit) / whole
            found = finding(
                "inspect.slow-interval",
                log.path,
                f"One {kind} of a run takes much longer than the same one in the entry's other runs",
                line=ours.lines[place],
                actual=f"{kind} {place + 1}: {_show_beside_others(length, habit)}; {share:.1%} of the run",
            )
            how = f"with {'a' if kind == 'block' else 'an'} {kind} as in the others"
            undone = undo_waits(entry, how, {log.path: length - habit})
            yield observe(entry, found, undone, length_ms=length, habit_ms=habit)


def _find_slowest(ours: Lengths, others: Sequence[Lengths]) -> tuple[int | None, float]:
    """Return the interval of a run that exceeds the same of the others by most, and their median (ms)."""
    slowest, habit, most = None, 0.0, 0.0
    for place in sorted(range(len(ours.lengths)), key=lambda place: -ours.lengths[place])[:5]:
        same = [one.lengths[place] for one in others if len(one.lengths) > place]
        median = statistics.median(same) if len(same) >= thresholds()["interval_runs"] else ours.lengths[place]
        if ours.lengths[place] - median > most:
            slowest, habit, most = place, median, ours.lengths[place] - median
    return slowest, habit


def _show_beside_others(length: float, habit: float) -> str:
    return f"{show_duration(length)}, {show_duration(habit)} in the median of the others"


def find_long_init(entry: Result) -> Iterator[Observation]:
    """Yield runs whose initialisation takes much longer than that of the entry's other runs."""
    limits = thresholds()
    inits = []
    for log in entry.logs[:_MAX_RUNS]:
        start, run_start = log.run.timeline.init_start, log.run.timeline.run_start
        if start is not None and run_start is not None and 0 < run_start - start < MAX_TIME_MS:
            inits.append((log, run_start - start))
    if len(inits) < limits["interval_runs"]:
        return
    for log, init, others in _with_others(inits):
        habit = statistics.median(others)
        if init >= limits["init_times"] * habit and init - habit >= limits["init_ms"]:
            found = finding("inspect.long-init", log.path, actual=_show_beside_others(init, habit))
            yield observe(entry, found, init_ms=init, habit_ms=habit)


def find_gaps(entry: Result) -> Iterator[Observation]:
    """Yield silences of single runs that are long against the same silence in the entry's other runs."""
    limits = thresholds()
    logs = _select_ordered(entry)
    if len(logs) < limits["gap_runs"]:
        return
    # A long block or epoch is found as such, so that idle gaps alone are silences.
    silences = [{(gap.before, gap.after): gap for gap in log.trace.gaps if gap.idle} for log in logs]
    for log, gaps, others in _with_others(list(zip(logs, silences, strict=True))):
        whole = log.run.duration_ms
        if whole is None:
            continue
        least = max(limits["gap_ms"], limits["gap_share"] * whole)
        for around, gap in gaps.items():
            if gap.longest_ms < least:
                continue
            habit = statistics.median(other[around].longest_ms if around in other else 0.0 for other in others)
            if gap.longest_ms - habit >= least and gap.longest_ms >= limits["gap_times"] * habit:
                words = f"from {gap.before} to {gap.after} ({gap.longest_ms / whole:.1%} of the run)"
                actual = f"{show_duration(gap.longest_ms)} {words}, {show_duration(habit)} in the median of the others"
                found = finding("inspect.silent-gap", log.path, line=gap.line, actual=actual)
                undone = undo_waits(entry, "without the silence", {log.path: gap.longest_ms - habit})
                yield observe(entry, found, undone, gap_ms=gap.longest_ms, habit_ms=habit)


def _select_ordered(entry: Result) -> tuple[LogReport, ...]:
    """Return the runs with records in the order of time; others are put together, and their gaps no silences."""
    least = thresholds()["jump_ms"]
    return tuple(log for log in entry.logs[:_MAX_RUNS] if log.trace.jump is None or log.trace.jump[1] < least)


def measure_pauses(entry: Result) -> dict[Around, tuple[float, float]]:
    """Return idle silences between steps of training: share of the run and length (ms), medians of an entry's runs."""
    shares: dict[Around, list[tuple[float, float]]] = {}
    trained: list[float] = []
    for log in _select_ordered(entry):
        whole = log.run.duration_ms
        if whole is None or whole <= 0 or not _fits_into_run(log, whole):
            continue
        trained.append(max(sum(log.trace.blocks.lengths), sum(log.trace.epochs.lengths)) / whole)
        for gap in log.trace.gaps:
            if gap.idle and gap.before in _AFTER and gap.after in _BEFORE:
                shares.setdefault((gap.before, gap.after), []).append((gap.longest_ms / whole, gap.longest_ms))
    half = len(entry.logs) / 2
    medians = {
        around: (statistics.median(s for s, _ in found), statistics.median(ms for _, ms in found))
        for around, found in shares.items()
        if len(found) > half
    }
    # A code may log blocks around its evaluations alone, and train between them.
    return {around: pause for around, pause in medians.items() if statistics.median(trained) >= _TRAINED * pause[0]}


def find_pauses(entry: Result) -> Iterator[Observation]:
    """Yield idle time that all runs of an entry have, and hardly any published entry has as much of."""
    limits = thresholds()
    stretched = measure_stretch(entry) is not None
    for (before, after), (share, length) in sorted(measure_pauses(entry).items()):
        if share < limits["pause_share"] or length < limits["pause_ms"] or (stretched and after == "run_stop"):
            continue
        found = finding(
            "inspect.pause",
            entry.path,
            f"The timed region has a long pause between {before} and {after} that no record explains",
            expected=f"less than {limits['pause_share']:.0%} of the run, as in most published entries",
            actual=f"{show_duration(length)}, {share:.1%} of the run, in the median of {len(entry.logs)} runs",
        )
        undone = undo_waits(entry, "without the pause", {log.path: length for log in entry.logs})
        yield observe(entry, found, undone, pause_ms=length, share=share)
