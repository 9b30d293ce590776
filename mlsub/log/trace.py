"""What forensics asks of a log besides its run: gaps, throughput, fingerprints, the code that logged it."""

from __future__ import annotations

import math
from array import array
from collections import defaultdict, deque
from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any

import msgspec

from mlsub.io.data import blake2b
from mlsub.io.show import show
from mlsub.log.event import Defect, Event
from mlsub.log.lengths import EDGES, KINDS, Gap, KeyMark, Lengths, Trace

#: Gaps below this (ms) are not pauses; the table of gaps stays small without them.
LEAST_GAP_MS = 1_000.0
#: Bounds that keep a trace small on hostile input; published logs stay far below them.
MAX_GAPS = 200
MAX_LENGTHS = 10_000
MAX_KEY = 100
#: Published logs have some hundred keys; values are compared by so much of them.
MAX_KEYS = 1_000
MAX_VALUE = 2_000
#: Published logs name fewer than 100 lines of code; no file has more lines than the second number.
MAX_SITES, MAX_SITE_LINE, MAX_FILE_NAME = 1_000, 1_000_000, 500
#: Shorter steps in time, and those of clocks that count seconds, may be repeated to the millisecond by chance.
_LEAST_MARK_MS = 100
#: Times (ms) beyond this are not times, and neither are Infinity and NaN.
MAX_TIME_MS = 1e15

_RUN = frozenset(("run_start", "run_stop"))
_RATED = frozenset(("throughput", "tracked_stats"))
_RATE_NAMES = ("throughput", "imgs_sec", "samples_per_second", "throughput_samples_per_sec")
#: What a record counts its place in training by, and the keys of those that do.
_PLACES = ("samples_count", "step_num", "step", "epoch_num", "first_epoch_num", "epoch_count")
_PLACED = frozenset((*EDGES, "eval_accuracy", "eval_error"))
#: Blocks whose size the next records may tell.
_MOST_UNSIZED = 4
#: Of the last records so many are looked at, for so many steps in time that two runs do not share by chance.
_TAIL, _TAIL_MARKS = 64, 4


class _Marking:
    """A :class:`KeyMark` in the making."""

    def __init__(self) -> None:
        self.count = 0
        self.times = blake2b(digest_size=16)
        self.values = blake2b(digest_size=16)

    def take(self, times: Sequence[float], values: Sequence[Any]) -> None:
        """Take the next records of the key."""
        self.count += len(times)
        self.times.update(_lines(times))
        self.values.update(_encode_values(values))

    def finish(self) -> KeyMark:
        return KeyMark(self.count, self.times.hexdigest(), self.values.hexdigest())


_lines = msgspec.json.Encoder().encode_lines


#: Of one of the last events its time (ms), key, line and value.
_TailRecord = tuple[float, str, int, bytes]


class _OpenInterval:
    """An interval under way: when and in which line it began, at which places, and the rates stated since."""

    def __init__(self, time_ms: float, line: int, places: Mapping[str, float], nested: bool) -> None:
        self.time_ms, self.line, self.places, self.nested = time_ms, line, places, nested
        self.rate, self.rates = 0.0, 0


class _Closed:
    """The :class:`Lengths` of one kind in the making."""

    def __init__(self) -> None:
        self.lengths, self.lines, self.sizes, self.rates = array("d"), array("q"), array("d"), array("d")
        self.first_stop = self.last_start = 0.0
        #: The places that the last ones began at, which are compared with those of the next records.
        self.unsized: deque[tuple[int, Mapping[str, float]]] = deque(maxlen=_MOST_UNSIZED)

    def add(self, kind: str, one: _OpenInterval, stop: float) -> None:
        """Take an interval that has ended."""
        if not self.lengths:
            self.first_stop = stop
        self.last_start = one.time_ms
        # Where one starts while another is under way, it is not known which of them ends.
        size = 0.0 if one.nested else 1.0 if kind == "epoch" else one.places.get("epoch_count", 0.0)
        if not size and not one.nested:
            self.unsized.append((len(self.lengths), one.places))
        self.lengths.append(stop - one.time_ms)
        self.lines.append(one.line)
        self.sizes.append(size)
        self.rates.append(one.rate / one.rates if one.rates else 0.0)

    def size(self, places: Mapping[str, float]) -> None:
        """Give those without a size the one that a later place shows."""
        for at, start in list(self.unsized):
            size = next((places[name] - start[name] for name in places if places[name] > start.get(name, math.inf)), 0)
            if size:
                self.sizes[at] = size
                self.unsized.remove((at, start))

    def finish(self) -> Lengths:
        """Return what there was so far."""
        lengths, lines, sizes, rates = tuple(self.lengths), tuple(self.lines), tuple(self.sizes), tuple(self.rates)
        return Lengths(lengths, lines, sizes, rates, self.first_stop, self.last_start)


