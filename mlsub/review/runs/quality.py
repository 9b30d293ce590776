"""Runs that stop after an evaluation below the target, and runs that go on after they have reached it."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from operator import attrgetter
from typing import Any

import msgspec

from mlsub.convergence.target import Measures, target_of
from mlsub.divisions import CLOSED
from mlsub.io.show import show
from mlsub.log.reading import usable_number
from mlsub.log.run import MAX_EVALUATIONS, Evaluation
from mlsub.log.trace import Trace
from mlsub.review.runs.model import COUNTS, Entry, Observation, before_stop, listed, name_of, observe
from mlsub.review.runs.undone import with_times, without_runs
from mlsub.rules.values import Stated

#: Targets are written with three decimals.
_DIGITS = 1000


class _Ended(msgspec.Struct, frozen=True):
    """A successful run beside its target: its evaluations up to run_stop, and the first that reaches the target.

    ``below`` says that the last of them does not reach it, ``later`` that one after run_stop does.
    """

    trace: Trace
    before: Sequence[Evaluation]
    met: int | None
    below: bool
    later: bool

    @property
    def minutes_to_target(self) -> float | None:
        """The time to the first evaluation that reaches the target."""
        start = self.trace.run.timeline.run_start
        return None if self.met is None or start is None else (self.before[self.met].time_ms - start) / 60_000


def _ended(entry: Entry) -> list[_Ended]:
    """The successful runs of a Closed entry. Open has other targets, or names none."""
    if entry.division != CLOSED.name:
        return []
    found = []
    for trace in entry.traces:
        stated = Stated(trace.run.hyperparameters)
        target = target_of(entry.round, CLOSED.name, entry.known_benchmark, stated)
        before = before_stop(trace)
        if target is None or not before or not trace.run.converged or len(trace.run.evaluations) >= MAX_EVALUATIONS:
            continue
        behind = [one for one in trace.run.evaluations if one.line > before[-1].line]
        measures = Measures(target, stated)
        reached = [measures.read(one.event(target.key)).reached for one in (*before, *behind)]
        met = next((n for n in range(len(before)) if reached[n]), None)
        found.append(_Ended(trace, before, met, not reached[len(before) - 1], any(reached[len(before) :])))
    return found


def find_stops_below(entry: Entry) -> Iterator[Observation]:
    """Yield runs that stop successfully after an evaluation below the target.

    By the rules a run ends where it reaches the target; one that reaches it after run_stop, or never, has no time.
    """
    below = [one for one in _ended(entry) if _stops_below(one)]
    if not below:
        return
    traces = [one.trace for one in below]
    if all(one.met is not None for one in below):
        times = {one.trace.path: one.minutes_to_target for one in below}
        undone = with_times(entry, "if they had ended where they reached it", times, alone=True)
    else:
        undone = without_runs(entry, traces)
    runs = {name_of(one.trace): (one.before[-1].value, _wait(one)) for one in below}
    fastest = _are_fastest(entry, traces)
    shown = [
        f"{name} at {show(value, 40)}{f', {wait:g} ms before run_stop' if wait is not None else ''}"
        for name, (value, wait) in runs.items()
    ]
    which = f", {'the fastest' if len(runs) == 1 else f'the {len(runs)} fastest'}" if fastest else ""
    yield observe(
        "inspect.stops-below",
        entry,
        f"{len(runs)} of {len(entry.traces)} runs{which}: {listed(shown, 4)}{_where_met(below)}",
        undone=undone,
        runs={name: {"value": show(value, 80), "wait_ms": wait} for name, (value, wait) in runs.items()},
        fastest=fastest,
    )


def _where_met(below: Sequence[_Ended]) -> str:
    """Where else the runs reach the target."""
    earlier = sum(one.met is not None for one in below)
    after = sum(one.met is None and one.later for one in below)
    counts = {"before that": earlier, "after run_stop": after, "nowhere": len(below) - earlier - after}
    return "; the target is reached " + ", ".join(f"{where} in {count}" for where, count in counts.items() if count)


def _stops_below(one: _Ended) -> bool:
    return one.met is None or (one.below and _later(one.before[one.met], one.before[-1]))


def _wait(one: _Ended) -> float | None:
    stop = one.trace.run.timeline.run_stop
    return None if stop is None else stop - one.before[-1].time_ms


def _are_fastest(entry: Entry, runs: Sequence[Trace]) -> bool:
    """Whether no other run of the entry took less time than these."""
    paths = {trace.path for trace in runs}
    own = [trace.run.minutes for trace in runs if trace.run.minutes is not None]
    others = [t.run.minutes for t in entry.traces if t.path not in paths and t.run.minutes is not None]
    return bool(own) and bool(others) and max(own) < min(others)


def find_met_earlier(entry: Entry) -> Iterator[Observation]:
    """Yield successful runs of Closed with an evaluation before the last one that reaches the target already."""
    runs = [one for one in _ended(entry) if one.met is not None]
    # Evaluations logged twice, and measures that come one by one, share their place.
    earlier = [
        one
        for one in runs
        if one.met is not None and _later(one.before[one.met], one.before[-1]) and not _stops_below(one)
    ]
    if not earlier or _has_higher_target(runs):
        return
    shown = [f"{name_of(one.trace)} at evaluation {(one.met or 0) + 1} of {len(one.before)}" for one in earlier]
    times = {one.trace.path: one.minutes_to_target for one in earlier}
    yield observe(
        "inspect.target-earlier",
        entry,
        f"{len(earlier)} of {len(entry.traces)} runs: {listed(shown, 3)}",
        undone=with_times(entry, "if they had ended there", times),
        runs={name_of(one.trace): {"met": (one.met or 0) + 1, "of": len(one.before)} for one in earlier},
    )


def _has_higher_target(runs: Sequence[_Ended]) -> bool:
    """Whether all runs end at their first evaluation above some round value: a target that the submitter chose."""
    ends = [usable_number(one.before[-1].value) for one in runs]
    passed = [usable_number(evaluation.value) for one in runs for evaluation in one.before[:-1]]
    known = [value for value in (*ends, *passed) if value is not None]
    if len(known) < len(ends) + len(passed) or not passed:
        return False
    low, high = max(known[len(ends) :]), min(known[: len(ends)])
    # Somebody wrote it down: three digits, as published targets have.
    return low < math.floor(high * _DIGITS) / _DIGITS


def _later(one: Evaluation, other: Evaluation) -> bool:
    for count in COUNTS:
        places: tuple[Any, Any] = (attrgetter(count)(one), attrgetter(count)(other))
        if all(isinstance(place, (int, float)) for place in places):
            return bool(places[0] < places[1])
    return one.time_ms < other.time_ms
