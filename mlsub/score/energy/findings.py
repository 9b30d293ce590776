"""What the official power checker faults about names of files, and what an auditor asks about their content."""

from __future__ import annotations

import math
import stat
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

import msgspec

from mlsub.findings import Blocks, Effect, Finding, Kind, Severity
from mlsub.io import reason_of
from mlsub.io.look import status_of
from mlsub.io.show import several
from mlsub.rules.catalogue import finding, has_effect
from mlsub.score.energy.read import is_measurement
from mlsub.score.energy.score import GAP_MS, Node, RunPower, Switch
from mlsub.submission.model import LogReport

_KINDS = (("node", "nodes"), ("sw", "switches"))


def numbers_of(names: Iterable[str], kind: str) -> list[int | None]:
    """The number in the name of each file that the official checker takes for one of a kind; None where there is none.

    It takes all that begin with ``node`` or ``sw``, ``nodes_1_to_1.png`` as well.
    """
    found: list[int | None] = []
    for name in names:
        if name.startswith(kind):
            text = name.rpartition(".")[0] if "." in name[1:] else name
            try:
                found.append(int(text.split("_")[-1]))
            except ValueError:
                found.append(None)
    return found


def is_misnumbered(run: RunPower, kind: str) -> bool:
    """Whether the official checker faults how the files of a kind are numbered.

    It asks for numbers below the number of files, and does not see that one comes twice.
    """
    numbers = numbers_of(run.names, kind)
    return any(number is None or not 0 <= number < len(numbers) for number in numbers)


def find_faulted(runs: Sequence[RunPower]) -> frozenset[str]:
    """The results that the official power checker of v5.0 and later counts as noncompliant, by name without ending."""
    found = {run.result for run in runs if not run.there or any(is_misnumbered(run, kind) for kind, _ in _KINDS)}
    return frozenset(found.union(*(find_blamed(runs, kind).values() for kind, _ in _KINDS)))


def find_crashes(runs: Sequence[RunPower], folder: Path, path: str) -> Iterator[Finding]:
    """What the official power checker of v5.0 and later ends in a traceback on, whatever run it is of."""
    if not any(run.there for run in runs):
        yield _crash(path, "It has no folder for any run", "power/result_<n>/ for each run")
    for run in runs:
        names = [name for kind, _ in _KINDS for name in run.names if numbers_of((name,), kind) == [None]]
        if not run.there:
            yield from _crash_without_folder(run, folder / run.result)
        elif names:
            yield _crash(run.path, f"{several(names, 5)}: no number in the name", "node_<j>.txt and sw_<k>.txt")


def _crash_without_folder(run: RunPower, place: Path) -> Iterator[Finding]:
    """The traceback on what is not a folder; the official checker takes for missing what it cannot look at."""
    try:
        found = status_of(place)
    except OSError as error:
        yield unreadable(run.path, reason_of(error))
        return
    if found is not None and not stat.S_ISDIR(found.st_mode):
        yield _crash(run.path, "It is not a folder", f"a folder power/{run.result}")


def unreadable(path: str, reason: str) -> Finding:
    """The finding on a power file, or a folder of them, that cannot be read."""
    return finding("power.unreadable", path, f"It cannot be read: {reason}")


def _crash(path: str, actual: str, expected: str) -> Finding:
    message = "The official checker ends with a traceback on these power measurements"
    return finding("official.crash", path, message, expected=expected, actual=actual)


def find_blamed(runs: Sequence[RunPower], kind: str) -> dict[str, str]:
    """For each result that has another number of files of a kind than most: the result that is counted for it.

    The official checker counts the files of the runs that have a folder in a list of their own, and then looks their
    places up among all runs: behind a run without a folder it names one that comes before.
    """
    there = [run for run in runs if run.there]
    usual = usual_count(runs, kind)
    return {
        run.result: named.result
        for run, named in zip(there, runs, strict=False)
        if len(numbers_of(run.names, kind)) != usual
    }


