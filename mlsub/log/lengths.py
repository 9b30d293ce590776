"""How long the evaluations of a run take, going by eval_start and eval_stop."""

from __future__ import annotations

from collections.abc import Callable

import msgspec

from mlsub.log.event import Event

#: Evaluations (ms) that no model takes: of all published ones that run while the clock does, the shortest takes 65 ms.
NO_LENGTH_MS = 5


class EvaluationLengths(msgspec.Struct, frozen=True, array_like=True):
    """The evaluations of the timed region that start and stop: how many, and how many of them take hardly any time.

    ``line`` is that of the first such ``eval_start``, ``longest_ms`` the length of the longest of them.
    """

    count: int = 0
    short: int = 0
    line: int | None = None
    longest_ms: float = 0.0


class LengthFold:
    """Takes starts and stops in file order; of those of many processes the first counts.

    Args:
        is_timed: whether the clock runs.
    """

    def __init__(self, is_timed: Callable[[], bool]) -> None:
        self._is_timed = is_timed
        self._open: Event | None = None
        self._count = self._short = 0
        self._line: int | None = None
        self._longest = 0.0

    def start(self, event: Event) -> None:
        """Take an ``eval_start``."""
        if self._open is None and self._is_timed():
            self._open = event

    def stop(self, event: Event) -> None:
        """Take an ``eval_stop``."""
        start, self._open = self._open, None
        if start is None:
            return
        self._count += 1
        length = event.time_ms - start.time_ms
        if length <= NO_LENGTH_MS:
            self._short += 1
            self._longest = max(self._longest, length)
            if self._line is None:
                self._line = start.line

    def finish(self) -> EvaluationLengths:
        """What there was so far."""
        return EvaluationLengths(self._count, self._short, self._line, self._longest)
