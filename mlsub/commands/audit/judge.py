"""Judge one figure of a claim: its readings on every basis, checked against the wording."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from fractions import Fraction

import msgspec

from mlsub.commands.audit.claims import Claim
from mlsub.commands.audit.evaluate import World, depends, evaluate
from mlsub.commands.audit.expression import Band, Call, Constant, conditions, parse
from mlsub.commands.audit.functions import COMPARISONS, NoValueError
from mlsub.commands.audit.verdict import BASES, BasisOutcome, BreakEven, ClaimVerdict, JudgedClaim, Variant, score_words
from mlsub.commands.audit.wording import MINUTES, AcceptedRange, Stated, accepted, decimal, fits, truncated, understated
from mlsub.io.show import show


def judge_figure(claim: Claim, world: World, asked: Collection[str]) -> JudgedClaim:
    """Return the verdict on the first figure of a claim.

    Args:
        claim: what is claimed.
        world: the facts it is checked against.
        asked: bases that decide in the place of the usual.

    Raises:
        NoValueError: the expression has no value, whatever the results are.
    """
    stated = claim.figure
    window = accepted(stated) if stated is not None else None
    judged = JudgedClaim(claim=claim, verdict=ClaimVerdict.NOT_VERIFIABLE, accepted=window)
    if stated is None or claim.expr is None:
        why = claim.unverifiable or "the statements agree, and nothing here decides which value is true"
        return msgspec.structs.replace(judged, reason=why)
    try:
        variants = list(_variants(claim, stated, world, asked))
    except NoValueError as error:
        if error.verdict is None:
            raise
        return msgspec.structs.replace(judged, verdict=error.verdict, reason=str(error))
    verdict, only_for = _verdict_of(variants)
    # The reading to explain further: the first that holds, else the first that counts.
    best = min(variants, key=lambda variant: (not variant.decides, not variant.holds))
    headline = best.deciding[0]
    reason = _unmet(best.expr, world, headline.basis) if stated.amount is True and not headline.value else None
    holding = [variant for variant in variants if variant.decides and variant.holds]
    if not all(depends(variant.expr, world, on_inputs=True) for variant in holding):
        verdict, only_for, reason = ClaimVerdict.FAILS, None, "the expression depends on no result"
    return msgspec.structs.replace(
        judged,
        verdict=verdict,
        only_for=only_for,
        reason=reason,
        basis=headline.basis,
        computed=headline.value,
        readings=tuple(variants),
        break_even=tuple(_break_even(best.expr, headline, window, world)),
        notes=tuple(_notes(stated, best, variants)),
    )


def _variants(claim: Claim, stated: Stated, world: World, asked: Collection[str]) -> Iterator[Variant]:
    """Yield what every reading of the first figure of a claim comes to.

    A percentage of time has two, and both decide where the claim does not say which it is.

    Raises:
        NoValueError: a result is not among those given.
    """
    for reading, difference in zip(claim.judged, _labels(claim, world), strict=True):
        tree = parse(reading.expr)
        own: str | None = None
        kinds: tuple[str | None, ...] = (None,)
        if stated.unit == "%" and isinstance(tree, Call) and tree.function in ("reduction", "speedup"):
            own = tree.function
            kinds = ("speedup", "reduction") if (stated.reading or own) == "speedup" else ("reduction", "speedup")
        results = [world.fact(name) for name in world.file.results_in(reading.expr)]
        bases = tuple(basis for basis in BASES if basis in asked)
        # Where logs were edited after the runs, the published score is not what was measured.
        usual = ("published", "unscaled") if any(one.edit_factor for one in results) else ("published",)
        for kind in kinds:
            of_reading = f"reading {kind}" if kind and kind != stated.reading else None
            label = ", ".join(part for part in (reading.label or difference, of_reading) if part) or None
            trial = _Trial(world, stated, reading.expr, bases or usual, turns=own if kind != own else None)
            yield trial.variant(label, decides=stated.reading in (None, kind) or kind is None)


def _labels(claim: Claim, world: World) -> Sequence[str | None]:
    """Return what sets each reading of a claim apart: division, system, benchmark, ...; None for a single one."""
    expressions = [reading.expr for reading in claim.judged]
    if len(expressions) < 2:
        return [None] * len(expressions)
    found = [[one for one in world.facts_in(expression) if one.result] for expression in expressions]
    for key in ("division", "benchmark", "round", "submitter", "system"):
        values = ["/".join(dict.fromkeys(str(value) for one in some if (value := getattr(one, key)))) for some in found]
        if len(set(values)) == len(values):
            return [f"{key} {value}" for value in values]
    return expressions


class _Trial(msgspec.Struct, frozen=True):
    """One reading of a figure. ``bases`` are those that decide.

    ``turns`` says which of reduction and speed-up is made the other one.
    """

    world: World
    stated: Stated
    expr: str
    bases: tuple[str, ...]
    turns: str | None = None

    def variant(self, label: str | None, *, decides: bool) -> Variant:
        """Return what the reading comes to on every basis."""
        outcomes = [self._outcome(basis) for basis in dict.fromkeys((*self.bases, *BASES))]
        counted = [outcome for outcome in outcomes if outcome.decides]
        # Of bases on which the value is the same, the first is shown.
        distinct: dict[Fraction | bool, BasisOutcome] = {}
        for outcome in outcomes:
            # The mean of the reference points is worth a line where it changes the answer.
            if outcome.basis != "rcp_mean" or outcome.decides or outcome.holds != counted[0].holds:
                distinct.setdefault(outcome.value, outcome)
        spreads = [self._spread(outcome.basis) for outcome in counted]
        holds = counted[0].holds if len({outcome.holds for outcome in counted}) == 1 else None
        uncertain = spreads[0] if isinstance(spreads[0], Band) and not spreads[0].certain else None
        return Variant(
            expr=self.expr,
            label=label,
            decides=decides,
            holds=holds,
            fragile=bool(holds) and not all(map(self._accepts_all, spreads)),
            low=uncertain.low if uncertain else None,
            high=uncertain.high if uncertain else None,
            inputs=tuple(one.name for one in self.world.file.inputs_in(self.expr) if one.spread),
            bases=tuple(distinct.values()),
        )

    def _outcome(self, basis: str) -> BasisOutcome:
        value, decides, stated = self._value(basis), basis in self.bases, self.stated
        if isinstance(value, Band) is isinstance(stated.amount, bool):
            raise NoValueError("a number is compared with true or false")
        if not isinstance(value, Band):
            return BasisOutcome(basis=basis, value=bool(value), holds=value == stated.amount, decides=decides)
        holds, cut_off = fits(stated, value.low), truncated(stated)
        cut = cut_off is not None and value.low in cut_off
        return BasisOutcome(basis=basis, value=value.low, holds=holds, decides=decides, truncated=cut)

    def _value(self, basis: str, inputs: Mapping[str, Band] | None = None) -> Band | bool | None:
        answer = evaluate(parse(self.expr), self.world, basis, inputs)
        if isinstance(answer, str):
            raise NoValueError("text is compared with a value")
        return Band(self._in_unit(answer.low), self._in_unit(answer.high)) if isinstance(answer, Band) else answer

    def _in_unit(self, value: Fraction) -> Fraction:
        """Return a value in the unit that is stated."""
        if self.turns is not None:
            # A part p less time is p / (1 - p) more speed; a speed-up of s is s / (1 + s) less time.
            rest = 1 - value if self.turns == "reduction" else 1 + value
            if rest == 0:
                raise NoValueError("division by zero")
            value /= rest
        return value * 100 if self.stated.unit == "%" else value / MINUTES.get(self.stated.unit or "", 1)

    def _spread(self, basis: str) -> Band | bool | None:
        """Return all values that the inputs' uncertainty allows; None where they have no bounds."""
        given = self.world.file.inputs.values()
        try:
            return self._value(
                basis, {one.name: Band(one.amount - one.spread, one.amount + one.spread) for one in given}
            )
        except NoValueError:
            return None

    def _accepts_all(self, spread: Band | bool | None) -> bool:
        if not isinstance(spread, Band):
            return spread == self.stated.amount
        return all(fits(self.stated, end) for end in (spread.low, spread.high))


