"""How far runs trained: a spread too small for chance, a stop below the target, and going on after reaching it."""

from __future__ import annotations

import bisect
import math
import statistics
from collections.abc import Iterator, Sequence
from itertools import pairwise
from operator import attrgetter
from typing import Any

import msgspec

from mlsub.convergence.algorithm import algorithm_of, is_tested
from mlsub.convergence.reference import reference_file, runs_in_force
from mlsub.convergence.target import Measures, target_of
from mlsub.convergence.verdict import progress_of
from mlsub.divisions import CLOSED
from mlsub.io.errors import MlsubError
from mlsub.io.show import first_few, show
from mlsub.log.reading import usable_number
from mlsub.log.run import MAX_EVALUATIONS, Evaluation
from mlsub.log.trace import Trace
from mlsub.review.cadence import grouped
from mlsub.review.runs.model import (
    COUNTS,
    Entry,
    Observation,
    before_stop,
    name_of,
    observe,
    places,
    thresholds,
    with_times,
    without_runs,
)
from mlsub.rules.constraints import Stated

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
        f"{len(runs)} of {len(entry.traces)} runs{which}: {first_few(shown, 4)}{_where_met(below)}",
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
        f"{len(earlier)} of {len(entry.traces)} runs: {first_few(shown, 3)}",
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


#: Medians further apart than this factor count different things.
_SAME_UNIT = 4


def chance_of_range(values: Sequence[float], runs: int, width: float) -> float:
    """Return the chance that ``runs`` draws from ``values``, with putting back, lie within ``width`` of each other.

    Exact for the empirical distribution: the smallest draw is some value x, and all lie in [x, x + width]; from that
    those go off of which none is x.
    """
    ordered = sorted(values)
    count = len(ordered)
    total = 0.0
    for value in dict.fromkeys(ordered):
        low, above = bisect.bisect_left(ordered, value), bisect.bisect_right(ordered, value)
        high = bisect.bisect_right(ordered, value + width + 1e-9 * abs(value))
        total += ((high - low) / count) ** runs - ((high - above) / count) ** runs
    return min(1.0, total)


def find_small_spread(entry: Entry) -> Iterator[Observation]:
    """Yield a Closed entry whose runs converge within too small a range for chance, by the reference's runs."""
    limits = thresholds()
    name = entry.known_benchmark
    size = _batch_size(entry)
    reference = _reference(entry, name, size) if name is not None and size is not None else None
    if name is None or reference is None:
        return
    batch, values = reference
    points = _points(entry, name, statistics.median(values))
    if len(points) < limits.spread_runs:
        return
    on_grid = _on_grid(values, entry, points[0])
    if len(set(on_grid)) < limits.spread_values:
        return
    width = max(points) - min(points)
    chance = chance_of_range(on_grid, len(points), width)
    if chance < limits.spread_chance:
        yield observe(
            "inspect.small-spread",
            entry,
            f"{len(points)} runs {_span(points)}; {len(values)} reference runs at batch size {grouped(batch)} "
            f"{_span(on_grid)}, and {len(points)} of them are as close together with a chance of {chance:.1e}",
            expected=f"a chance of {limits.spread_chance:g} or more",
            chance=chance,
            width=width,
            runs=len(points),
        )


def _span(values: Sequence[float]) -> str:
    return f"from {grouped(min(values))} to {grouped(max(values))}"


def _points(entry: Entry, name: str, usual: float) -> list[float]:
    """Where the runs of a Closed entry converged; none where they count in another unit than the reference."""
    without_test = algorithm_of(entry.round.usage, entry.round.name) is None or not is_tested(name)
    if entry.division != CLOSED.name or without_test:
        return []
    runs = [trace.run for trace in entry.traces]
    # BERT counts samples, under either of two names.
    for samples in (False, True) if name == "bert" else (False,):
        by_run = progress_of(runs, name, entry.round, samples=samples).by_run
        points = [point for point in by_run if point is not None]
        if points and usual / _SAME_UNIT < statistics.median(points) < usual * _SAME_UNIT:
            return points
    return []


def _batch_size(entry: Entry) -> float | None:
    sizes = {
        str(size): size for t in entry.traces if (size := t.run.hyperparameters.get("global_batch_size")) is not None
    }
    size = next(iter(sizes.values()), None)
    alone = len(sizes) == 1 and isinstance(size, (int, float)) and not isinstance(size, bool)
    return float(size) if alone and size and 0 < size < 1e15 else None


def _reference(entry: Entry, name: str, size: float) -> tuple[float, tuple[float, ...]] | None:
    """The reference runs at the batch size nearest to the entry's, if one is near enough."""
    try:
        file = reference_file(entry.round.usage, entry.round.ruleset, name)
        found = runs_in_force(file, name, entry.round) if file is not None else ()
    except MlsubError:
        return None
    near = [(abs(math.log(batch / size)), batch, values) for _, batch, values in found if batch > 0]
    distance, batch, values = min(near, default=(math.inf, 0.0, ()))
    return (batch, values) if distance <= math.log(thresholds().spread_batch) else None


def _on_grid(values: Sequence[float], entry: Entry, at: float) -> list[float]:
    """The reference's points where the entry's evaluations could have seen them: at the next evaluation."""
    steps = [b - a for trace in entry.traces for a, b in pairwise(places(trace)[1]) if b > a]
    step = statistics.median(steps) if steps else 0.0
    if step <= 0:
        return list(values)
    return [at + math.ceil((value - at) / step - 1e-6) * step for value in values]
