"""The days of a round before and after its deadline: when reference points are due, the review, and publication."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from datetime import date, timedelta

import msgspec

from mlsub.io.data import shipped
from mlsub.rounds import Round
from mlsub.rounds.benchmarks import published


class _Milestone(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A row of calendar.yaml."""

    what: str
    days: int
    source: str
    friday: bool = False


class CalendarDay(msgspec.Struct, frozen=True):
    """A day of a round, what it is, and who says so."""

    day: date
    what: str
    source: str


def calendar_of(round_: Round, deadline: date) -> Iterator[CalendarDay]:
    """Yield the days of a round, in order; none of one that is published, or whose schedule is not known."""
    known = (
        {}
        if published(round_.usage, round_.name)
        else shipped(__file__, "calendar.yaml", dict[str, tuple[_Milestone, ...]])
    )
    for each in known.get(round_.usage, ()):
        with suppress(OverflowError):  # A year that no calendar has.
            week_end = deadline + timedelta(4 - deadline.weekday()) if each.friday else deadline
            yield CalendarDay(week_end + timedelta(each.days), each.what, each.source)
