"""What a record says: its value, and its metadata."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from difflib import get_close_matches
from typing import Any

import msgspec

from mlsub.io.show import show
from mlsub.log.event import Event
from mlsub.rounds import history_of
from mlsub.rules.aspects.base import (
    Aspect,
    Expectation,
    Failure,
    KeyOutcome,
    Part,
    Test,
)
from mlsub.rules.constraints import Constraint
from mlsub.rules.formula import Values
from mlsub.rules.model import Entry, KeyRule

#: Characters of a value that is compared with the names of a closed list.
_LONGEST_NAME = 80


def metadata_expected(rule: KeyRule, words: str, lead: str = "") -> Expectation:
    """What is expected of a key's metadata; ``lead`` goes before the words in a sentence."""
    message = f"{rule.title} lacks what its metadata must say"
    return Expectation("metadata", words, message, f"Give each {rule.title} record {lead}{words}.")


class _Check(msgspec.Struct, frozen=True):
    """One test of a record's value or metadata.

    ``found`` is what it looks at, ``words_in`` what is expected with the values of one log.
    """

    expected: Expectation
    holds: Callable[[Any, Values], bool]
    found: Callable[[Event], Any]
    words_in: Callable[[Values], str] | None = None
    needs: tuple[str, ...] = ()

    def fail(self, event: Event, out: KeyOutcome) -> Failure:
        """Note that a record fails."""
        try:
            found = self.found(event)
        except Exception:
            found = event.metadata
        failure = out.fail(self.expected, event.line, found)
        if failure.count == 1 and self.words_in is not None:
            failure.expected, failure.needs = self.words_in(out.log.stated), self.needs
        return failure


class Value(Aspect):
    """The value of each record; of several constraints that fail on one record only the first is reported."""

    name = "value"
    fields = ("value",)
    join = " and "

    def parts(self, division: str | None = None) -> list[Part]:
        lists = [c.operand if c.operator == "one_of" else () for c in self.rule.value]
        return [
            Part(self.name, c.words(), tuple(map(show, options)))
            for c, options in zip(self.rule.value, lists, strict=True)
        ]

    def named(self) -> Iterable[str]:
        return [name for constraint in self.rule.value for name in constraint.names()]

    def test(self) -> Test:
        checks = [(check.holds, check) for check in map(self._check, self.rule.value)]

        def test(event: Event, out: KeyOutcome) -> None:
            value, stated = event.value, out.log.stated
            for holds, check in checks:
                try:
                    if holds(value, stated):
                        continue
                except Exception:  # noqa: S110  (what Python cannot compare does not hold)
                    pass
                failure = check.fail(event, out)
                if failure.count == 1:
                    failure.fix = self._meant(value)
                return

        return test

    def _check(self, constraint: Constraint) -> _Check:
        key, words = self.rule.title, constraint.words()
        message, fix = f"{key} has a value that the rules do not allow", f"Run with {key} {words}, and log the value"
        return _Check(
            Expectation(self.name, words, message, f"{fix} that was used."),
            constraint.test(),
            lambda event: event.value,
            constraint.words if constraint.formulas() else None,
            constraint.names(),
        )

    def _meant(self, value: Any) -> str | None:
        """A hint where a name of a closed list was misspelled."""
        stated = (value if isinstance(value, str) else show(value))[:_LONGEST_NAME]
        rounds = history_of(stated) if self.rule.key == "submission_benchmark" else ""
        if rounds:
            return f"{stated} is a benchmark of {rounds}: check that the round is right (--round)."
        lists = [c.operand for c in self.rule.value if c.operator == "one_of"]
        names = [name for names in lists for name in names if isinstance(name, str)]
        close = get_close_matches(stated.lower(), names, n=1)
        return f"Did you mean {close[0]}?" if close else None


class Metadata(Aspect):
    """The metadata of each record, and of the first."""

    name = "metadata"
    fields = ("metadata", "first_metadata", "gathers")
    lead = "metadata: "

    def words(self, division: str | None) -> Iterator[str]:
        yield from (entry.words() for entry in self.rule.metadata)
        yield from (f"on the first record {entry.words()}" for entry in self.rule.first_metadata)
        if self.rule.gathers is not None:
            of = self.rule.gathers
            yield f"{of.field} and {of.by} of the {of.key} records it is computed from"

    def named(self) -> Iterable[str]:
        entries = (*self.rule.metadata, *self.rule.first_metadata)
        return [name for entry in entries for constraint in entry.constraints for name in constraint.names()]

    def tests(self) -> tuple[Test | None, Test | None]:
        every = tuple(self._checks(self.rule.metadata, ""))
        first = tuple(self._checks(self.rule.first_metadata, " on the first"))
        later = _all_hold(every)
        return _all_hold((*every, *first)) if first else later, later

    def _checks(self, entries: Iterable[Entry], suffix: str) -> Iterator[_Check]:
        for entry in entries:
            if not entry.optional:
                where = f" where it has {entry.when}" if entry.when else ""
                words = f"metadata with {' or '.join(entry.names)}{where}{suffix}"
                expected, holds = metadata_expected(self.rule, words), _presence(entry)
                yield _Check(expected, holds, lambda event: event.metadata)
            for constraint in entry.constraints:
                yield self._check(entry.names[0], constraint, suffix)

    def _check(self, name: str, constraint: Constraint, suffix: str) -> _Check:
        test = constraint.test()

        def words(stated: Values | None = None) -> str:
            return f"{name} {constraint.words(stated)}{suffix}"

        def holds(metadata: Any, stated: Values) -> bool:
            try:
                if name not in metadata:
                    return True  # That it is missing is one defect, and reported as that.
            except TypeError:
                return True
            return test(metadata[name], stated)

        return _Check(
            metadata_expected(self.rule, words(), "metadata with "),
            holds,
            lambda event: event.metadata[name],
            words if constraint.formulas() else None,
            constraint.names(),
        )


def _all_hold(checks: tuple[_Check, ...]) -> Test | None:
    """A test of all that is asked of the metadata of a record."""
    holding = [(check.holds, check) for check in checks]

    def test(event: Event, out: KeyOutcome) -> None:
        metadata, stated = event.metadata, out.log.stated
        for holds, check in holding:
            try:
                if holds(metadata, stated):
                    continue
            except Exception:  # noqa: S110  (what Python cannot compare does not hold)
                pass
            check.fail(event, out)

    return test if checks else None


def _presence(entry: Entry) -> Callable[[Any, Values], bool]:
    """Whether one of the names is there; metadata of a type without entries raises, and so always fails."""
    (name, *others), when = entry.names, entry.when
    if when is not None:
        there = _presence(msgspec.structs.replace(entry, when=None))
        return lambda metadata, values: when not in metadata or there(metadata, values)
    return lambda metadata, _: name in metadata or any(other in metadata for other in others)
