"""When the results of a round were published."""

from __future__ import annotations

import datetime
from calendar import monthrange

import msgspec

from mlsub.io.data import shipped

#: The day that stands for a month of which no source gives the day.
_MIDDLE = 15


class Day(msgspec.Struct, frozen=True):
    """A day in the life of a round, and who says so; the month where no source gives the day."""

    source: str
    date: datetime.date | None = None
    month: str | None = None

    @property
    def around(self) -> datetime.date:
        """The day, or the middle of the month: where a point is drawn on an axis of time."""
        return self.date or datetime.date.fromisoformat(f"{self.month}-{_MIDDLE}")

    @property
    def last(self) -> datetime.date:
        """The day, or the last one of the month: by which all that came before it is certain to be there."""
        around = self.around
        return self.date or around.replace(day=monthrange(around.year, around.month)[1])

    @property
    def shown(self) -> str:
        """The day or the month in words, such as 30 June 2021."""
        return f"{self.date.day} {self.date:%B %Y}" if self.date else f"{self.around:%B %Y}"


def published(usage: str, round_name: str) -> Day | None:
    """When the results of a round came out, None where that is not known here."""
    return _published().get(usage, {}).get(round_name)


def _published() -> dict[str, dict[str, Day]]:
    return shipped(__file__, "published.yaml", dict[str, dict[str, Day]])
