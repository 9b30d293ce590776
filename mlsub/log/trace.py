"""What may be asked of a log besides its run: its intervals; and for forensics gaps, throughput, fingerprints."""

from __future__ import annotations

import math
import struct
from array import array
from collections.abc import Sequence
from typing import Any

import msgspec

from mlsub.io.data import blake2b
from mlsub.io.show import show
from mlsub.log.event import Event
from mlsub.log.events import Handler
from mlsub.log.lengths import Gap, Intervals, KeyMark, Lengths, Span, Trace

#: The intervals by their names, and by the key of each edge: the interval, and whether the edge is its start.
KINDS = ("block", "epoch", "eval")
EDGES = {f"{kind}_{edge}": (kind, edge == "start") for kind in KINDS for edge in ("start", "stop")}
#: Bounds memory on hostile input; published logs stay below 5,000.
MAX_INTERVALS = 100_000


class IntervalFold:
    """Collects the intervals of a log; of the starts and stops of many processes the first counts."""

    def __init__(self) -> None:
        self._spans: dict[str, list[Span]] = {kind: [] for kind in KINDS}
        self._open: dict[str, float] = {}
        self._cut = False

    def handler(self, key: str | None) -> Handler | None:
        """Return what takes the events of a key: the edges of intervals."""
        return self._edge if key in EDGES else None

    def _edge(self, event: Event) -> None:
        if not math.isfinite(event.time_ms):
            return
        kind, starts = EDGES[event.key]
        if starts:
            self._open.setdefault(kind, event.time_ms)
        elif kind in self._open:
            self._close(kind, event.time_ms)

    def _close(self, kind: str, stop: float) -> None:
        spans = self._spans[kind]
        start = self._open.pop(kind)
        if len(spans) >= MAX_INTERVALS:
            self._cut = True
        else:
            spans.append((start, stop))

    def finish(self) -> Intervals:
        """Return the intervals, those that are still open with an end at infinity."""
        for kind in list(self._open):
            self._close(kind, math.inf)
        return Intervals(**{kind: tuple(spans) for kind, spans in self._spans.items()}, cut=self._cut)


#: Gaps below this (ms) are not pauses; the table of gaps stays small without them.
LEAST_GAP_MS = 1_000.0
#: Bounds that keep a trace small on hostile input; published logs stay far below them.
MAX_GAPS = 200
MAX_LENGTHS = 10_000
MAX_RATES = 10_000
MAX_KEY = 100
#: Published logs have some hundred keys; values are compared by so much of them.
MAX_KEYS = 1_000
MAX_VALUE = 2_000
#: Shorter steps in time, and those of clocks that count seconds, may be repeated to the millisecond by chance.
_LEAST_MARK_MS = 100
#: Times (ms) beyond this are not times, and neither are Infinity and NaN.
MAX_TIME_MS = 1e15

#: Records that are looked at together.
MOST_WAITING = 1_000
#: Types of values that are short, and differ where their text does.
_SHORT = frozenset((float, int, bool, type(None)))
_RUN = frozenset(("run_start", "run_stop"))
_RATED = frozenset(("throughput", "tracked_stats"))
_RATE_NAMES = ("throughput", "imgs_sec", "samples_per_second", "throughput_samples_per_sec")


class _Marking:
    """A :class:`KeyMark` in the making."""

    def __init__(self) -> None:
        self.count = 0
        self.times = blake2b(digest_size=16)
        self.values = blake2b(digest_size=16)

    def take(self, times: Sequence[float], values: Sequence[Any]) -> None:
        """Take the next records of the key."""
        self.count += len(times)
        self.times.update(_packed(times))
        self.values.update(_lines(values))

    def finish(self) -> KeyMark:
        return KeyMark(self.count, self.times.hexdigest(), self.values.hexdigest())


_lines = msgspec.json.Encoder().encode_lines


def _packed(times: Sequence[float]) -> bytes:
    return struct.pack(f"<{len(times)}d", *times)


#: What there is to an event: its time (ms), key and line, so much of its value as is compared, and the rate it states.
_Record = tuple[float, str, int, Any, float | None]


def _record(event: Event, rate: float | None) -> _Record | None:
    time_ms, value = event.time_ms, event.value
    if not -MAX_TIME_MS < time_ms < MAX_TIME_MS:
        return None
    if type(value) not in _SHORT:
        value = show(value, limit=MAX_VALUE).encode("utf-8", "surrogatepass")
    return time_ms, event.key[:MAX_KEY], event.line, value, rate