def usual_count(runs: Iterable[RunPower], kind: str) -> int:
    """How many files of a kind most runs have; where several numbers are as frequent, the first."""
    counts = Counter(len(numbers_of(run.names, kind)) for run in runs if run.there)
    return counts.most_common(1)[0][0] if counts else 0


def judge_structure(runs: Sequence[RunPower], *, checked: bool) -> Iterator[Finding]:
    """Findings on names and numbers of files.

    Args:
        runs: those of the entry.
        checked: whether the official checker of the round looks; else what it would fault is for the auditor to say.
    """
    for found in (*_judge_each(runs), *_judge_counts(runs)):
        yield found if checked else as_audit(found)
    for run in runs:
        yield from _find_unnoticed(run)


def as_audit(found: Finding) -> Finding:
    """The finding where no official tool says it; names of files change nothing then."""
    severity = Severity.NOTE if has_effect(found, Effect.MINOR) else Severity.WARNING
    return msgspec.structs.replace(found, kind=Kind.REVIEW, severity=severity, blocks=Blocks.NONE)


def _judge_each(runs: Iterable[RunPower]) -> Iterator[Finding]:
    for run in runs:
        if not run.there:
            yield finding(
                "power.missing",
                run.path,
                expected=f"power/{run.result}/node_0.txt",
                actual=f"it cannot be read: {run.unreadable[0][1]}" if run.unreadable else None,
            )
            yield from (unreadable(run.path, reason) for _, reason in run.unreadable)
            continue
        for kind, word in _KINDS:
            if is_misnumbered(run, kind):
                yield _misnumbered(run, kind, word, [name for name in run.names if name.startswith(kind)])


def _misnumbered(run: RunPower, kind: str, word: str, named: Sequence[str], more: str = "") -> Finding:
    return finding(
        "power.names",
        run.path,
        f"The files of the {word} are not numbered from 0{more}",
        expected=f"{kind}_0.txt" + (f" to {kind}_{len(named) - 1}.txt" if len(named) > 1 else ""),
        actual=several(named, 5),
    )


def _judge_counts(runs: Sequence[RunPower]) -> Iterator[Finding]:
    for kind, word in _KINDS:
        usual = usual_count(runs, kind)
        counted_for = find_blamed(runs, kind)
        for run in runs:
            if run.result in counted_for:
                named = counted_for[run.result]
                other = "" if named == run.result else f"; the official checker counts {named} for it"
                yield finding(
                    "power.unequal",
                    run.path,
                    f"The run has a different number of {word} than most runs of the entry",
                    expected=str(usual),
                    actual=f"{len(numbers_of(run.names, kind))}{other}",
                )


def _find_unnoticed(run: RunPower) -> Iterator[Finding]:
    """What the official checker passes over: numbers that other files hide, numbers twice, files of another kind."""
    for kind, word in _KINDS:
        named = [name for name in run.names if is_measurement(name, kind)]
        numbers = sorted(number for number in numbers_of(named, kind) if number is not None)
        if not is_misnumbered(run, kind) and numbers != list(range(len(named))):
            yield as_audit(_misnumbered(run, kind, word, named, ", and the official checker does not see it"))
    others = [name for name in run.names if not any(is_measurement(name, kind) for kind, _ in _KINDS)]
    if others:
        counted = sum(name.startswith(tuple(kind for kind, _ in _KINDS)) for name in others)
        yield finding(
            "power.strays",
            run.path,
            "There are other files among the power files",
            expected="only node_<j>.txt and sw_<k>.txt",
            actual=several(others, 5) + (f"; the official checker counts {counted} as measurements" if counted else ""),
        )


