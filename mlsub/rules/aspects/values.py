"""What records say: their values and metadata, the quality target, and the names of the weight tensors."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from operator import attrgetter
from typing import Any

import msgspec

from mlsub.io.show import likely_name, plural, show
from mlsub.log.event import Event
from mlsub.rounds import history_of
from mlsub.rounds.benchmarks import names_by_title
from mlsub.rules.aspects.base import Aspect, DemandPart, Excuses, Flaw, KeyOutcome, Test
from mlsub.rules.constraints import Constraint, all_pass
from mlsub.rules.constraints import Test as Holds
from mlsub.rules.formula import Values
from mlsub.rules.model import KeyRule, MetadataEntry, Reach

#: Characters of a value that is compared with the names of a closed list.
_LONGEST_NAME = 80
#: Other names of number formats.
_FORMATS = {
    **{"bf16": "bfloat16", "float16": "fp16", "half": "fp16", "float": "fp32", "float32": "fp32", "single": "fp32"},
    **{"double": "fp64", "float64": "fp64", "float8": "fp8", "tensorfloat32": "tf32"},
}


def metadata_expected(rule: KeyRule, words: str, lead: str = "") -> Flaw:
    """What is expected of a key's metadata; ``lead`` goes before the words in a sentence."""
    message = f"{rule.title} lacks what its metadata must say"
    return Flaw("metadata", message, words, f"Give each {rule.title} record {lead}{words}.")


class _Check(msgspec.Struct, frozen=True):
    """One test of a record's value or metadata.

    ``found`` is what it looks at, ``words_in`` what is expected with the values of one log, ``guess`` a better fix for
    what was found.
    """

    expected: Flaw
    holds: Callable[[Any, Values], bool]
    found: Callable[[Event], Any]
    words_in: Callable[[Values], str] | None = None
    needs: tuple[str, ...] = ()
    guess: Callable[[Any], str | None] | None = None

    def fail(self, event: Event, out: KeyOutcome) -> None:
        """Note that a record fails."""
        try:
            found = self.found(event)
        except Exception:
            found = event.metadata
        failure = out.fail(self.expected, event.line, found)
        if failure.count == 1 and self.words_in is not None:
            failure.expected, failure.needs = self.words_in(out.log.stated), self.needs
        if failure.count == 1 and self.guess is not None:
            failure.fix = self.guess(found)


def _all_hold(checks: tuple[_Check, ...], part: Callable[[Event], Any], *, one_failure: bool = False) -> Test | None:
    """A test of all that is asked of a part of a record; with ``one_failure`` up to the first that fails."""
    holding = [(check.holds, check) for check in checks]

    def test(event: Event, out: KeyOutcome) -> None:
        found, stated = part(event), out.log.stated
        for holds, check in holding:
            try:
                if holds(found, stated):
                    continue
            except Exception:  # noqa: S110  (what Python cannot compare does not hold)
                pass
            check.fail(event, out)
            if one_failure:
                return

    return test if checks else None


class ValueAspect(Aspect):
    """The value of each record; of several constraints that fail on one record only the first is reported."""

    name = "value"
    fields = ("value",)
    join = " and "

    def parts(self, division: str | None = None) -> list[DemandPart]:
        return [
            DemandPart(self.name, c.words(), tuple(map(show, c.operand)) if c.operator == "one_of" else ())
            for c in self.rule.value
        ]

    def value_keys(self) -> Iterable[str]:
        return [name for constraint in self.rule.value for name in constraint.names()]

    def test(self) -> Test | None:
        return _all_hold(tuple(map(self._check, self.rule.value)), attrgetter("value"), one_failure=True)

    def _check(self, constraint: Constraint) -> _Check:
        key, words = self.rule.title, constraint.words()
        message, fix = f"{key} has a value that the rules do not allow", f"Run with {key} {words}, and log the value"
        return _Check(
            Flaw(self.name, message, words, f"{fix} that was used."),
            constraint.test(),
            attrgetter("value"),
            constraint.words if constraint.formulas() else None,
            constraint.names(),
            self._misspelling_hint,
        )

    def _misspelling_hint(self, value: Any) -> str | None:
        """A hint where a name of a closed list was misspelled."""
        stated = (value if isinstance(value, str) else show(value))[:_LONGEST_NAME]
        rounds = history_of(stated) if self.rule.key == "submission_benchmark" else ""
        if rounds:
            return f"{stated} is a benchmark of {rounds}: check that the round is right (--round)."
        lists = [c.operand for c in self.rule.value if c.operator == "one_of"]
        names = [name for names in lists for name in names if isinstance(name, str)]
        close = likely_name(stated, names, names_by_title() if self.rule.key == "submission_benchmark" else _FORMATS)
        return f"Did you mean {close}?" if close else None


class MetadataAspect(Aspect):
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

    def value_keys(self) -> Iterable[str]:
        entries = (*self.rule.metadata, *self.rule.first_metadata)
        return [name for entry in entries for constraint in entry.constraints for name in constraint.names()]

    def tests(self) -> tuple[Test | None, Test | None]:
        every = tuple(self._checks(self.rule.metadata, ""))
        first = tuple(self._checks(self.rule.first_metadata, " on the first"))
        later = _all_hold(every, attrgetter("metadata"))
        return _all_hold((*every, *first), attrgetter("metadata")) if first else later, later

    def _checks(self, entries: Iterable[MetadataEntry], suffix: str) -> Iterator[_Check]:
        for entry in entries:
            if not entry.optional:
                where = f" where it has {entry.when}" if entry.when else ""
                words = f"metadata with {' or '.join(entry.names)}{where}{suffix}"
                expected, holds = metadata_expected(self.rule, words), _has_one_of(entry)
                yield _Check(expected, holds, attrgetter("metadata"))
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


