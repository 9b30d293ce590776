"""Result files left out or numbered against their times, and what logs state that cannot be: clock, length, pace."""

from __future__ import annotations

import re
import statistics
from collections.abc import Iterator, Sequence
from itertools import pairwise

import msgspec

from mlsub.findings import Severity
from mlsub.io.show import first_few
from mlsub.log.reading import usable_number
from mlsub.log.trace import MAX_TIME_MS
from mlsub.review.runs.model import Observation, observe, reached, seconds, shorter, thresholds
from mlsub.submission.model import LogReport
from mlsub.submission.result import Result

_NUMBERED = re.compile(r"result_(\d{1,6})\.txt(?:\.gz)?")
#: Of an entry's runs so many are put in order; published entries have 50 at most.
_MAX_RUNS = 60
#: So many numbers that begin in the middle are still an order: six of them with a chance of one in 60.
_TURNED = 6


def find_holes(entry: Result) -> Iterator[Observation]:
    """Yield numbers left out between the first and the last: runs that were made, and are not among the results."""
    numbered = _numbered(entry)
    if numbered is None:
        return
    numbers = sorted(numbered)
    holes = sorted(set(range(numbers[0], min(numbers[-1], numbers[0] + 10_000))) - set(numbers))
    if holes:
        yield observe(
            "inspect.numbering",
            entry,
            f"no {first_few(map(str, holes), 6)} among {numbers[0]} to {numbers[-1]}: {len(numbers)} results of "
            f"{numbers[-1] - numbers[0] + 1} numbers",
            holes=holes[:100],
        )


def _numbered(entry: Result) -> dict[int, LogReport] | None:
    """The logs by their numbers; None where not all have one of their own."""
    found: dict[int, LogReport] = {}
    for log in entry.logs:
        match = _NUMBERED.fullmatch(log.name)
        if match is None or int(match[1]) in found:
            return None
        found[int(match[1])] = log
    return found or None


class _Late(msgspec.Struct, frozen=True):
    """Runs that were made apart from the others, by their numbers, and how long (ms) after or before them."""

    numbers: tuple[int, ...]
    wait_ms: float
    after: bool


def find_order(entry: Result) -> Iterator[Observation]:
    """Yield runs that were made apart from the others, and whose numbers are not those of their times.

    Numbers that go down, begin elsewhere or have no order at all say nothing, nor do those of runs side by side.
    """
    numbered = _numbered(entry)
    starts = {number: log.run.timeline.run_start for number, log in (numbered or {}).items()}
    times = {number: time for number, time in starts.items() if time is not None and abs(time) < MAX_TIME_MS}
    if numbered is None or not thresholds().order_runs < len(times) == len(numbered) <= _MAX_RUNS:
        return
    order = sorted(times, key=lambda number: (times[number], number))
    waits = _waits(order, {n: (times[n], times[n] + (numbered[n].run.duration_ms or 0)) for n in order})
    found = _late(order, waits)
    if found is None:
        return
    shown = first_few([numbered[number].name for number in found.numbers], 3)
    side = "began {} after the others had ended" if found.after else "ended {} before the others began"
    longest, before = max(zip(waits, order[1:], strict=True))
    usual = statistics.median(waits)
    more = f"; the longest wait is {seconds(longest)}, before {before}" if longest > found.wait_ms else ""
    more += f"; they usually wait {seconds(usual)} for each other" if usual >= 0 else ""
    yield observe(
        "inspect.order",
        entry,
        f"{shown} {side.format(seconds(found.wait_ms))}; in time order {first_few(map(str, order), 20)}{more}",
        # Some numbers are in no order by habit, but a day is no wait between consecutive runs.
        severity=Severity.WARNING if longest >= thresholds().order_wait_ms else None,
        order=order[:100],
        late=list(found.numbers),
        wait_ms=found.wait_ms,
        usual_ms=usual,
    )


def _waits(order: Sequence[int], spans: dict[int, tuple[float, float]]) -> list[float]:
    """The time (ms) from the end of all runs before to the start of each but the first; below 0 where they overlap."""
    waits, last = [], spans[order[0]][1]
    for number in order[1:]:
        waits.append(spans[number][0] - last)
        last = max(last, spans[number][1])
    return waits


def _late(order: Sequence[int], waits: Sequence[float]) -> _Late | None:
    """The runs at the end of the order, or long before the rest, without which the others have an order."""
    limits = thresholds()
    if _is_sorted(order):
        return None
    for many in range(1, int(len(order) * limits.order_share) + 1):
        early, late = order[: len(order) - many], order[len(order) - many :]
        wait = waits[len(early) - 1]
        if len(early) < limits.order_runs:
            break
        least = max(limits.order_wait_ms, limits.order_after * statistics.median(waits))
        long = wait >= least and _is_nearly_sorted(early)
        in_turn = min(waits) >= 0 and _is_sorted(early) and not _is_turned(order)
        if long or (in_turn and _left_a_place(early, late, waits)):
            return _Late(tuple(late), wait, after=True)
        if waits[many - 1] >= least and _is_nearly_sorted(order[many:]):
            return _Late(tuple(order[:many]), waits[many - 1], after=False)
    return None


