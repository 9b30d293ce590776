"""What the power files of a run say, and what the official formula makes of it: mean power, and the energy of runs."""

from __future__ import annotations

import math
from array import array
from collections.abc import Sequence
from itertools import pairwise
from typing import Literal

import msgspec

from mlsub.findings import Finding
from mlsub.io import MlsubError
from mlsub.io.data import blake2b
from mlsub.score import add_in_order, scale
from mlsub.submission.report import EnergyResult


class Record(msgspec.Struct, frozen=True, gc=False):
    """A record of a node: its time in ms since the Unix epoch, and a reading's watts or the efficiency.

    ``value`` is None where it is not a number. Records are let go of as soon as their file is measured.
    """

    time_ms: float
    kind: Literal["start", "reading", "stop", "efficiency"]
    value: float | None = 0.0
    line: int = 0


class BadLines(msgspec.Struct):
    """Lines that say nothing that can be used: the first of them, what it says, and how many there are."""

    line: int = 0
    what: str = ""
    count: int = 0

    def add(self, line: int, what: str) -> None:
        """Count a line."""
        if not self.count:
            self.line, self.what = line, what
        self.count += 1


class Node(msgspec.Struct, frozen=True, kw_only=True):
    """One ``node_<j>.txt``.

    ``watts`` is the mean power over the ``counted`` readings behind the power supply, None where the official formula
    gives no number, and ``lack`` says why; ``odd`` is what is not as it should be with start and stop. ``first_ms`` and
    ``last_ms`` are the times of the first and the last of all ``readings`` since the epoch, ``median_ms`` the median of
    the intervals between them; ``usual_ms`` is the mean of those that are no gaps, and ``gaps`` are the longest of the
    others, each from when to when. With one reading all intervals are 0. ``least_watts`` is the smallest
    reading; ``digest`` is the same for the same readings.
    """

    name: str
    watts: float | None = None
    counted: int = 0
    lack: str = ""
    odd: str = ""
    readings: int = 0
    first_ms: float = 0.0
    last_ms: float = 0.0
    median_ms: float = 0.0
    usual_ms: float = 0.0
    gaps: tuple[tuple[float, float], ...] = ()
    efficiency: float | None = 1.0
    least_watts: float | None = None
    digest: bytes = b""
    bad: BadLines = msgspec.field(default_factory=BadLines)


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
    bad: BadLines = msgspec.field(default_factory=BadLines)


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
_MOST_GAPS = 100


def measure(name: str, records: Sequence[Record], bad: BadLines | None = None) -> Node:
    """What a node's file shows.

    Args:
        name: of the file.
        records: in the order of the file; the official score sorts them by time.
        bad: lines of the file that cannot be used.
    """
    ordered = sorted(records, key=lambda record: record.time_ms)
    mean, counted, lack = None, 0, ""
    try:
        mean, counted = official_mean(ordered)
    except MlsubError as error:
        lack = f"{name}: {error}"
    watts = array("d", (r.value for r in ordered if r.kind == "reading" and r.value is not None))
    times = [record.time_ms for record in ordered if record.kind == "reading"]
    median_ms, usual_ms, gaps = _measure_intervals(times)
    return Node(
        name=name,
        watts=mean,
        counted=counted,
        lack=lack,
        odd=_describe_ends(ordered),
        readings=len(times),
        first_ms=times[0] if times else 0.0,
        last_ms=times[-1] if times else 0.0,
        median_ms=median_ms,
        usual_ms=usual_ms,
        gaps=gaps,
        efficiency=_efficiency(ordered),
        least_watts=min(watts, default=None),
        digest=blake2b(watts.tobytes(), digest_size=16).digest(),
        bad=bad or BadLines(),
    )