#: Readings from which on it is not chance that two runs have them in common.
_TELLING = 10
#: One reading a second; a little late is not a defect.
INTERVAL_MS = 1000.0
SLACK = 1.2
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
    for name, reason in run.unreadable[:1]:
        more = f", and {len(run.unreadable) - 1} more files" if len(run.unreadable) > 1 else ""
        yield unreadable(f"{run.path}/{name}" if name else run.path, f"{reason}{more}")
    if not run.there:
        return
    yield from _audit_lines(run)
    yield from _audit_watts(run)
    yield from _audit_efficiency(run)
    if not run.nodes:
        return
    odd = [(node.name, 0.0, node.odd) for node in run.nodes if node.odd]
    yield from _report_worst(run, "power.interval", odd)
    yield from _audit_uncounted(run)
    yield from _audit_times(run, log.run.timeline.run_start, log.run.timeline.run_stop)
    if described_nodes is not None and len(run.nodes) != described_nodes:
        expected = f"{described_nodes} (number_of_nodes)"
        yield finding("power.node-count", run.path, expected=expected, actual=str(len(run.nodes)))
    if max(described_nodes or 1, len(run.nodes)) > 1 and not any(name.startswith("sw_") for name in run.names):
        yield finding("power.no-switch", run.path, actual="none")


def _files(run: RunPower) -> list[Node | Switch]:
    return [*run.nodes, *run.switches]


def _audit_lines(run: RunPower) -> Iterator[Finding]:
    found = [(file.name, file.bad) for file in _files(run) if file.bad.count]
    for name, bad in found[:1]:
        lines = f", and {bad.count - 1} more lines" if bad.count > 1 else ""
        files = f"; also in {len(found) - 1} more files" if len(found) > 1 else ""
        yield finding("power.bad-line", f"{run.path}/{name}", line=bad.line, actual=f"{bad.what}{lines}{files}")


def _audit_watts(run: RunPower) -> Iterator[Finding]:
    least = [(node.name, node.least_watts) for node in run.nodes] + [(each.name, each.watts) for each in run.switches]
    found = [(name, watts) for name, watts in least if watts is not None and watts < 0]
    if found:
        name, watts = min(found, key=lambda each: each[1])
        yield finding(
            "power.negative",
            f"{run.path}/{name}",
            actual=f"{watts:g} W" + (f", and in {len(found) - 1} more files" if len(found) > 1 else ""),
        )


def _audit_efficiency(run: RunPower) -> Iterator[Finding]:
    found = [(file.name, file.efficiency) for file in _files(run)]
    odd = [(name, efficiency) for name, efficiency in found if efficiency is not None and not 0 < efficiency <= 1]
    for name, efficiency in odd[:1]:
        yield finding(
            "power.efficiency",
            f"{run.path}/{name}",
            actual=f"{efficiency:g}" + (f", in {len(odd)} files" if len(odd) > 1 else ""),
        )