def _left_a_place(early: Sequence[int], late: Sequence[int], waits: Sequence[float]) -> bool:
    """Whether the others waited where a late run would have had its place, as for one that failed; or it for them."""
    limits, usual = thresholds(), statistics.median(waits)
    places = [
        wait
        for (one, other), wait in zip(pairwise(early), waits, strict=False)
        if any(min(one, other) < number < max(one, other) for number in late)
    ]
    after = waits[len(early) - 1]
    return max(places, default=0.0) >= limits.order_place * usual > 0 or after >= limits.order_after * usual > 0


def _is_sorted(order: Sequence[int]) -> bool:
    """Whether numbers go up, or down, all the way."""
    return all(a < b for a, b in pairwise(order)) or all(a > b for a, b in pairwise(order))


def _is_turned(order: Sequence[int]) -> bool:
    """Whether they do, beginning somewhere in the middle: ten runs numbered from 1, the last one as 0."""
    return any(_is_sorted([*order[at:], *order[:at]]) for at in range(len(order)))


def _is_nearly_sorted(order: Sequence[int]) -> bool:
    """Whether nearly all pairs of numbers go one way, wherever they begin; a few may begin anywhere by chance."""
    begins = range(len(order) if len(order) >= _TURNED else 1)
    return any(_share([*order[at:], *order[:at]]) >= thresholds().order_sorted for at in begins)


def _share(order: Sequence[int]) -> float:
    """The share of pairs that go up, or down if those are more."""
    up = [a < b for at, a in enumerate(order) for b in order[at + 1 :]]
    share = statistics.fmean(up)
    return max(share, 1 - share)


def find_jumps(entry: Result) -> Iterator[Observation]:
    """Yield runs whose clock steps back in the timed region, where most runs of the entry do not."""
    limits = thresholds()
    jumps = [(log, log.trace.jump) for log in entry.logs if log.trace.jump and log.trace.jump[1] >= limits.jump_ms]
    if len(jumps) > limits.jump_share * len(entry.logs):
        return  # A log put together of several files; mlsub check reports its clock.
    for log, (line, by) in jumps:
        length = log.run.duration_ms or 0
        share = f", {by / length:.1%} of the run" if length > 0 else ""
        yield observe(
            "inspect.clock-jump",
            entry,
            f"by {seconds(by)}{share}; {len(jumps)} of {len(entry.logs)} runs have such a step",
            at=log,
            line=line,
            undone=shorter(entry, "with the step added", {log.path: -by}),
            jump_ms=by,
        )


def find_stated_time(entry: Result) -> Iterator[Observation]:
    """Yield runs whose TTT is not run_stop minus run_start."""
    stated = {}
    field = ""
    for log in entry.logs:
        length = log.run.duration_ms
        if log.trace.stated_s is not None and length is not None:
            stated[log.name] = log.trace.stated_s * 1000 - length
            field = log.trace.stated_as
    off = {name: by for name, by in stated.items() if abs(by) > thresholds().stated_ms}
    if not off:
        return
    shown = [f"{name} {by:+,.1f} ms" for name, by in sorted(off.items(), key=lambda pair: -abs(pair[1]))]
    yield observe(
        "inspect.stated-time",
        entry,
        f"{len(off)} of {len(stated)} runs: {first_few(shown, 3)}",
        message=f"The {field} that run_stop states is not run_stop minus run_start",
        expected=f"equal within {thresholds().stated_ms:g} ms",
        runs=len(off),
        off_ms=off,
    )


def find_throughput(entry: Result) -> Iterator[Observation]:
    """Yield entries whose stated throughput does not give the samples in the time, whichever way they are counted."""
    limits = thresholds()
    ratios = [ratio for log in entry.logs if (ratio := ratio_of(log)) is not None]
    # The epochs of reinforcement learning have as many samples as were played, not as many as a data set has.
    if not ratios or entry.task == "reinforcement learning":
        return
    ratio = statistics.median(ratios)
    if limits.throughput_other_unit <= ratio < limits.throughput_least:
        yield observe(
            "inspect.throughput",
            entry,
            f"throughput times time is {ratio:.1%} of the samples, in the median of {len(ratios)} runs",
            ratio=ratio,
            ratios=ratios,
        )


def ratio_of(log: LogReport) -> float | None:
    """Stated throughput (median) times length of the run over the trained samples; the reading nearest above one.

    None where the log lacks one of them, or every reading is of another unit.
    """
    whole, far = log.run.duration_ms, reached(log)
    if not log.trace.rates or whole is None or whole <= 0 or far is None:
        return None
    made = statistics.median(log.trace.rates) * whole / 1000
    name, place = far
    size = usable_number(log.run.hyperparameters.get("train_samples"))
    readings = [place]
    if name == "epoch_num" and size is not None and size > 0:
        # Epochs are counted from 0 or from 1, and some codes count samples under this name.
        readings += [place * size, (place - 1) * size]
    ratios = [made / reading for reading in readings if reading > 0]
    least = thresholds().throughput_other_unit
    plausible = [ratio for ratio in ratios if least <= ratio <= 1 / least]
    return min(plausible, key=lambda ratio: (ratio < 1, abs(ratio - 1)), default=None)
