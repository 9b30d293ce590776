"""What the power files of a run say, and what the official formula makes of it: mean power, and the energy of runs."""

from __future__ import annotations

import math
from array import array
from collections.abc import Sequence
from itertools import pairwise
from typing import Literal

import msgspec

from mlsub.findings import Finding
from mlsub.io.data import blake2b
from mlsub.submission.report import EnergyResult


class NoEnergyError(ValueError):
    """The energy cannot be computed; the text says why, in one line."""


class Record(msgspec.Struct, frozen=True, gc=False):
    """A record of a node: its time in ms since the Unix epoch, and a reading's watts or the efficiency.

    ``value`` is None where it is not a number. Records are let go of as soon as their file is measured.
    """

    time_ms: float
    kind: Literal["start", "reading", "stop", "efficiency"]
    value: float | None = 0.0
    line: int = 0


class Measured(msgspec.Struct, frozen=True):
    """What the official score makes of a node: watts times ms over the ``counted`` readings, and its length in ms."""

    watt_ms: float
    length_ms: float
    counted: int
    efficiency: float

    @property
    def watts(self) -> float:
        """The mean power over the measurement, behind the power supply."""
        return self.efficiency * self.watt_ms / self.length_ms


class Pace(msgspec.Struct, frozen=True):
    """When a node was read: first and last reading (ms since the epoch), and the intervals between readings in ms.

    ``usual_ms`` is the mean of the intervals that are no gaps. With one reading all intervals are 0.
    """

    readings: int
    first_ms: float
    last_ms: float
    median_ms: float = 0.0
    usual_ms: float = 0.0
    worst_ms: float = 0.0


class Bad(msgspec.Struct, frozen=True):
    """Lines that say nothing that can be used: the first of them, what it says, and how many there are."""

    line: int
    what: str
    count: int


class Node(msgspec.Struct, frozen=True, kw_only=True):
    """One ``node_<j>.txt``.

    ``measured`` is None where the official formula gives no number, and ``lack`` says why; ``odd`` is what is not
    as it should be with start and stop; ``pace`` is None without readings; ``digest`` is the same for the same
    readings; ``least_watts`` the smallest of them.
    """

    name: str
    measured: Measured | None = None
    lack: str = ""
    odd: str = ""
    pace: Pace | None = None
    efficiency: float | None = 1.0
    least_watts: float | None = None
    digest: bytes = b""
    bad: Bad | None = None


class Switch(msgspec.Struct, frozen=True, kw_only=True):
    """One ``sw_<k>.txt``: the estimated power of the interconnect in watts, and when it was logged in ms.

    ``there`` is False where the file has no estimate, which the official score counts as 0 watts; watts and efficiency
    are None where they are not numbers.
    """

    name: str
    there: bool = True
    watts: float | None = 0.0
    efficiency: float | None = 1.0
    time_ms: float | None = None
    bad: Bad | None = None


class RunPower(msgspec.Struct, frozen=True):
    """The folder ``power/<result>/`` of one run; ``there`` is False where there is none that can be listed.

    ``names`` are all files in it; ``unreadable`` what cannot be read, with the reason (the name of the folder itself
    is empty).
    """

    result: str
    path: str
    there: bool
    names: tuple[str, ...] = ()
    nodes: tuple[Node, ...] = ()
    switches: tuple[Switch, ...] = ()
    unreadable: tuple[tuple[str, str], ...] = ()


#: Readings further apart (ms) are a gap, not a slow meter.
GAP_MS = 10_000.0


def measure(name: str, records: Sequence[Record], bad: Bad | None = None) -> Node:
    """What a node's file shows.

    Args:
        name: of the file.
        records: in the order of the file; the official score sorts them by time.
        bad: lines of the file that cannot be used.
    """
    ordered = sorted(records, key=lambda record: record.time_ms)
    measured, lack = None, ""
    try:
        measured = official_sum(ordered)
    except NoEnergyError as error:
        lack = f"{name}: {error}"
    watts = array("d", (r.value for r in ordered if r.kind == "reading" and r.value is not None))
    return Node(
        name=name,
        measured=measured,
        lack=lack,
        odd=_odd(ordered),
        pace=_pace([record.time_ms for record in ordered if record.kind == "reading"]),
        efficiency=_efficiency(ordered),
        least_watts=min(watts, default=None),
        digest=_digest(watts),
        bad=bad,
    )


def official_sum(ordered: Sequence[Record]) -> Measured:
    """The official sum over a node's records, which are in the order of time.

    From the last start to the first or last stop: a reading counts from the one before it, after a start and up to the
    first stop; the length goes from the last start to the last stop, or to the last reading where there is none.
    Source: the official result summarizer, _compute_power_node.

    Raises:
        NoEnergyError: the official code ends in a traceback, or in an energy below 0.
    """
    start = stop = previous = None
    last, watt_ms, counted = 0.0, 0.0, 0
    for record in ordered:
        if record.kind == "start":
            start = previous = record.time_ms
        elif record.kind == "stop":
            stop = record.time_ms
        elif record.kind == "reading" and stop is None and previous is not None:
            if record.value is None:
                raise NoEnergyError(f"the power_reading of line {record.line} is not a number")
            watt_ms += record.value * (record.time_ms - previous)
            previous = last = record.time_ms
            counted += 1
    if start is None:
        raise NoEnergyError("there is no power_measurement_start")
    efficiency = _efficiency(ordered)
    if efficiency is None:
        raise NoEnergyError("the conversion_eff is not a number")
    length = (last if stop is None else stop) - start
    if length == 0:
        end = "the last power_reading" if stop is None else "power_measurement_stop"
        raise NoEnergyError(f"{end} has the time of power_measurement_start")
    if length < 0 and watt_ms:
        raise NoEnergyError(f"the measurement ends {-length / 1000:g} s before its last power_measurement_start")
    return Measured(watt_ms, length, counted, efficiency)