class TraceFold:
    """Collects events in file order; :meth:`finish` gives the trace."""

    def __init__(self) -> None:
        self._start: float | None = None
        self._stopped = False
        self._rates: list[float] = []
        self._stated: tuple[float | None, str] = (None, "")
        self._keys: dict[str, _Marking] = {}
        #: Records that are looked at together, which costs a fraction.
        self._waiting: list[_Record] = []
        self._begin(0.0)

    def _begin(self, time_ms: float) -> None:
        """The timed region starts (again): what was collected before lies outside of it."""
        self._last = time_ms
        self._before = "run_start"
        self._jump: tuple[int, float] | None = None
        self._gaps: dict[tuple[str, str, bool], Gap] = {}
        self._open: dict[str, tuple[float, int]] = {}
        self._lengths: dict[str, tuple[array[float], array[int]]] = {name: (array("d"), array("q")) for name in KINDS}
        self._hash = blake2b(digest_size=16)
        self._marks = 0

    def handler(self, key: str | None) -> Handler | None:
        """Return what takes the events of a key."""
        if key in _RUN:
            return self._run_edge
        return None if key is None else self._add_rated if key in _RATED else self._add

    def _add(self, event: Event, rate: float | None = None) -> None:
        record = _record(event, rate)
        if record is None:
            return
        self._waiting.append(record)
        if len(self._waiting) >= MOST_WAITING:
            self._take()

    def _add_rated(self, event: Event) -> None:
        value = event.value
        if isinstance(value, dict):
            value = next((value[name] for name in _RATE_NAMES if name in value), None)
        self._add(event, _positive(value))

    def _run_edge(self, event: Event) -> None:
        """A ``run_start`` or ``run_stop``, which is itself outside of the region."""
        self._take()
        record = _record(event, None)
        if record is None:
            return
        self._mark([record])
        if self._stopped:
            return
        if event.key == "run_start":
            self._start = event.time_ms
            self._begin(event.time_ms)
        elif self._start is not None:
            self._stopped = True
            self._stated = _stated_length(event.metadata)
            self._gap(event.time_ms - self._last, self._before, event.key, event.line)

    def _take(self) -> None:
        """Look at what waits."""
        self._mark(self._waiting)
        if self._start is not None and not self._stopped:
            self._inside(self._waiting, self._start)
        self._waiting = []

    def _mark(self, records: Sequence[_Record]) -> None:
        by_key: dict[str, tuple[list[float], list[Any]]] = {}
        for time_ms, key, _, value, _ in records:
            known = by_key.get(key)
            if known is None:
                known = by_key[key] = ([], [])
            known[0].append(time_ms)
            known[1].append(value)
        for key, (times, values) in by_key.items():
            if key not in self._keys:
                if len(self._keys) == MAX_KEYS:
                    continue
                self._keys[key] = _Marking()
            self._keys[key].take(times, values)

    def _inside(self, records: Sequence[_Record], start: float) -> None:
        """Records of the timed region."""
        last, before = self._last, self._before
        for time_ms, key, line, _, rate in records:
            step = time_ms - last
            if step >= _LEAST_MARK_MS:
                if step % 1000:
                    self._marks += 1
                self._gap(step, before, key, line)
            elif step < 0 and (self._jump is None or -step > self._jump[1]):
                self._jump = (line, -step)
            last, before = time_ms, key
            edge = EDGES.get(key)
            if edge is not None:
                self._edge(*edge, time_ms, line)
            elif rate is not None and len(self._rates) < MAX_RATES:
                self._rates.append(rate)
        self._last, self._before = last, before
        self._hash.update(_packed([time_ms - start for time_ms, *_ in records]))

    def _gap(self, length: float, before: str, after: str, line: int) -> None:
        if length < LEAST_GAP_MS:
            return
        of = (before, after, not self._open)
        known = self._gaps.get(of)
        if known is None:
            if len(self._gaps) < MAX_GAPS:
                self._gaps[of] = Gap(*of, length, 1, line)
        elif length > known.longest_ms:
            self._gaps[of] = Gap(*of, length, known.count + 1, line)
        else:
            self._gaps[of] = Gap(*of, known.longest_ms, known.count + 1, known.line)

    def _edge(self, name: str, starts: bool, time_ms: float, line: int) -> None:
        if starts:
            self._open[name] = (time_ms, line)
            return
        opened = self._open.pop(name, None)
        lengths, lines = self._lengths[name]
        if opened is not None and time_ms >= opened[0] and len(lengths) < MAX_LENGTHS:
            lengths.append(time_ms - opened[0])
            lines.append(opened[1])

    def finish(self) -> Trace:
        """Return what the events leave."""
        self._take()
        intervals = {name: Lengths(tuple(a), tuple(b)) for name, (a, b) in self._lengths.items()}
        return Trace(
            stated_s=self._stated[0],
            stated_as=self._stated[1],
            jump=self._jump,
            gaps=tuple(self._gaps.values()),
            blocks=intervals["block"],
            epochs=intervals["epoch"],
            evals=intervals["eval"],
            rates=tuple(self._rates),
            times=self._hash.hexdigest(),
            marks=self._marks,
            keys={key: marking.finish() for key, marking in self._keys.items()},
        )


def _stated_length(metadata: Any) -> tuple[float | None, str]:
    """The seconds a ``run_stop`` says the run took, and the field that says so."""
    if not isinstance(metadata, dict):
        return None, ""
    for name in ("TTT", "duration"):
        value = metadata.get(name)
        if isinstance(value, str):
            # "1219.571 sec -> 20.326 minutes", as some training codes write it.
            number, _, unit = value[:MAX_KEY].partition(" ")
            value = number if unit.startswith(("s ", "sec")) or not unit else None
        seconds = _positive(value)
        if seconds is not None:
            return seconds, name
    return None, ""


def _positive(value: Any) -> float | None:
    """A number above zero, also one written as text; None for all else."""
    if isinstance(value, bool) or not isinstance(value, (int, float, str)):
        return None
    try:
        number = float(value[:MAX_KEY] if isinstance(value, str) else value)
    except (ValueError, OverflowError):
        return None
    return number if 0 < number < MAX_TIME_MS else None