def _verdict_of(variants: Collection[Variant]) -> tuple[ClaimVerdict, str | None]:
    """Return the verdict over all readings that count, and what it holds for where that is not all of them."""
    counted = [variant for variant in variants if variant.decides]
    holding = [variant for variant in counted if variant.holds]
    if holding and len(holding) < len(counted):
        return ClaimVerdict.ONLY_FOR, ", ".join(variant.label or variant.expr for variant in holding)
    if holding:
        fragile = any(variant.fragile for variant in holding)
        return (ClaimVerdict.FRAGILE if fragile else ClaimVerdict.HOLDS), None
    on_basis = any(variant.holds is None for variant in counted)
    return (ClaimVerdict.DEPENDS if on_basis else ClaimVerdict.FAILS), None


def _unmet(expr: str, world: World, basis: str) -> str | None:
    """Return what each part of a condition that is not true compares; None where no part is untrue by itself."""
    found: list[str] = []
    for part in conditions(parse(expr), {}):
        compared = isinstance(part, Call) and part.function in COMPARISONS
        try:
            if evaluate(part, world, basis) is False:
                sides = []
                for side in part.arguments if isinstance(part, Call) and compared else (part,):
                    if not isinstance(side, Constant):
                        value = evaluate(side, world, basis)
                        name = side.written if isinstance(side, Call) else side.name
                        sides.append(f"{name} is {decimal(value.low) if isinstance(value, Band) else show(value)}")
                found.append(", ".join(sides))
        except NoValueError:
            continue
    return "; ".join(reversed(found)) or None


