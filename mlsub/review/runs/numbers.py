"""Result files left out or numbered against their times, and what logs state that cannot be: clock, length, pace."""

from __future__ import annotations

import re
import statistics
from collections.abc import Iterator, Sequence
from itertools import accumulate, pairwise
from typing import NamedTuple

from mlsub.findings import Severity
from mlsub.io.show import first_few
from mlsub.log.trace import MAX_TIME_MS
from mlsub.review.runs.model import Observation, observe, show_duration, thresholds, undo_waits
from mlsub.rules.catalogue import finding
from mlsub.submission.model import LogReport
from mlsub.submission.result import Result

_NUMBERED = re.compile(r"result_(\d{1,6})\.txt(?:\.gz)?")
#: Of an entry's runs so many are put in order; published entries have 50 at most.
_MAX_RUNS = 60
#: So many numbers that begin in the middle are still an order: six of them with a chance of one in 60.
_LEAST_ROTATED = 6


def find_holes(entry: Result) -> Iterator[Observation]:
    """Yield numbers left out between the first and the last: runs that were made, and are not among the results."""
    numbered = _number_logs(entry)
    if numbered is None:
        return
    numbers = sorted(numbered)
    first, last = numbers[0], numbers[-1]
    holes = sorted(set(range(first, min(last, first + 10_000))) - set(numbers))
    if holes:
        actual = f"no {first_few(map(str, holes), 6)} among {first} to {last}: "
        actual += f"{len(numbers)} results of {last - first + 1} numbers"
        yield observe(entry, finding("inspect.numbering", entry.path, actual=actual), holes=holes[:100])


def _number_logs(entry: Result) -> dict[int, LogReport] | None:
    """Return the logs by their numbers; None where not all have one of their own."""
    found: dict[int, LogReport] = {}
    for log in entry.logs:
        match = _NUMBERED.fullmatch(log.name)
        if match is None or int(match[1]) in found:
            return None
        found[int(match[1])] = log
    return found or None


class _RunsApart(NamedTuple):
    """Runs that were made apart from the others, by their numbers, and how long (ms) after or before them."""

    numbers: tuple[int, ...]
    wait_ms: float
    after: bool


def find_order(entry: Result) -> Iterator[Observation]:
    """Yield runs that were made apart from the others, and whose numbers are not those of their times.

    Numbers that go down, begin elsewhere or have no order at all say nothing, nor do those of runs side by side.
    """
    numbered = _number_logs(entry)
    starts = {number: log.run.timeline.run_start for number, log in (numbered or {}).items()}
    times = {number: time for number, time in starts.items() if time is not None and abs(time) < MAX_TIME_MS}
    if numbered is None or not thresholds()["order_runs"] < len(times) == len(numbered) <= _MAX_RUNS:
        return
    order = sorted(times, key=lambda number: (times[number], number))
    ends = [times[number] + (numbered[number].run.duration_ms or 0) for number in order]
    # The time from the end of all runs before to the start of each but the first; below 0 where they overlap.
    waits = [times[number] - last for number, last in zip(order[1:], accumulate(ends, max), strict=False)]
    apart = _find_runs_apart(order, waits)
    if apart is None:
        return
    shown = first_few([numbered[number].name for number in apart.numbers], 3)
    side = "began {} after the others had ended" if apart.after else "ended {} before the others began"
    longest, before = max(zip(waits, order[1:], strict=True))
    usual = statistics.median(waits)
    more = f"; the longest wait is {show_duration(longest)}, before {before}" if longest > apart.wait_ms else ""
    more += f"; they usually wait {show_duration(usual)} for each other" if usual >= 0 else ""
    wait = side.format(show_duration(apart.wait_ms))
    found = finding(
        "inspect.order",
        entry.path,
        actual=f"{shown} {wait}; in time order {first_few(map(str, order), 20)}{more}",
        # Some numbers are in no order by habit, but a day is no wait between consecutive runs.
        severity=Severity.WARNING if longest >= thresholds()["order_wait_ms"] else None,
    )
    late = list(apart.numbers)
    yield observe(entry, found, order=order[:100], late=late, wait_ms=apart.wait_ms, usual_ms=usual)


