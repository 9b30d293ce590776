"""Silence in the timed region: longer than in the entry's other runs, or than published results know."""

from __future__ import annotations

import statistics
from collections.abc import Iterator

from mlsub.log.trace import Gap, Trace
from mlsub.review.runs.model import Entry
from mlsub.review.runs.observation import Observation, observe, seconds
from mlsub.review.runs.stretch import stretch_of
from mlsub.review.runs.thresholds import thresholds

#: Between these a run does nothing that its log could tell of.
_AFTER = frozenset(("run_start", "block_stop", "epoch_stop", "eval_stop", "eval_accuracy"))
_BEFORE = frozenset(("block_start", "epoch_start", "eval_start", "run_stop"))

#: Of an entry's runs so many are compared; published entries have 50 at most.
_MAX_RUNS = 200

Kind = tuple[str, str]


def find_gaps(entry: Entry) -> Iterator[Observation]:
    """Silences of single runs that are long against the same silence in the entry's other runs."""
    limits = thresholds()
    traces = _ordered(entry)
    if len(traces) < limits.gap_runs:
        return
    tables = [_longest(trace) for trace in traces]
    for n, trace in enumerate(traces):
        whole = trace.run.duration_ms
        if whole is None:
            continue
        least = max(limits.gap_ms, limits.gap_share * whole)
        for kind, gap in tables[n].items():
            if gap.longest_ms < least:
                continue
            others = (table.get(kind) for m, table in enumerate(tables) if m != n)
            habit = statistics.median(other.longest_ms if other is not None else 0.0 for other in others)
            if gap.longest_ms - habit >= least and gap.longest_ms >= limits.gap_times * habit:
                yield _gap(entry, trace, gap, habit, whole)


def _ordered(entry: Entry) -> tuple[Trace, ...]:
    """The runs whose records are in the order of time; the others are put together, and their gaps no silences."""
    least = thresholds().jump_ms
    return tuple(trace for trace in entry.traces[:_MAX_RUNS] if trace.jump is None or trace.jump[1] < least)


def _longest(trace: Trace) -> dict[Kind, Gap]:
    table: dict[Kind, Gap] = {}
    for gap in trace.gaps:
        kind = gap.before, gap.after
        if not gap.idle:
            continue  # A long block or epoch is found as such.
        if kind not in table or gap.longest_ms > table[kind].longest_ms:
            table[kind] = gap
    return table


def _gap(entry: Entry, trace: Trace, gap: Gap, habit: float, whole: float) -> Observation:
    return observe(
        "inspect.silent-gap",
        entry,
        "A run is silent for much longer than the entry's other runs at the same point",
        f"{seconds(gap.longest_ms)} from {gap.before} to {gap.after} ({gap.longest_ms / whole:.1%} of the run), "
        f"{seconds(habit)} in the median of the others",
        at=trace,
        line=gap.line,
        gap_ms=gap.longest_ms,
        habit_ms=habit,
    )


def pauses_of(entry: Entry) -> dict[Kind, tuple[float, float]]:
    """Idle silences of an entry between steps of training: share of the run and length (ms), medians of its runs."""
    shares: dict[Kind, list[tuple[float, float]]] = {}
    for trace in _ordered(entry):
        whole = trace.run.duration_ms
        if whole is None or whole <= 0:
            continue
        for gap in trace.gaps:
            if gap.idle and gap.before in _AFTER and gap.after in _BEFORE:
                shares.setdefault((gap.before, gap.after), []).append((gap.longest_ms / whole, gap.longest_ms))
    half = len(entry.traces) / 2
    return {
        kind: (statistics.median(s for s, _ in found), statistics.median(ms for _, ms in found))
        for kind, found in shares.items()
        if len(found) > half
    }


def find_pauses(entry: Entry) -> Iterator[Observation]:
    """Idle time that all runs of an entry have, and hardly any published entry has as much of."""
    limits = thresholds()
    stretched = stretch_of(entry) is not None
    for (before, after), (share, length) in sorted(pauses_of(entry).items()):
        if share < limits.pause_share or length < limits.pause_ms or (stretched and after == "run_stop"):
            continue
        yield observe(
            "inspect.pause",
            entry,
            f"The timed region has a long pause between {before} and {after} that no record explains",
            f"{seconds(length)}, {share:.1%} of the run, in the median of {len(entry.traces)} runs",
            expected=f"less than {limits.pause_share:.0%} of the run, as in most published entries",
            pause_ms=length,
            share=share,
        )
