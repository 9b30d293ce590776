"""The intervals of a log: when its blocks, epochs and evaluations were under way."""

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
