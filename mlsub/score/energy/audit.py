"""What an auditor asks about power files, and no official tool does: their content, and the times of their readings."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from mlsub.findings import Finding
from mlsub.log.report import LogReport
from mlsub.rules.catalogue import finding
from mlsub.score.energy.model import Node, Pace, RunPower, Switch
from mlsub.score.energy.score import GAP_MS
from mlsub.score.energy.structure import unreadable

#: Readings from which on it is not chance that two runs have them in common.
_TELLING = 10
#: One reading a second; a little late is not a defect.
INTERVAL_MS = 1000.0
SLACK = 1.05
#: What may be missing of a run at both its ends together.
EDGE_MS = 2_000.0
#: Readings the rules ask for, also of runs that are shorter than so many seconds.
LEAST = 60
#: An estimate of a switch may be written down on another day than the run.
ESTIMATE_MS = 86_400_000.0


def audit_run(run: RunPower, log: LogReport, described_nodes: int | None) -> Iterator[Finding]:
    """Findings on the measurements of one run: one a defect; of many nodes the worst is named.

    Args:
        run: what its power files say.
        log: the run's result log.
        described_nodes: number of nodes in the system description, None where it says none.
    """
    yield from _unreadable(run)
    if not run.there:
        return
    yield from _bad_lines(run)
    yield from _negative(run)
    yield from _efficiency(run)
    if not run.nodes:
        return
    odd = [(node.name, 0.0, node.odd) for node in run.nodes if node.odd]
    yield from _worst(run, "power.interval", odd)
    yield from _uncounted(run)
    yield from _times(run, log.run.timeline.run_start, log.run.timeline.run_stop)
    yield from _described(run, described_nodes)


def _files(run: RunPower) -> list[Node | Switch]:
    return [*run.nodes, *run.switches]


def _unreadable(run: RunPower) -> Iterator[Finding]:
    for name, reason in run.unreadable[:1]:
        more = f", and {len(run.unreadable) - 1} more files" if len(run.unreadable) > 1 else ""
        yield unreadable(f"{run.path}/{name}" if name else run.path, f"{reason}{more}")


def _bad_lines(run: RunPower) -> Iterator[Finding]:
    found = [(file.name, file.bad) for file in _files(run) if file.bad]
    for name, bad in found[:1]:
        lines = f", and {bad.count - 1} more lines" if bad.count > 1 else ""
        files = f"; also in {len(found) - 1} more files" if len(found) > 1 else ""
        yield finding("power.bad-line", f"{run.path}/{name}", line=bad.line, actual=f"{bad.what}{lines}{files}")


def _negative(run: RunPower) -> Iterator[Finding]:
    least = [(node.name, node.least_watts) for node in run.nodes] + [(each.name, each.watts) for each in run.switches]
    found = [(name, watts) for name, watts in least if watts is not None and watts < 0]
    if found:
        name, watts = min(found, key=lambda each: each[1])
        yield finding(
            "power.negative",
            f"{run.path}/{name}",
            actual=f"{watts:g} W" + (f", and in {len(found) - 1} more files" if len(found) > 1 else ""),
        )


def _efficiency(run: RunPower) -> Iterator[Finding]:
    found = [(file.name, file.efficiency) for file in _files(run)]
    odd = [(name, efficiency) for name, efficiency in found if efficiency is not None and not 0 < efficiency <= 1]
    for name, efficiency in odd[:1]:
        yield finding(
            "power.efficiency",
            f"{run.path}/{name}",
            actual=f"{efficiency:g}" + (f", in {len(odd)} files" if len(odd) > 1 else ""),
        )


def _worst(
    run: RunPower,
    rule: str,
    faults: Sequence[tuple[str, float, str]],
    message: str | None = None,
    *,
    expected: str | None = None,
    switches: bool = False,
) -> Iterator[Finding]:
    """One finding on the worst of the nodes or switches that have a fault, and on how many have it.

    Args:
        run: that they are of.
        rule: that is broken.
        faults: of each file its name, how bad it is, and what is wrong in words.
        message: where it is not that of the rule.
        expected: likewise.
        switches: the faults are of switches, not of nodes.
    """
    if faults:
        name, _, what = max(faults, key=lambda fault: fault[1])
        share = f"{len(faults)} of {f'{len(run.switches)} switches' if switches else f'{len(run.nodes)} nodes'}"
        actual = f"{what}, on {share}" if what else share
        yield finding(rule, f"{run.path}/{name}", message, expected=expected, actual=actual)


def _uncounted(run: RunPower) -> Iterator[Finding]:
    """Files that the official score counts as 0 watts; where all nodes are, there is no energy, which is reported."""
    empty = [(node.name, 0.0, "") for node in run.nodes if node.measured and not node.measured.counted]
    if len(empty) < len(run.nodes):
        yield from _worst(run, "power.uncounted", empty)
    silent = [(switch.name, 0.0, "") for switch in run.switches if not switch.there]
    message = "There is no interconnect_power_est, so the switch counts as 0 watts"
    yield from _worst(run, "power.uncounted", silent, message, switches=True)


def _described(run: RunPower, nodes: int | None) -> Iterator[Finding]:
    if nodes is not None and len(run.nodes) != nodes:
        yield finding("power.node-count", run.path, expected=f"{nodes} (number_of_nodes)", actual=str(len(run.nodes)))
    if max(nodes or 1, len(run.nodes)) > 1 and not any(name.startswith("sw_") for name in run.names):
        yield finding("power.no-switch", run.path, actual="none")


def audit_copies(runs: Sequence[RunPower]) -> Iterator[Finding]:
    """Runs that have their readings in common, which two measurements never have."""
    seen: dict[tuple[bytes, ...], RunPower] = {}
    for run in runs:
        if sum(node.pace.readings for node in run.nodes if node.pace) < _TELLING:
            continue
        first = seen.setdefault(tuple(node.digest for node in run.nodes), run)
        if first is not run:
            yield finding("power.same-readings", run.path, actual=first.path)


def _times(run: RunPower, start: float | None, stop: float | None) -> Iterator[Finding]:
    """Findings on when the nodes of a run were read.

    Args:
        run: what its power files say.
        start: ``run_start`` of its result log in ms since the Unix epoch; None without.
        stop: its ``run_stop``.
    """
    paced = [(node.name, node.pace, _interval_ms(node.pace)) for node in run.nodes if node.pace]
    slow = [(name, usual, _rate(pace)) for name, pace, usual in paced if usual > INTERVAL_MS * SLACK]
    yield from _worst(run, "power.sampling", slow)
    few = [(name, -pace.readings, str(pace.readings)) for name, pace, _ in paced if pace.readings < LEAST]
    yield from _worst(run, "power.few-readings", few, expected=f"at least {LEAST} readings")
    gaps = [(name, pace.worst_ms, f"{pace.worst_ms / 1000:.1f} s") for name, pace, _ in paced if pace.worst_ms > GAP_MS]
    yield from _worst(run, "power.gap", gaps, expected=f"at most {GAP_MS / 1000:g} s between two")
    if start is None or stop is None:
        return
    offs = [(name, apart_ms(pace.first_ms, pace.last_ms, start, stop)) for name, pace, _ in paced]
    apart = [(name, abs(off), _side(off)) for name, off in offs if off]
    yield from _worst(run, "power.clock", apart, expected="readings between run_start and run_stop")
    # Where nodes are read slowly, their readings may begin and end by more than that beside the run.
    part = [
        (name, missing, f"{missing / 1000:.1f} s of {(stop - start) / 1000:.1f} s without any")
        for (name, pace, usual), (_, off) in zip(paced, offs, strict=True)
        if not off and (missing := uncovered_ms(pace, start, stop)) > max(EDGE_MS, 2 * usual)
    ]
    yield from _worst(run, "power.coverage", part)
    yield from _estimates(run, start, stop)


def _estimates(run: RunPower, start: float, stop: float) -> Iterator[Finding]:
    offs = [
        (one.name, apart_ms(one.time_ms, one.time_ms, start, stop)) for one in run.switches if one.time_ms is not None
    ]
    apart = [(name, abs(off), _side(off)) for name, off in offs if abs(off) > ESTIMATE_MS]
    message = "The power of a switch was estimated at a different time than the run"
    yield from _worst(run, "power.clock", apart, message, expected="an estimate from the day of the run", switches=True)


def _interval_ms(pace: Pace) -> float:
    """The usual interval in ms: the median, or the mean where a good part of the intervals is longer."""
    return max(pace.median_ms, pace.usual_ms)


def _rate(pace: Pace) -> str:
    return (
        f"median {pace.median_ms / 1000:.2f} s, mean {pace.usual_ms / 1000:.2f} s without gaps, worst "
        f"{pace.worst_ms / 1000:.1f} s ({pace.readings} readings)"
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
