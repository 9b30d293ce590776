"""The readings of a claim, each on every basis and checked against what is stated."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from fractions import Fraction

import msgspec

from mlsub.commands.audit.beside import labels
from mlsub.commands.audit.evaluate import Band, EvaluationError, NoBasisError, World, evaluate
from mlsub.commands.audit.expression import Call, Expression
from mlsub.commands.audit.facts import deciding
from mlsub.commands.audit.kinds import BASES
from mlsub.commands.audit.model import Claim, Stated
from mlsub.commands.audit.verdict import ClaimVerdict, Outcome, Variant
from mlsub.commands.audit.wording import Interval, accepted, halfway, truncated

#: From minutes, or from a part of one, to the unit that is stated.
_UNITS = {"%": Fraction(100), "h": Fraction(1, 60), "s": Fraction(60)}


class Trial(msgspec.Struct, frozen=True, kw_only=True):
    """One reading of a claim, before it is evaluated.

    ``factor`` takes its value to the unit that is stated; ``turns`` says which of reduction and speed-up is made the
    other one before. ``bases`` are those that decide.
    """

    expr: Expression
    label: str | None
    decides: bool
    factor: Fraction
    turns: str | None
    stated: Stated
    window: Interval | None
    bases: tuple[str, ...]

    def variant(self, world: World) -> Variant:
        """What the reading comes to on every basis."""
        outcomes: list[Outcome] = []
        for basis in (*self.bases, *(basis for basis in BASES if basis not in self.bases)):
            try:
                value = self._value(world, basis)
            except NoBasisError:
                if basis == self.bases[0]:
                    raise
                continue
            outcomes.append(self._outcome(basis, value))
        # Of bases on which the value is the same, the first is shown.
        distinct: dict[Fraction | bool, Outcome] = {}
        for outcome in outcomes:
            distinct.setdefault(outcome.value, outcome)
        counted = [outcome for outcome in outcomes if outcome.decides]
        spreads = [self._spread(world, outcome.basis) for outcome in counted]
        holds = counted[0].holds if len({outcome.holds for outcome in counted}) == 1 else None
        uncertain = spreads[0] if isinstance(spreads[0], Band) and not spreads[0].certain else None
        inputs = [one.name for one in world.file.inputs_in(self.expr) if one.plus_minus]
        return Variant(
            expr=self.expr.text,
            label=self.label,
            decides=self.decides,
            holds=holds,
            fragile=bool(holds) and not all(map(self._inside, spreads)),
            low=uncertain.low if uncertain else None,
            high=uncertain.high if uncertain else None,
            inputs=tuple(inputs),
            bases=tuple(distinct.values()),
        )

    def _value(self, world: World, basis: str, *, spread: bool = False) -> Band | bool | None:
        answer = evaluate(self.expr.tree, world, basis, spread=spread)
        if isinstance(answer, str):
            raise EvaluationError("text is compared with a value")
        return Band(self._in_unit(answer.low), self._in_unit(answer.high)) if isinstance(answer, Band) else answer

    def _in_unit(self, value: Fraction) -> Fraction:
        if self.turns is not None:
            # A part p less time is p / (1 - p) more speed; a speed-up of s is s / (1 + s) less time.
            rest = 1 - value if self.turns == "reduction" else 1 + value
            if rest == 0:
                raise EvaluationError("division by zero")
            value /= rest
        return value * self.factor

    def _spread(self, world: World, basis: str) -> Band | bool | None:
        try:
            return self._value(world, basis, spread=True)
        except EvaluationError:
            return None

    def _outcome(self, basis: str, value: Band | bool | None) -> Outcome:
        decides, stated = basis in self.bases, self.stated
        if isinstance(value, Band) and self.window is not None:
            cut = value.low not in self.window and _in(value.low, truncated(stated))
            holds = cut or self._fits(value.low)
            return Outcome(basis=basis, value=value.low, holds=holds, decides=decides, truncated=cut)
        if isinstance(value, Band) or isinstance(stated.value, Fraction):
            raise EvaluationError("a number is compared with true or false")
        return Outcome(basis=basis, value=bool(value), holds=value == stated.value, decides=decides)

    def _inside(self, spread: Band | bool | None) -> bool:
        """Whether all that the inputs' uncertainty allows is accepted."""
        if not isinstance(spread, Band) or self.window is None:
            return spread == self.stated.value
        ends = (spread.low, spread.high)
        return all(self._fits(end) or _in(end, truncated(self.stated)) for end in ends)

    def _fits(self, number: Fraction) -> bool:
        return _in(number, self.window) or number == halfway(self.stated)


def fits(stated: Stated, number: Fraction) -> bool:
    """Whether a statement allows a number, rounded or with its digits cut off."""
    return any(_in(number, one) for one in (accepted(stated), truncated(stated))) or number == halfway(stated)


def _in(number: Fraction, interval: Interval | None) -> bool:
    return interval is not None and number in interval


def trials(claim: Claim, world: World, asked: Collection[str]) -> Iterator[Trial]:
    """Every reading of the first figure of a claim.

    A percentage of time has two, and both decide where the claim does not say which it is.

    Args:
        claim: what is claimed; it states a value.
        world: the facts it is checked against.
        asked: bases that decide in the place of the usual.

    Raises:
        NotThereError: a result is not among those given.
    """
    stated = claim.stated
    if stated is None:
        return
    window = None if isinstance(stated.value, bool) else accepted(stated)
    found = labels([reading.expr for reading in claim.judged], world)
    for reading, other in zip(claim.judged, found, strict=True):
        tree = reading.expr.tree
        own = tree.function if stated.unit == "%" and isinstance(tree, Call) else None
        kinds: list[str | None] = [None]
        if own in ("reduction", "speedup"):
            kinds = ["speedup", "reduction"] if (stated.reading or own) == "speedup" else ["reduction", "speedup"]
        for kind in kinds:
            of_reading = f"reading {kind}" if kind and kind != stated.reading else None
            yield Trial(
                expr=reading.expr,
                label=", ".join(name for name in (reading.label or other, of_reading) if name) or None,
                decides=stated.reading in (None, kind) or kind is None,
                factor=_UNITS.get(stated.unit or "", Fraction(1)),
                turns=own if kind != own else None,
                stated=stated,
                window=window,
                bases=deciding([world.fact(name) for name in world.file.results_in(reading.expr)], asked),
            )


def verdict_of(variants: Collection[Variant]) -> tuple[ClaimVerdict, str | None]:
    """The verdict over all readings that count, and what it holds for where that is not all of them."""
    counted = [variant for variant in variants if variant.decides]
    holding = [variant for variant in counted if variant.holds]
    if holding and len(holding) < len(counted):
        return ClaimVerdict.ONLY_FOR, ", ".join(variant.label or variant.expr for variant in holding)
    if holding:
        fragile = any(variant.fragile for variant in holding)
        return (ClaimVerdict.FRAGILE if fragile else ClaimVerdict.HOLDS), None
    depends = any(variant.holds is None for variant in counted)
    return (ClaimVerdict.DEPENDS if depends else ClaimVerdict.FAILS), None
