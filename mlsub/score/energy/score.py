"""The official energy score: the energy of each run over its timed part, and that of the entry."""

from __future__ import annotations

import math
from collections.abc import Sequence

import msgspec

from mlsub.findings import Finding
from mlsub.score.energy.model import Node, NoEnergyError, RunPower, Switch
from mlsub.submission.report import EnergyResult


class Power(msgspec.Struct, frozen=True):
    """What an entry's power measurements come to.

    ``crashes`` are the findings that decide of the entry, for the official checker has no verdict on it.
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
    told = [joules for joules in kept if joules is not None]
    mean = sum(told) / len(told) if told and len(told) == len(kept) else None
    return EnergyResult(unscaled=_finite(mean), scaled=_finite(mean, scaling), runs=power.joules)


def _finite(mean: float | None, factor: float = 1.0) -> float | None:
    return mean * factor if mean is not None and math.isfinite(mean * factor) else None
