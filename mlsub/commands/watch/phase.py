"""In which phase a run is, and how long its timed region has lasted."""

from __future__ import annotations

import math
from enum import StrEnum
from typing import Any

import msgspec

from mlsub.commands.watch.words import text
from mlsub.log.event import Event

#: A record at most so much older than the time of day says that the log is written now, in ms; and so much newer, for
#: the clocks of two machines differ.
LIVE_MS = 3_600_000.0
SKEW_MS = 300_000.0
#: Beyond this a time in ms is nonsense: the year 5138.
_BEYOND = 1e14


class Phase(StrEnum):
    """Where a run stands. ``LOST`` is a log that is no longer there, or ended without ``run_stop``."""

    WAITING = "waiting"
    INIT = "init"
    RUN = "run"
    EVALUATING = "evaluating"
    STOPPED = "stopped"
    LOST = "lost"


class Timed(msgspec.Struct, frozen=True):
    """How long the timed region has lasted, in ms: by the log's own clock, and by the time of day while it is live.

    None where the region has not begun, or a time is none.
    """

    by_log: float | None = None
    by_wall: float | None = None


class PhaseOf:
    """Follows the events of one log."""

    def __init__(self) -> None:
        self.phase = Phase.WAITING
        self.status: str | None = None
        self.init_start: float | None = None
        self.last: float | None = None
        self._start: float | None = None
        self._stop: float | None = None

    def see(self, event: Event) -> bool:
        """Take the next event; whether it changes the phase, or what is known of its end."""
        self.last = event.time_ms
        before = (self.phase, self.status)
        key = event.key
        if key in ("run_start", "run_stop"):
            self._edge(event)
        if key == "init_start" and self.init_start is None:
            self.init_start = event.time_ms
        self.phase = self._next(key)
        if key == "run_stop":
            status = event.metadata.get("status") if isinstance(event.metadata, dict) else None
            self.status = text(status) if status is not None else None
        return (self.phase, self.status) != before

    def elapsed(self, at_ms: float) -> float | None:
        """From ``run_start`` to a time, in ms."""
        return _between(self._start, at_ms)

    def timed(self, now_ms: float) -> Timed:
        """How long the timed region has lasted at a time of day, in ms since the Unix epoch."""
        if self._start is None:
            return Timed()
        if self._stop is not None:
            return Timed(_between(self._start, self._stop))
        live = self.last is not None and -SKEW_MS <= now_ms - self.last <= LIVE_MS
        return Timed(_between(self._start, self.last), _between(self._start, now_ms) if live else None)

    @property
    def initialising_ms(self) -> float | None:
        """How long the init phase has lasted by the log's own clock, in ms; None outside of it."""
        return _between(self.init_start, self.last) if self.phase is Phase.INIT else None

    def _edge(self, event: Event) -> None:
        """The interval that the official score uses, as in :class:`mlsub.log.run.RunFold`."""
        if self._start is None or self._stop is None:
            if event.key == "run_start":
                self._start = event.time_ms
            else:
                self._stop = event.time_ms

    def _next(self, key: Any) -> Phase:
        if key == "run_start":
            return Phase.RUN
        if key == "run_stop":
            return Phase.STOPPED
        if self.phase in (Phase.RUN, Phase.EVALUATING):
            if key == "eval_start":
                return Phase.EVALUATING
            if key in ("eval_stop", "block_start", "epoch_start"):
                return Phase.RUN
        return Phase.INIT if self.phase is Phase.WAITING else self.phase


def _between(start: float | None, stop: float | None) -> float | None:
    if start is None or stop is None or not (abs(start) < _BEYOND and abs(stop) < _BEYOND):
        return None
    took = stop - start
    return took if math.isfinite(took) else None