def _efficiency(ordered: Sequence[Record]) -> float | None:
    """The last one in time holds; 1 without any."""
    return next((record.value for record in reversed(ordered) if record.kind == "efficiency"), 1.0)


def _odd(ordered: Sequence[Record]) -> str:
    kinds = [record.kind for record in ordered if record.kind in ("start", "stop")]
    starts, stops = kinds.count("start"), kinds.count("stop")
    if starts == 0 or starts == stops == 1:
        return ""
    if starts == 1 and stops == 0:
        return "no power_measurement_stop"
    return f"{starts} times power_measurement_start, {stops} times power_measurement_stop"


def _pace(times: Sequence[float]) -> Pace | None:
    if len(times) < 2:
        return Pace(1, times[0], times[0]) if times else None
    from statistics import fmean, median

    steps = [after - before for before, after in pairwise(times)]
    usual = [step for step in steps if step <= GAP_MS]
    return Pace(len(times), times[0], times[-1], median(steps), fmean(usual) if usual else 0.0, max(steps))


def _digest(watts: array[float]) -> bytes:
    return blake2b(watts.tobytes(), digest_size=16).digest()


class Power(msgspec.Struct, frozen=True):
    """What an entry's power measurements show.

    ``crashes`` are the findings that decide the entry, for the official checker has no verdict on it.
    ``faulted`` names the result files that the checker of the round counts as noncompliant for their power files;
    ``joules`` is the energy of each run in the order of the logs, None where it cannot be computed.
    """

    findings: tuple[Finding, ...]
    faulted: frozenset[str]
    joules: tuple[float | None, ...]
    crashes: tuple[Finding, ...] = ()


def run_joules(run: RunPower, duration_ms: float) -> float:
    """The energy of a run in joules.

    The mean power of each node over its measurement, and the estimate of each switch, times the time to train. Source:
    the official result summarizer, _compute_total_power, which calls its watts times seconds kilojoules.

    Args:
        run: what its power files say.
        duration_ms: ``run_stop`` minus ``run_start``, in ms.

    Raises:
        NoEnergyError: there is nothing to compute it from.
    """
    if run.unreadable:
        raise NoEnergyError(f"{run.unreadable[0][0] or 'the folder'} cannot be read")
    if not run.nodes:
        raise NoEnergyError("there is no node_*.txt")
    watts = [_node_watts(node) for node in run.nodes] + [_switch_watts(switch) for switch in run.switches]
    if not any(node.measured and node.measured.counted for node in run.nodes):
        raise NoEnergyError("there is no power_reading between start and stop of a measurement")
    joules = sum(each * duration_ms for each in watts) / 1000
    if not math.isfinite(joules):
        raise NoEnergyError("the numbers are too large")
    return joules


def _node_watts(node: Node) -> float:
    if node.measured is None:
        raise NoEnergyError(node.lack)
    return node.measured.watts


def _switch_watts(switch: Switch) -> float:
    if switch.watts is None:
        raise NoEnergyError(f"{switch.name}: the interconnect_power_est is not a number")
    if switch.efficiency is None:
        raise NoEnergyError(f"{switch.name}: the conversion_eff is not a number")
    return switch.efficiency * switch.watts


def energy_result(power: Power, minutes: Sequence[float | None], forgiven: int, scaling: float) -> EnergyResult:
    """The energy of an entry: the mean over the runs that its time is the mean of, scaled as the time is.

    Source: the official result summarizer, _index_olympic_average and _compute_strong_score_standalone.

    Args:
        power: that of the runs, in their order.
        minutes: time to train of each run; None for a noncompliant one, which falls out as slowest.
        forgiven: runs that fall out at each end.
        scaling: that of the time.
    """
    counted = [(time, joules) for time, joules in zip(minutes, power.joules, strict=True) if time is not None]
    dropped = len(minutes) - len(counted)
    order = sorted(range(len(counted)), key=lambda n: counted[n][0])
    kept = [counted[n][1] for n in order[forgiven : len(order) - (forgiven - dropped)]] if dropped <= forgiven else []
    mean = _mean(kept)
    return EnergyResult(unscaled=_finite(mean), scaled=_finite(mean, scaling), runs=power.joules)


def weak_energy(power: Power, counted: Sequence[float | None]) -> EnergyResult:
    """The energy of an entry of weak scaling: the mean over all runs that count but that of the least energy.

    Source: the official result summarizer, _compute_weak_score_standalone, which drops as if the largest were dropped
    already, and does not scale.

    Args:
        power: that of the runs, in their order.
        counted: the joules of compliant runs that state their scale.
    """
    known = sorted(joules for joules in counted if joules is not None)
    mean = _finite(_mean(known[1:])) if len(known) == len(counted) else None
    return EnergyResult(unscaled=mean, scaled=mean, runs=power.joules)


def _mean(joules: Sequence[float | None]) -> float | None:
    """The mean, None where one is unknown or there is none."""
    known = [each for each in joules if each is not None]
    return sum(known) / len(known) if known and len(known) == len(joules) else None


def _finite(mean: float | None, factor: float = 1.0) -> float | None:
    return mean * factor if mean is not None and math.isfinite(mean * factor) else None
