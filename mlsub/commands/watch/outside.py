"""Time and interrupts as the watch meets them."""

from __future__ import annotations

import select
import signal
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from types import FrameType, TracebackType
from typing import Any


class Clock:
    """The clock of the machine, in seconds. A test has one of its own."""

    def now(self) -> float:
        """The time of day, since the Unix epoch."""
        return time.time()

    def steady(self) -> float:
        """A time that only goes forward, whoever sets the clock of the machine."""
        return time.monotonic()

    def sleep(self, seconds: float, readable: Sequence[int] = ()) -> None:
        """Wait, and no longer than until one of the file descriptors has something to read."""
        if readable:
            select.select(readable, [], [], seconds)
        else:
            time.sleep(seconds)


class Interrupts:
    """Ctrl-C as a wish: SIGINT and SIGTERM are noted while this is entered, and end the watch between two looks.

    They interrupt at once where :meth:`let_through` says so, and a second one wherever it comes. ``by`` is the last
    that came, None before the first.
    """

    def __init__(self, signals: tuple[signal.Signals, ...] = ()) -> None:
        """Note these signals; none leaves them as they are."""
        self.asked = False
        self.by: signal.Signals | None = None
        self._signals = signals
        self._through = False
        self._before: dict[signal.Signals, Any] = {}

    def __enter__(self) -> Interrupts:
        self._before = {one: signal.signal(one, self._note) for one in self._signals}
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for one, before in self._before.items():
            signal.signal(one, before)

    @contextmanager
    def let_through(self) -> Iterator[None]:
        """While this lasts an interrupt comes at once; so does one that has come before."""
        self._through = True
        try:
            if self.asked:
                raise KeyboardInterrupt
            yield
        finally:
            self._through = False

    def _note(self, number: int, frame: FrameType | None) -> None:
        again, self.asked = self.asked, True
        self.by = signal.Signals(number)
        if again or self._through:
            raise KeyboardInterrupt