def _encode_values(values: Sequence[Any]) -> bytes:
    """Return values as JSON, one a line."""
    try:
        return _lines(values)
    except (TypeError, ValueError, RecursionError):  # Half a surrogate pair, or nested too deeply.
        return b"".join(map(_encode_value, values))


def _encode_value(value: Any) -> bytes:
    try:
        return _lines([value])
    except (TypeError, ValueError, RecursionError):
        return show(value, limit=MAX_VALUE).encode("utf-8", "surrogatepass") + b"\n"


class TraceReader:
    """Takes the events of a log in file order; :meth:`finish` gives the trace."""

    def __init__(self) -> None:
        self._start: float | None = None
        self._stopped = False
        self._stated: tuple[float | None, str] = (None, "")
        self._keys: dict[str, _Marking] = {}
        #: File, key and line of the code that logged a record.
        self._sites: set[tuple[str, str, int]] = set()
        self._tail: deque[_TailRecord] = deque(maxlen=_TAIL)
        self._begin(0.0)

    def _begin(self, time_ms: float) -> None:
        """The timed region starts (again): what was collected before lies outside of it."""
        self._last = time_ms
        self._before = "run_start"
        self._jump: tuple[int, float] | None = None
        self._early: tuple[int, float, str] | None = None
        self._gaps: dict[tuple[str, str, bool], Gap] = {}
        self._open: dict[str, _OpenInterval] = {}
        self._closed = {name: _Closed() for name in KINDS}
        self._hash = blake2b(digest_size=16)
        self._marks = 0

    def take(self, decoded: Sequence[Event | Defect]) -> None:
        """Take the next records; how many at once makes no difference."""
        events = [
            event
            for event in decoded
            if isinstance(event, Event) and type(event.key) is str and -MAX_TIME_MS < event.time_ms < MAX_TIME_MS
        ]
        by_key = defaultdict[str, list[Event]](list)
        for event in events:
            by_key[event.key[:MAX_KEY]].append(event)
        for key, alike in by_key.items():
            self._mark(key, alike)
        self._note_sites(by_key)
        last = events[-_TAIL:]
        values = _encode_values([event.value for event in last]).splitlines(keepends=True)
        self._tail.extend(
            (event.time_ms, event.key[:MAX_KEY], event.line, value) for event, value in zip(last, values, strict=True)
        )
        begin = 0
        for edge in [at for at, event in enumerate(events) if event.key in _RUN] if by_key.keys() & _RUN else ():
            self._take(events[begin:edge])
            self._run_edge(events[edge])
            begin = edge + 1
        self._take(events[begin:])

    def _mark(self, key: str, events: Sequence[Event]) -> None:
        """Take events of one key."""
        if key not in self._keys and len(self._keys) < MAX_KEYS:
            self._keys[key] = _Marking()
        if key in self._keys:
            self._keys[key].take([event.time_ms for event in events], [event.value for event in events])

    def _note_sites(self, by_key: Mapping[str, Sequence[Event]]) -> None:
        """Take the lines of code that events were logged by."""
        sites = {
            (file, key, line)
            for key, events in by_key.items()
            for event in events
            if type(metadata := event.metadata) is dict
            and type(file := metadata.get("file")) is str
            and type(line := metadata.get("lineno")) is int
        }
        for file, key, line in sorted(sites - self._sites):
            if 0 < len(file) <= MAX_FILE_NAME and 0 < line <= MAX_SITE_LINE and len(self._sites) < MAX_SITES:
                self._sites.add((file, key, line))

    def _run_edge(self, event: Event) -> None:
        """A ``run_start`` or ``run_stop``, which is itself outside of the region."""
        if self._stopped:
            return
        if event.key == "run_start":
            self._start = event.time_ms
            self._begin(event.time_ms)
        elif self._start is not None:
            self._stopped = True
            self._stated = _stated_length(event.metadata)
            if event.time_ms - self._last >= LEAST_GAP_MS:
                self._gap(event.time_ms - self._last, self._before, event.key, event.line)
            self._step_back(self._last - event.time_ms, event.key, event.line)

    def _take(self, events: Sequence[Event]) -> None:
        """Take events without an edge of the run among them."""
        start = self._start
        if start is None or self._stopped:
            return
        last, before = self._last, self._before
        for event in events:
            time_ms, key = event.time_ms, event.key
            step = time_ms - last
            if step >= _LEAST_MARK_MS:
                if step % 1000:
                    self._marks += 1
                if step >= LEAST_GAP_MS:
                    self._gap(step, before, key, event.line)
            elif step < 0:
                self._step_back(-step, before, event.line)
            last, before = time_ms, key
            if key in _PLACED:
                self._place(event)
            elif key in _RATED and self._open and (rate := _rate(event.value)) is not None:
                for one in self._open.values():
                    one.rate, one.rates = one.rate + rate, one.rates + 1
        self._last, self._before = last, before
        self._hash.update(array("d", [event.time_ms - start for event in events]))

    def _gap(self, length: float, before: str, after: str, line: int) -> None:
        of = (before[:MAX_KEY], after[:MAX_KEY], not self._open)
        known = self._gaps.get(of)
        if known is None:
            if len(self._gaps) < MAX_GAPS:
                self._gaps[of] = Gap(*of, length, 1, line)
        elif length > known.longest_ms:
            self._gaps[of] = Gap(*of, length, known.count + 1, line)
        else:
            self._gaps[of] = Gap(*of, known.longest_ms, known.count + 1, known.line)

    def _step_back(self, by_ms: float, over: str, line: int) -> None:
        """A record is older than the one before it: ``over`` is the key of that one, or ``run_stop``."""
        starts = over == "run_start" or (over in EDGES and EDGES[over][1] and not self._closed[EDGES[over][0]].lengths)
        if (starts or over == "run_stop") and by_ms >= LEAST_GAP_MS:
            self._early = self._early or (line, by_ms, "run_start" if starts else over)
        elif over != "run_stop" and (self._jump is None or by_ms > self._jump[1]):
            self._jump = (line, by_ms)

    def _place(self, event: Event) -> None:
        """Take an edge of an interval, or a result of an evaluation."""
        name, starts = EDGES.get(event.key, ("eval", None))
        if starts is False and (one := self._open.pop(name, None)) is not None:
            closed = self._closed[name]
            if event.time_ms >= one.time_ms and len(closed.lengths) < MAX_LENGTHS:
                closed.add(name, one, event.time_ms)
        if starts or self._closed["block"].unsized:
            places = _places(event.metadata)
            self._closed["block"].size(places)
            if starts:
                self._open[name] = _OpenInterval(event.time_ms, event.line, places, name in self._open)

    def finish(self) -> Trace:
        """Return what the events leave."""
        intervals = {name: closed.finish() for name, closed in self._closed.items()}
        sources: dict[str, dict[str, tuple[int, ...]]] = {}
        for file, key, line in sorted(self._sites):
            by_key = sources.setdefault(file, {})
            by_key[key] = (*by_key.get(key, ()), line)
        return Trace(
            stated_s=self._stated[0],
            stated_as=self._stated[1],
            jump=self._jump,
            early=self._early,
            tail=_fingerprint_tail(self._tail),
            gaps=tuple(self._gaps.values()),
            blocks=intervals["block"],
            epochs=intervals["epoch"],
            evals=intervals["eval"],
            times=self._hash.hexdigest(),
            marks=self._marks,
            keys={key: marking.finish() for key, marking in self._keys.items()},
            sources=sources,
        )


