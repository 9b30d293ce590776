"""What takes much longer in one run than in the others of its entry, or than published results know."""

from __future__ import annotations

import statistics
from collections.abc import Iterator, Sequence
from typing import TypeVar

from mlsub.log.trace import MAX_TIME_MS, Gap, Lengths
from mlsub.review.runs.model import Observation, observe, places, seconds, shorter, thresholds
from mlsub.review.runs.stretch import stretch_of
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

Kind = tuple[str, str]
T = TypeVar("T")


def find_pace(entry: Result) -> Iterator[Observation]:
    """Yield runs that need much more time for the same progress than the others do; the first one in time apart."""
    limits = thresholds()
    paces = [(log, pace) for log in entry.logs[:_MAX_RUNS] if (pace := _pace(log)) is not None]
    if len(paces) < limits.interval_runs:
        return
    first = min(paces, key=lambda pair: pair[0].run.timeline.run_start or 0)[0]
    for log, pace, others in _with_others(paces):
        habit = statistics.median(others)
        deviation = statistics.median(abs(other - habit) for other in others)
        if pace >= limits.pace_times * habit and pace - habit >= limits.pace_deviations * deviation:
            rule = "inspect.slow-first-run" if log is first else "inspect.pace"
            actual = f"{pace / habit:.3f} times the time for the same progress, of {len(paces)} runs"
            excess = {log.path: (log.run.duration_ms or 0) * (1 - habit / pace)}
            undone = shorter(entry, "at the pace of the others", excess)
            yield observe(rule, entry, actual, at=log, undone=undone, times=pace / habit)


def _with_others(values: Sequence[tuple[LogReport, T]]) -> Iterator[tuple[LogReport, T, list[T]]]:
    """What each run has, and what the others have."""
    for n, (log, value) in enumerate(values):
        yield log, value, [other for m, (_, other) in enumerate(values) if m != n]


def _pace(log: LogReport) -> float | None:
    """The time (ms) for one step of progress; None where the evaluations do not show how far the run trained."""
    whole, (_, found) = log.run.duration_ms, places(log)
    if whole is None or whole <= _LEAST_MS or min(found, default=0.0) <= 0 or log.run.lengths.beside:
        return None
    # One place for all evaluations is no count; one that begins far from zero goes on from another training; and
    # training that goes on after run_stop is not that of the run.
    counted = len(set(found)) > 1 and min(found) <= _FROM_ZERO * max(found)
    return whole / max(found) if counted and _is_within(log, whole) else None


def _is_within(log: LogReport, whole: float) -> bool:
    """Whether what a log has before run_stop fits into its time; some go on behind it, and log run_stop in the end."""
    return max(sum(of.lengths) for of in (log.trace.blocks, log.trace.epochs, log.trace.evals)) <= whole + _LEAST_MS


def find_slow_intervals(entry: Result) -> Iterator[Observation]:
    """Blocks, epochs or evaluations of a run that take much longer than the same one in the entry's other runs."""
    limits = thresholds()
    logs = entry.logs[:_MAX_RUNS]
    if len(logs) < limits.interval_runs + 1:
        return
    for name, intervals in _tables(logs):
        for log, own, others in _with_others(intervals):
            whole = log.run.duration_ms or 0
            place, habit = _worst(own, others) if whole > 0 else (None, 0.0)
            if place is None:
                continue
            length = own.lengths[place]
            if length < limits.interval_times * habit or length - habit < max(limits.interval_share * whole, _LEAST_MS):
                continue
            yield observe(
                "inspect.slow-interval",
                entry,
                f"{name} {place + 1}: {_beside(length, habit)}; {(length - habit) / whole:.1%} of the run",
                message=f"One {name} of a run takes much longer than the same one in the entry's other runs",
                at=log,
                line=own.lines[place],
                undone=shorter(
                    entry,
                    f"with {'a' if name == 'block' else 'an'} {name} as in the others",
                    {log.path: length - habit},
                ),
                length_ms=length,
                habit_ms=habit,
            )


def _tables(logs: Sequence[LogReport]) -> Iterator[tuple[str, list[tuple[LogReport, Lengths]]]]:
    """Epochs where the runs log them, else blocks; and evaluations."""
    epochs = [(log, log.trace.epochs) for log in logs]
    if any(len(one.lengths) > 1 for _, one in epochs):
        yield "epoch", epochs
    else:
        yield "block", [(log, log.trace.blocks) for log in logs]
    yield "evaluation", [(log, log.trace.evals) for log in logs]


def _worst(own: Lengths, others: Sequence[Lengths]) -> tuple[int | None, float]:
    """The interval of a run that exceeds the same of the others by most, and their median (ms); None for none."""
    worst, habit, most = None, 0.0, 0.0
    for place in sorted(range(len(own.lengths)), key=lambda place: -own.lengths[place])[:5]:
        same = [one.lengths[place] for one in others if len(one.lengths) > place]
        median = statistics.median(same) if len(same) >= thresholds().interval_runs else own.lengths[place]
        if own.lengths[place] - median > most:
            worst, habit, most = place, median, own.lengths[place] - median
    return worst, habit


