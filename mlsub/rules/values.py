"""What the rules of a log keep of it: values that formulas ask for, and measures that belong together."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from types import MappingProxyType
from typing import Any

from mlsub.log.event import Event
from mlsub.rules.model import Gathers

#: Steps kept of one log; a published log has a dozen.
MAX_STEPS = 200_000

Series = tuple[str, str]


class Stated(dict[str, Any]):
    """The last logged value of each key that a formula names, and how far each series of evaluations got."""

    def __init__(self, logged: Mapping[str, Any] = MappingProxyType({})) -> None:
        super().__init__()
        self._progress: dict[Series, int] = {}
        self._depends: dict[str, set[Series]] = {}
        for key, value in logged.items():
            self.state(key, value)

    def state(self, key: str, value: Any) -> None:
        """Take a logged value. A series that is computed from it starts anew, as in the official checker."""
        if key.startswith("submission_"):
            self.setdefault(key, value)
            return
        self[key] = value
        for series in self._depends.get(key, ()):
            self._progress[series] = 0

    def matches(self, series: Series, names: tuple[str, ...]) -> int:
        """How many records of a series have matched since the values it is computed from were stated."""
        if series not in self._progress:
            self._progress[series] = 0
            for name in names:
                self._depends.setdefault(name, set()).add(series)
        return self._progress[series]

    def matched(self, series: Series) -> None:
        """Note that the next record of a series was there."""
        self._progress[series] += 1


class Gatherer:
    """Collects measures that are logged one by one and belong together, as Stable Diffusion's FID and CLIP at one step.

    ``broken`` is the first record that cannot be placed.
    """

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
