"""What the runs of an entry have in common: their median and range at each place, and where they cross the target."""

from __future__ import annotations

import statistics
from bisect import bisect_right
from collections.abc import Sequence
from typing import NamedTuple

#: A run: x (progress or minutes) and y (quality) of its evaluations, in the order of x.
Line = Sequence[tuple[float, ...]]
#: Fewer runs are drawn one by one; of as many as MANY_RUNS the band has the middle half, and else all.
MIN_RUNS, MANY_RUNS = 3, 20
#: Places of a band; evaluations that runs have in common, as after each epoch, are fewer.
_MAX_PLACES = 120
#: So many evaluations before the one that reaches the target are near it.
_BEFORE = 3
#: What is left free above and below the values near the target, as a share of their range.
_MARGIN = 0.06


class Goal(NamedTuple):
    """The target as a chart needs it: ``up`` says that values reach it from below."""

    level: float
    up: bool

    def is_reached(self, value: float) -> bool:
        """Whether a value reaches the target."""
        return value >= self.level if self.up else value <= self.level


class Window(NamedTuple):
    """A part of a chart: from and to, in x and in y."""

    x: tuple[float, float]
    y: tuple[float, float]


def spread_of(lines: Sequence[Line]) -> list[tuple[float, float, float, float]]:
    """Return places with the low end of the band, the median and the high end: all runs, or of many the middle half.

    Between two evaluations of a run its value is taken from the straight line through them; a run that has ended
    counts with its last value, and one without an evaluation so far does not count. Where fewer than half of the runs
    count there is no median. Places are those of the evaluations, or 120 at equal distances where there are more.

    Args:
        lines: the runs; fewer than :data:`MIN_RUNS` have no spread.
    """
    runs = [line for line in lines if line]
    if len(runs) < MIN_RUNS:
        return []
    columns = [([point[0] for point in line], [point[1] for point in line]) for line in runs]
    found = []
    for x in _places([place for places, _ in columns for place in places]):
        values = [value for places, of in columns if (value := _at(x, places, of)) is not None]
        if 2 * len(values) >= len(runs):
            low, high = _band(values, many=len(runs) >= MANY_RUNS)
            found.append((x, low, statistics.median(values), high))
    return found


def band_words(runs: int) -> str:
    """Return what the band of so many runs is."""
    return "middle half of the runs (quartiles)" if runs >= MANY_RUNS else "range from the lowest to the highest run"


def _band(values: Sequence[float], *, many: bool) -> tuple[float, float]:
    if not many:
        return min(values), max(values)
    low, _, high = statistics.quantiles(values, n=4, method="inclusive")
    return low, high


def _places(all_of_them: Sequence[float]) -> list[float]:
    places = sorted(set(all_of_them))
    if len(places) <= _MAX_PLACES:
        return places
    low, high = places[0], places[-1]
    step = (high - low) / (_MAX_PLACES - 1)
    return [*(low + step * place for place in range(_MAX_PLACES - 1)), high]


def _at(x: float, places: Sequence[float], values: Sequence[float]) -> float | None:
    """A run's value at a place; of several evaluations there, the last."""
    behind = bisect_right(places, x)
    if behind == 0:
        return None
    if behind == len(places) or places[behind - 1] == x:
        return values[behind - 1]
    (x0, x1), (y0, y1) = places[behind - 1 : behind + 1], values[behind - 1 : behind + 1]
    return y0 + (y1 - y0) * (x - x0) / (x1 - x0)


def window_of(lines: Sequence[Line], goal: Goal) -> Window | None:
    """Return the part of a chart where its runs cross the target; None where that is all of the chart.

    It begins three evaluations before the first run's that reaches the target, ends with the last evaluation of all,
    and is as high as the values of these runs from there on and the target need. Where no run reaches the target, it
    begins three evaluations before the last of each.

    Args:
        lines: the runs.
        goal: the target.
    """
    there = [line for line in lines if any(goal.is_reached(point[1]) for point in line)]
    parts = [line[_first(line, goal) :] for line in there or lines if line]
    if not parts:
        return None
    points = [point for line in lines for point in line]
    left, right = min(part[0][0] for part in parts), max(point[0] for point in points)
    values = [goal.level, *(point[1] for part in parts for point in part)]
    low, high = min(values), max(values)
    if (left <= min(point[0] for point in points) and low <= min(point[1] for point in points)) or left >= right:
        return None
    free = _MARGIN * (high - low) or _MARGIN * abs(high) or _MARGIN
    return Window((left, right), (low - free, high + free))


def _first(line: Line, goal: Goal) -> int:
    """Where a run comes near the target."""
    reaching = (place for place, point in enumerate(line) if goal.is_reached(point[1]))
    return max(0, next(reaching, len(line) - 1) - _BEFORE)
