"""Runs of one system at the same time."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import msgspec

from mlsub.log.trace import MAX_TIME_MS
from mlsub.review.runs.model import Entry, Observation, listed, name_of, observe, seconds, thresholds
from mlsub.review.runs.stretch import stretch_of
from mlsub.rounds import Round

#: Runs of an entry that are compared pair by pair; published entries have 50 at most.
MAX_RUNS = 500
#: Pairs that are listed; they grow with the square of the runs.
MAX_PAIRS = 100_000


class _Span(msgspec.Struct, frozen=True):
    """When a run was under way (ms), which entry it is of, and when it would have stopped unstretched."""

    entry: str
    name: str
    start: float
    stop: float
    unstretched: float


def find_overlap(entries: Sequence[Entry]) -> Iterator[Observation]:
    """Runs of a system that overlap: those of an entry, and of an entry with those of others on the same system."""
    systems: dict[tuple[Round, str, str], list[Entry]] = {}
    for entry in entries:
        systems.setdefault((entry.round, entry.organisation, entry.system), []).append(entry)
    for of_system in systems.values():
        spans = sorted((s for entry in of_system for s in _spans(entry)), key=lambda s: (s.start, s.entry, s.name))
        pairs = _pairs(spans, [span.stop for span in spans])
        left = _pairs(spans, [span.unstretched for span in spans]) if pairs else []
        for entry in of_system:
            yield from _told(entry, spans, pairs, left)


def _told(entry: Entry, spans: Sequence[_Span], pairs: Sequence[_Pair], left: Sequence[_Pair]) -> Iterator[Observation]:
    own = [pair for pair in pairs if pair.one.entry == pair.other.entry == entry.path]
    others = [pair for pair in pairs if (pair.one.entry == entry.path) != (pair.other.entry == entry.path)]
    if not own and not others:
        return
    mine = [span for span in spans if span.entry == entry.path]
    parts = []
    if own:
        most = _at_once(mine, [span.stop for span in mine])
        shown = [f"{p.one.name} and {p.other.name} by {seconds(p.by_ms)}" for p in sorted(own, key=lambda p: -p.by_ms)]
        possible = len(mine) * (len(mine) - 1) // 2
        parts.append(f"{len(own)} of {possible} pairs, up to {most} runs at once: {listed(shown, 3)}")
    if others:
        folders = {span.entry for pair in others for span in (pair.one, pair.other)} - {entry.path}
        names = listed(sorted(folder.rpartition("/")[2] for folder in folders))
        parts.append(f"{len(others)} pair{'s' * (len(others) > 1)} with runs of {names} on the same system")
    remaining = sum(entry.path in (pair.one.entry, pair.other.entry) for pair in left)
    if any(span.stop != span.unstretched for span in mine):
        parts.append(f"{remaining} pair{'s' * (remaining != 1)} remain if run_stop is moved back to the last record")
    yield observe(
        "inspect.overlap",
        entry,
        "; ".join(parts),
        pairs=len(own),
        pairs_with_others=len(others),
        pairs_unstretched=remaining,
        longest_ms=max(pair.by_ms for pair in (*own, *others)),
    )


def _spans(entry: Entry) -> list[_Span]:
    stretch = stretch_of(entry)
    factor = stretch.factor if stretch else 1.0
    spans = []
    for trace in entry.traces[:MAX_RUNS]:
        start, length = trace.run.timeline.run_start, trace.run.duration_ms
        if start is not None and length is not None and 0 < length < MAX_TIME_MS and abs(start) < MAX_TIME_MS:
            name = name_of(trace)
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


def _at_once(spans: Sequence[_Span], stops: Sequence[float]) -> int:
    """The greatest number of runs under way at one time."""
    edges = sorted([(span.start, 1) for span in spans] + [(stop, -1) for stop in stops])
    most = running = 0
    for _, step in edges:
        running += step
        most = max(most, running)
    return most
