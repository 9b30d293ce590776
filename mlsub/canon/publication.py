"""When the results of a round were published."""

from __future__ import annotations

import datetime

import msgspec

from mlsub.io.data import shipped

#: The day that stands for a month of which no source gives the day.
_MIDDLE = 15


class Publication(msgspec.Struct, frozen=True):
    """When the results of a round came out, and who says so: the day, or the month where the day is not known."""

    source: str
    date: datetime.date | None = None
    month: str | None = None

    @property
    def around(self) -> datetime.date:
        """The day, or the middle of the month: where a point is drawn on an axis of time."""
        return self.date or datetime.date.fromisoformat(f"{self.month}-{_MIDDLE}")

    @property
    def shown(self) -> str:
        """The day or the month in words, such as 30 June 2021."""
        return f"{self.date.day} {self.date:%B %Y}" if self.date else f"{self.around:%B %Y}"


def published(usage: str, round_name: str) -> Publication | None:
    """When the results of a round came out, None where that is not known here."""
    return _published().get(usage, {}).get(round_name)


def _published() -> dict[str, dict[str, Publication]]:
    return shipped(__file__, "published.yaml", dict[str, dict[str, Publication]])
