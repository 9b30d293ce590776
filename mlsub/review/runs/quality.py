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

from mlsub.convergence import algorithm_of, traits_of
from mlsub.convergence.reference import reference_file, runs_in_force
from mlsub.convergence.target import MeasureReader, target_of
from mlsub.convergence.verdict import progress_of
from mlsub.divisions import CLOSED
from mlsub.io import MlsubError
from mlsub.io.show import first_few, show
from mlsub.log.reading import usable_number
from mlsub.log.run import MAX_EVALUATIONS, Evaluation
from mlsub.review.cadence import show_count
from mlsub.review.runs.model import (
    COUNTS,
    Observation,
    evaluation_places,
    evaluations_before_stop,
    observe,
    thresholds,
    undo_runs,
    undo_times,
)
from mlsub.rules.catalogue import finding
from mlsub.rules.constraints import StatedValues
from mlsub.submission.model import LogReport
from mlsub.submission.result import Result

#: Targets are written with three decimals.
_DIGITS = 1000


class _Ending(msgspec.Struct, frozen=True):
    """How a successful run ends: its evaluations up to run_stop, and the first of them that reaches the target.

    ``reaches_last`` says that the last of them reaches it, ``reaches_after_stop`` that one after run_stop does.
    """

    log: LogReport
    evaluations: Sequence[Evaluation]
    first_reaching: int | None
    reaches_last: bool
    reaches_after_stop: bool

    @property
    def goes_on(self) -> bool:
        """Whether the last evaluation is behind the first that reaches the target.

        Evaluations logged twice, and measures that come one by one, share their place.
        """
        at = self.first_reaching
        return at is not None and _is_before(self.evaluations[at], self.evaluations[-1])

    @property
    def stops_below(self) -> bool:
        """Whether the run stops below the target."""
        return self.first_reaching is None or (not self.reaches_last and self.goes_on)

    @property
    def minutes_to_target(self) -> float | None:
        """The time to the first evaluation that reaches the target."""
        start, at = self.log.run.timeline.run_start, self.first_reaching
        return None if at is None or start is None else (self.evaluations[at].time_ms - start) / 60_000


def _is_before(one: Evaluation, other: Evaluation) -> bool:
    for count in COUNTS:
        places: tuple[Any, Any] = (attrgetter(count)(one), attrgetter(count)(other))
        if all(isinstance(place, (int, float)) for place in places):
            return bool(places[0] < places[1])
    return one.time_ms < other.time_ms


def _find_endings(entry: Result) -> list[_Ending]:
    """Return how the successful runs of a Closed entry end. Open has other targets, or names none."""
    if entry.division_name != CLOSED.name:
        return []
    found = []
    for log in entry.logs:
        stated = StatedValues(log.run.hyperparameters)
        target = target_of(entry.rules, CLOSED.name, entry.benchmark, stated)
        before = evaluations_before_stop(log)
        if target is None or not before or not log.run.converged or len(log.run.evaluations) >= MAX_EVALUATIONS:
            continue
        after = [one for one in log.run.evaluations if one.line > before[-1].line]
        measures = MeasureReader(target, stated)
        reached = [measures.read(one.event(target.key)).reached for one in (*before, *after)]
        first = next((n for n in range(len(before)) if reached[n]), None)
        found.append(_Ending(log, before, first, reached[len(before) - 1], any(reached[len(before) :])))
    return found


def find_ends(entry: Result) -> Iterator[Observation]:
    """Yield runs that stop successfully after an evaluation below the target, or go on after one that reaches it.

    By the rules a run ends where it reaches the target; one that reaches it after run_stop, or never, has no time.
    """
    endings = _find_endings(entry)
    if below := [one for one in endings if one.stops_below]:
        yield _observe_stops_below(entry, below)
    earlier = [one for one in endings if one.goes_on and not one.stops_below]
    if earlier and not _have_higher_target([one for one in endings if one.first_reaching is not None]):
        places = {one.log.name: ((one.first_reaching or 0) + 1, len(one.evaluations)) for one in earlier}
        shown = [f"{name} at evaluation {place} of {count}" for name, (place, count) in places.items()]
        actual = f"{len(earlier)} of {len(entry.logs)} runs: {first_few(shown, 3)}"
        found = finding("inspect.target-earlier", entry.path, actual=actual)
        times = {one.log.path: one.minutes_to_target for one in earlier}
        undone = undo_times(entry, "if they had ended there", times)
        runs = {name: {"met": place, "of": count} for name, (place, count) in places.items()}
        yield observe(entry, found, undone, runs=runs)


