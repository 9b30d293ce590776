"""The intervals of a log, and how long its evaluations take and where in training they say they are."""

from __future__ import annotations

import math

import msgspec

from mlsub.log.event import Event
from mlsub.log.events import Handler

#: Evaluations (ms) that no model takes: of all published ones that run while the clock does, the shortest takes 65 ms.
NO_LENGTH_MS = 5
#: No training counts further.
_MOST = 1e15


class Shift(msgspec.Struct, frozen=True, array_like=True):
    """Evaluations that all state another ``samples_count`` in ``eval_accuracy`` than where they start and stop.

    ``count`` says how many; the first is in ``line``, with ``stated`` in place of ``meant``; ``last`` is what has to be
    added to that of the last.
    """

    count: int
    line: int
    stated: int | float
    meant: int | float
    last: int | float


class EvaluationLengths(msgspec.Struct, frozen=True, array_like=True):
    """The evaluations of the timed region that start and stop: how many, and how many of them take hardly any time.

    ``line`` is that of the first such ``eval_start``, ``longest_ms`` the length of the longest of them. ``beside`` says
    that evaluations start in order while others are under way, as where they are made beside the training. ``shift`` is
    None where an evaluation states the same place at its start, its end and in between.
    """

    count: int = 0
    short: int = 0
    line: int | None = None
    longest_ms: float = 0.0
    beside: bool = False
    shift: Shift | None = None


#: The intervals by their names, and by the key of each edge: the interval, and whether the edge is its start.
KINDS = ("block", "epoch", "eval")
EDGES = {f"{kind}_{edge}": (kind, edge == "start") for kind in KINDS for edge in ("start", "stop")}
#: Bounds memory on hostile input; published logs stay below 5,000.
MAX_INTERVALS = 100_000

Span = tuple[float, float]


class Intervals(msgspec.Struct, frozen=True, array_like=True):
    """The closed intervals of a log in the order of its records, in ms since the Unix epoch.

    An interval that never stops ends at infinity, and a first block that no record starts begins at minus infinity.
    ``cut`` says that there were more than anyone logs.
    """

    block: tuple[Span, ...] = ()
    epoch: tuple[Span, ...] = ()
    eval: tuple[Span, ...] = ()
    cut: bool = False


class Gap(msgspec.Struct, frozen=True, array_like=True):
    """The longest silence (ms) between two records of these keys in the timed region, and how many there are.

    ``idle`` says that no block, epoch or evaluation was under way; ``line`` is that of the record that ends it.
    """

    before: str
    after: str
    idle: bool
    longest_ms: float
    count: int
    line: int


class Lengths(msgspec.Struct, frozen=True, array_like=True):
    """The lengths (ms) of the blocks, epochs or evaluations of a run, in file order, and the lines they start in.

    ``sizes`` are the samples, steps or epochs of each, as its records or the next ones count them, ``rates`` the mean
    of the throughputs stated in it, or of the steps a second where it is the time of one; 0 where that is not said.
    ``first_stop`` and ``last_start`` are times (ms).
    """

    lengths: tuple[float, ...] = ()
    lines: tuple[int, ...] = ()
    sizes: tuple[float, ...] = ()
    rates: tuple[float, ...] = ()
    first_stop: float = 0.0
    last_start: float = 0.0


class KeyMark(msgspec.Struct, frozen=True, array_like=True):
    """All records of one key in a log: how many, and fingerprints of their times and of their values."""

    count: int
    times: str
    values: str


class StatedSetting(msgspec.Struct, frozen=True, array_like=True):
    """A value that text states without a record, the line that does so first, and how it is called there."""

    value: float | str
    line: int
    called: str


