"""The watch itself: look at each log in turn, report what is new, and end with the verdict."""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import suppress

import msgspec

from mlsub.commands.watch.logs import MAX_LOGS, Logs
from mlsub.commands.watch.news import Concluded, News, Reason, Warned
from mlsub.commands.watch.outlet import Outlet
from mlsub.commands.watch.outside import Clock, Interrupts
from mlsub.commands.watch.run import Moment
from mlsub.findings import Verdict

#: Intervals without anything new after ``run_stop`` until a log counts as whole.
SETTLE_INTERVALS = 3
#: A pipe that gives fewer bytes at a time gets some time to fill, in seconds; a busy one is read as soon as it can be.
_TRICKLE, _NAP_S = 1 << 15, 0.05
#: How often to draw while there is always more to read, in seconds.
_DRAW_S = 0.25


class Settings(msgspec.Struct, frozen=True):
    """How to watch: seconds between two looks; seconds of silence that end it, None for never; logs to wait for.

    ``logs`` matters for folders: the watch ends only when so many logs have ended.
    """

    interval_s: float = 1.0
    idle_s: float | None = None
    logs: int = 1


class Watch:
    """Follows logs until they have ended; :meth:`run` gives the exit status."""

    def __init__(
        self,
        logs: Logs,
        clock: Clock,
        outlet: Outlet,
        settings: Settings,
        interrupts: Interrupts | None = None,
    ) -> None:
        """Watch ``logs`` by a clock, and report to an outlet."""
        self._logs = logs
        self._clock = clock
        self._outlet = outlet
        self._settings = settings
        self._interrupts = interrupts if interrupts is not None else Interrupts()
        self._drawn = 0.0
        self._warned = False

    def run(self) -> int:
        """Watch; the exit status is that of ``mlsub check`` for the same logs."""
        reason: Reason = "interrupted"
        with self._interrupts:
            try:
                with suppress(KeyboardInterrupt):  # Asked to end: with the verdict on what is there.
                    reason = self._follow()
                return self._conclude(reason)
            finally:
                self._outlet.close()

    def _follow(self) -> Reason:
        """Look at the logs until they have ended; why that is."""
        began = self._moment()
        while True:
            at = self._moment()
            for run in self._logs.discover():
                self._tell(run.begin(at))
            if self._logs.full and not self._warned:
                self._warned = True
                self._warn(f"more than {MAX_LOGS} logs; the others are not watched")
            for run in self._logs.runs:
                self._tell(run.look(at))
            for run in self._logs.runs:
                self._tell(run.settle(at, SETTLE_INTERVALS * self._settings.interval_s))
            reason = self._over(at, began)
            if reason is not None or self._interrupts.asked:
                return reason or "interrupted"
            self._wait(at)

    def _over(self, at: Moment, began: Moment) -> Reason | None:
        """Why the watch is over; None while it is not."""
        runs = self._logs.runs
        ended = sum(run.ended is not None for run in runs)
        if ended == len(runs) and ended >= self._settings.logs:
            return "stopped"
        idle = self._settings.idle_s
        silence = min((run.quiet(at) for run in runs), default=at.steady - began.steady)
        return "idle" if idle is not None and silence >= idle and not any(run.more for run in runs) else None

    def _wait(self, at: Moment) -> None:
        """Draw, and sleep until there may be something new."""
        runs = self._logs.runs
        more = any(run.more for run in runs)
        if not more or at.steady - self._drawn >= _DRAW_S:
            self._drawn = at.steady
            self._outlet.draw([run.row(at) for run in runs])
        if more:
            return
        descriptors = [descriptor for run in runs for descriptor in run.source.descriptors]
        trickling = any(0 < run.read_bytes < _TRICKLE and run.source.descriptors for run in runs)
        with self._interrupts.let_through():
            if trickling:
                self._clock.sleep(min(_NAP_S, self._settings.interval_s))
            else:
                self._clock.sleep(self._settings.interval_s, descriptors)

    def _conclude(self, reason: Reason) -> int:
        """Judge what has no verdict yet, and report the verdict on all."""
        at = self._moment()
        runs = self._logs.runs
        for run in runs:
            if run.ended is None:
                self._tell(run.end(at))
        self._outlet.draw([run.row(at) for run in runs])
        ends = [run.ended.official for run in runs if run.ended is not None]
        official = Verdict.ACCEPTED if {*ends} == {"compliant"} else Verdict.REJECTED
        verdict = Concluded(
            at_ms=at.ms,
            official=Verdict.NOT_CHECKED if {*ends} <= {"not-checked"} else official,
            exit_status=max((run.exit_status for run in runs), default=2),
            reason=reason,
            logs=len(runs),
            compliant=ends.count("compliant"),
        )
        self._tell([verdict])
        return verdict.exit_status

    def _tell(self, news: Iterable[News]) -> None:
        for one in news:
            self._outlet.tell(one)

    def _warn(self, message: str) -> None:
        self._outlet.tell(Warned(at_ms=self._moment().ms, message=message))

    def _moment(self) -> Moment:
        return Moment(self._clock.now(), self._clock.steady())