def _observe_stops_below(entry: Result, below: Sequence[_Ending]) -> Observation:
    logs = [one.log for one in below]
    if all(one.first_reaching is not None for one in below):
        times = {one.log.path: one.minutes_to_target for one in below}
        undone = undo_times(entry, "if they had ended where they reached it", times, alone=True)
    else:
        undone = undo_runs(entry, logs)
    runs: dict[str, dict[str, Any]] = {}
    shown: dict[str, str] = {}
    for one in below:
        name, last, stop = one.log.name, one.evaluations[-1], one.log.run.timeline.run_stop
        wait = None if stop is None else stop - last.time_ms
        runs[name] = {"value": show(last.value, 80), "wait_ms": wait}
        shown[name] = f"{name} at {show(last.value, 40)}{f', {wait:g} ms before run_stop' if wait is not None else ''}"
    fastest = _are_fastest(entry, logs)
    which = f", {'the fastest' if len(runs) == 1 else f'the {len(runs)} fastest'}" if fastest else ""
    earlier = sum(one.first_reaching is not None for one in below)
    after = sum(one.first_reaching is None and one.reaches_after_stop for one in below)
    counts = {"before that": earlier, "after run_stop": after, "nowhere": len(below) - earlier - after}
    reached = ", ".join(f"{where} in {count}" for where, count in counts.items() if count)
    actual = f"{len(runs)} of {len(entry.logs)} runs{which}: {first_few(shown.values(), 4)}"
    found = finding("inspect.stops-below", entry.path, actual=f"{actual}; the target is reached {reached}")
    return observe(entry, found, undone, runs=runs, fastest=fastest)


def _are_fastest(entry: Result, runs: Sequence[LogReport]) -> bool:
    """Return whether no other run of the entry took less time than these."""
    paths = {log.path for log in runs}
    minutes = [log.run.minutes for log in runs if log.run.minutes is not None]
    others = [log.run.minutes for log in entry.logs if log.path not in paths and log.run.minutes is not None]
    return bool(minutes) and bool(others) and max(minutes) < min(others)


def _have_higher_target(endings: Sequence[_Ending]) -> bool:
    """Return whether all runs end at their first evaluation above some round value that the submitter chose."""
    lasts = [usable_number(one.evaluations[-1].value) for one in endings]
    earlier = [usable_number(evaluation.value) for one in endings for evaluation in one.evaluations[:-1]]
    known = [value for value in (*lasts, *earlier) if value is not None]
    if len(known) < len(lasts) + len(earlier) or not earlier:
        return False
    low, high = max(known[len(lasts) :]), min(known[: len(lasts)])
    # Somebody wrote it down: three digits, as published targets have.
    return low < math.floor(high * _DIGITS) / _DIGITS


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
    reference = _find_reference(entry)
    if reference is None:
        return
    batch, values = reference
    points = _find_points(entry, statistics.median(values))
    if len(points) < limits["spread_runs"]:
        return
    rounded = _round_to_evaluations(values, entry, points[0])
    if len(set(rounded)) < limits["spread_values"]:
        return
    width = max(points) - min(points)
    chance = chance_of_range(rounded, len(points), width)
    if chance < limits["spread_chance"]:
        found = finding(
            "inspect.small-spread",
            entry.path,
            expected=f"a chance of {limits['spread_chance']:g} or more",
            actual=f"{len(points)} runs {_show_range(points)}; {len(values)} reference runs at batch size "
            f"{show_count(batch)} {_show_range(rounded)}, and {len(points)} of them are as close together with a "
            f"chance of {chance:.1e}",
        )
        yield observe(entry, found, chance=chance, width=width, runs=len(points))


def _show_range(values: Sequence[float]) -> str:
    return f"from {show_count(min(values))} to {show_count(max(values))}"


def _find_points(entry: Result, usual: float) -> list[float]:
    """Return where the runs of a Closed entry converged; none where they count in another unit than the reference."""
    name, rules = entry.benchmark, entry.rules
    without_test = algorithm_of(entry.usage, entry.round, entry.overlay) is None or not traits_of(name).tested
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


def _find_reference(entry: Result) -> tuple[float, tuple[float, ...]] | None:
    """Return the reference runs at the batch size nearest to the entry's, if it has one and that is near enough."""
    logged = (log.run.hyperparameters.get("global_batch_size") for log in entry.logs)
    sizes = {str(size): size for size in logged if size is not None}
    size = usable_number(next(iter(sizes.values()), None))
    if len(sizes) != 1 or size is None or size <= 0:
        return None
    try:
        file = reference_file(entry.usage, entry.rules.ruleset, entry.benchmark)
        found = runs_in_force(file, entry.benchmark, entry.rules) if file is not None else ()
    except MlsubError:
        return None
    near = [(abs(math.log(batch / size)), batch, values) for _, batch, values in found if batch > 0]
    distance, batch, values = min(near, default=(math.inf, 0.0, ()))
    return (batch, values) if distance <= math.log(thresholds()["spread_batch"]) else None


def _round_to_evaluations(values: Sequence[float], entry: Result, at: float) -> list[float]:
    """Return the reference's points where the entry's evaluations could have seen them: at the next evaluation."""
    steps = [b - a for log in entry.logs for a, b in pairwise(evaluation_places(log)[1]) if b > a]
    step = statistics.median(steps) if steps else 0.0
    if step <= 0:
        return list(values)
    return [at + math.ceil((value - at) / step - 1e-6) * step for value in values]