def _fingerprint_tail(records: Sequence[_TailRecord]) -> tuple[str, int] | None:
    """Return a fingerprint of the last records, from the last steps in time on that chance does not repeat."""
    seen, marks = blake2b(digest_size=16), 0
    for later, record in pairwise(reversed(records)):
        step = later[0] - record[0]
        marks += step >= _LEAST_MARK_MS and step % 1000 != 0
        seen.update(_lines([step, *later[1:4:2]]))
        if marks == _TAIL_MARKS:
            return seen.hexdigest(), record[2]
    return None


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


def _rate(value: Any) -> float | None:
    """The throughput that a value states, or the steps a second where it is the time of one."""
    if isinstance(value, dict):
        for name in _RATE_NAMES:
            if name in value:
                return _positive(value[name])
        step = _positive(value.get("train_step_time"))
        return _positive(1 / step) if step else None
    return _positive(value)


def _places(metadata: Any) -> dict[str, float]:
    """The places in training that the metadata of a record names."""
    if type(metadata) is not dict:
        return {}
    there = [name for name in _PLACES if name in metadata]
    return {name: number for name in there if (number := _number(metadata[name])) is not None}


def _number(value: Any) -> float | None:
    """A number that can be computed with; None for all else."""
    return float(value) if type(value) in (int, float) and abs(value) < MAX_TIME_MS else None


def _positive(value: Any) -> float | None:
    """A number above zero, also one written as text; None for all else."""
    if type(value) is float:
        return value if 0 < value < MAX_TIME_MS else None
    if isinstance(value, bool) or not isinstance(value, (int, float, str)):
        return None
    try:
        number = float(value[:MAX_KEY] if isinstance(value, str) else value)
    except (ValueError, OverflowError):
        return None
    return number if 0 < number < MAX_TIME_MS else None
