"""What looks at the records of a log without an outcome for each key."""

from __future__ import annotations

from collections.abc import Iterable
from functools import reduce

import msgspec

from mlsub.log.event import Event
from mlsub.rules.aspects.base import Aspect, LogSoFar, Passes


class HasEntry(msgspec.Struct, frozen=True):
    """Whether metadata has one of two entries, which is most of what rules ask of keys with many records."""

    entry: str
    other: str

    def __call__(self, event: Event, _: LogSoFar) -> bool:
        """Whether a record passes."""
        return self.entry in event.metadata or self.other in event.metadata


def always(_event: Event, _log: LogSoFar) -> bool:
    """Nothing is asked of a record for itself."""
    return True


def all_pass(aspects: Iterable[Aspect]) -> Passes | None:
    """Whether a record passes the tests of all aspects; None where one of them has to see each record."""
    asked = [aspect.passes() for aspect in aspects]
    if None in asked:
        return None
    return reduce(_both_pass, [passes for passes in asked if passes is not None and passes is not always] or [always])


def _both_pass(first: Passes, second: Passes) -> Passes:
    return lambda event, log: first(event, log) and second(event, log)
