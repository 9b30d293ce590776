"""What an auditor asks of the content of power files, and no official tool does."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from mlsub.findings import Finding
from mlsub.log.report import LogReport
from mlsub.rules.catalogue import finding
from mlsub.score.energy.model import Node, RunPower, Switch
from mlsub.score.energy.times import audit_times

#: Readings from which on it is no chance that two runs have them in common.
_TELLING = 10


def audit_run(run: RunPower, log: LogReport, described_nodes: int | None) -> Iterator[Finding]:
    """Findings on the measurements of one run: one a defect; of many nodes the worst is named.

    Args:
        run: what its power files say.
        log: the run's result log.
        described_nodes: number of nodes in the system description, None where it says none.
    """
    if not run.there:
        return
    yield from _unreadable(run)
    yield from _bad_lines(run)
    yield from _negative(run)
    yield from _efficiency(run)
    if not run.nodes:
        return
    yield from _intervals(run)
    yield from _uncounted(run)
    yield from audit_times(run, log.run.timeline.run_start, log.run.timeline.run_stop)
    yield from _described(run, described_nodes)


def _files(run: RunPower) -> list[Node | Switch]:
    return [*run.nodes, *run.switches]


def _unreadable(run: RunPower) -> Iterator[Finding]:
    for name, reason in run.unreadable[:1]:
        more = f", and {len(run.unreadable) - 1} more files" if len(run.unreadable) > 1 else ""
        yield finding("power.unreadable", f"{run.path}/{name}", f"It cannot be read: {reason}{more}")


def _bad_lines(run: RunPower) -> Iterator[Finding]:
    told = [(file.name, file.bad) for file in _files(run) if file.bad]
    for name, bad in told[:1]:
        lines = f", and {bad.count - 1} more lines" if bad.count > 1 else ""
        files = f"; also in {len(told) - 1} more files" if len(told) > 1 else ""
        yield finding("power.bad-line", f"{run.path}/{name}", line=bad.line, actual=f"{bad.what}{lines}{files}")


def _negative(run: RunPower) -> Iterator[Finding]:
    least = [(node.name, node.least_watts) for node in run.nodes] + [(each.name, each.watts) for each in run.switches]
    told = [(name, watts) for name, watts in least if watts is not None and watts < 0]
    if told:
        name, watts = min(told, key=lambda each: each[1])
        yield finding(
            "power.negative",
            f"{run.path}/{name}",
            actual=f"{watts:g} W" + (f", and in {len(told) - 1} more files" if len(told) > 1 else ""),
        )


def _efficiency(run: RunPower) -> Iterator[Finding]:
    told = [(file.name, file.efficiency) for file in _files(run)]
    odd = [(name, efficiency) for name, efficiency in told if efficiency is not None and not 0 < efficiency <= 1]
    for name, efficiency in odd[:1]:
        yield finding(
            "power.efficiency",
            f"{run.path}/{name}",
            actual=f"{efficiency:g}" + (f", in {len(odd)} files" if len(odd) > 1 else ""),
        )


def _intervals(run: RunPower) -> Iterator[Finding]:
    odd = [node for node in run.nodes if node.odd]
    for node in odd[:1]:
        yield finding(
            "power.interval", f"{run.path}/{node.name}", actual=f"{node.odd}, on {len(odd)} of {len(run.nodes)} nodes"
        )


def _uncounted(run: RunPower) -> Iterator[Finding]:
    """Files that the official score counts as 0 watts; where all nodes are, there is no energy, and that is told."""
    empty = [node.name for node in run.nodes if node.measured and not node.measured.counted]
    if empty and len(empty) < len(run.nodes):
        yield finding("power.uncounted", f"{run.path}/{empty[0]}", actual=f"{len(empty)} of {len(run.nodes)} nodes")
    silent = [switch.name for switch in run.switches if not switch.there]
    if silent:
        yield finding(
            "power.uncounted",
            f"{run.path}/{silent[0]}",
            "There is no interconnect_power_est, so the switch counts as 0 watts",
            actual=f"{len(silent)} of {len(run.switches)} switches",
        )


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
