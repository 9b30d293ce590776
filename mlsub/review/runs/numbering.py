"""Numbers of result files: holes, and an order that is not that of time."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import pairwise

from mlsub.log.trace import MAX_TIME_MS, Trace
from mlsub.review.runs.model import Entry
from mlsub.review.runs.observation import Observation, listed, name_of, observe, seconds

_NUMBERED = re.compile(r"result_(\d{1,6})\.txt(?:\.gz)?")


def find_holes(entry: Entry) -> Iterator[Observation]:
    """Numbers left out between the first and the last."""
    numbered = _numbered(entry)
    if numbered is None:
        return
    numbers = sorted(numbered)
    holes = sorted(set(range(numbers[0], min(numbers[-1], numbers[0] + 10_000))) - set(numbers))
    if holes:
        yield observe(
            "inspect.numbering",
            entry,
            "Numbers of result files are missing",
            f"no {listed([str(number) for number in holes])} among {numbers[0]} to {numbers[-1]}",
            expected="consecutive numbers",
            holes=holes[:100],
        )


def find_order(entry: Entry) -> Iterator[Observation]:
    """Runs that were not made in the order of their numbers."""
    numbered = _numbered(entry)
    if numbered is None or len(numbered) < 2:
        return
    starts = {number: trace.run.timeline.run_start for number, trace in numbered.items()}
    times = {number: time for number, time in starts.items() if time is not None and abs(time) < MAX_TIME_MS}
    in_time = sorted(times, key=lambda number: (times[number], number))
    if len(times) < len(numbered) or in_time == sorted(in_time):
        return
    waits = [(times[b] - times[a] - (numbered[a].run.duration_ms or 0), b) for a, b in pairwise(in_time)]
    longest, after = max(waits)
    actual = f"in time order {listed([str(number) for number in in_time], 20)}"
    if longest > 0:
        actual += f"; the longest wait is {seconds(longest)}, before {after}"
    yield observe(
        "inspect.order",
        entry,
        "The runs were not made in the order of their numbers",
        actual,
        expected="chronological order",
        order=in_time[:100],
        longest_wait_ms=longest,
    )


def _numbered(entry: Entry) -> dict[int, Trace] | None:
    """The logs by their numbers; None where not all have one of their own."""
    found: dict[int, Trace] = {}
    for trace in entry.traces:
        match = _NUMBERED.fullmatch(name_of(trace))
        if match is None or int(match[1]) in found:
            return None
        found[int(match[1])] = trace
    return found or None
