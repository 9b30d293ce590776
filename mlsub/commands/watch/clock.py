"""Time as the watch sees it, so that it can be another's."""

from __future__ import annotations

import select
import time
from collections.abc import Sequence
from typing import Protocol


class Clock(Protocol):
    """What the watch asks of time; all in seconds."""

    def now(self) -> float:
        """The time of day, since the Unix epoch."""

    def steady(self) -> float:
        """A time that only goes forward, whoever sets the clock of the machine."""

    def sleep(self, seconds: float, readable: Sequence[int] = ()) -> None:
        """Wait, and no longer than until one of the file descriptors has something to read."""


class SystemClock:
    """The clock of the machine."""

    def now(self) -> float:
        """The time of day, since the Unix epoch."""
        return time.time()

    def steady(self) -> float:
        """A time that only goes forward."""
        return time.monotonic()

    def sleep(self, seconds: float, readable: Sequence[int] = ()) -> None:
        """Wait, and no longer than until one of the file descriptors has something to read."""
        if readable:
            select.select(readable, [], [], seconds)
        else:
            time.sleep(seconds)
