"""The watch itself: look at each log in turn, report what is new, and end with the verdict."""

from __future__ import annotations

import select
import signal
import threading
import time
from collections.abc import Iterable, Sequence
from contextlib import suppress
from types import FrameType
from typing import Any

import msgspec

from mlsub.commands.watch.document import Outlet
from mlsub.commands.watch.logs import MAX_LOGS, Logs
from mlsub.commands.watch.news import Concluded, News, Reason, Warned
from mlsub.findings import Verdict

#: Intervals without anything new after ``run_stop`` until a log counts as whole.
STILL_INTERVALS = 3
#: How often to draw while there is always more to read, in ms.
_DRAW_MS = 250


class Settings(msgspec.Struct, frozen=True):
    """How to watch: seconds between two looks; seconds of silence that end it, None for never; logs to wait for.

    ``logs`` matters for folders: the watch ends only when so many logs have ended.
    """

    interval_s: float = 1.0
    idle_s: float | None = None
    logs: int = 1


class Clock:
    """The clock of the machine, and a sleep that ends at SIGINT and SIGTERM; a test has one of its own.

    While it is entered the first signal is only noted, so that no look at the logs is torn: it ends the next sleep, or
    the one under way. A second one comes at once. ``signal`` is the last that came.
    """

    def __init__(self) -> None:
        self.signal: signal.Signals | None = None
        self._asleep = False
        self._before: dict[signal.Signals, Any] = {}

    def __enter__(self) -> Clock:
        if threading.current_thread() is threading.main_thread():  # No other can take signals.
            self._before = {one: signal.signal(one, self._note) for one in (signal.SIGINT, signal.SIGTERM)}
        return self

    def __exit__(self, *_: object) -> None:
        for one, before in self._before.items():
            signal.signal(one, before)

    def now_ms(self) -> int:
        """Return the time of day, in ms since the Unix epoch."""
        return int(time.time() * 1000)

    def sleep(self, seconds: float, readable: Sequence[int] = ()) -> None:
        """Wait, and no longer than until one of the file descriptors has something to read.

        Raises:
            KeyboardInterrupt: a signal comes, or has come.
        """
        self._asleep = True
        try:
            if self.signal is not None:
                raise KeyboardInterrupt
            select.select(readable, [], [], seconds)
        finally:
            self._asleep = False

    def _note(self, number: int, frame: FrameType | None) -> None:
        again, self.signal = self.signal is not None, signal.Signals(number)
        if again or self._asleep:
            raise KeyboardInterrupt


class Watch:
    """Follows logs until they have ended; :meth:`run` gives the exit status."""

    def __init__(self, logs: Logs, clock: Clock, outlet: Outlet, settings: Settings) -> None:
        self._logs = logs
        self._clock = clock
        self._outlet = outlet
        self._settings = settings
        self._drawn_ms = 0
        self._warned = False

    def run(self) -> int:
        """Watch; return the exit status of ``mlsub check`` for the same logs."""
        reason: Reason = "interrupted"
        with self._clock:
            try:
                with suppress(KeyboardInterrupt):  # Asked to end: with the verdict on what is there.
                    reason = self._follow()
                return self._conclude(reason)
            finally:
                self._outlet.close()

    def _follow(self) -> Reason:
        """Look at the logs until they have ended; return why that is."""
        began_ms = self._clock.now_ms()
        while True:
            at_ms = self._clock.now_ms()
            for log in self._logs.discover():
                self._report(log.begin(at_ms))
            if self._logs.full and not self._warned:
                self._warned = True
                self._report([Warned(at_ms=at_ms, message=f"more than {MAX_LOGS} logs; the others are not watched")])
            for log in self._logs.watched:
                self._report(log.look(at_ms))
            for log in self._logs.watched:
                self._report(log.end_if_still(at_ms, STILL_INTERVALS * self._settings.interval_s))
            reason = self._over(at_ms, began_ms)
            if reason is not None:
                return reason
            self._wait(at_ms)

    def _over(self, at_ms: int, began_ms: int) -> Reason | None:
        """Why the watch is over; None while it is not."""
        logs = self._logs.watched
        ended = sum(log.ended is not None for log in logs)
        if ended == len(logs) and ended >= self._settings.logs:
            return "stopped"
        idle_s = self._settings.idle_s
        quiet_s = min((log.quiet_s(at_ms) for log in logs), default=(at_ms - began_ms) / 1000)
        return "idle" if idle_s is not None and quiet_s >= idle_s and not any(log.more for log in logs) else None

    def _wait(self, at_ms: int) -> None:
        """Draw, and sleep until there may be something new."""
        logs = self._logs.watched
        more = any(log.more for log in logs)
        if not more or at_ms - self._drawn_ms >= _DRAW_MS:
            self._drawn_ms = at_ms
            self._outlet.draw(logs, at_ms)
        pipes = [descriptor for log in logs for descriptor in log.source.descriptors]
        self._clock.sleep(0 if more else self._settings.interval_s, pipes)

    def _conclude(self, reason: Reason) -> int:
        """Judge what has no verdict yet, and report the verdict on all."""
        at_ms = self._clock.now_ms()
        logs = self._logs.watched
        for log in logs:
            if log.ended is None:
                self._report(log.end(at_ms))
        self._outlet.draw(logs, at_ms)
        ends = [log.ended.official for log in logs if log.ended is not None]
        official = Verdict.ACCEPTED if {*ends} == {"compliant"} else Verdict.REJECTED
        verdict = Concluded(
            at_ms=at_ms,
            official=Verdict.NOT_CHECKED if {*ends} <= {"not-checked"} else official,
            exit_status=max((log.exit_status for log in logs), default=2),
            reason=reason,
            logs=len(logs),
            compliant=ends.count("compliant"),
        )
        self._report([verdict])
        return verdict.exit_status

    def _report(self, news: Iterable[News]) -> None:
        for one in news:
            self._outlet.show(one)
