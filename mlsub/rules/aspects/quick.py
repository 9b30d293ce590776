"""What looks at the records of a log without an outcome for each key, or with as few calls as can be."""

from __future__ import annotations

from collections.abc import Iterable
from functools import partial, reduce

import msgspec

from mlsub.log.event import Event
from mlsub.log.events import Handler
from mlsub.rules.aspects.base import Aspect, Begin, KeyOutcome, LogSoFar, Noting, Passes, Test


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


class EntryTest(msgspec.Struct, frozen=True):
    """That metadata has one of two entries, which is most of what rules ask of keys with many records."""

    entry: str
    other: str
    fail: Noting

    def __call__(self, event: Event, out: KeyOutcome) -> None:
        """Test a record."""
        try:
            there = self.entry in event.metadata or self.other in event.metadata
        except TypeError:
            there = False
        if not there:
            self.fail(event, out)


def begin_with(tests: tuple[Test, ...]) -> Begin | None:
    """The same tests of each record of a key, without a loop over them; None where there are too many."""
    if len(tests) not in (1, 2):
        return None
    first, second = tests[0], tests[-1] if len(tests) == 2 else None
    if isinstance(first, EntryTest):
        return partial(_see_entry, first, second)
    return partial(_see_both, first, second)


def _see_both(first: Test, second: Test | None, out: KeyOutcome) -> Handler:
    def see(event: Event) -> None:
        out.count += 1
        first(event, out)
        if second is not None:
            second(event, out)

    return see


def _see_entry(first: EntryTest, second: Test | None, out: KeyOutcome) -> Handler:
    """The same without a call for the first test."""
    entry, other, fail = first.entry, first.other, first.fail

    def see(event: Event) -> None:
        out.count += 1
        try:
            there = entry in event.metadata or other in event.metadata
        except TypeError:
            there = False
        if not there:
            fail(event, out)
        if second is not None:
            second(event, out)

    return see
