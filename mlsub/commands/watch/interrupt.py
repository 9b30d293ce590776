"""Ctrl-C as a wish: it ends the watch between two looks, never in the middle of a log."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType, TracebackType
from typing import Any


class Interrupts:
    """Notes SIGINT and SIGTERM while it is entered; only where :meth:`let_through` says so they interrupt at once.

    A second one interrupts wherever it comes. ``by`` is the last that came, None before the first.
    """

    def __init__(self, signals: tuple[signal.Signals, ...] = ()) -> None:
        """Note these signals; none leaves them as they are."""
        self.asked = False
        self.by: signal.Signals | None = None
        self._signals = signals
        self._through = False
        self._before: dict[signal.Signals, Any] = {}

    def __enter__(self) -> Interrupts:
        for one in self._signals:
            self._before[one] = signal.signal(one, self._note)
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