#: No claim is about more inputs than this, and each costs a few evaluations.
MAX_INPUTS = 10


def _break_even(expr: str, headline: BasisOutcome, window: AcceptedRange | None, world: World) -> Iterator[BreakEven]:
    """Yield where each uncertain input takes a reading to an end of what is accepted, the others being as stated.

    Only where the figure is linear in the input, or one over it is: then the answer is exact.
    """
    uncertain = [given for given in world.file.inputs_in(expr) if given.spread]
    for given in uncertain[:MAX_INPUTS]:
        if window is None or given.amount == 0:
            continue
        try:
            values = [
                evaluate(parse(expr), world, headline.basis, {given.name: Band.of(times * given.amount)})
                for times in (1, 2, 3)
            ]
        except NoValueError:
            continue
        heights = [value.low for value in values if isinstance(value, Band)]
        # A figure in another unit than its expression's, a percentage say, is a multiple of it.
        scale = Fraction(headline.value) / heights[0] if heights[0] else Fraction(1)
        for bound in (window.low, window.high):
            at = None if bound is None else _crossing(heights, given.amount, bound / scale)
            if bound is not None and at is not None and at > 0:
                yield BreakEven(
                    input=given.name,
                    unit=given.unit,
                    at=at,
                    stated=given.amount,
                    bound=bound,
                    within_uncertainty=abs(at - given.amount) <= given.spread,
                )


def _crossing(heights: list[Fraction], start: Fraction, target: Fraction) -> Fraction | None:
    """Return where a curve takes a value, by its heights at one, two and three times the start.

    None where it is neither a straight line nor one over such a line.
    """
    curves = [(*heights, target)]
    if target and all(heights):
        curves.append((*(1 / height for height in heights), 1 / target))
    for first, second, third, due in curves:
        if third - second == second - first != 0:
            return start + (due - first) * start / (second - first)
    return None


def _notes(stated: Stated, best: Variant, variants: Collection[Variant]) -> Iterator[str]:
    headline = best.deciding[0]
    if any(outcome.truncated for outcome in best.deciding):
        yield "holds with the digits cut off; rounded, it would not"
    if best.holds and not isinstance(headline.value, bool) and understated(stated, headline.value):
        yield "understated: the figure is far above"
    if best.fragile and not isinstance(headline.value, bool) and best.low is None:
        yield "within the uncertainty of its inputs a divisor may be zero: the figure has no bounds"
    elif best.fragile and any(variant.holds is not True for variant in variants if variant.decides):
        yield "fragile: not for all values that its inputs may have"
    for outcome in best.bases:
        if not outcome.decides and outcome.holds != headline.holds:
            answer = "holds" if outcome.holds else "fails"
            yield f"on the {score_words(outcome.basis)}, which does not decide here, it {answer}"
