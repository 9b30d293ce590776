"""How often a key appears, and where in the course of a run: order, sequence of epochs, time."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any

from mlsub.io.show import plural, show
from mlsub.log.event import Event, clock, minute
from mlsub.rules.aspects.base import NO_START, Aspect, Excuses, Flaw, KeyOutcome, Test
from mlsub.rules.catalogue import FIX
from mlsub.rules.formula import Formula, Values, is_formula, parse
from mlsub.rules.model import KeyRule, Within

_SHOWN_VALUES = 5


class CountAspect(Aspect):
    """The number of records."""

    name = "count"
    join = " and "

    @classmethod
    def is_demanded(cls, rule: KeyRule) -> bool:
        """Whether a log without the key breaks the rules, at least where another key has a certain value."""
        return rule.occurs.is_required

    def words(self, division: str | None) -> Iterable[str]:
        return [self.rule.occurs.words()]

    def earlier_keys(self) -> Iterable[str]:
        return (self.rule.occurs.once_where or ())[:1]

    def flaws(self, out: KeyOutcome, excuses: Excuses) -> Iterator[Flaw]:
        occurs, gathers, key = self.rule.occurs, self.rule.gathers, self.rule.title
        if occurs.once_where is not None:
            if occurs.once_where[0] not in excuses.faulty and out.wanted is not None:
                lacking = out.count < out.wanted
                open_ = lacking and (excuses.cut_off or self.rule.key in excuses.spoiled)
                if out.count != out.wanted and not open_:
                    yield self._wrong_count(out, "is missing" if lacking else "appears too often")
        elif gathers is not None and gathers.key in excuses.missed:
            return
        elif occurs.exactly_one and out.count > 1:
            if out.differing:
                message = f"{key} appears more than once, with different values"
                found = f"{out.count} times: {', '.join(out.values)} (lines {', '.join(map(str, out.lines))})"
                fix = "Keep the record that belongs to this run; each file is one run."
                yield Flaw(self.name, message, "exactly once", fix, out.lines[1], found)
        elif out.count < occurs.least and not excuses.cut_off and not (out.count == 0 and key in excuses.spoiled):
            yield self._wrong_count(out, "appears too few times" if out.count else "is missing")

    def _wrong_count(self, out: KeyOutcome, what: str) -> Flaw:
        words, times = self.rule.occurs.words(), plural(out.count, "time")
        return Flaw(self.name, f"{self.rule.title} {what}", words, f"Log {self.rule.title} {words}.", None, times)


class RepeatedAspect(Aspect):
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
        return _remember_first, _compare_with_first

    def flaws(self, out: KeyOutcome, excuses: Excuses) -> Iterator[Flaw]:
        gathers = self.rule.gathers
        if out.lines and not out.differing and not (gathers is not None and gathers.key in excuses.missed):
            places = ", ".join(map(str, out.lines)) + (", …" if out.count > len(out.lines) else "")
            message = f"{self.rule.title} appears more than once, each time with the same value"
            found = f"{out.count} times (lines {places})"
            fix = f"Log it from one process only. {FIX} removes repeats on which nothing depends."
            yield Flaw(self.name, message, "exactly once", fix, out.lines[1], found, warning=True)


class AnyOfAspect(Aspect):
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
        return Flaw(cls.name, f"Neither {' nor '.join(group)} appears", cls.words_of(group), fix, None, "none")


def _remember_first(event: Event, out: KeyOutcome) -> None:
    out.first, out.first_line = event.value, event.line


def _compare_with_first(event: Event, out: KeyOutcome) -> None:
    if not out.lines:
        _note_value(out, out.first_line, out.first)
    out.differing = out.differing or not _equal(event.value, out.first)
    if len(out.lines) < _SHOWN_VALUES:
        _note_value(out, event.line, event.value)


def _note_value(out: KeyOutcome, line: int, value: Any) -> None:
    out.lines = (*out.lines, line)
    out.values = tuple(dict.fromkeys((*out.values, show(value))))


def _equal(value: Any, first: Any) -> bool:
    try:
        return value is first or bool(value == first)
    except RecursionError:
        return False


class OrderAspect(Aspect):
    """The order of records in the file."""

    name = "order"
    fields = ("after", "not_after")
    join = ", "

    def words(self, division: str | None) -> Iterable[str]:
        return [*(f"after {key}" for key in self.rule.after), *(f"before {key}" for key in self.rule.not_after)]

    def earlier_keys(self) -> Iterable[str]:
        return (*self.rule.after, *self.rule.not_after)

    def test(self) -> Test:
        earlier = [(key, self._expected("after", "before", key, only_with=key)) for key in self.rule.after]
        later = [(key, self._expected("before", "after", key)) for key in self.rule.not_after]

        def test(event: Event, out: KeyOutcome) -> None:
            seen = out.log.seen
            for key, expected in earlier:
                if key not in seen:
                    out.fail(expected, event.line, f"before the first {key}", in_words=True)
            for key, expected in later:
                if key in seen:
                    out.fail(expected, event.line, f"after {key}", in_words=True)
                    break  # After one of them is after the others: one defect.

        return test

    def _expected(self, due: str, found: str, other: str, only_with: str | None = None) -> Flaw:
        key, words = self.rule.title, f"{due} {other}"
        fix = f"Log {key} {words}; records count in the order of the file."
        return Flaw(self.name, f"{key} comes {found} {other}", words, fix, only_with=only_with)


class NestingAspect(Aspect):
    """The sequence that v0.6 asked for, see :mod:`mlsub.rules.nesting`."""

    name = "nesting"
    fields = ("nested",)

    def words(self, division: str | None) -> Iterable[str]:
        return ["in the sequence of epochs, blocks and evaluations"]

    def earlier_keys(self) -> Iterable[str]:
        return ["run_start"]

    def test(self) -> Test:
        way, key = str(self.rule.nested), self.rule.title
        message = f"{key} does not fit the sequence of epochs, blocks and evaluations"

        def test(event: Event, out: KeyOutcome) -> None:
            for words, found in out.log.sequence.see(event, way):
                expected = Flaw(self.name, message, words, f"Log {key} {words}.")
                out.fail(expected, event.line, found, in_words=True)

        return test


class TimeAspect(Aspect):
    """A limit of time after another record."""

    name = "time"
    fields = ("within",)

    def words(self, division: str | None) -> Iterable[str]:
        within, formula = self._within, self._formula()
        if division and formula is not None and formula.names == ("submission_division",):
            within = Within(within.of, formula.compute({"submission_division": division}))
        return [within.words()]

    def value_keys(self) -> Iterable[str]:
        formula = self._formula()
        return formula.names if formula is not None else ()

    def earlier_keys(self) -> Iterable[str]:
        return [self._within.of]

    def limit(self) -> Callable[[Values], float]:
        """The limit in minutes, 0 while what it depends on is not logged."""
        minutes, formula = self._within.minutes, self._formula()
        if formula is None:
            return lambda _: float(minutes)

        def compute(stated: Values) -> float:
            return float(formula.compute(stated)) if all(name in stated for name in formula.names) else 0.0

        return compute

    def test(self) -> Test:
        within, limit_of, needed = self._within, self.limit(), tuple(self.value_keys())

        def test(event: Event, out: KeyOutcome) -> None:
            log = out.log
            took = clock(event) - log.starts.get(within.of, NO_START)
            limit = limit_of(log.stated)
            if not took < limit * minute(event):
                words = Within(within.of, limit).words()
                if not limit:
                    words = f"{within.words()}, with {needed[0]} logged before it"
                expected = Flaw(self.name, f"{self.rule.title} comes too late", words, self.about().fix)
                out.fail(expected, event.line, f"{took / minute(event):.2f} minutes", in_words=True).needs = needed

        return test

    @property
    def _within(self) -> Within:
        assert self.rule.within is not None  # noqa: S101  (the aspect is demanded)
        return self.rule.within

    def _formula(self) -> Formula | None:
        minutes = self._within.minutes
        return parse(str(minutes)[1:]) if is_formula(minutes) else None
