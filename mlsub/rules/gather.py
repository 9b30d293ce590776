"""Measures that are logged one by one and belong together, as Stable Diffusion's FID and CLIP at one step."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from mlsub.log.event import Event
from mlsub.rules.model import Gathers

#: Steps kept of one log; a published log has a dozen.
MAX_STEPS = 200_000


class Gatherer:
    """Collects the records of one log that belong together. ``broken`` is the first that cannot be placed."""

    def __init__(self, gathers: Gathers) -> None:
        self.gathers = gathers
        self.broken: tuple[int, Any] | None = None
        self._steps: dict[Any, tuple[int, float, dict[Any, Any]]] = {}

    def see(self, event: Event) -> None:
        """Take a record of the key that is gathered."""
        metadata = event.metadata
        try:
            if self.gathers.field not in metadata:
                return
            step, measure = metadata[self.gathers.by], metadata[self.gathers.field]
            line, time_ms, values = self._steps.get(step, (event.line, event.time_ms, {}))
            values[measure] = event.value
            if len(self._steps) >= MAX_STEPS and step not in self._steps:
                raise OverflowError
            self._steps[step] = (line, max(time_ms, event.time_ms), values)
        except Exception:
            if self.broken is None:
                self.broken = (event.line, metadata)

    def events(self, key: str) -> Iterator[Event]:
        """One event for each step, in the order of their first records; its time is that of the last."""
        for line, time_ms, values in self._steps.values():
            yield Event(line=line, time_ms=time_ms, key=key, value=values, metadata={})
