"""In which phase a run is, and how long its timed region has lasted."""

from __future__ import annotations

import math
from enum import StrEnum

import msgspec

from mlsub.commands.watch.words import text
from mlsub.log.event import Event
from mlsub.log.run import RunFold

#: A record at most so much older than the time of day says that the log is written now, in ms; and so much newer, for
#: the clocks of two machines differ.
_LIVE_MS = 3_600_000.0
_SKEW_MS = 300_000.0
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


#: The phases that records begin, and those that they begin only once the run has.
_BEGINS = {"run_start": Phase.RUN, "run_stop": Phase.STOPPED}
_BEGINS_IN_RUN = {
    "eval_start": Phase.EVALUATING,
    "eval_stop": Phase.RUN,
    "block_start": Phase.RUN,
    "epoch_start": Phase.RUN,
}


class Timed(msgspec.Struct, frozen=True):
    """How long the timed region has lasted, in ms: by the log's own clock, and by the time of day while it is live.

    None where the region has not begun, or a time is not usable.
    """

    by_log: float | None = None
    by_wall: float | None = None


class PhaseOf:
    """Follows the events of one log, each after the facts of the run have taken it."""

    def __init__(self, fold: RunFold) -> None:
        self.phase = Phase.WAITING
        self.status: str | None = None
        self.last: float | None = None
        self._fold = fold

    def see(self, event: Event) -> bool:
        """Take the next event; whether it changes the phase, or what is known of its end."""
        self.last = event.time_ms
        before = (self.phase, self.status)
        key = event.key if isinstance(event.key, str) else ""
        if self.phase is Phase.WAITING:
            self.phase = Phase.INIT
        elif self.phase in (Phase.RUN, Phase.EVALUATING):
            self.phase = _BEGINS_IN_RUN.get(key, self.phase)
        self.phase = _BEGINS.get(key, self.phase)
        if key == "run_stop":
            status = event.metadata.get("status") if isinstance(event.metadata, dict) else None
            self.status = text(status) if status is not None else None
        return (self.phase, self.status) != before

    def elapsed(self, at_ms: float | None) -> float | None:
        """From ``run_start`` to a time, in ms."""
        return _between(self._fold.timed.start, at_ms)

    def is_live(self, now_ms: float) -> bool:
        """Whether the log is written at this time of day, in ms since the Unix epoch."""
        return self.last is not None and -_SKEW_MS <= now_ms - self.last <= _LIVE_MS

    def timed(self, now_ms: float) -> Timed:
        """How long the timed region has lasted at a time of day, in ms since the Unix epoch."""
        start, stop = self._fold.timed.start, self._fold.timed.stop
        if start is not None and stop is not None:
            return Timed(_between(start, stop))
        live = self.is_live(now_ms) and self.phase is not Phase.STOPPED
        return Timed(self.elapsed(self.last), self.elapsed(now_ms) if live else None)

    @property
    def init_start(self) -> float | None:
        """When the init phase began by the log's own clock, in ms; None outside of it."""
        over = self.phase is not Phase.INIT or "init_stop" in self._fold.lines
        return None if over else self._fold.times.get("init_start")

    @property
    def initialising_ms(self) -> float | None:
        """How long the init phase has lasted by the log's own clock, in ms; None outside of it."""
        return _between(self.init_start, self.last)


def _between(start: float | None, stop: float | None) -> float | None:
    if start is None or stop is None or not (abs(start) < _BEYOND and abs(stop) < _BEYOND):
        return None
    took = stop - start
    return took if math.isfinite(took) else None
