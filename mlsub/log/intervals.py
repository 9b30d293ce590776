"""The intervals of a log: the timed region, blocks, epochs and evaluations."""

from __future__ import annotations

import math

import msgspec

from mlsub.log.event import Event
from mlsub.log.events import Handler

#: The intervals by their names, and by the key of each edge: the interval, and whether the edge is its start.
KINDS = ("block", "epoch", "eval")
EDGES = {f"{kind}_{edge}": (kind, edge == "start") for kind in KINDS for edge in ("start", "stop")}
#: Bounds memory on hostile input; published logs stay below 5,000.
MAX_INTERVALS = 100_000

Span = tuple[float, float]


class Intervals(msgspec.Struct, frozen=True, array_like=True):
    """The closed intervals of a log in the order of its records, in ms since the Unix epoch.

    An interval that never stops ends at infinity. ``cut`` says that there were more than anyone logs.
    """

    block: tuple[Span, ...] = ()
    epoch: tuple[Span, ...] = ()
    eval: tuple[Span, ...] = ()
    cut: bool = False


class IntervalFold:
    """Collects the intervals of a log; of the starts and stops of many processes the first counts."""

    def __init__(self) -> None:
        self._spans: dict[str, list[Span]] = {kind: [] for kind in KINDS}
        self._open: dict[str, float] = {}
        self._cut = False

    def handler(self, key: str | None) -> Handler | None:
        """What takes the events of a key: the edges of intervals."""
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
        """The intervals, those that are still open with an end at infinity."""
        for kind in list(self._open):
            self._close(kind, math.inf)
        return Intervals(**{kind: tuple(spans) for kind, spans in self._spans.items()}, cut=self._cut)


#: Evaluations (ms) that no model takes: of all published ones that run while the clock does, the shortest takes 65 ms.
NO_LENGTH_MS = 5
#: No training counts further.
_MOST = 1e15


class EvaluationLengths(msgspec.Struct, frozen=True, array_like=True):
    """The evaluations of the timed region that start and stop: how many, and how many of them take hardly any time.

    ``line`` is that of the first such ``eval_start``, ``longest_ms`` the length of the longest of them. ``beside`` says
    that evaluations start in order while others are under way, as where they are made beside the training.
    """

    count: int = 0
    short: int = 0
    line: int | None = None
    longest_ms: float = 0.0
    beside: bool = False


class TimedRegion:
    """The interval the official score uses (ms): the last ``run_start`` and ``run_stop`` up to where both are known."""

    __slots__ = ("start", "stop")

    def __init__(self) -> None:
        self.start: float | None = None
        self.stop: float | None = None

    @property
    def runs(self) -> bool:
        """Whether the clock has started and not stopped."""
        return self.start is not None and self.stop is None

    def edge(self, event: Event) -> None:
        """Take a ``run_start`` or ``run_stop``."""
        if self.start is not None and self.stop is not None:
            return
        if event.key == "run_start":
            self.start = event.time_ms
        else:
            self.stop = event.time_ms


class LengthFold:
    """Takes starts and stops in file order; of those of many processes the first counts.

    Args:
        timed: when the clock runs.
    """

    def __init__(self, timed: TimedRegion) -> None:
        self._timed = timed
        self._open: Event | None = None
        self._count = self._short = 0
        self._line: int | None = None
        self._longest = 0.0
        self._beside = self._back = False
        self._place = -math.inf

    def start(self, event: Event) -> None:
        """Take an ``eval_start``."""
        if not self._timed.runs:
            return
        place = _place(event)
        self._back = self._back or place < self._place
        if self._open is None:
            self._open = event
        else:
            self._beside = self._beside or place > self._place
        self._place = place

    def stop(self, event: Event) -> None:
        """Take an ``eval_stop``."""
        start, self._open = self._open, None
        if start is None:
            return
        self._count += 1
        length = event.time_ms - start.time_ms
        if length <= NO_LENGTH_MS:
            self._short += 1
            self._longest = max(self._longest, length)
            if self._line is None:
                self._line = start.line

    def finish(self) -> EvaluationLengths:
        """What there was so far."""
        return EvaluationLengths(self._count, self._short, self._line, self._longest, self._beside and not self._back)


def _place(event: Event) -> float:
    """How far the training had come when an evaluation started; infinity where that is not said."""
    for name in ("samples_count", "epoch_num"):
        found = event.metadata.get(name) if isinstance(event.metadata, dict) else None
        if type(found) is int or type(found) is float:
            return float(found) if abs(found) < _MOST else math.inf
    return math.inf
