"""What the records of a key come to together: the quality target, and the names of the weight tensors."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from mlsub.io.show import show
from mlsub.log.event import Event
from mlsub.rules.aspects.base import Aspect, Attempts, Case, Flaw, KeyOutcome, Part, Test
from mlsub.rules.aspects.content import metadata_expected
from mlsub.rules.constraints import Constraint, all_pass
from mlsub.rules.constraints import Test as Holds
from mlsub.rules.model import Reach


def target_test(reaches: tuple[Reach, ...]) -> Holds:
    """Compile a quality target to a test of a value, which raises where Python cannot compare the value.

    It is tested measure by measure in the order written, up to the first that misses.
    """
    return all_pass([_of(reach.field, constraint) for reach in reaches for constraint in reach.constraints])


def _of(field: str | None, constraint: Constraint) -> Holds:
    test = constraint.test()
    return test if field is None else lambda value, stated: test(value[field], stated)


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
        met, lower = target_test(self.rule.reaches), self._lower_is_better()

        def test(event: Event, out: KeyOutcome) -> None:
            so_far = out.attempts
            if so_far is None:
                so_far = out.attempts = Attempts()
            so_far.last_line = event.line
            try:
                if met(event.value, out.log.stated):
                    so_far.reached = True
            except Exception:
                if so_far.incomparable is None:
                    so_far.incomparable = (event.line, show(event.value))
                return
            if so_far.reached:
                return
            value, best = event.value, so_far.best
            try:
                if best is None or isinstance(value, dict) or (value < best if lower else value > best):
                    so_far.best = value
            except TypeError:
                pass

        return test

    def flaws(self, out: KeyOutcome, case: Case) -> Iterator[Flaw]:
        key, so_far = self.rule.title, out.attempts
        if so_far is None:
            return
        if so_far.incomparable is not None:
            if not out.failed("value") and not case.faulty.intersection(self.named()):
                line, found = so_far.incomparable
                message = f"{key} has a value that cannot be compared with the quality target"
                fix = f"Log {key} as a number (for several measures, an object of numbers)."
                yield Flaw(self.name, line, message, self._demand(), found, fix)
        elif not so_far.reached and not case.cut_off:
            found = f"{show(so_far.best)} at best, in {out.count} evaluation{'s' if out.count > 1 else ''}"
            fix = "Such a run counts as not converged: the entry may hold a few of them, and each counts as slowest."
            yield Flaw(self.name, so_far.last_line, f"No {key} reaches the quality target", self._demand(), found, fix)

    def _demand(self) -> str:
        return self.join.join(self.words(None))

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
        most, there = len(self.rule.tensors or ()), metadata_expected(self.rule, "metadata with tensor")
        as_text = metadata_expected(self.rule, "metadata with tensor as text")

        def test(event: Event, out: KeyOutcome) -> None:
            try:
                tensor = event.metadata["tensor"]
            except Exception:
                if there not in out.failures:
                    out.fail(there, event.line, event.metadata)
                return
            tensors = out.tensors
            if tensors is None:
                tensors = out.tensors = []
            if type(tensor) is not str and isinstance(tensor, (list, dict)):
                # Such names cannot be compared with those of the reference, which no checker took for another list.
                out.fail(as_text, event.line, event.metadata)
            elif len(tensors) <= most:
                # One name more than wanted already decides; the rest of a hostile log is not kept.
                tensors.append(tensor)

        return test

    def flaws(self, out: KeyOutcome, case: Case) -> Iterator[Flaw]:
        wanted, tensors = self.rule.tensors or (), out.tensors or []
        if not out.count or case.cut_off or out.failed("metadata") or _same_names(tensors, wanted):
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
        yield Flaw(self.name, None, message, f"{len(wanted)} tensors, each once", found, self.about().fix)


def _same_names(found: list[Any], wanted: tuple[str, ...]) -> bool:
    try:
        return sorted(found) == list(wanted)
    except TypeError:
        return False