def _has_one_of(entry: MetadataEntry) -> Callable[[Any, Values], bool]:
    """Whether one of the names is there; metadata of a type without entries raises, and so always fails."""
    (name, *others), when = entry.names, entry.when
    if when is not None:
        there = _has_one_of(msgspec.structs.replace(entry, when=None))
        return lambda metadata, values: when not in metadata or there(metadata, values)
    return lambda metadata, _: name in metadata or any(other in metadata for other in others)


def target_test(reaches: tuple[Reach, ...]) -> Holds:
    """Compile a quality target to a test of a value, which raises where Python cannot compare the value.

    It is tested measure by measure in the order written, up to the first that misses.
    """
    return all_pass([_field_test(reach.field, constraint) for reach in reaches for constraint in reach.constraints])


def _field_test(field: str | None, constraint: Constraint) -> Holds:
    test = constraint.test()
    return test if field is None else lambda value, stated: test(value[field], stated)


class TargetAspect(Aspect):
    """The quality target: at least one evaluation reaches it."""

    name = "target"
    fields = ("reaches",)
    lead = "one record must reach "
    join = ", "

    def words(self, division: str | None) -> Iterable[str]:
        return [reach.words() for reach in self.rule.reaches]

    def value_keys(self) -> Iterable[str]:
        return [name for constraint in self._constraints() for name in constraint.names()]

    def test(self) -> Test:
        met, bounds = target_test(self.rule.reaches), {constraint.operator for constraint in self._constraints()}
        lower_is_better = "at_most" in bounds and "at_least" not in bounds

        def test(event: Event, out: KeyOutcome) -> None:
            out.last_line = event.line
            try:
                if met(event.value, out.log.stated):
                    out.reached = True
            except Exception:
                if out.incomparable is None:
                    out.incomparable = (event.line, show(event.value))
                return
            if out.reached:
                return
            value, best = event.value, out.best
            try:
                if best is None or isinstance(value, dict) or (value < best if lower_is_better else value > best):
                    out.best = value
            except TypeError:
                pass

        return test

    def flaws(self, out: KeyOutcome, excuses: Excuses) -> Iterator[Flaw]:
        key, demand = self.rule.title, self.join.join(self.words(None))
        if out.incomparable is not None:
            if not out.failed("value") and not excuses.faulty.intersection(self.value_keys()):
                message = f"{key} has a value that cannot be compared with the quality target"
                fix = f"Log {key} as a number (for several measures, an object of numbers)."
                yield Flaw(self.name, message, demand, fix, *out.incomparable)
        elif out.misses_target and not excuses.cut_off:
            found = f"{show(out.best)} at best, in {plural(out.count, 'evaluation')}"
            fix = "Such a run counts as not converged: the entry may hold a few of them, and each counts as slowest."
            yield Flaw(self.name, f"No {key} reaches the quality target", demand, fix, out.last_line, found)

    def _constraints(self) -> list[Constraint]:
        return [constraint for reach in self.rule.reaches for constraint in reach.constraints]


class TensorsAspect(Aspect):
    """The names of the weight tensors: each of the reference model once."""

    name = "tensors"
    fields = ("tensors",)

    def parts(self, division: str | None = None) -> list[DemandPart]:
        wanted = self.rule.tensors or ()
        return [DemandPart(self.name, f"{len(wanted)} tensors of the reference model, each once", wanted)]

    def test(self) -> Test:
        most, there = len(self.rule.tensors or ()), metadata_expected(self.rule, "metadata with tensor")
        as_text = metadata_expected(self.rule, "metadata with tensor as text")

        def test(event: Event, out: KeyOutcome) -> None:
            try:
                tensor = event.metadata["tensor"]
            except Exception:
                if there not in out.failures:
                    out.fail(there, event.line, event.metadata)
                return
            if type(tensor) is not str and isinstance(tensor, (list, dict)):
                # Such names cannot be compared with those of the reference, which no checker took for another list.
                out.fail(as_text, event.line, event.metadata)
            elif len(out.tensors) <= most:
                # One name more than wanted already decides; the rest of a hostile log is not kept.
                out.tensors = (*out.tensors, tensor)

        return test

    def flaws(self, out: KeyOutcome, excuses: Excuses) -> Iterator[Flaw]:
        wanted, tensors = self.rule.tensors or (), out.tensors
        if not out.count or excuses.cut_off or out.failed("metadata") or _same_names(tensors, wanted):
            return
        names = {name for name in tensors if isinstance(name, str)}
        lacking = [name for name in wanted if name not in names]
        extra = sorted(names.difference(wanted))
        parts = []
        if lacking:
            parts.append(f"{len(lacking)} lacking ({', '.join(lacking[:3])}{', …' if len(lacking) > 3 else ''})")
        if extra:
            parts.append(f"{len(extra)} unknown ({show(extra[0])}{', …' if len(extra) > 1 else ''})")
        message = f"{self.rule.key} does not name each weight tensor of the reference model once"
        found = "; ".join(parts) or f"{out.count} records, some tensors more than once"
        yield Flaw(self.name, message, f"{len(wanted)} tensors, each once", self.about().fix, None, found)


def _same_names(found: tuple[Any, ...], wanted: tuple[str, ...]) -> bool:
    try:
        return sorted(found) == list(wanted)
    except TypeError:
        return False
