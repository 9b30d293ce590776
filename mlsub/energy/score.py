"""The official energy score: the energy of each run over its timed part, and that of the entry."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

import msgspec

from mlsub.energy.model import Node, RunPower, Switch
from mlsub.report.model import EnergyResult

if TYPE_CHECKING:
    from mlsub.energy.judge import Power


class NoEnergyError(ValueError):
    """The energy of a run cannot be computed; the text says why, in one line."""


def run_joules(run: RunPower, duration_ms: float) -> float:
    """The energy of a run in joules.

    The mean power of each node over its measurement, and the estimate of each switch, times the time to train; a
    reading counts from the one before it. Source: the official result summarizer, _compute_total_power, which calls
    its watts times seconds kilojoules.

    Args:
        run: what its power files say.
        duration_ms: ``run_stop`` minus ``run_start``, in ms.

    Raises:
        NoEnergyError: there is nothing to compute it from.
    """
    if not run.nodes:
        raise NoEnergyError("there is no node_*.txt")
    joules = sum(_mean_watts(node) * duration_ms for node in run.nodes) / 1000
    joules += sum(_switch_watts(switch) * duration_ms for switch in run.switches) / 1000
    if not math.isfinite(joules):
        raise NoEnergyError("the numbers are too large")
    return joules


class Measured(msgspec.Struct, frozen=True):
    """What a node's measurement comes to: watts times ms over the readings that count, and how long it was, in ms."""

    sum_: float
    length: float
    counted: int


def measured(node: Node) -> Measured:
    """A node's measurement: from the last start to the last stop, of the readings after a start up to the first stop.

    Raises:
        NoEnergyError: it never starts, or has no length.
    """
    start = stop = previous = None
    last, sum_, counted = 0.0, 0.0, 0
    for record in node.records:
        if record.kind == "start":
            start = previous = record.time_ms
        elif record.kind == "stop":
            stop = record.time_ms
        elif stop is None and previous is not None:
            sum_ += record.watts * (record.time_ms - previous)
            previous = last = record.time_ms
            counted += 1
    if start is None:
        raise NoEnergyError(f"{node.name} has no power_measurement_start")
    length = (last if stop is None else stop) - start
    if length == 0:
        raise NoEnergyError(f"{node.name}: power_measurement_stop has the time of power_measurement_start")
    return Measured(sum_, length, counted)


def _mean_watts(node: Node) -> float:
    found = measured(node)
    return node.efficiency * found.sum_ / found.length


def _switch_watts(switch: Switch) -> float:
    if switch.bad and switch.watts is None:
        raise NoEnergyError(f"{switch.name} has no number of watts")
    return switch.efficiency * (switch.watts or 0.0)


def energy_result(power: Power, minutes: Sequence[float | None], forgiven: int, scaling: float) -> EnergyResult:
    """The energy of an entry: the mean over the runs that its time is the mean of, scaled as the time is.

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
    told = [joules for joules in kept if joules is not None]
    mean = sum(told) / len(told) if told and len(told) == len(kept) else None
    scaled = None if mean is None else mean * scaling
    return EnergyResult(
        unscaled=mean, scaled=scaled if scaled is not None and math.isfinite(scaled) else None, runs=power.joules
    )
