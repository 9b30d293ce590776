"""Runs whose ``run_start`` or ``run_stop`` is not where the rest of the log has it."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import NamedTuple

from mlsub.findings import Severity
from mlsub.log.lengths import Lengths
from mlsub.review.run import is_evaluated_after_run
from mlsub.review.runs.model import (
    Observation,
    evaluation_places,
    evaluations_before_stop,
    observe,
    show_duration,
    thresholds,
    undo_waits,
)
from mlsub.review.runs.stretch import measure_stretch
from mlsub.rules.catalogue import finding
from mlsub.submission.model import LogReport
from mlsub.submission.result import Result

#: Of an entry's runs so many are compared; published entries have 128 at most.
_MAX_RUNS = 200
#: Each edge of a run, and which of its intervals lies there.
_ENDS = {"run_start": 0, "run_stop": -1}
_WHICH = {"run_start": "first", "run_stop": "last"}
#: What most logs without blocks and epochs have.
_TO_EVALUATION = "evaluation interval"
#: Fractions of epochs end with a whole step: by such a share sizes differ that are meant to be one.
_SAME_SIZE = 1e-3


class _Contradiction(NamedTuple):
    """One thing that a run shows: at which edge, in words, and by how much longer (ms) the run was by it."""

    edge: str
    words: str
    by_ms: float


class _Interval(NamedTuple):
    """The first or last interval of a run: length (ms), size and rate; and the time (ms) from or to the run's edge.

    ``may_be_part``: it may be a part of one, as where training ends within a block.
    """

    length: float
    size: float
    rate: float
    to_edge: float
    may_be_part: bool


def find_moved_clock(entry: Result) -> Iterator[Observation]:
    """Yield runs that took longer by what else is logged than from run_start to run_stop.

    Where two things agree, it is an error. Longer intervals are a warm-up.
    """
    logs = entry.logs[:_MAX_RUNS]
    # Some benchmarks are evaluated after the run, which ends at the time of a checkpoint; games are of any length.
    elsewhere = is_evaluated_after_run(entry.benchmark, entry.usage, entry.round) or measure_stretch(entry) is not None
    edges = [] if entry.task == "reinforcement learning" else [*_ENDS][: 1 if elsewhere else 2]
    kind, lengths = _choose_intervals(logs)
    pairs = list(zip(logs, lengths, strict=True))
    # The last epoch may be a part of one.
    measured = edges[:1] if kind == "epoch" else edges
    # An evaluation says how far the training was: what leads to it is no part, however short.
    may_be_part = kind != _TO_EVALUATION
    intervals = {edge: [_interval_at(log, of, edge, may_be_part=may_be_part) for log, of in pairs] for edge in measured}
    found: list[tuple[LogReport, list[_Contradiction]]] = []
    for at, (log, of) in enumerate(pairs):
        contradictions = [*_find_stated(log), *(one for one in _find_early(log) if one.edge in edges)]
        for edge, ends in intervals.items():
            own = ends[at]
            if own is not None and own.size:
                others = (one for n, one in enumerate(ends) if n != at and one is not None)
                like = [one for one in others if _are_alike(one.size, own.size)]
                contradictions += _find_short(log, of, own, like, edge, kind)
        if contradictions:
            found.append((log, contradictions))
    agree = any(sum(one.by_ms > 0 for one in contradictions) > 1 for _, contradictions in found)
    missing = {log.path: by_ms for log, told in found if (by_ms := max(one.by_ms for one in told)) > 0}
    some = f" in {len(missing)} runs" if len(missing) > 1 else ""
    undone = undo_waits(entry, f"with what is missing{some}", {path: -by_ms for path, by_ms in missing.items()})
    for log, contradictions in found:
        edge = next((one.edge for one in contradictions if one.edge), "run_stop")
        by_ms = max(one.by_ms for one in contradictions)
        shown = finding(
            "inspect.clock-moved",
            log.path,
            None if by_ms > 0 else "The run took less time than run_start and run_stop say",
            line=log.run.lines.get(edge),
            actual="; ".join(one.words for one in contradictions),
            severity=Severity.ERROR if agree else None,
        )
        yield observe(entry, shown, undone if by_ms > 0 else None, moved_ms=by_ms, signs=len(contradictions))


def _find_stated(log: LogReport) -> Iterator[_Contradiction]:
    stated, length = log.trace.stated_s, log.run.duration_ms
    if stated is not None and length is not None and abs(by := stated * 1000 - length) > thresholds()["clock_ms"]:
        words = f"the {log.trace.stated_as} in run_stop is {show_duration(abs(by))} {'more' if by > 0 else 'less'}"
        yield _Contradiction("", f"{words} than run_stop minus run_start", by)


def _find_early(log: LogReport) -> Iterator[_Contradiction]:
    if log.trace.early is not None:
        line, by_ms, edge = log.trace.early
        what, when = (f"line {line}", "before it") if edge == "run_start" else ("the record before it", "later")
        yield _Contradiction(edge, f"{edge}: {what} is {show_duration(by_ms)} {when}", by_ms)


def _find_short(
    log: LogReport, lengths: Lengths, own: _Interval, others: Sequence[_Interval], edge: str, kind: str
) -> Iterator[_Contradiction]:
    """Yield that the first or last interval is shorter than its stated throughput allows, and than those like it.

    Args:
        log: the run.
        lengths: its intervals.
        own: that at the edge.
        others: those of the same size in the other runs.
        edge: ``run_start`` or ``run_stop``.
        kind: what the intervals are.
    """
    limits, name = thresholds(), f"{_WHICH[edge]} {kind}"
    rest = list(zip(lengths.lengths, lengths.sizes, lengths.rates, strict=True))
    del rest[_ENDS[edge]]
    # Throughput times length over size is the same for all, whichever unit the throughput has.
    worths = [length * rate / size for length, size, rate in rest if size and rate] if own.rate else []
    expected = [worth * own.size / own.rate for worth in worths]
    if (by := _shortfall(own.length, expected, limits["clock_ms"])) > 0:
        words = f"at its throughput the {name} takes {show_duration(own.length + by)}, not {show_duration(own.length)}"
        yield _Contradiction(edge, words, by)
    # A little faster than the others a block may be, where the length of the run was measured twice.
    least = limits["clock_ms"] if log.trace.stated_s is None else limits["gap_ms"]
    as_stated = bool(expected) and min(expected) - own.length < limits["clock_ms"]
    _, places = evaluation_places(log)
    # A first block that is evaluated before its others' distance is a part of one, whatever it is said to be.
    early = own.may_be_part and edge == "run_start" and len(places) > 1 and 0 < places[0] < places[1] - places[0]
    like = [] if as_stated or early else [length for length, size, _ in rest if _are_alike(size, own.size)]
    # Few that take in both training and evaluation do not show how much they differ.
    enough = own.may_be_part or len(like) >= limits["clock_many"]
    if enough and (by := _shortfall(own.length, like, least, may_be_part=own.may_be_part)) > 0:
        words = f"the {name} takes {show_duration(own.length)}, each of the {len(like)} others of its size"
        yield _Contradiction(edge, f"{words} {show_duration(own.length + by)} or more", by)
    else:
        yield from _find_nearer(own, others, edge, name, 0 if as_stated else least)


def _find_nearer(
    own: _Interval, others: Sequence[_Interval], edge: str, name: str, least: float
) -> Iterator[_Contradiction]:
    """Yield that an interval begins and ends nearer to an edge of its run than those of the other runs.

    Without ``least`` only what lies between the two is compared.
    """
    limits, verb = thresholds(), "ends" if edge == "run_start" else "begins"
    if len(others) < limits["interval_runs"]:
        return
    by = _shortfall(own.to_edge, [one.to_edge for one in others], least, may_be_part=own.may_be_part) if least else 0.0
    length = own.to_edge
    if not by:
        length, verb = own.to_edge - own.length, "begins" if edge == "run_start" else "ends"
        by = _shortfall(
            length, [one.to_edge - one.length for one in others], limits["clock_edge_ms"], may_be_part=False
        )
    if by > 0 and (length >= 0 or edge == "run_stop"):  # Else a record steps back over the edge, which was said.
        way = "after" if edge == "run_start" else "before"
        # What begins after run_stop, as the log has it, comes before it in the other runs.
        own_way, their_way = (way, "") if length >= 0 else ("after", f" {way} it")
        words = f"the {name} {verb} {show_duration(abs(length))} {own_way} {edge}"
        yield _Contradiction(edge, f"{words}, in the other runs {show_duration(length + by)} or more{their_way}", by)


def _choose_intervals(logs: Sequence[LogReport]) -> tuple[str, list[Lengths]]:
    """Return what the runs are made of and its lengths in each: the first kind that half of them have several of."""
    kinds = {
        "block": [log.trace.blocks for log in logs],
        "epoch": [log.trace.epochs for log in logs],
        _TO_EVALUATION: [_between_evaluations(log) for log in logs],
    }
    of_many = (kind for kind, found in kinds.items() if sum(len(one.lengths) > 1 for one in found) >= len(logs) / 2)
    kind = next(of_many, _TO_EVALUATION)
    return kind, kinds[kind]


def _between_evaluations(log: LogReport) -> Lengths:
    """Return the intervals from run_start to each evaluation in turn, as far as they count what was trained."""
    start, (_, places) = log.run.timeline.run_start, evaluation_places(log)
    if start is None or not places:
        return Lengths()
    times = [start, *(one.time_ms for one in evaluations_before_stop(log))]
    lengths = tuple(later - earlier for earlier, later in pairwise(times))
    sizes = tuple(later - earlier for earlier, later in pairwise((0.0, *places)))
    return Lengths(lengths, sizes=sizes, rates=(0.0,) * len(sizes), first_stop=times[1], last_start=times[-2])


def _interval_at(log: LogReport, lengths: Lengths, edge: str, *, may_be_part: bool) -> _Interval | None:
    """Return the interval at an edge of a run; None without one."""
    clock, at = log.run.timeline, _ENDS[edge]
    if not lengths.lengths or clock.run_start is None or clock.run_stop is None:
        return None
    to_edge = clock.run_stop - lengths.last_start if at else lengths.first_stop - clock.run_start
    return _Interval(lengths.lengths[at], lengths.sizes[at], lengths.rates[at], to_edge, may_be_part)


def _are_alike(one: float, other: float) -> bool:
    """Return whether two intervals are of one size."""
    return math.isclose(one, other, rel_tol=_SAME_SIZE)


def _shortfall(own: float, others: Sequence[float], least_ms: float, *, may_be_part: bool = True) -> float:
    """Return by how much (ms) a length is below all others, where that is more than most of them differ; else 0.

    Where ``may_be_part``, a length of less than half is that of a part, as where training ends within an interval.
    """
    limits, ranked = thresholds(), sorted(others)
    # Of logs that go on after run_stop, the distance is not a length.
    if len(ranked) < limits["clock_others"] or ranked[0] <= 0:
        return 0.0
    # Of many, some are longer by what was done beside them, such as a checkpoint.
    most = ranked[3 * (len(ranked) - 1) // 4] if len(ranked) >= limits["clock_many"] else ranked[-1]
    by = ranked[0] - own
    much = max(least_ms, limits["clock_share"] * ranked[0], limits["clock_spread"] * (most - ranked[0]))
    return by if by > much and not (may_be_part and by > limits["clock_most"] * ranked[0]) else 0.0
