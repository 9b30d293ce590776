"""How often a key appears."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from mlsub.io.show import show
from mlsub.log.event import Event
from mlsub.rules.aspects.base import Aspect, Case, Flaw, KeyOutcome, Repeats, Test
from mlsub.rules.catalogue import FIX
from mlsub.rules.model import KeyRule

_SHOWN_VALUES = 5


class Count(Aspect):
    """The number of records."""

    name = "count"
    join = " and "

    @classmethod
    def is_demanded(cls, rule: KeyRule) -> bool:
        """Whether a log without the key breaks the rules, at least where another key has a certain value."""
        return rule.occurs.is_required

    def words(self, division: str | None) -> Iterable[str]:
        return [self.rule.occurs.words()]

    def looked_back_on(self) -> Iterable[str]:
        return (self.rule.occurs.once_where or ())[:1]

    def flaws(self, out: KeyOutcome, case: Case) -> Iterator[Flaw]:
        occurs, gathers, key = self.rule.occurs, self.rule.gathers, self.rule.title
        if occurs.once_where is not None:
            if occurs.once_where[0] not in case.faulty and out.wanted is not None:
                yield from self._once_where(out, out.wanted, case)
        elif gathers is not None and gathers.key in case.missed:
            return
        elif occurs.exactly_one and out.count > 1:
            repeats = out.repeats
            if repeats is not None and not repeats.same:
                message = f"{key} appears more than once, with different values"
                found = f"{out.count} times: {', '.join(repeats.values)} (lines {', '.join(map(str, repeats.lines))})"
                fix = "Keep the record that belongs to this run; each file is one run."
                yield Flaw(self.name, repeats.lines[1], message, "exactly once", found, fix)
        elif out.count < occurs.least and not case.cut_off and not (out.count == 0 and key in case.spoiled):
            yield self._wrong(out, "appears too few times" if out.count else "is missing")

    def _once_where(self, out: KeyOutcome, wanted: int, case: Case) -> Iterator[Flaw]:
        lacking = out.count < wanted
        if out.count != wanted and not (lacking and (case.cut_off or self.rule.key in case.spoiled)):
            yield self._wrong(out, "is missing" if lacking else "appears too often")

    def _wrong(self, out: KeyOutcome, what: str) -> Flaw:
        words, times = self.rule.occurs.words(), f"{out.count} time{'' if out.count == 1 else 's'}"
        return Flaw(self.name, None, f"{self.rule.title} {what}", words, times, f"Log {self.rule.title} {words}.")


class Repeated(Aspect):
    """Records of a key that must appear once: repeats of the same value are tolerated, with a warning."""

    name = "repeated"
    of_all = True

    @classmethod
    def is_demanded(cls, rule: KeyRule) -> bool:
        """Whether there must be exactly one record."""
        return rule.occurs.exactly_one

    def words(self, division: str | None) -> Iterable[str]:
        return ["a repeat of the same value only warns"]

    def tests(self) -> tuple[Test, Test]:
        return _remember, _compare

    def flaws(self, out: KeyOutcome, case: Case) -> Iterator[Flaw]:
        gathers, repeats = self.rule.gathers, out.repeats
        if repeats is not None and repeats.same and not (gathers is not None and gathers.key in case.missed):
            places = ", ".join(map(str, repeats.lines)) + (", …" if out.count > len(repeats.lines) else "")
            message = f"{self.rule.title} appears more than once, each time with the same value"
            found = f"{out.count} times (lines {places})"
            fix = f"Log it from one process only. {FIX} removes repeats on which nothing depends."
            yield Flaw(self.name, repeats.lines[1], message, "exactly once", found, fix, warning=True)


class AnyOf(Aspect):
    """Keys of which at least one must appear; findings name the first of them."""

    name = "any-of"
    fields = ()

    @staticmethod
    def words_of(group: tuple[str, ...]) -> str:
        """The demand in words."""
        return f"at least one record of {' or '.join(group)}"

    @classmethod
    def flaw(cls, group: tuple[str, ...]) -> Flaw:
        """That none of them appears."""
        fix = f"Log {' or '.join(group)}; without one of them the run's structure cannot be followed."
        return Flaw(cls.name, None, f"Neither {' nor '.join(group)} appears", cls.words_of(group), "none", fix)


def _remember(event: Event, out: KeyOutcome) -> None:
    out.first, out.first_line = event.value, event.line


def _compare(event: Event, out: KeyOutcome) -> None:
    repeats = out.repeats
    if repeats is None:
        out.repeats = repeats = Repeats()
        _note(repeats, out.first_line, out.first)
    if repeats.same and not _equal(event.value, out.first):
        repeats.same = False
    if len(repeats.lines) < _SHOWN_VALUES:
        _note(repeats, event.line, event.value)


def _note(repeats: Repeats, line: int, value: Any) -> None:
    repeats.lines.append(line)
    text = show(value)
    if text not in repeats.values:
        repeats.values.append(text)


def _equal(value: Any, first: Any) -> bool:
    try:
        return value is first or bool(value == first)
    except RecursionError:
        return False
