"""What a log has stated so far, as far as the formulas of its rules ask for it."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

Series = tuple[str, str]


class Stated(dict[str, Any]):
    """The last logged value of each key that a formula names, and how far each series of evaluations got."""

    def __init__(self, values: Iterable[tuple[str, Any]] = ()) -> None:
        super().__init__()
        self._progress: dict[Series, int] = {}
        self._depends: dict[str, set[Series]] = {}
        for key, value in values:
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
