"""What an auditor asks of the times of power readings: how often, how whole, at the time of the run."""

from __future__ import annotations

from collections.abc import Iterator

from mlsub.findings import Finding
from mlsub.rules.catalogue import finding
from mlsub.score.energy.measure import GAP_MS
from mlsub.score.energy.model import Node, Pace, RunPower

#: One reading a second; a little late is no defect.
INTERVAL_MS = 1000.0
SLACK = 1.05
#: What may be missing of a run at both its ends together.
EDGE_MS = 2_000.0
#: Readings the rules ask for, also of runs that are shorter than so many seconds.
LEAST = 60
#: An estimate of a switch may be written down on another day than the run.
ESTIMATE_MS = 86_400_000.0
_Paced = list[tuple[Node, Pace]]


def audit_times(run: RunPower, start: float | None, stop: float | None) -> Iterator[Finding]:
    """Findings on when the nodes of a run were read; of many nodes the worst is named.

    Args:
        run: what its power files say.
        start: ``run_start`` of its result log in ms since the Unix epoch; None without.
        stop: its ``run_stop``.
    """
    paced = [(node, node.pace) for node in run.nodes if node.pace]
    yield from _sampling(run, paced)
    yield from _few(run, paced)
    yield from _gap(run, paced)
    if start is not None and stop is not None:
        yield from _clock(run, paced, start, stop)
        yield from _coverage(run, paced, start, stop)
        yield from _estimates(run, start, stop)


def _share(found: _Paced, run: RunPower) -> str:
    return f"on {len(found)} of {len(run.nodes)} nodes"


def _interval_ms(pace: Pace) -> float:
    """The usual interval in ms: the median, or the mean where a good part of the intervals is longer."""
    return max(pace.median_ms, pace.usual_ms)


def _sampling(run: RunPower, paced: _Paced) -> Iterator[Finding]:
    slow = [(node, pace) for node, pace in paced if _interval_ms(pace) > INTERVAL_MS * SLACK]
    if slow:
        node, pace = max(slow, key=lambda each: _interval_ms(each[1]))
        yield finding(
            "power.sampling",
            f"{run.path}/{node.name}",
            actual=f"median {pace.median_ms / 1000:.2f} s, mean {pace.usual_ms / 1000:.2f} s without gaps, worst "
            f"{pace.worst_ms / 1000:.1f} s ({pace.readings} readings), {_share(slow, run)}",
        )


def _few(run: RunPower, paced: _Paced) -> Iterator[Finding]:
    few = [(node, pace) for node, pace in paced if pace.readings < LEAST]
    if few:
        node, pace = min(few, key=lambda each: each[1].readings)
        yield finding(
            "power.few-readings",
            f"{run.path}/{node.name}",
            expected=f"at least {LEAST} readings",
            actual=f"{pace.readings}, {_share(few, run)}",
        )


def _gap(run: RunPower, paced: _Paced) -> Iterator[Finding]:
    gaps = [(node, pace) for node, pace in paced if pace.worst_ms > GAP_MS]
    if gaps:
        node, pace = max(gaps, key=lambda each: each[1].worst_ms)
        yield finding(
            "power.gap",
            f"{run.path}/{node.name}",
            expected=f"at most {GAP_MS / 1000:g} s between two",
            actual=f"{pace.worst_ms / 1000:.1f} s, {_share(gaps, run)}",
        )


def _clock(run: RunPower, paced: _Paced, start: float, stop: float) -> Iterator[Finding]:
    apart = [(node, pace) for node, pace in paced if apart_ms(pace.first_ms, pace.last_ms, start, stop)]
    if apart:
        node, pace = max(apart, key=lambda each: abs(apart_ms(each[1].first_ms, each[1].last_ms, start, stop)))
        yield finding(
            "power.clock",
            f"{run.path}/{node.name}",
            expected="readings between run_start and run_stop",
            actual=f"{_side(apart_ms(pace.first_ms, pace.last_ms, start, stop))}, {_share(apart, run)}",
        )


def _estimates(run: RunPower, start: float, stop: float) -> Iterator[Finding]:
    told = [
        (switch, apart_ms(time, time, start, stop)) for switch in run.switches if (time := switch.time_ms) is not None
    ]
    apart = [(switch, off) for switch, off in told if abs(off) > ESTIMATE_MS]
    if apart:
        switch, off = max(apart, key=lambda each: abs(each[1]))
        yield finding(
            "power.clock",
            f"{run.path}/{switch.name}",
            "The power of a switch was estimated at a different time than the run",
            expected="an estimate from the day of the run",
            actual=f"{_side(off)}, on {len(apart)} of {len(run.switches)} switches",
        )


def _coverage(run: RunPower, paced: _Paced, start: float, stop: float) -> Iterator[Finding]:
    """Nodes whose readings begin too late or end too early; where they are read slowly, by more than that brings."""
    part = [
        (node, pace)
        for node, pace in paced
        if not apart_ms(pace.first_ms, pace.last_ms, start, stop)
        and uncovered_ms(pace, start, stop) > max(EDGE_MS, 2 * _interval_ms(pace))
    ]
    if part:
        node, pace = max(part, key=lambda each: uncovered_ms(each[1], start, stop))
        yield finding(
            "power.coverage",
            f"{run.path}/{node.name}",
            actual=f"{uncovered_ms(pace, start, stop) / 1000:.1f} s of {(stop - start) / 1000:.1f} s without any, "
            f"{_share(part, run)}",
        )


def uncovered_ms(pace: Pace, start: float, stop: float) -> float:
    """How much (ms) of a run lies before the first reading and behind the last."""
    return max(0.0, pace.first_ms - start) + max(0.0, stop - pace.last_ms)


def apart_ms(first: float, last: float, start: float, stop: float) -> float:
    """How far (ms) times lie outside a run: positive behind it, negative before it; 0 where some lie in it."""
    if first > stop:
        return first - stop
    return min(0.0, last - start)


def _side(off: float) -> str:
    return f"{_long(abs(off))} {'after' if off > 0 else 'before'} it"


def _long(milliseconds: float) -> str:
    seconds = milliseconds / 1000
    for size, word in ((86_400 * 365.25, "years"), (86_400, "days"), (3600, "hours"), (60, "minutes")):
        if seconds >= 2 * size:
            return f"{seconds / size:.1f} {word}"
    return f"{seconds:.1f} s"
