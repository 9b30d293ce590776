"""A command of the user's own on a finding or at the end: never through a shell, one at a time, within a time limit.

What a log or a file name says reaches the command in its environment only, without control characters and cut in
length; the command line is the user's, word for word.
"""

from __future__ import annotations

import os
import shlex
import shutil
import signal
import subprocess
from collections import deque
from collections.abc import Callable
from contextlib import suppress

import msgspec

from mlsub.commands.watch.news import Concluded, Ended, Found, News
from mlsub.commands.watch.outside import Clock
from mlsub.io.errors import MlsubError
from mlsub.io.show import plain

#: How long a command may take, and all that are left at the end together, in seconds.
LIMIT_S, LAST_LIMIT_S = 60.0, 120.0
#: Commands that wait; what goes beyond is dropped, and reported.
MAX_WAITING = 100
#: Characters of one variable.
MAX_LENGTH = 1000
_STEP_S = 0.05

_ABOUT = ("EVENT", "PATH", "RULE", "SEVERITY", "MESSAGE", "LINE", "EXPECTED", "ACTUAL")
_AT_THE_END = ("OFFICIAL", "STATUS", "MINUTES", "EXIT_STATUS")
VARIABLES = tuple(f"MLSUB_{name}" for name in (*_ABOUT, *_AT_THE_END))


def parse_command(text: str) -> tuple[str, ...]:
    """The words of a command.

    Raises:
        MlsubError: there are none, a quote is open, or there is no such program.
    """
    try:
        words = tuple(shlex.split(text))
    except ValueError as error:
        raise MlsubError(f"--exec: {error}. Quote each word that holds spaces, and close the quotes.") from error
    if not words:
        raise MlsubError("--exec names no command")
    if "\0" in text or shutil.which(words[0]) is None:
        raise MlsubError(f"--exec: there is no program {words[0][:80]}. It is run without a shell; name a program.")
    return words


def facts_of(news: News) -> dict[str, str] | None:
    """The variables that describe an event to a command; None for events that run none."""
    match news:
        case Found(final=False):  # The end of the log counts those that were only certain then.
            facts = {**msgspec.structs.asdict(news.finding), "path": news.path}
        case Ended():
            message = f"{news.official}: {news.errors} errors, {news.warnings} warnings"
            minutes = None if news.minutes is None else f"{news.minutes:.6f}"
            facts = {**msgspec.structs.asdict(news), "minutes": minutes, "message": message}
        case Concluded():
            message = f"{news.official}: {news.counts}"
            facts = {**msgspec.structs.asdict(news), "message": message}
        case _:
            return None
    facts["event"] = type(news).__struct_config__.tag
    values = {name: facts.get(name.removeprefix("MLSUB_").lower()) for name in VARIABLES}
    return {name: "" if value is None else plain(str(value))[:MAX_LENGTH] for name, value in values.items()}


class Notifier:
    """Runs the command for one event after the other, while the watch goes on."""

    def __init__(self, command: tuple[str, ...], clock: Clock, complain: Callable[[str], None]) -> None:
        """Run ``command``; ``complain`` is called with what went wrong, each thing once."""
        self._command = command
        self._clock = clock
        self._report = complain
        self._waiting: deque[dict[str, str]] = deque()
        self._running: subprocess.Popen[bytes] | None = None
        self._since = 0.0
        self._complaints: set[str] = set()

    def notify(self, news: News) -> None:
        """Run the command for an event, as soon as the one before has ended."""
        facts = facts_of(news)
        if facts is None:
            return
        if len(self._waiting) >= MAX_WAITING:
            self._complain(f"more than {MAX_WAITING} events wait for the command of --exec; some are left out")
            return
        self._waiting.append(facts)
        self.step()

    def step(self) -> None:
        """Look after the command that runs, and start the next."""
        if self._running is not None:
            status = self._running.poll()
            if status is None and self._clock.steady() - self._since < LIMIT_S:
                return
            if status is None:
                self._kill()
                self._complain(f"the command of --exec took more than {LIMIT_S:g} seconds and was ended")
            elif status:
                self._complain(f"the command of --exec ended with status {status}")
            self._running = None
        if self._waiting:
            self._start(self._waiting.popleft())

    def finish(self) -> None:
        """Run what is left, ends before findings; whatever takes too long is ended."""
        self._waiting = deque(sorted(self._waiting, key=lambda facts: facts["MLSUB_EVENT"] == "finding"))
        until = self._clock.steady() + LAST_LIMIT_S
        try:
            while self._running is not None or self._waiting:
                if self._clock.steady() > until:
                    self._complain(f"{len(self._waiting)} events are left out: the command of --exec takes too long")
                    break
                self.step()
                if self._running is not None:
                    self._clock.sleep(_STEP_S)
        finally:
            self._kill()

    def _start(self, facts: dict[str, str]) -> None:
        variables = {os.fsencode(name): value.encode("utf-8", "replace") for name, value in facts.items()}
        nowhere = subprocess.DEVNULL
        try:
            self._running = subprocess.Popen(  # noqa: S603  (the user's own words, and no shell)
                self._command,
                stdin=nowhere,
                stdout=nowhere,
                stderr=nowhere,
                env={**os.environb, **variables},
                start_new_session=True,
            )
        except (OSError, ValueError) as error:
            self._complain(f"the command of --exec cannot be run: {getattr(error, 'strerror', None) or error}")
            return
        self._since = self._clock.steady()

    def _kill(self) -> None:
        running, self._running = self._running, None
        if running is None or running.poll() is not None:
            return
        with suppress(ProcessLookupError):
            os.killpg(running.pid, signal.SIGKILL)
        running.wait()

    def _complain(self, message: str) -> None:
        if message not in self._complaints:
            self._complaints.add(message)
            self._report(message)
