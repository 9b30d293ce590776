"""What the records of a key come to together: the quality target, and the names of the weight tensors."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

import msgspec

from mlsub.io.show import show
from mlsub.log.event import Event
from mlsub.rules.aspects.base import Aspect, Case, Flaw, KeyOutcome, LogSoFar, Part, Test
from mlsub.rules.aspects.content import metadata_expected
from mlsub.rules.constraints import Constraint
from mlsub.rules.constraints import Test as Holds
from mlsub.rules.formula import Values
from mlsub.rules.model import Reach


class Goal(msgspec.Struct, frozen=True):
    """A quality target, tested measure by measure in the order written, stopping at the first that misses."""

    parts: tuple[tuple[str | None, tuple[Holds, ...]], ...]

    def met(self, value: Any, stated: Values) -> bool:
        """Whether an evaluation meets the target.

        Raises:
            Exception: Python cannot compare the value.
        """
        for field, tests in self.parts:
            measure = value if field is None else value[field]
            if not all(test(measure, stated) for test in tests):
                return False
        return True


def goal_of(reaches: tuple[Reach, ...]) -> Goal:
    """The target, compiled."""
    return Goal(tuple((r.field, tuple(c.test() for c in r.constraints)) for r in reaches))


class Target(Aspect):
    """The quality target: at least one evaluation reaches it."""

    name = "target"
    fields = ("reaches",)
    lead = "one record must reach "
    join = ", "

    def words(self, division: str | None) -> Iterable[str]:
        return [reach.words() for reach in self.rule.reaches]

    def named(self) -> Iterable[str]:
        return [name for constraint in self._constraints() for name in constraint.names()]

    def test(self) -> Test:
        goal, lower = goal_of(self.rule.reaches), self._lower_is_better()

        def test(event: Event, out: KeyOutcome, log: LogSoFar) -> None:
            out.last_line = event.line
            try:
                if goal.met(event.value, log.stated):
                    out.reached = True
            except Exception:
                if out.incomparable is None:
                    out.incomparable = (event.line, show(event.value))
                return
            if not out.reached:
                out.best = _better(out.best, event.value, lower)

        return test

    def flaws(self, out: KeyOutcome, case: Case) -> Iterator[Flaw]:
        key, demand = self.rule.title, self.join.join(self.words(None))
        if out.incomparable is not None:
            if not out.failed("value") and not case.faulty.intersection(self.named()):
                line, found = out.incomparable
                message = f"{key} has a value that cannot be compared with the quality target"
                fix = f"Log {key} as a number (for several measures, an object of numbers)."
                yield Flaw(self.name, line, message, demand, found, fix)
        elif out.count and not out.reached and not case.cut_off:
            found = f"{show(out.best)} at best, in {out.count} evaluation{'s' if out.count > 1 else ''}"
            fix = "Such a run counts as not converged: the entry may hold a few of them, and each counts as slowest."
            yield Flaw(self.name, out.last_line, f"No {key} reaches the quality target", demand, found, fix)

    def _constraints(self) -> list[Constraint]:
        return [constraint for reach in self.rule.reaches for constraint in reach.constraints]

    def _lower_is_better(self) -> bool:
        return any(c.operator == "at_most" for c in self._constraints()) and not any(
            c.operator in ("at_least", "above") and c.operand != 0 for c in self._constraints()
        )


class Tensors(Aspect):
    """The names of the weight tensors: each of the reference model once."""

    name = "tensors"
    fields = ("tensors",)

    def parts(self, division: str | None = None) -> list[Part]:
        wanted = self.rule.tensors or ()
        return [Part(self.name, f"{len(wanted)} tensors of the reference model, each once", wanted)]

    def test(self) -> Test:
        wanted, there = self.rule.tensors or (), metadata_expected(self.rule, "metadata with tensor")
        as_text = metadata_expected(self.rule, "metadata with tensor as text")

        def test(event: Event, out: KeyOutcome, _: LogSoFar) -> None:
            try:
                tensor = event.metadata["tensor"]
            except Exception:
                if there not in out.failures:
                    out.fail(there, event.line, event.metadata)
                return
            if isinstance(tensor, (list, dict)):
                # Such names cannot be compared with those of the reference, which no checker took for another list.
                out.fail(as_text, event.line, event.metadata)
            elif len(out.tensors) <= len(wanted):
                # One name more than wanted already decides; the rest of a hostile log is not kept.
                out.tensors.append(tensor)

        return test

    def flaws(self, out: KeyOutcome, case: Case) -> Iterator[Flaw]:
        wanted = self.rule.tensors or ()
        if not out.count or case.cut_off or out.failed("metadata") or _same_names(out.tensors, wanted):
            return
        names = {name for name in out.tensors if isinstance(name, str)}
        lacking = [name for name in wanted if name not in names]
        extra = sorted(names.difference(wanted))
        parts = []
        if lacking:
            parts.append(f"{len(lacking)} lacking ({', '.join(lacking[:3])}{', …' if len(lacking) > 3 else ''})")
        if extra:
            parts.append(f"{len(extra)} unknown ({show(extra[0])}{', …' if len(extra) > 1 else ''})")
        message = f"{self.rule.key} does not name each weight tensor of the reference model once"
        found = "; ".join(parts) or f"{out.count} records, some tensors more than once"
        yield Flaw(self.name, None, message, f"{len(wanted)} tensors, each once", found, self.about().fix)


def _same_names(found: list[Any], wanted: tuple[str, ...]) -> bool:
    try:
        return sorted(found) == list(wanted)
    except TypeError:
        return False


def _better(best: Any, value: Any, lower: bool) -> Any:
    if best is None or isinstance(value, dict):
        return value
    try:
        return min(best, value) if lower else max(best, value)
    except TypeError:
        return best
