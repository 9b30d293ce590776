"""When a curve of evaluations will reach its target: a forecast that would rather say less than something wrong.

The last evaluations are made monotone (isotonic regression), and read in four ways: as a straight line against the
time t, against log t, -1/t and -1/t². Each way expects the progress to slow down more than the one before, and the four
enclose what learning curves do. In each the slope is that of all pairs of points (Theil and Sen), so that one odd
evaluation moves little: its upper quartile gives the earliest time, the least of its lowest tenth and of the last two
steps the latest. The forecast has the earliest time of all; the latest of all only where the curve is no longer getting
steeper and even the most cautious reading reaches the target soon. All else is "too early to tell", "flat" or "far".

Measured at the evaluations of 17 benchmarks in published Closed logs, each before the target was reached (29,000): the
earliest time was right in 92 of 100 forecasts (98 without unet3d, whose evaluations jump about), the interval in 80 of
100. It was at its worst, at one half, with rnnt and resnet, whose learning rate bends the curve late:
no curve foretells a knee that is still ahead.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any, Literal

import msgspec

from mlsub.convergence.curves import Plan, plan_of
from mlsub.convergence.target import Band, Measures, Target, plan_of_log
from mlsub.convergence.verdict import progress_of
from mlsub.divisions import division_of
from mlsub.io.errors import MlsubError
from mlsub.log.event import Event
from mlsub.log.reading import usable_number
from mlsub.log.run import Run
from mlsub.rounds import Round
from mlsub.rules.aspects.records import Time
from mlsub.rules.constraints import Stated

#: Evaluations that a forecast needs, and those an interval needs; the last so many are looked at.
MIN_POINTS, MIN_FOR_INTERVAL, WINDOW = 4, 5, 10
#: How often the time so far may lie between now and the target: for "far", and for the end of an interval.
FAR, NEAR = 4.0, 2.5
_STEEP, _SHALLOW = 0.75, 0.1
_LAST_STEPS = 2
#: How much steeper the second half of a curve must be to count as getting steeper.
_BEND = 1.1
#: Evaluations of one measure that are kept: more than are looked at, for some are left out.
_POINTS = 64
#: Beyond this a time in ms is nonsense: the year 5138.
_BEYOND = 1e14

State = Literal["reached", "too-early", "flat", "far", "from", "between"]
Scale = tuple[Callable[[float], float], Callable[[float], float]]
_SCALES: tuple[Scale, ...] = (
    (lambda t: t, lambda x: x),
    (math.log, lambda x: math.exp(x) if x < 700 else math.inf),
    (lambda t: -1 / t, lambda x: -1 / x if x < 0 else math.inf),
    (lambda t: -1 / t**2, lambda x: math.sqrt(-1 / x) if x < 0 else math.inf),
)


class Forecast(msgspec.Struct, frozen=True):
    """When the target will be reached, in ms after ``run_start``.

    ``state`` is ``between`` (``not_before_ms`` and ``not_after_ms``), ``from`` (``not_before_ms`` only), ``far`` (not
    soon, if at all), ``flat`` (the last evaluations come no nearer), ``too-early`` or ``reached``.
    """

    state: State
    not_before_ms: float | None = None
    not_after_ms: float | None = None


TOO_EARLY = Forecast("too-early")
REACHED = Forecast("reached")


def forecast(points: Sequence[tuple[float, float]], band: Band) -> Forecast:
    """Return when a measure will be within its band.

    Args:
        points: (ms after ``run_start``, value) of each evaluation, in their order; times that do not grow are left out.
        band: the values that are good enough.
    """
    points = _growing(points)[-WINDOW:]
    if not points:
        return TOO_EARLY
    last = points[-1][1]
    if band.low is not None and last < band.low:
        goal, sign = band.low, 1.0
    elif band.high is not None and last > band.high:
        goal, sign = -band.high, -1.0
    else:
        return REACHED
    if len(points) < MIN_POINTS:
        return TOO_EARLY
    times = [time for time, _ in points]
    try:
        return _read(times, monotone([sign * value for _, value in points]), goal)
    except ArithmeticError:
        return TOO_EARLY  # Numbers beyond all measure are no curve.


def all_of(forecasts: Sequence[Forecast]) -> Forecast:
    """Return when all of several measures will be good enough."""
    for state in ("too-early", "flat", "far"):
        if any(one.state == state for one in forecasts):
            return Forecast(state)
    waiting = [one for one in forecasts if one.state != "reached"]
    if not waiting:
        return REACHED if forecasts else TOO_EARLY
    earliest = max(one.not_before_ms or 0.0 for one in waiting)
    latest = [one.not_after_ms for one in waiting if one.not_after_ms is not None]
    if len(latest) < len(waiting):
        return Forecast("from", earliest)
    return Forecast("between", earliest, max(latest))


def monotone(values: Sequence[float]) -> list[float]:
    """Return the nearest values that never fall (pool adjacent violators)."""
    pools: list[tuple[float, int]] = []
    for value in values:
        mean, count = value, 1
        while pools and pools[-1][0] >= mean:
            before, many = pools.pop()
            mean, count = (before * many + mean * count) / (many + count), many + count
        pools.append((mean, count))
    return [mean for mean, count in pools for _ in range(count)]


class Curve:
    """The evaluations of one log, and what they say of its target; ``reached`` stays so once it is.

    Args:
        target: what is to be reached.
        stated: what the log has said of itself.
    """

    def __init__(self, target: Target, stated: Stated) -> None:
        self.key, self.reached = target.key, False
        self._target = target
        self._measures = Measures(target, stated)
        self._points: dict[str | None, list[tuple[float, float]]] = {}

    def read(self, event: Event, took: float | None) -> object:
        """Read an evaluation so many ms after ``run_start``; return the name of its measure where it has one."""
        if event.key != self.key:
            return None
        measured = self._measures.read(event)
        self.reached = self.reached or measured.reached
        for name, value in measured.values.items():
            if took is not None:
                self._points[name] = [*self._points.get(name, ())[-_POINTS:], (took, value)]
        return event.metadata.get(self._target.field) if isinstance(event.metadata, dict) else None

    def forecast(self, took: float | None) -> Forecast:
        """Return when the target will be reached, so many ms after ``run_start``."""
        if self.reached or took is None:
            return REACHED if self.reached else TOO_EARLY
        expected = all_of([forecast(self._points.get(band.name, ()), band) for band in self._target.bands])
        # Each measure was good enough, but not all of them at once.
        return Forecast("from", took) if expected.state == "reached" else expected


def _growing(points: Sequence[tuple[float, float]]) -> list[tuple[float, float]]:
    kept: list[tuple[float, float]] = []
    for time, value in points:
        if math.isfinite(time) and math.isfinite(value) and time > (kept[-1][0] if kept else 0.0):
            kept.append((time, value))
    return kept


def _read(times: list[float], curve: list[float], goal: float) -> Forecast:
    if not curve[-1] > curve[0]:
        return Forecast("flat")
    # Smoothed, the curve may lie beyond the goal that its last value does not reach.
    need = max(goal - curve[-1], 0.0)
    earliest, latest = math.inf, 0.0
    for to_scale, from_scale in _SCALES:
        places = [to_scale(time) for time in times]
        slopes = sorted(_slopes(places, curve))
        if not all(map(math.isfinite, (*slopes, need))):
            raise OverflowError
        steps = [(curve[-1] - curve[-1 - n]) / (places[-1] - places[-1 - n]) for n in range(1, _LAST_STEPS + 1)]
        shallow = min(_quantile(slopes, _SHALLOW), *steps)
        earliest = min(earliest, _reached_at(places[-1], need, _quantile(slopes, _STEEP), from_scale))
        latest = max(latest, _reached_at(places[-1], need, shallow, from_scale))
    now = times[-1]
    if earliest > FAR * now:
        return Forecast("far")
    # The target is only seen at an evaluation.
    latest += now - times[-2]
    if latest > NEAR * now or len(times) < MIN_FOR_INTERVAL or _steepens(times, curve):
        return Forecast("from", earliest)
    return Forecast("between", earliest, latest)


def _slopes(places: Sequence[float], curve: Sequence[float]) -> list[float]:
    size = range(len(curve))
    return [(curve[j] - curve[i]) / (places[j] - places[i]) for i in size for j in size[i + 1 :]]


def _reached_at(place: float, need: float, slope: float, from_scale: Callable[[float], float]) -> float:
    return from_scale(place + need / slope) if slope > 0 else math.inf


def _steepens(times: Sequence[float], curve: Sequence[float]) -> bool:
    """Whether the second half of a curve is steeper than the first: where that ends is not to be seen."""
    middle = len(times) // 2
    before = (curve[middle] - curve[0]) / (times[middle] - times[0])
    return (curve[-1] - curve[middle]) / (times[-1] - times[middle]) > _BEND * before


def _quantile(ordered: Sequence[float], share: float) -> float:
    at = share * (len(ordered) - 1)
    low = int(at)
    high = min(low + 1, len(ordered) - 1)
    return ordered[low] + (ordered[high] - ordered[low]) * (at - low)


def elapsed(start: float | None, stop: float | None) -> float | None:
    """Return the time between two times, in ms; None where one is not known or no time."""
    if start is None or stop is None or not (abs(start) < _BEYOND and abs(stop) < _BEYOND):
        return None
    took = stop - start
    return took if math.isfinite(took) else None


def at_pace(plan: Plan | None, took: float | None, progress: float | None) -> float | None:
    """Return when the mean of the reference is reached at the pace so far, in ms after ``run_start``."""
    if plan is None or plan.mean is None or not took or not progress or min(took, progress) < 0:
        return None
    return elapsed(0.0, took / progress * plan.mean)


def reference_of(round_: Round, division: str | None, benchmark: str | None, batch_size: Any) -> Plan | None:
    """Return what a run is compared with; None where no reference applies, or its batch size is not a number."""
    known = division_of(division)
    if known is None or not known.convergence or benchmark not in round_.benchmarks:
        return None
    if usable_number(batch_size) is None or batch_size <= 0:
        return None
    try:
        return plan_of(round_, str(benchmark), float(batch_size))
    except MlsubError:
        return None


def init_limit(round_: Round, division: str | None, benchmark: str | None, stated: Stated) -> float | None:
    """Return the minutes within which ``init_stop`` has to come; None as long as that cannot be said."""
    for compiled in plan_of_log(round_, division, benchmark).keys:
        within = compiled.rule.within
        if compiled.rule.key == "init_stop" and within is not None and within.of == "init_start":
            return Time(compiled.rule).limit()(stated) or None
    return None


def too_fast(run: Run, round_: Round, plan: Plan) -> float | None:
    """Return where a run that has ended converged, if that is faster than an entry may on average; in plan.unit."""
    if plan.minimum is None:
        return None
    [point] = progress_of([run], plan.benchmark, round_).by_run
    return point if point is not None and point < plan.minimum else None
