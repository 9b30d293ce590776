"""What an auditor asks of power measurements: how often, how whole, at what time."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise
from statistics import median

from mlsub.energy.model import Node, RunPower
from mlsub.energy.score import NoEnergyError, measured
from mlsub.findings import Finding
from mlsub.log.report import LogReport
from mlsub.rules.catalogue import finding

#: One reading a second, and what clocks of a data centre may be apart; in ms.
INTERVAL_MS = 1000.0
#: Readings a little late are no defect.
SLACK = 1.05
GAP_MS = 10_000.0
EDGE_MS = 2_000.0
#: Readings the rules ask for, also of runs that are shorter than so many seconds.
LEAST = 60


def audit_run(run: RunPower, log: LogReport, described_nodes: int | None) -> Iterator[Finding]:
    """Findings on the measurements of one run; of many nodes the worst is named.

    Args:
        run: what its power files say.
        log: the run's result log.
        described_nodes: number of nodes in the system description, None where it says none.
    """
    yield from _unusable(run)
    if not run.nodes:
        return
    yield from _uncounted(run)
    yield from _sampling(run)
    yield from _coverage(run, log)
    yield from _efficiency(run)
    if described_nodes is not None and len(run.nodes) != described_nodes:
        yield finding(
            "power.node-count",
            run.path,
            "The number of measured nodes is not that of the system description",
            expected=f"{described_nodes} (number_of_nodes)",
            actual=str(len(run.nodes)),
        )
    if len(run.nodes) > 1 and not run.switches:
        yield finding(
            "power.no-switch", run.path, "Several nodes are measured, and no switch", expected="sw_0.txt", actual="none"
        )


def _unusable(run: RunPower) -> Iterator[Finding]:
    for name, reason in run.unreadable[:1]:
        more = f", and {len(run.unreadable) - 1} more files" if len(run.unreadable) > 1 else ""
        path = f"{run.path}/{name}" if name else run.path
        yield finding("power.unreadable", path, f"It cannot be read: {reason}{more}")
    told = [(node.name, node.bad) for node in run.nodes] + [(switch.name, switch.bad) for switch in run.switches]
    files = [(name, bad[0]) for name, bad in told if bad]
    for name, (line, what) in files[:1]:
        more = f", and lines of {len(files) - 1} more files" if len(files) > 1 else ""
        yield finding(
            "power.bad-line",
            f"{run.path}/{name}",
            "A line says nothing that can be used",
            line=line,
            expected="a record with a number as value",
            actual=f"{what}{more}",
        )
    negative = [node for node in run.nodes if any(reading.watts < 0 for reading in node.readings)]
    for node in negative[:1]:
        worst = min(reading.watts for reading in node.readings)
        yield finding("power.negative", f"{run.path}/{node.name}", "A reading is negative", actual=f"{worst:g} W")


def _uncounted(run: RunPower) -> Iterator[Finding]:
    """Nodes that the official score counts as 0 watts."""
    empty = [node.name for node in run.nodes if _counts_nothing(node)]
    if empty:
        yield finding(
            "power.uncounted",
            f"{run.path}/{empty[0]}",
            "No reading lies between the start and the stop of the measurement, so that the node counts as 0 watts",
            actual=f"{len(empty)} of {len(run.nodes)} nodes" if len(run.nodes) > 1 else None,
        )


def _counts_nothing(node: Node) -> bool:
    try:
        return measured(node).counted == 0
    except NoEnergyError:
        return False


def _steps(node: Node) -> list[float]:
    times = [reading.time_ms for reading in node.readings]
    return [after - before for before, after in pairwise(times)]


def _sampling(run: RunPower) -> Iterator[Finding]:
    steps = [(node, found) for node in run.nodes if (found := _steps(node))]
    slow = [(median(found), node, found) for node, found in steps if median(found) > INTERVAL_MS * SLACK]
    if slow:
        middle, node, found = max(slow, key=lambda each: each[0])
        yield finding(
            "power.sampling",
            f"{run.path}/{node.name}",
            "The power is read less often than once a second",
            expected="a reading each second",
            actual=(
                f"one each {middle / 1000:.2f} s ({len(found) + 1} readings, {max(found) / 1000:.1f} s at worst) "
                f"on {len(slow)} of {len(run.nodes)} nodes"
            ),
        )
    few = [node for node in run.nodes if 0 < len(node.readings) < LEAST]
    if few:
        node = min(few, key=lambda each: len(each.readings))
        yield finding(
            "power.few-readings",
            f"{run.path}/{node.name}",
            "The power was read too few times",
            expected=f"at least {LEAST} readings",
            actual=f"{len(node.readings)}, on {len(few)} of {len(run.nodes)} nodes",
        )
    gaps = [(max(found), node) for node, found in steps if max(found) > GAP_MS]
    if gaps:
        worst, node = max(gaps, key=lambda each: each[0])
        yield finding(
            "power.gap",
            f"{run.path}/{node.name}",
            "There is a gap in the readings",
            expected=f"at most {GAP_MS / 1000:g} s between two",
            actual=f"{worst / 1000:.1f} s, on {len(gaps)} of {len(run.nodes)} nodes",
        )


def _coverage(run: RunPower, log: LogReport) -> Iterator[Finding]:
    start, stop = log.run.timeline.run_start, log.run.timeline.run_stop
    measured = [node for node in run.nodes if node.readings]
    if start is None or stop is None or not measured:
        return
    apart = [(node, off) for node in measured if (off := _apart(node, start, stop)) is not None]
    if apart:
        node, off = max(apart, key=lambda each: abs(each[1]))
        side = "after" if off > 0 else "before"
        yield finding(
            "power.clock",
            f"{run.path}/{node.name}",
            "The power was measured at another time than the run",
            expected="readings between run_start and run_stop",
            actual=f"{_long(abs(off))} {side} it, on {len(apart)} of {len(run.nodes)} nodes",
        )
        return
    missing = [
        (max(0.0, node.readings[0].time_ms - start) + max(0.0, stop - node.readings[-1].time_ms), node)
        for node in measured
    ]
    lost, node = max(missing, key=lambda each: each[0])
    if lost > EDGE_MS:
        yield finding(
            "power.coverage",
            f"{run.path}/{node.name}",
            "The readings do not cover the whole run",
            expected="readings from run_start to run_stop",
            actual=f"{lost / 1000:.1f} s of {(stop - start) / 1000:.1f} s without any",
        )


def _uncovered(node: Node, start: float, stop: float) -> float:
    """How much (ms) of the run lies before the first reading and behind the last."""
    first, last = node.readings[0].time_ms, node.readings[-1].time_ms
    return max(0.0, first - start) + max(0.0, stop - last)


def _apart(node: Node, start: float, stop: float) -> float | None:
    """How far (ms) the readings lie outside the run: positive after it, negative before; None where some lie in it."""
    first, last = node.readings[0].time_ms, node.readings[-1].time_ms
    if first > stop:
        return first - stop
    return last - start if last < start else None


def _long(milliseconds: float) -> str:
    seconds = milliseconds / 1000
    for size, word in ((86_400 * 365.25, "years"), (86_400, "days"), (3600, "hours"), (60, "minutes")):
        if seconds >= 2 * size:
            return f"{seconds / size:.1f} {word}"
    return f"{seconds:.1f} s"


def _efficiency(run: RunPower) -> Iterator[Finding]:
    told = [(file.name, file.efficiency) for file in run.nodes] + [
        (file.name, file.efficiency) for file in run.switches
    ]
    odd = [(name, efficiency) for name, efficiency in told if not 0 < efficiency <= 1]
    for name, efficiency in odd[:1]:
        yield finding(
            "power.efficiency",
            f"{run.path}/{name}",
            "A conversion efficiency is none",
            expected="above 0, at most 1",
            actual=f"{efficiency:g}" + (f", in {len(odd)} files" if len(odd) > 1 else ""),
        )


def audit_copies(runs: Sequence[RunPower]) -> Iterator[Finding]:
    """Runs that have their readings in common, which two measurements never have."""
    seen: dict[tuple[tuple[float, ...], ...], RunPower] = {}
    for run in runs:
        watts = tuple(tuple(reading.watts for reading in node.readings) for node in run.nodes)
        if sum(len(each) for each in watts) < 10:
            continue
        first = seen.setdefault(watts, run)
        if first is not run:
            yield finding(
                "power.same-readings",
                run.path,
                "All readings are those of another run",
                expected="a measurement of its own",
                actual=first.path,
            )
