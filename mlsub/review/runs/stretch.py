"""Runs whose length is a constant multiple of the time to the last record, and runs of one system at the same time."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import accumulate

import msgspec

from mlsub.io.data import group_by_key
from mlsub.io.show import first_few, plural
from mlsub.log.trace import MAX_TIME_MS
from mlsub.review.runs.model import Observation, observe, show_duration, thresholds, undo_times
from mlsub.rules.catalogue import finding
from mlsub.submission.model import LogReport
from mlsub.submission.result import Result

#: Runs of an entry that are compared pair by pair; published entries have 50 at most.
MAX_RUNS = 500
#: Pairs that are listed; they grow with the square of the runs.
MAX_PAIRS = 100_000


class Stretch(msgspec.Struct, frozen=True):
    """The factor of an entry, by how much that of a run differs at most, and the gaps (ms) that it leaves."""

    factor: float
    spread: float
    gaps_ms: tuple[float, ...]


def measure_stretch(entry: Result) -> Stretch | None:
    """Return the constant multiple that all runs of an entry were stretched by; None where there is none."""
    lengths = [pair for log in entry.logs if (pair := measure_lengths(log)) is not None]
    limits = thresholds()
    if len(lengths) < max(limits["stretch_runs"], len(entry.logs)):
        return None
    # Timestamps are rounded: the longest run shows the factor best.
    factor = max((part, whole / part) for whole, part in lengths)[1]
    gaps = tuple(whole - part for whole, part in lengths)
    if factor < limits["stretch_factor"] or min(gaps) < limits["stretch_gap_ms"]:
        return None
    if not _is_factor(factor, lengths):
        return None
    # A few lengths that happen to be alike would make any constant wait a constant factor.
    parts = [part for _, part in lengths]
    if (factor - 1) * (max(parts) - min(parts)) <= 2 * limits["stretch_slack_ms"]:
        return None
    # Somebody wrote the factor down: the shortest number that the timestamps allow.
    factor = next((short for digits in range(2, 7) if _is_factor(short := round(factor, digits), lengths)), factor)
    return Stretch(factor, max(abs(whole / part - factor) for whole, part in lengths), gaps)


def _is_factor(factor: float, lengths: Sequence[tuple[float, float]]) -> bool:
    """Return whether all lengths (ms) are this multiple of the time to the last record, but for rounding."""
    return all(abs(whole - factor * part) <= thresholds()["stretch_slack_ms"] for whole, part in lengths)


def measure_lengths(log: LogReport) -> tuple[float, float] | None:
    """Return the time (ms) from run_start to run_stop and to the last record before it; None without both."""
    start, last, whole = log.run.timeline.run_start, log.run.latest_ms, log.run.duration_ms
    if start is None or last is None or whole is None or last <= start:
        return None
    return whole, last - start


def find_stretch(entry: Result) -> Iterator[Observation]:
    """Yield an entry whose runs all stop at a constant multiple of the time to their last record."""
    stretch = measure_stretch(entry)
    if stretch is None:
        return
    lengths = {log.path: measure_lengths(log) for log in entry.logs}
    times = {path: length[1] / 60_000 for path, length in lengths.items() if length is not None}
    undone = undo_times(entry, "to the last record", times)
    factor, spread, gaps = stretch.factor, stretch.spread, stretch.gaps_ms
    actual = f"factor {factor:.6f} in all {len(entry.logs)} runs (they differ by {spread:.1e} at most), "
    actual += f"{show_duration(min(gaps))} to {show_duration(max(gaps))} without a record before run_stop"
    found = finding("inspect.stretched", entry.path, actual=actual)
    yield observe(entry, found, undone, factor=factor, spread=spread, gaps_ms=list(gaps))


class _Span(msgspec.Struct, frozen=True):
    """When a run was under way (ms), which entry it is of, and when it would have stopped unstretched."""

    entry: str
    name: str
    start: float
    stop: float
    unstretched: float


def find_overlap(entries: Sequence[Result]) -> Iterator[Observation]:
    """Yield runs of a system, made one after the other, that overlap: within an entry, or with other entries.

    Runs that share more of their time were made side by side on several systems, as in every fifth published entry:
    where an entry has both, they were as fast as the ones made alone.
    """
    systems = group_by_key(((entry.round_key, entry.organisation, entry.system), entry) for entry in entries)
    for system_entries in systems.values():
        spans = [span for entry in system_entries for span in _find_spans(entry)]
        spans.sort(key=lambda span: (span.start, span.entry, span.name))
        pairs = _find_overlaps(spans, [span.stop for span in spans])
        unstretched = _find_overlaps(spans, [span.unstretched for span in spans]) if pairs else []
        if unstretched and _are_in_parallel(spans, pairs):
            continue
        for entry in system_entries:
            yield from _observe_overlaps(entry, spans, pairs, unstretched)


def _are_in_parallel(spans: Sequence[_Span], pairs: Sequence[_Overlap]) -> bool:
    """Return whether runs were made side by side: three at once, or two for a good part of the shorter one."""
    most = thresholds()["overlap_share"]
    return _count_at_once(spans) > 2 or any(
        pair.by_ms > most * min(pair.one.stop - pair.one.start, pair.other.stop - pair.other.start) for pair in pairs
    )


def _observe_overlaps(
    entry: Result, spans: Sequence[_Span], pairs: Sequence[_Overlap], unstretched: Sequence[_Overlap]
) -> Iterator[Observation]:
    within = [pair for pair in pairs if pair.one.entry == pair.other.entry == entry.path]
    across = [pair for pair in pairs if (pair.one.entry == entry.path) != (pair.other.entry == entry.path)]
    if not within and not across:
        return
    entry_spans = [span for span in spans if span.entry == entry.path]
    parts = []
    if within:
        longest = sorted(within, key=lambda pair: -pair.by_ms)
        shown = [f"{pair.one.name} and {pair.other.name} by {show_duration(pair.by_ms)}" for pair in longest]
        possible = len(entry_spans) * (len(entry_spans) - 1) // 2
        most = _count_at_once(entry_spans)
        parts.append(f"{len(within)} of {possible} pairs, up to {most} runs at once: {first_few(shown, 3)}")
    if across:
        folders = {span.entry for pair in across for span in (pair.one, pair.other)} - {entry.path}
        names = first_few(sorted(folder.rpartition("/")[2] for folder in folders), 6)
        parts.append(f"{plural(len(across), 'pair')} with runs of {names} on the same system")
    remaining = sum(entry.path in (pair.one.entry, pair.other.entry) for pair in unstretched)
    if any(span.stop != span.unstretched for span in entry_spans):
        parts.append(f"{plural(remaining, 'pair')} remain if run_stop is moved back to the last record")
    yield observe(
        entry,
        finding("inspect.overlap", entry.path, actual="; ".join(parts)),
        pairs=len(within),
        pairs_with_others=len(across),
        pairs_unstretched=remaining,
        longest_ms=max(pair.by_ms for pair in (*within, *across)),
    )


def _find_spans(entry: Result) -> list[_Span]:
    stretch = measure_stretch(entry)
    factor = stretch.factor if stretch else 1.0
    spans = []
    for log in entry.logs[:MAX_RUNS]:
        start, length = log.run.timeline.run_start, log.run.duration_ms
        if start is not None and length is not None and 0 < length < MAX_TIME_MS and abs(start) < MAX_TIME_MS:
            spans.append(_Span(entry.path, log.name, start, start + length, start + length / factor))
    return spans


class _Overlap(msgspec.Struct, frozen=True):
    """Two runs that overlap, and by how many ms."""

    one: _Span
    other: _Span
    by_ms: float


def _find_overlaps(spans: Sequence[_Span], stops: Sequence[float]) -> list[_Overlap]:
    """Return pairs that overlap. Spans are in the order of their starts, so later ones than the stop need no look."""
    least = thresholds()["overlap_ms"]
    found: list[_Overlap] = []
    for n, one in enumerate(spans):
        for m in range(n + 1, len(spans)):
            if spans[m].start > stops[n] - least or len(found) >= MAX_PAIRS:
                break
            shared = min(stops[n], stops[m]) - spans[m].start
            if shared >= least:
                found.append(_Overlap(one, spans[m], shared))
    return found


def _count_at_once(spans: Sequence[_Span]) -> int:
    """Return the greatest number of runs under way at one time."""
    edges = sorted([*((span.start, 1) for span in spans), *((span.stop, -1) for span in spans)])
    return max(accumulate(step for _, step in edges), default=0)