def _find_runs_apart(order: Sequence[int], waits: Sequence[float]) -> _RunsApart | None:
    """Return the runs at the end of the order, or long before the rest, without which the others have an order."""
    limits = thresholds()
    if _is_sorted(order):
        return None
    for many in range(1, int(len(order) * limits["order_share"]) + 1):
        early, late = order[: len(order) - many], order[len(order) - many :]
        wait = waits[len(early) - 1]
        if len(early) < limits["order_runs"]:
            break
        least = max(limits["order_wait_ms"], limits["order_after"] * statistics.median(waits))
        long = wait >= least and _is_nearly_sorted(early)
        one_by_one = min(waits) >= 0 and _is_sorted(early) and not any(map(_is_sorted, _rotations(order)))
        if long or (one_by_one and _have_gap(early, late, waits)):
            return _RunsApart(tuple(late), wait, after=True)
        if waits[many - 1] >= least and _is_nearly_sorted(order[many:]):
            return _RunsApart(tuple(order[:many]), waits[many - 1], after=False)
    return None


def _have_gap(early: Sequence[int], late: Sequence[int], waits: Sequence[float]) -> bool:
    """Return whether there is a wait where a late run would have been, as for one that failed; or before it."""
    limits, usual = thresholds(), statistics.median(waits)
    places = [
        wait
        for (one, other), wait in zip(pairwise(early), waits, strict=False)
        if any(min(one, other) < number < max(one, other) for number in late)
    ]
    after = waits[len(early) - 1]
    return max(places, default=0.0) >= limits["order_place"] * usual > 0 or after >= limits["order_after"] * usual > 0


def _is_sorted(order: Sequence[int]) -> bool:
    """Return whether numbers go up, or down, all the way."""
    return all(a < b for a, b in pairwise(order)) or all(a > b for a, b in pairwise(order))


def _rotations(order: Sequence[int]) -> Iterator[Sequence[int]]:
    """Yield the numbers as they are, then from each further one on: ten runs numbered from 1, the last one as 0."""
    return ([*order[at:], *order[:at]] for at in range(len(order)))


def _is_nearly_sorted(order: Sequence[int]) -> bool:
    """Return whether nearly all pairs of numbers go one way, wherever they begin."""
    # A few numbers may begin anywhere by chance.
    for rotated in _rotations(order) if len(order) >= _LEAST_ROTATED else [order]:
        up = statistics.fmean([a < b for at, a in enumerate(rotated) for b in rotated[at + 1 :]])
        if max(up, 1 - up) >= thresholds()["order_sorted"]:
            return True
    return False


def find_jumps(entry: Result) -> Iterator[Observation]:
    """Yield runs whose clock steps back in the timed region, where most runs of the entry do not."""
    limits = thresholds()
    # What steps back over the start or the end of the run is its moved clock.
    jumped = [log for log in entry.logs if log.trace.early is None and log.trace.jump is not None]
    jumps = [(log, log.trace.jump) for log in jumped if log.trace.jump and log.trace.jump[1] >= limits["jump_ms"]]
    if len(jumps) > limits["jump_share"] * len(entry.logs):
        return  # A log put together of several files; mlsub check reports its clock.
    for log, (line, by_ms) in jumps:
        length = log.run.duration_ms or 0
        share = f", {by_ms / length:.1%} of the run" if length > 0 else ""
        actual = f"by {show_duration(by_ms)}{share}; {len(jumps)} of {len(entry.logs)} runs have such a step"
        found = finding("inspect.clock-jump", log.path, line=line, actual=actual)
        yield observe(entry, found, undo_waits(entry, "with the step added", {log.path: -by_ms}), jump_ms=by_ms)
