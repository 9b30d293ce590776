"""Runs whose length is a constant multiple of the time to the last record, and runs of one system at the same time."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import accumulate

import msgspec

from mlsub.io.show import first_few, plural
from mlsub.log.trace import MAX_TIME_MS
from mlsub.review.runs.model import Observation, observe, seconds, thresholds, with_times
from mlsub.submission.model import LogReport
from mlsub.submission.result import Result

#: Runs of an entry that are compared pair by pair; published entries have 50 at most.
MAX_RUNS = 500
#: Pairs that are listed; they grow with the square of the runs.
MAX_PAIRS = 100_000


class Stretch(msgspec.Struct, frozen=True):
    """The factor of an entry, how many parts of it the runs differ by at most, and the gaps (ms) it leaves."""

    factor: float
    spread: float
    gaps_ms: tuple[float, ...]


def stretch_of(entry: Result) -> Stretch | None:
    """Return the constant multiple that all runs of an entry were stretched by; None where there is none."""
    lengths = [pair for log in entry.logs if (pair := lengths_of(log)) is not None]
    limits = thresholds()
    if len(lengths) < max(limits.stretch_runs, len(entry.logs)):
        return None
    # Timestamps are rounded: the longest run shows the factor best.
    factor = max((part, whole / part) for whole, part in lengths)[1]
    gaps = tuple(whole - part for whole, part in lengths)
    if factor < limits.stretch_factor or min(gaps) < limits.stretch_gap_ms:
        return None
    if not _fits(factor, lengths):
        return None
    # A few lengths that happen to be alike would make any constant wait a constant factor.
    parts = [part for _, part in lengths]
    if (factor - 1) * (max(parts) - min(parts)) <= 2 * limits.stretch_slack_ms:
        return None
    # Somebody wrote the factor down: the shortest number that the timestamps allow.
    factor = next((short for digits in range(2, 7) if _fits(short := round(factor, digits), lengths)), factor)
    return Stretch(factor, max(abs(whole / part - factor) for whole, part in lengths), gaps)


def _fits(factor: float, lengths: Sequence[tuple[float, float]]) -> bool:
    """Whether all lengths (ms) are this multiple of the time to the last record, but for rounding."""
    return all(abs(whole - factor * part) <= thresholds().stretch_slack_ms for whole, part in lengths)


def lengths_of(log: LogReport) -> tuple[float, float] | None:
    """Return the time (ms) from run_start to run_stop and to the last record before it; None without both."""
    start, last, whole = log.run.timeline.run_start, log.run.latest_ms, log.run.duration_ms
    if start is None or last is None or whole is None or last <= start:
        return None
    return whole, last - start


def find_stretch(entry: Result) -> Iterator[Observation]:
    """Yield an entry whose runs all stop at a constant multiple of the time to their last record."""
    stretch = stretch_of(entry)
    if stretch is None:
        return
    undone = with_times(
        entry, "to the last record", {t.path: of[1] / 60_000 for t in entry.logs if (of := lengths_of(t)) is not None}
    )
    yield observe(
        "inspect.stretched",
        entry,
        f"factor {stretch.factor:.6f} in all {len(entry.logs)} runs (they differ by {stretch.spread:.1e} at most), "
        f"{seconds(min(stretch.gaps_ms))} to {seconds(max(stretch.gaps_ms))} without a record before run_stop",
        undone=undone,
        factor=stretch.factor,
        spread=stretch.spread,
        gaps_ms=list(stretch.gaps_ms),
    )


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
    systems: dict[tuple[str, str, str], list[Result]] = {}
    for entry in entries:
        systems.setdefault((entry.round_key, entry.organisation, entry.system), []).append(entry)
    for of_system in systems.values():
        spans = sorted((s for entry in of_system for s in _spans(entry)), key=lambda s: (s.start, s.entry, s.name))
        pairs = _pairs(spans, [span.stop for span in spans])
        left = _pairs(spans, [span.unstretched for span in spans]) if pairs else []
        if left and _in_parallel(spans, pairs):
            continue
        for entry in of_system:
            yield from _overlap(entry, spans, pairs, left)


def _in_parallel(spans: Sequence[_Span], pairs: Sequence[_Pair]) -> bool:
    """Whether runs of a system were made side by side: three at once, or two for a good part of the shorter one."""
    most = thresholds().overlap_share
    return _at_once(spans) > 2 or any(
        pair.by_ms > most * min(pair.one.stop - pair.one.start, pair.other.stop - pair.other.start) for pair in pairs
    )


def _overlap(
    entry: Result, spans: Sequence[_Span], pairs: Sequence[_Pair], left: Sequence[_Pair]
) -> Iterator[Observation]:
    own = [pair for pair in pairs if pair.one.entry == pair.other.entry == entry.path]
    others = [pair for pair in pairs if (pair.one.entry == entry.path) != (pair.other.entry == entry.path)]
    if not own and not others:
        return
    mine = [span for span in spans if span.entry == entry.path]
    parts = []
    if own:
        most = _at_once(mine)
        shown = [f"{p.one.name} and {p.other.name} by {seconds(p.by_ms)}" for p in sorted(own, key=lambda p: -p.by_ms)]
        possible = len(mine) * (len(mine) - 1) // 2
        parts.append(f"{len(own)} of {possible} pairs, up to {most} runs at once: {first_few(shown, 3)}")
    if others:
        folders = {span.entry for pair in others for span in (pair.one, pair.other)} - {entry.path}
        names = first_few(sorted(folder.rpartition("/")[2] for folder in folders), 6)
        parts.append(f"{plural(len(others), 'pair')} with runs of {names} on the same system")
    remaining = sum(entry.path in (pair.one.entry, pair.other.entry) for pair in left)
    if any(span.stop != span.unstretched for span in mine):
        parts.append(f"{plural(remaining, 'pair')} remain if run_stop is moved back to the last record")
    yield observe(
        "inspect.overlap",
        entry,
        "; ".join(parts),
        pairs=len(own),
        pairs_with_others=len(others),
        pairs_unstretched=remaining,
        longest_ms=max(pair.by_ms for pair in (*own, *others)),
    )


def _spans(entry: Result) -> list[_Span]:
    stretch = stretch_of(entry)
    factor = stretch.factor if stretch else 1.0
    spans = []
    for log in entry.logs[:MAX_RUNS]:
        start, length = log.run.timeline.run_start, log.run.duration_ms
        if start is not None and length is not None and 0 < length < MAX_TIME_MS and abs(start) < MAX_TIME_MS:
            name = log.name
            spans.append(_Span(entry.path, name, start, start + length, start + length / factor))
    return spans


class _Pair(msgspec.Struct, frozen=True):
    """Two runs that overlap, and by how many ms."""

    one: _Span
    other: _Span
    by_ms: float


def _pairs(spans: Sequence[_Span], stops: Sequence[float]) -> list[_Pair]:
    """Pairs that overlap. The spans are in the order of their starts, so later ones than the stop need no look."""
    least = thresholds().overlap_ms
    found: list[_Pair] = []
    for n, one in enumerate(spans):
        for m in range(n + 1, len(spans)):
            if spans[m].start > stops[n] - least or len(found) >= MAX_PAIRS:
                break
            shared = min(stops[n], stops[m]) - spans[m].start
            if shared >= least:
                found.append(_Pair(one, spans[m], shared))
    return found


def _at_once(spans: Sequence[_Span]) -> int:
    """The greatest number of runs under way at one time."""
    edges = sorted([*((span.start, 1) for span in spans), *((span.stop, -1) for span in spans)])
    return max(accumulate(step for _, step in edges), default=0)