def official_mean(ordered: Sequence[Record]) -> tuple[float, int]:
    """The mean power of a node in watts by the official formula, and of how many readings it is.

    From the last start to the first or last stop: a reading counts from the one before it, after a start and up to the
    first stop; the length goes from the last start to the last stop, or to the last reading where there is none.
    Source: the official result summarizer, _compute_power_node.

    Args:
        ordered: the records of the node in the order of time.

    Raises:
        MlsubError: the official code ends in a traceback, or in an energy below 0.
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
                raise MlsubError(f"the power_reading of line {record.line} is not a number")
            watt_ms += record.value * (record.time_ms - previous)
            previous = last = record.time_ms
            counted += 1
    if start is None:
        raise MlsubError("there is no power_measurement_start")
    efficiency = _efficiency(ordered)
    if efficiency is None:
        raise MlsubError("the conversion_eff is not a number")
    length = (last if stop is None else stop) - start
    if length == 0:
        end = "the last power_reading" if stop is None else "power_measurement_stop"
        raise MlsubError(f"{end} has the time of power_measurement_start")
    if length < 0 and watt_ms:
        raise MlsubError(f"the measurement ends {-length / 1000:g} s before its last power_measurement_start")
    return efficiency * watt_ms / length, counted


def _efficiency(ordered: Sequence[Record]) -> float | None:
    """The last one in time holds; 1 without any."""
    return next((record.value for record in reversed(ordered) if record.kind == "efficiency"), 1.0)


def _describe_ends(ordered: Sequence[Record]) -> str:
    ends = [(record.kind, record.time_ms) for record in ordered if record.kind in ("start", "stop")]
    kinds = [kind for kind, _ in ends]
    starts, stops = kinds.count("start"), kinds.count("stop")
    if starts == stops == 1 and ends[0][1] == ends[1][1]:
        return "power_measurement_stop has the time of power_measurement_start"
    if starts == 0 or starts == stops == 1:
        return ""
    if starts == 1 and stops == 0:
        return "no power_measurement_stop"
    return f"{starts} times power_measurement_start, {stops} times power_measurement_stop"


def _measure_intervals(times: Sequence[float]) -> tuple[float, float, tuple[tuple[float, float], ...]]:
    """Of the intervals between times in ms the median, the mean of those that are no gaps, and the longest gaps."""
    if len(times) < 2:
        return 0.0, 0.0, ()
    from statistics import fmean, median

    steps = [after - before for before, after in pairwise(times)]
    usual = [step for step in steps if step <= GAP_MS]
    gaps = sorted((pair for pair in pairwise(times) if pair[1] - pair[0] > GAP_MS), key=lambda pair: pair[0] - pair[1])
    return median(steps), fmean(usual) if usual else 0.0, tuple(gaps[:_MOST_GAPS])


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
        MlsubError: there is nothing to compute it from.
    """
    if run.unreadable:
        raise MlsubError(f"{run.unreadable[0][0] or 'the folder'} cannot be read")
    if not run.nodes:
        raise MlsubError("there is no node_*.txt")
    watts = []
    for node in run.nodes:
        if node.watts is None:
            raise MlsubError(node.lack)
        watts.append(node.watts)
    for switch in run.switches:
        if switch.watts is None:
            raise MlsubError(f"{switch.name}: the interconnect_power_est is not a number")
        if switch.efficiency is None:
            raise MlsubError(f"{switch.name}: the conversion_eff is not a number")
        watts.append(switch.efficiency * switch.watts)
    if not any(node.watts is not None and node.counted for node in run.nodes):
        raise MlsubError("there is no power_reading between start and stop of a measurement")
    joules = add_in_order(each * duration_ms for each in watts) / 1000
    if not math.isfinite(joules):
        raise MlsubError("the numbers are too large")
    return joules


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
    return EnergyResult(unscaled=scale(mean), scaled=scale(mean, scaling), runs=power.joules)


def weak_energy(power: Power, counted: Sequence[float | None]) -> EnergyResult:
    """The energy of an entry of weak scaling: the mean over all runs that count but that of the least energy.

    Source: the official result summarizer, _compute_weak_score_standalone, which drops as if the largest were dropped
    already, and does not scale.

    Args:
        power: that of the runs, in their order.
        counted: the joules of compliant runs that state their scale.
    """
    known = sorted(joules for joules in counted if joules is not None)
    mean = scale(_mean(known[1:])) if len(known) == len(counted) else None
    return EnergyResult(unscaled=mean, scaled=mean, runs=power.joules)


def _mean(joules: Sequence[float | None]) -> float | None:
    """The mean, None where one is unknown or there is none."""
    known = [each for each in joules if each is not None]
    return add_in_order(known) / len(known) if known and len(known) == len(joules) else None