def _report_worst(
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


def _audit_uncounted(run: RunPower) -> Iterator[Finding]:
    """Files that the official score counts as 0 watts; where all nodes are, there is no energy, which is reported."""
    empty = [(node.name, 0.0, "") for node in run.nodes if node.watts is not None and not node.counted]
    if len(empty) < len(run.nodes):
        yield from _report_worst(run, "power.uncounted", empty)
    silent = [(switch.name, 0.0, "") for switch in run.switches if not switch.there]
    message = "There is no interconnect_power_est, so the switch counts as 0 watts"
    yield from _report_worst(run, "power.uncounted", silent, message, switches=True)


def audit_copies(runs: Sequence[RunPower]) -> Iterator[Finding]:
    """Runs that have their readings in common, which two measurements never have."""
    seen: dict[tuple[bytes, ...], RunPower] = {}
    for run in runs:
        if sum(node.readings for node in run.nodes) < _TELLING:
            continue
        first = seen.setdefault(tuple(node.digest for node in run.nodes), run)
        if first is not run:
            yield finding("power.same-readings", run.path, actual=first.path)


def _audit_times(run: RunPower, start: float | None, stop: float | None) -> Iterator[Finding]:
    """Findings on when the nodes of a run were read.

    Args:
        run: what its power files say.
        start: ``run_start`` of its result log in ms since the Unix epoch; None without.
        stop: its ``run_stop``.
    """
    paced = [node for node in run.nodes if node.readings]
    intervals = [(node, ms) for node in paced if (ms := _interval_ms(node)) > INTERVAL_MS * SLACK]
    slow = [(node.name, ms, f"every {ms / 1000:.2f} s ({node.readings} readings)") for node, ms in intervals]
    yield from _report_worst(run, "power.sampling", slow)
    few = [(node.name, -node.readings, str(node.readings)) for node in paced if node.readings < LEAST]
    yield from _report_worst(run, "power.few-readings", few, expected=f"at least {LEAST} readings")
    worst = [(node.name, _worst_gap_ms(node, start, stop)) for node in paced]
    gaps = [(name, ms, f"{ms / 1000:.1f} s") for name, ms in worst if ms > GAP_MS]
    yield from _report_worst(
        run, "power.gap", gaps, expected=f"one reading per second; gaps above {GAP_MS / 1000:g} s are told"
    )
    if start is None or stop is None:
        return
    offs = [apart_ms(node.first_ms, node.last_ms, start, stop) for node in paced]
    apart = [(node.name, abs(off), _describe_offset(off)) for node, off in zip(paced, offs, strict=True) if off]
    yield from _report_worst(run, "power.clock", apart, expected="readings between run_start and run_stop")
    # Where nodes are read slowly, their readings may begin and end by more than that beside the run.
    part = [
        (node.name, missing, f"{missing / 1000:.1f} s of {(stop - start) / 1000:.1f} s without any")
        for node, off in zip(paced, offs, strict=True)
        if not off and (missing := uncovered_ms(node, start, stop)) > max(EDGE_MS, 2 * _interval_ms(node))
    ]
    yield from _report_worst(run, "power.coverage", part)
    yield from _audit_estimates(run, start, stop)


def _audit_estimates(run: RunPower, start: float, stop: float) -> Iterator[Finding]:
    offs = [
        (one.name, apart_ms(one.time_ms, one.time_ms, start, stop)) for one in run.switches if one.time_ms is not None
    ]
    apart = [(name, abs(off), _describe_offset(off)) for name, off in offs if abs(off) > ESTIMATE_MS]
    message = "The power of a switch was estimated at a different time than the run"
    # The estimate is the most that the switch is specified for, at whatever time.
    for found in _report_worst(run, "power.clock", apart, message, switches=True):
        yield msgspec.structs.replace(found, severity=Severity.NOTE)


def _interval_ms(node: Node) -> float:
    """The usual interval in ms: the median, or the mean where a good part of the intervals is longer."""
    return max(node.median_ms, node.usual_ms)


def _worst_gap_ms(node: Node, start: float | None, stop: float | None) -> float:
    """Return the longest gap (ms) with a part in the run, or anywhere without its start or stop; 0 without a gap."""
    begin, end = (-math.inf, math.inf) if start is None or stop is None else (start, stop)
    return next((to - at for at, to in node.gaps if at < end and to > begin), 0.0)


def uncovered_ms(node: Node, start: float, stop: float) -> float:
    """How much (ms) of a run lies before the first reading of a node and behind the last."""
    return max(0.0, node.first_ms - start) + max(0.0, stop - node.last_ms)


def apart_ms(first: float, last: float, start: float, stop: float) -> float:
    """How far (ms) times lie outside a run: positive behind it, negative before it; 0 where some lie in it."""
    if first > stop:
        return first - stop
    return min(0.0, last - start)


def _describe_offset(off: float) -> str:
    """How far (ms) a time lies from a run, in words."""
    seconds = abs(off) / 1000
    length = f"{seconds:.1f} s"
    for size, word in ((86_400 * 365.25, "years"), (86_400, "days"), (3600, "hours"), (60, "minutes")):
        if seconds >= 2 * size:
            length = f"{seconds / size:.1f} {word}"
            break
    return f"{length} {'after' if off > 0 else 'before'} it"