class Trace(msgspec.Struct, frozen=True, kw_only=True, array_like=True):
    """What one log shows besides its run.

    ``stated_s`` is the length of the run in seconds as ``run_stop`` itself states it (TTT), ``stated_as`` the field.
    ``jump`` is line and size (ms) of the largest step back in the timed region, but for ``early``: line, size and edge
    of the run, where a record is older than the ``run_start`` or first ``block_start`` before it, or ``run_stop`` is.
    ``times`` is a fingerprint of when each record of the timed region was written, counted from ``run_start``;
    ``marks`` how many steps in it chance does not repeat. ``tail`` is a fingerprint of the last records of the log,
    of the steps in time between them and of their values, and the line of the first: as few as have some such steps.
    ``keys`` has the records of the whole log by their keys, ``settings`` those that are printed besides
    the records. ``sources`` are the lines of code that records say they were logged by: of each file, its lines by the
    key of the record.
    """

    stated_s: float | None = None
    stated_as: str = ""
    jump: tuple[int, float] | None = None
    gaps: tuple[Gap, ...] = ()
    blocks: Lengths = Lengths()
    epochs: Lengths = Lengths()
    evals: Lengths = Lengths()
    times: str = ""
    marks: int = 0
    keys: dict[str, KeyMark] = {}
    early: tuple[int, float, str] | None = None
    tail: tuple[str, int] | None = None
    settings: dict[str, tuple[StatedSetting, ...]] = {}
    sources: dict[str, dict[str, tuple[int, ...]]] = {}


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
        elif kind == "block" and not self._spans[kind]:
            # Some trainings log where the first block ends alone: it begins with the run.
            self._spans[kind].append((-math.inf, event.time_ms))

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


class LengthFold:
    """Takes starts and stops in file order; of those of many processes the first counts."""

    def __init__(self) -> None:
        self._open: Event | None = None
        self._count = self._short = 0
        self._line: int | None = None
        self._longest = 0.0
        self._beside = self._back = False
        self._place = -math.inf
        self._accuracy: Event | None = None
        self._shift: Shift | None = None
        self._agrees = False

    def start(self, event: Event) -> None:
        """Take an ``eval_start`` of the timed region."""
        place = _place(event)
        self._back = self._back or place < self._place
        if self._open is None:
            self._open, self._accuracy = event, None
        else:
            self._beside = self._beside or place > self._place
        self._place = place

    def stop(self, event: Event) -> None:
        """Take an ``eval_stop``."""
        start, self._open = self._open, None
        if start is None:
            return
        self._compare(start, event)
        self._count += 1
        length = event.time_ms - start.time_ms
        if length <= NO_LENGTH_MS:
            self._short += 1
            self._longest = max(self._longest, length)
            if self._line is None:
                self._line = start.line

    def accuracy(self, event: Event) -> None:
        """Take an ``eval_accuracy``."""
        self._accuracy = event

    def _compare(self, start: Event, stop: Event) -> None:
        """Compare the place of an evaluation with those of its start and stop."""
        inner = self._accuracy
        places = [_samples(event) for event in (start, inner, stop)]
        meant, stated, end = places
        if inner is None or meant is None or stated is None or meant != end or meant == stated:
            self._agrees = True
        elif self._shift is None:
            self._shift = Shift(1, inner.line, stated, meant, meant - stated)
        else:
            self._shift = msgspec.structs.replace(self._shift, count=self._shift.count + 1, last=meant - stated)

    def finish(self) -> EvaluationLengths:
        """Return what there was so far."""
        beside = self._beside and not self._back
        shift = None if self._agrees or beside else self._shift
        return EvaluationLengths(self._count, self._short, self._line, self._longest, beside, shift)


def _samples(event: Event | None) -> float | None:
    """The ``samples_count`` of a record; None where it states none that is a number."""
    found = event.metadata.get("samples_count") if event is not None and isinstance(event.metadata, dict) else None
    return found if (type(found) is int or type(found) is float) and abs(found) < _MOST else None


def _place(event: Event) -> float:
    """How far the training had come when an evaluation started; infinity where that is not said."""
    for name in ("samples_count", "epoch_num"):
        found = event.metadata.get(name) if isinstance(event.metadata, dict) else None
        if type(found) is int or type(found) is float:
            return float(found) if abs(found) < _MOST else math.inf
    return math.inf