def _beside(length: float, habit: float) -> str:
    return f"{seconds(length)}, {seconds(habit)} in the median of the others"


def find_long_init(entry: Result) -> Iterator[Observation]:
    """Yield runs whose initialisation takes much longer than that of the entry's other runs."""
    limits = thresholds()
    inits = [(log, init) for log in entry.logs[:_MAX_RUNS] if (init := _init(log)) is not None]
    if len(inits) < limits.interval_runs:
        return
    for log, init, others in _with_others(inits):
        habit = statistics.median(others)
        if init >= limits.init_times * habit and init - habit >= limits.init_ms:
            yield observe("inspect.long-init", entry, _beside(init, habit), at=log, init_ms=init, habit_ms=habit)


def _init(log: LogReport) -> float | None:
    """From init_start to run_start, in ms."""
    start, run_start = log.run.timeline.init_start, log.run.timeline.run_start
    length = 0 if start is None or run_start is None else run_start - start
    return length if 0 < length < MAX_TIME_MS else None


def find_gaps(entry: Result) -> Iterator[Observation]:
    """Yield silences of single runs that are long against the same silence in the entry's other runs."""
    limits = thresholds()
    logs = _ordered(entry)
    if len(logs) < limits.gap_runs:
        return
    for log, gaps, others in _with_others([(log, _silences(log)) for log in logs]):
        whole = log.run.duration_ms
        if whole is None:
            continue
        least = max(limits.gap_ms, limits.gap_share * whole)
        for kind, gap in gaps.items():
            if gap.longest_ms < least:
                continue
            habit = statistics.median(other[kind].longest_ms if kind in other else 0.0 for other in others)
            if gap.longest_ms - habit >= least and gap.longest_ms >= limits.gap_times * habit:
                yield observe(
                    "inspect.silent-gap",
                    entry,
                    f"{seconds(gap.longest_ms)} from {gap.before} to {gap.after} ({gap.longest_ms / whole:.1%} of the "
                    f"run), {seconds(habit)} in the median of the others",
                    at=log,
                    line=gap.line,
                    undone=shorter(entry, "without the silence", {log.path: gap.longest_ms - habit}),
                    gap_ms=gap.longest_ms,
                    habit_ms=habit,
                )


def _ordered(entry: Result) -> tuple[LogReport, ...]:
    """The runs whose records are in the order of time; the others are put together, and their gaps no silences."""
    least = thresholds().jump_ms
    return tuple(log for log in entry.logs[:_MAX_RUNS] if log.trace.jump is None or log.trace.jump[1] < least)


def _silences(log: LogReport) -> dict[Kind, Gap]:
    """The silences of a run by the keys around them; a long block or epoch is found as such."""
    return {(gap.before, gap.after): gap for gap in log.trace.gaps if gap.idle}


def pauses_of(entry: Result) -> dict[Kind, tuple[float, float]]:
    """Idle silences of an entry between steps of training: share of the run and length (ms), medians of its runs."""
    shares: dict[Kind, list[tuple[float, float]]] = {}
    trained: list[float] = []
    for log in _ordered(entry):
        whole = log.run.duration_ms
        if whole is None or whole <= 0 or not _is_within(log, whole):
            continue
        trained.append(max(sum(log.trace.blocks.lengths), sum(log.trace.epochs.lengths)) / whole)
        for gap in log.trace.gaps:
            if gap.idle and gap.before in _AFTER and gap.after in _BEFORE:
                shares.setdefault((gap.before, gap.after), []).append((gap.longest_ms / whole, gap.longest_ms))
    half = len(entry.logs) / 2
    medians = {
        kind: (statistics.median(s for s, _ in found), statistics.median(ms for _, ms in found))
        for kind, found in shares.items()
        if len(found) > half
    }
    # A code may log blocks around its evaluations alone, and train between them.
    return {kind: pause for kind, pause in medians.items() if statistics.median(trained) >= _TRAINED * pause[0]}


def find_pauses(entry: Result) -> Iterator[Observation]:
    """Idle time that all runs of an entry have, and hardly any published entry has as much of."""
    limits = thresholds()
    stretched = stretch_of(entry) is not None
    for (before, after), (share, length) in sorted(pauses_of(entry).items()):
        if share < limits.pause_share or length < limits.pause_ms or (stretched and after == "run_stop"):
            continue
        yield observe(
            "inspect.pause",
            entry,
            f"{seconds(length)}, {share:.1%} of the run, in the median of {len(entry.logs)} runs",
            message=f"The timed region has a long pause between {before} and {after} that no record explains",
            expected=f"less than {limits.pause_share:.0%} of the run, as in most published entries",
            undone=shorter(entry, "without the pause", {log.path: length for log in entry.logs}),
            pause_ms=length,
            share=share,
        )
