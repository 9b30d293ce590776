"""Where in the course of a run a record comes: order, sequence of epochs, time."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from mlsub.log.event import Event, clock, minute
from mlsub.rules.aspects.base import NO_START, Aspect, Expectation, KeyOutcome, Test
from mlsub.rules.formula import Formula, Values, is_formula, parse
from mlsub.rules.model import Within


class Order(Aspect):
    """The order of records in the file."""

    name = "order"
    fields = ("after", "not_after")
    join = ", "

    def words(self, division: str | None) -> Iterable[str]:
        return [*(f"after {key}" for key in self.rule.after), *(f"before {key}" for key in self.rule.not_after)]

    def looked_back_on(self) -> Iterable[str]:
        return (*self.rule.after, *self.rule.not_after)

    def test(self) -> Test:
        behind = [(key, self._expected("after", "before", key, behind=key)) for key in self.rule.after]
        ahead = [(key, self._expected("before", "after", key)) for key in self.rule.not_after]

        def test(event: Event, out: KeyOutcome) -> None:
            seen = out.log.seen
            for key, expected in behind:
                if key not in seen:
                    out.fail(expected, event.line, f"before the first {key}", in_words=True)
            for key, expected in ahead:
                if key in seen:
                    out.fail(expected, event.line, f"after {key}", in_words=True)
                    break  # Behind the one, behind the others: one defect.

        return test

    def _expected(self, due: str, found: str, other: str, behind: str | None = None) -> Expectation:
        key, words = self.rule.title, f"{due} {other}"
        fix = f"Log {key} {words}; records count in the order of the file."
        return Expectation(self.name, words, f"{key} comes {found} {other}", fix, behind)


class Nesting(Aspect):
    """The sequence that v0.6 asked for, see :mod:`mlsub.rules.nesting`."""

    name = "nesting"
    fields = ("nested",)

    def words(self, division: str | None) -> Iterable[str]:
        return ["in the sequence of epochs, blocks and evaluations"]

    def looked_back_on(self) -> Iterable[str]:
        return ["run_start"]

    def test(self) -> Test:
        way, key = str(self.rule.nested), self.rule.title
        message = f"{key} does not fit the sequence of epochs, blocks and evaluations"

        def test(event: Event, out: KeyOutcome) -> None:
            for words, found in out.log.sequence.see(event, way):
                expected = Expectation(self.name, words, message, f"Log {key} {words}.")
                out.fail(expected, event.line, found, in_words=True)

        return test


class Time(Aspect):
    """A limit of time after another record."""

    name = "time"
    fields = ("within",)

    def words(self, division: str | None) -> Iterable[str]:
        within, formula = self._within, self._formula()
        if division and formula is not None and formula.names == ("submission_division",):
            within = Within(within.of, formula.compute({"submission_division": division}))
        return [within.words()]

    def named(self) -> Iterable[str]:
        formula = self._formula()
        return formula.names if formula is not None else ()

    def looked_back_on(self) -> Iterable[str]:
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
        within, limit_of, needed = self._within, self.limit(), tuple(self.named())

        def test(event: Event, out: KeyOutcome) -> None:
            log = out.log
            took = clock(event) - log.starts.get(within.of, NO_START)
            limit = limit_of(log.stated)
            if not took < limit * minute(event):
                words = Within(within.of, limit).words()
                if not limit:
                    words = f"{within.words()}, with {needed[0]} logged before it"
                expected = Expectation(self.name, words, f"{self.rule.title} comes too late", self.about().fix)
                out.fail(expected, event.line, f"{took / minute(event):.2f} minutes", in_words=True).needs = needed

        return test

    @property
    def _within(self) -> Within:
        assert self.rule.within is not None  # noqa: S101  (the aspect is demanded)
        return self.rule.within

    def _formula(self) -> Formula | None:
        minutes = self._within.minutes
        return parse(str(minutes)[1:]) if is_formula(minutes) else None
