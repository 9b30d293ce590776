"""The watch itself: find the logs, look at each in turn, report what is new, and end with the verdict."""

from __future__ import annotations

import os
import select
import signal
import stat
import sys
import threading
import time
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from types import FrameType
from typing import Any

from mlsub.commands.output import tell
from mlsub.commands.watch.document import Outlet
from mlsub.commands.watch.model import Concluded, Reason
from mlsub.commands.watch.sofar import LogSoFar
from mlsub.commands.watch.source import FileSource, PipeSource, Source
from mlsub.findings import Verdict
from mlsub.io import MlsubError
from mlsub.io.show import display_path, tolerate
from mlsub.present.terminal import console
from mlsub.rounds import Round
from mlsub.submission.find import is_folder
from mlsub.workspace.places import Context, Request
from mlsub.workspace.runs import round_of

#: Logs watched at once.
MAX_LOGS = 256
PIPE = "-"
_PATTERN = "result_*.txt"
#: Intervals without anything new after ``run_stop`` until a log counts as whole.
STILL_INTERVALS = 3
#: How often to draw while there is always more to read, in ms.
_DRAW_MS = 250


def find_outlet(format_: str) -> Outlet:
    """Return where to show what happens: ``auto`` is a live view on a terminal, else text; or ``text``, ``jsonl``."""
    tolerate(sys.stdout)
    if format_ != "auto" or not sys.stdout.isatty():
        return Outlet(sys.stdout, jsonl=format_ == "jsonl")
    from mlsub.commands.watch.view import LiveView

    return LiveView(console())


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
    """Follows logs until they have ended; :meth:`run` gives the exit status.

    Args:
        names: paths, or ``-`` for standard input.
        context: which rules the logs are judged by, and the cache.
        clock: what time it is, and how to wait.
        outlet: shows what happens.
        interval_s: seconds between two looks.
        idle_s: seconds of silence that end the watch; None for never.
        logs: how many logs must have ended before the watch does; matters for folders.
        standard_input: the file descriptor that ``-`` stands for.

    Raises:
        MlsubError: something named does not grow like a log, or the round is not given or not known.
    """

    def __init__(
        self,
        names: Sequence[str],
        context: Context,
        clock: Clock,
        outlet: Outlet,
        *,
        interval_s: float = 1.0,
        idle_s: float | None = None,
        logs: int = 1,
        standard_input: int = 0,
    ) -> None:
        self._context, self._clock, self._outlet = context, clock, outlet
        self._interval_s, self._idle_s, self._least = interval_s, idle_s, logs
        self.watched: list[LogSoFar] = []
        self._known: dict[Path, LogSoFar] = {}
        self._full = False
        self._drawn_ms = 0
        # Without following links: people know their logs by the names they gave.
        paths = dict.fromkeys(Path(os.path.abspath(name)) for name in names if name != PIPE)  # noqa: PTH100
        self._rounds = {path: _round_of(path, context.request) for path in paths}
        parents = [path if is_folder(path) else path.parent for path in paths]
        self._root = Path(os.path.commonpath(parents)) if parents else Path()
        self._pipes = []
        if PIPE in names:
            self._pipes = [self._log(PipeSource(standard_input), PIPE, round_of([], context.request))]

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
            self._discover(at_ms)
            for log in self.watched:
                log.look(at_ms)
            for log in self.watched:
                log.end_if_still(at_ms, STILL_INTERVALS * self._interval_s)
            reason = self._over(at_ms, began_ms)
            if reason is not None:
                return reason
            self._wait(at_ms)

    def _over(self, at_ms: int, began_ms: int) -> Reason | None:
        """Why the watch is over; None while it is not."""
        logs = self.watched
        ended = sum(log.ended is not None for log in logs)
        if ended == len(logs) and ended >= self._least:
            return "stopped"
        idle_s = self._idle_s
        quiet_s = min((log.quiet_s(at_ms) for log in logs), default=(at_ms - began_ms) / 1000)
        return "idle" if idle_s is not None and quiet_s >= idle_s and not any(log.more for log in logs) else None

    def _wait(self, at_ms: int) -> None:
        """Draw, and sleep until there may be something new."""
        logs = self.watched
        more = any(log.more for log in logs)
        if not more or at_ms - self._drawn_ms >= _DRAW_MS:
            self._drawn_ms = at_ms
            self._outlet.draw(logs, at_ms)
        pipes = [descriptor for log in logs for descriptor in log.source.descriptors]
        self._clock.sleep(0 if more else self._interval_s, pipes)

    def _conclude(self, reason: Reason) -> int:
        """Judge what has no verdict yet, and report the verdict on all."""
        at_ms = self._clock.now_ms()
        logs = self.watched
        for log in logs:
            if log.ended is None:
                log.end(at_ms)
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
            rules_file=display_path(overlay) if (overlay := self._context.request.overlay) else None,
        )
        self._outlet.show(verdict)
        return verdict.exit_status

    def _discover(self, at_ms: int) -> None:
        """Begin to watch the logs that are new."""
        while self._pipes:
            self._begin(self._pipes.pop(), at_ms)
        for path, round_ in self._rounds.items():
            if not is_folder(path):
                self._add(path, round_, at_ms)
                continue
            waiting = self._known.pop(path, None)
            if waiting is not None:
                self.watched.remove(waiting)  # It was taken for a log to come, and came as a folder.
            with suppress(OSError):  # It may vanish meanwhile.
                for found in sorted(path.glob(_PATTERN)):
                    self._add(found, round_, at_ms)

    def _add(self, path: Path, round_: Round, at_ms: int) -> None:
        """Watch a log, unless it is watched already or there are too many."""
        if path in self._known:
            return
        if len(self.watched) < MAX_LOGS:
            label = path.relative_to(self._root).as_posix() if path != self._root else path.name
            self._known[path] = self._log(FileSource(str(path)), label, round_)
            self._begin(self._known[path], at_ms)
        elif not self._full:
            self._full = True
            tell(f"there are more than {MAX_LOGS} logs; the others are not watched", "watch")

    def _begin(self, log: LogSoFar, at_ms: int) -> None:
        self.watched.append(log)
        log.begin(at_ms)

    def _log(self, source: Source, label: str, round_: Round) -> LogSoFar:
        return LogSoFar(source, label, round_, self._outlet.show, self._context.cache)


def _round_of(path: Path, request: Request) -> Round:
    """The round of a log, or of the logs of a folder."""
    if path.suffix == ".gz":
        raise MlsubError(f"{path} is compressed, so it cannot be followed. Use mlsub check.")
    try:
        mode = path.stat().st_mode
    except ValueError as error:
        raise MlsubError(f"Such a path cannot exist: {error}") from error
    except OSError:
        mode = stat.S_IFREG  # It may still come.
    if not stat.S_ISREG(mode) and not stat.S_ISDIR(mode):
        raise MlsubError(f"{path} is neither a file nor a folder. Give a pipe as standard input: mlsub watch - < PIPE.")
    return round_of([path / "result_0.txt" if stat.S_ISDIR(mode) else path], request)
