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
from mlsub.convergence.target import MeasureReader, target_of
from mlsub.convergence.verdict import progress_of
from mlsub.divisions import CLOSED
from mlsub.io.errors import MlsubError
from mlsub.io.show import first_few, show
from mlsub.log.reading import usable_number
from mlsub.log.run import MAX_EVALUATIONS, Evaluation
from mlsub.review.cadence import grouped
from mlsub.review.runs.model import (
    COUNTS,
    Observation,
    before_stop,
    observe,
    places,
    thresholds,
    with_times,
    without_runs,
)
from mlsub.rules.constraints import Stated
from mlsub.submission.model import LogReport
from mlsub.submission.result import Result

#: Targets are written with three decimals.
_DIGITS = 1000


class _Ended(msgspec.Struct, frozen=True):
    """A successful run beside its target: its evaluations up to run_stop, and the first that reaches the target.

    ``below`` says that the last of them does not reach it, ``later`` that one after run_stop does.
    """

    log: LogReport
    before: Sequence[Evaluation]
    met: int | None
    below: bool
    later: bool

    @property
    def minutes_to_target(self) -> float | None:
        """The time to the first evaluation that reaches the target."""
        start = self.log.run.timeline.run_start
        return None if self.met is None or start is None else (self.before[self.met].time_ms - start) / 60_000


def _ended(entry: Result) -> list[_Ended]:
    """The successful runs of a Closed entry. Open has other targets, or names none."""
    if entry.division_name != CLOSED.name:
        return []
    found = []
    for log in entry.logs:
        stated = Stated(log.run.hyperparameters)
        target = target_of(entry.rules, CLOSED.name, entry.benchmark, stated)
        before = before_stop(log)
        if target is None or not before or not log.run.converged or len(log.run.evaluations) >= MAX_EVALUATIONS:
            continue
        behind = [one for one in log.run.evaluations if one.line > before[-1].line]
        measures = MeasureReader(target, stated)
        reached = [measures.read(one.event(target.key)).reached for one in (*before, *behind)]
        met = next((n for n in range(len(before)) if reached[n]), None)
        found.append(_Ended(log, before, met, not reached[len(before) - 1], any(reached[len(before) :])))
    return found


def find_ends(entry: Result) -> Iterator[Observation]:
    """Yield runs that stop successfully after an evaluation below the target, or go on after one that reaches it.

    By the rules a run ends where it reaches the target; one that reaches it after run_stop, or never, has no time.
    """
    ended = _ended(entry)
    if below := [one for one in ended if _stops_below(one)]:
        yield _below_target(entry, below)
    runs = [one for one in ended if one.met is not None]
    # Evaluations logged twice, and measures that come one by one, share their place.
    earlier = [
        one
        for one in runs
        if one.met is not None and _later(one.before[one.met], one.before[-1]) and not _stops_below(one)
    ]
    if earlier and not _has_higher_target(runs):
        yield _met_earlier(entry, earlier)


def _below_target(entry: Result, below: Sequence[_Ended]) -> Observation:
    logs = [one.log for one in below]
    if all(one.met is not None for one in below):
        times = {one.log.path: one.minutes_to_target for one in below}
        undone = with_times(entry, "if they had ended where they reached it", times, alone=True)
    else:
        undone = without_runs(entry, logs)
    runs = {one.log.name: (one.before[-1].value, _wait(one)) for one in below}
    fastest = _are_fastest(entry, logs)
    shown = [
        f"{name} at {show(value, 40)}{f', {wait:g} ms before run_stop' if wait is not None else ''}"
        for name, (value, wait) in runs.items()
    ]
    which = f", {'the fastest' if len(runs) == 1 else f'the {len(runs)} fastest'}" if fastest else ""
    return observe(
        "inspect.stops-below",
        entry,
        f"{len(runs)} of {len(entry.logs)} runs{which}: {first_few(shown, 4)}{_where_met(below)}",
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
    stop = one.log.run.timeline.run_stop
    return None if stop is None else stop - one.before[-1].time_ms


def _are_fastest(entry: Result, runs: Sequence[LogReport]) -> bool:
    """Whether no other run of the entry took less time than these."""
    paths = {log.path for log in runs}
    own = [log.run.minutes for log in runs if log.run.minutes is not None]
    others = [t.run.minutes for t in entry.logs if t.path not in paths and t.run.minutes is not None]
    return bool(own) and bool(others) and max(own) < min(others)


def _met_earlier(entry: Result, earlier: Sequence[_Ended]) -> Observation:
    shown = [f"{one.log.name} at evaluation {(one.met or 0) + 1} of {len(one.before)}" for one in earlier]
    times = {one.log.path: one.minutes_to_target for one in earlier}
    return observe(
        "inspect.target-earlier",
        entry,
        f"{len(earlier)} of {len(entry.logs)} runs: {first_few(shown, 3)}",
        undone=with_times(entry, "if they had ended there", times),
        runs={one.log.name: {"met": (one.met or 0) + 1, "of": len(one.before)} for one in earlier},
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


def find_small_spread(entry: Result) -> Iterator[Observation]:
    """Yield a Closed entry whose runs converge within too small a range for chance, by the reference's runs."""
    limits = thresholds()
    size = _batch_size(entry)
    reference = _reference(entry, size) if size is not None else None
    if reference is None:
        return
    batch, values = reference
    points = _points(entry, statistics.median(values))
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


def _points(entry: Result, usual: float) -> list[float]:
    """Where the runs of a Closed entry converged; none where they count in another unit than the reference."""
    name, rules = entry.benchmark, entry.rules
    without_test = algorithm_of(entry.usage, entry.round, entry.overlay) is None or not is_tested(name)
    if entry.division_name != CLOSED.name or without_test:
        return []
    runs = [log.run for log in entry.logs]
    # BERT counts samples, under either of two names.
    for samples in (False, True) if name == "bert" else (False,):
        by_run = progress_of(runs, name, rules, samples=samples).by_run
        points = [point for point in by_run if point is not None]
        if points and usual / _SAME_UNIT < statistics.median(points) < usual * _SAME_UNIT:
            return points
    return []


def _batch_size(entry: Result) -> float | None:
    sizes = {
        str(size): size for t in entry.logs if (size := t.run.hyperparameters.get("global_batch_size")) is not None
    }
    size = next(iter(sizes.values()), None)
    alone = len(sizes) == 1 and isinstance(size, (int, float)) and not isinstance(size, bool)
    return float(size) if alone and size and 0 < size < 1e15 else None


def _reference(entry: Result, size: float) -> tuple[float, tuple[float, ...]] | None:
    """The reference runs at the batch size nearest to the entry's, if one is near enough."""
    try:
        file = reference_file(entry.usage, entry.rules.ruleset, entry.benchmark)
        found = runs_in_force(file, entry.benchmark, entry.rules) if file is not None else ()
    except MlsubError:
        return None
    near = [(abs(math.log(batch / size)), batch, values) for _, batch, values in found if batch > 0]
    distance, batch, values = min(near, default=(math.inf, 0.0, ()))
    return (batch, values) if distance <= math.log(thresholds().spread_batch) else None


def _on_grid(values: Sequence[float], entry: Result, at: float) -> list[float]:
    """The reference's points where the entry's evaluations could have seen them: at the next evaluation."""
    steps = [b - a for log in entry.logs for a, b in pairwise(places(log)[1]) if b > a]
    step = statistics.median(steps) if steps else 0.0
    if step <= 0:
        return list(values)
    return [at + math.ceil((value - at) / step - 1e-6) * step for value in values]
