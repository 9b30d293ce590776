"""Parts of a run that need more than one look: seeds, and the lengths of evaluations."""

from __future__ import annotations

import math
from typing import Any

import msgspec

from mlsub.log.event import Event


class Seed(msgspec.Struct, frozen=True, array_like=True):
    """One logged seed and the source line that logged it; ``error`` says why the seed checker cannot use it."""

    line: int
    value: Any
    file: Any = None
    lineno: Any = None
    error: str | None = None


def read_seed(event: Event) -> Seed:
    """Read a seed as the official seed checker does: an integer, and the source line that logged it."""
    metadata = event.metadata if isinstance(event.metadata, dict) else {}
    file, lineno = metadata.get("file"), metadata.get("lineno")
    error = None
    value: Any = event.value
    if "file" not in metadata or "lineno" not in metadata:
        error = "its metadata does not name file and lineno"
    else:
        try:
            value = int(event.value)
            hash((file, lineno))
        except (TypeError, ValueError, OverflowError) as problem:
            error = str(problem)
    return Seed(event.line, value, file, lineno, error)


#: Evaluations (ms) that no model takes: of all published ones that run while the clock does, the shortest takes 65 ms.
NO_LENGTH_MS = 5
#: No training counts further.
_MOST = 1e15


class EvaluationLengths(msgspec.Struct, frozen=True, array_like=True):
    """The evaluations of the timed region that start and stop: how many, and how many of them take hardly any time.

    ``line`` is that of the first such ``eval_start``, ``longest_ms`` the length of the longest of them. ``beside`` says
    that evaluations start in order while others are under way, as where they are made beside the training.
    """

    count: int = 0
    short: int = 0
    line: int | None = None
    longest_ms: float = 0.0
    beside: bool = False


class LengthFold:
    """Takes starts and stops in file order; of those of many processes the first counts."""

    def __init__(self) -> None:
        self._open: Event | None = None
        self._count = self._short = 0
        self._line: int | None = None
        self._longest = 0.0
        self._beside = self._back = False
        self._place = -math.inf

    def start(self, event: Event) -> None:
        """Take an ``eval_start`` of the timed region."""
        place = _place(event)
        self._back = self._back or place < self._place
        if self._open is None:
            self._open = event
        else:
            self._beside = self._beside or place > self._place
        self._place = place

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
        """Return what there was so far."""
        return EvaluationLengths(self._count, self._short, self._line, self._longest, self._beside and not self._back)


def _place(event: Event) -> float:
    """How far the training had come when an evaluation started; infinity where that is not said."""
    for name in ("samples_count", "epoch_num"):
        found = event.metadata.get(name) if isinstance(event.metadata, dict) else None
        if type(found) is int or type(found) is float:
            return float(found) if abs(found) < _MOST else math.inf
    return math.inf
