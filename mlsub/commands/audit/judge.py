"""Judge one claim: its readings on every basis, checked against the wording, and what is said beside the verdict."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from fractions import Fraction

import msgspec

from mlsub.commands.audit.claims import Claim, ClaimReading
from mlsub.commands.audit.evaluate import World, depends, evaluate
from mlsub.commands.audit.expression import Call, Constant, Node, conditions, parse
from mlsub.commands.audit.facts import BASES, deciding, score_words
from mlsub.commands.audit.functions import COMPARISONS, Band
from mlsub.commands.audit.given import NoValueError, words_of
from mlsub.commands.audit.subject import changes, contradicts, differences, misquoted, statements, wording_differs
from mlsub.commands.audit.verdict import (
    HOLDING,
    BasisOutcome,
    BreakEven,
    ClaimVerdict,
    JudgedClaim,
    Near,
    TextDifference,
    Variant,
)
from mlsub.commands.audit.wording import MINUTES, AcceptedRange, Stated, accepted, decimal, fits, truncated, understated
from mlsub.commands.audit.words import compared_in, incomparable, undecided, unlike
from mlsub.io.show import show


class Trial(msgspec.Struct, frozen=True, kw_only=True):
    """One reading of a claim, before it is evaluated.

    ``factor`` takes its value to the unit that is stated; ``turns`` says which of reduction and speed-up is made the
    other one before. ``bases`` are those that decide.
    """

    expr: str
    label: str | None
    decides: bool
    factor: Fraction
    turns: str | None
    stated: Stated
    bases: tuple[str, ...]

    def variant(self, world: World) -> Variant:
        """Return what the reading comes to on every basis."""
        outcomes: list[BasisOutcome] = []
        for basis in (*self.bases, *(basis for basis in BASES if basis not in self.bases)):
            try:
                value = self._value(world, basis)
            except NoValueError as error:
                if basis == self.bases[0] or error.verdict is not ClaimVerdict.NOT_VERIFIABLE:
                    raise
                continue
            outcomes.append(self._outcome(basis, value))
        # Of bases on which the value is the same, the first is shown.
        counted = [outcome for outcome in outcomes if outcome.decides]
        distinct: dict[Fraction | bool, BasisOutcome] = {}
        for outcome in outcomes:
            # The mean of the reference points is worth a line where it changes the answer.
            if outcome.basis != "rcp_mean" or outcome.decides or outcome.holds != counted[0].holds:
                distinct.setdefault(outcome.value, outcome)
        spreads = [self._spread(world, outcome.basis) for outcome in counted]
        holds = counted[0].holds if len({outcome.holds for outcome in counted}) == 1 else None
        uncertain = spreads[0] if isinstance(spreads[0], Band) and not spreads[0].certain else None
        return Variant(
            expr=self.expr,
            label=self.label,
            decides=self.decides,
            holds=holds,
            fragile=bool(holds) and not all(map(self._inside, spreads)),
            low=uncertain.low if uncertain else None,
            high=uncertain.high if uncertain else None,
            inputs=tuple(one.name for one in world.file.inputs_in(self.expr) if one.spread),
            bases=tuple(distinct.values()),
        )

    def _value(self, world: World, basis: str, instead: Mapping[str, Band] | None = None) -> Band | bool | None:
        answer = evaluate(parse(self.expr), world, basis, instead)
        if isinstance(answer, str):
            raise NoValueError("text is compared with a value")
        return Band(self._in_unit(answer.low), self._in_unit(answer.high)) if isinstance(answer, Band) else answer

    def _in_unit(self, value: Fraction) -> Fraction:
        if self.turns is not None:
            # A part p less time is p / (1 - p) more speed; a speed-up of s is s / (1 + s) less time.
            rest = 1 - value if self.turns == "reduction" else 1 + value
            if rest == 0:
                raise NoValueError("division by zero")
            value /= rest
        return value * self.factor

    def _spread(self, world: World, basis: str) -> Band | bool | None:
        given = world.file.inputs.values()
        ends = {one.name: Band(one.amount - one.spread, one.amount + one.spread) for one in given}
        try:
            return self._value(world, basis, ends)
        except NoValueError:
            return None

    def _outcome(self, basis: str, value: Band | bool | None) -> BasisOutcome:
        decides, stated = basis in self.bases, self.stated
        if isinstance(value, Band) is isinstance(stated.amount, bool):
            raise NoValueError("a number is compared with true or false")
        if not isinstance(value, Band):
            return BasisOutcome(basis=basis, value=bool(value), holds=value == stated.amount, decides=decides)
        holds, cut_off = fits(stated, value.low), truncated(stated)
        cut = cut_off is not None and value.low in cut_off
        return BasisOutcome(basis=basis, value=value.low, holds=holds, decides=decides, truncated=cut)

    def _inside(self, spread: Band | bool | None) -> bool:
        """Return whether all that the inputs' uncertainty allows is accepted."""
        if not isinstance(spread, Band):
            return spread == self.stated.amount
        return all(fits(self.stated, end) for end in (spread.low, spread.high))


def trials(claim: Claim, stated: Stated, world: World, asked: Collection[str]) -> Iterator[Trial]:
    """Yield every reading of the first figure of a claim.

    A percentage of time has two, and both decide where the claim does not say which it is.

    Args:
        claim: what is claimed.
        stated: its first figure.
        world: the facts it is checked against.
        asked: bases that decide in the place of the usual.

    Raises:
        NoValueError: a result is not among those given.
    """
    found = labels([reading.expr for reading in claim.judged], world)
    for reading, other in zip(claim.judged, found, strict=True):
        tree = parse(reading.expr)
        own: str | None = None
        kinds: tuple[str | None, ...] = (None,)
        if stated.unit == "%" and isinstance(tree, Call) and tree.function in ("reduction", "speedup"):
            own = tree.function
            kinds = ("speedup", "reduction") if (stated.reading or own) == "speedup" else ("reduction", "speedup")
        for kind in kinds:
            of_reading = f"reading {kind}" if kind and kind != stated.reading else None
            yield Trial(
                expr=reading.expr,
                label=", ".join(name for name in (reading.label or other, of_reading) if name) or None,
                decides=stated.reading in (None, kind) or kind is None,
                factor=Fraction(100) if stated.unit == "%" else 1 / MINUTES.get(stated.unit or "", Fraction(1)),
                turns=own if kind != own else None,
                stated=stated,
                bases=deciding([world.fact(name) for name in world.file.results_in(reading.expr)], asked),
            )


def verdict_of(variants: Collection[Variant]) -> tuple[ClaimVerdict, str | None]:
    """Return the verdict over all readings that count, and what it holds for where that is not all of them."""
    counted = [variant for variant in variants if variant.decides]
    holding = [variant for variant in counted if variant.holds]
    if holding and len(holding) < len(counted):
        return ClaimVerdict.ONLY_FOR, ", ".join(variant.label or variant.expr for variant in holding)
    if holding:
        fragile = any(variant.fragile for variant in holding)
        return (ClaimVerdict.FRAGILE if fragile else ClaimVerdict.HOLDS), None
    depends = any(variant.holds is None for variant in counted)
    return (ClaimVerdict.DEPENDS if depends else ClaimVerdict.FAILS), None


#: Verdicts on figures that the logs give.
_NUMBERS = frozenset((*HOLDING, ClaimVerdict.FAILS, ClaimVerdict.DEPENDS))


def judge(claim: Claim, world: World, asked: Collection[str] = ()) -> JudgedClaim:
    """Return the verdict on a claim.

    Args:
        claim: what is claimed.
        world: the facts it is checked against.
        asked: bases that decide in the place of the usual.

    Raises:
        NoValueError: an expression has no value, whatever the results are.
    """
    judged, *further = (_of_expression(one, world, claim.basis or asked) for one in claim.figures)
    said = statements(claim, world.file)
    worst = max((judged, *further), key=lambda one: list(ClaimVerdict).index(one.verdict))
    verdict, reason = worst.verdict, worst.reason
    compared = compared_in(claim, world)
    others: tuple[TextDifference, ...] = ()
    if verdict is not ClaimVerdict.NOT_CHECKED:
        others = (*differences(claim, world, compared), *misquoted(claim), *unlike(claim, compared, world))
    if others:
        verdict, reason = ClaimVerdict.FAILS, "the words describe something other than the results"
    elif verdict in _NUMBERS and (why := incomparable(claim, world)) is not None:
        verdict, reason = ClaimVerdict.NOT_COMPARABLE, why
    elif verdict in HOLDING and (open_ := undecided(claim, world, compared)):
        verdict, reason = ClaimVerdict.IN_PART, "; ".join(open_)
    if contradicts(said):
        verdict, reason = ClaimVerdict.CONTRADICTION, "its statements have no value in common"
    return msgspec.structs.replace(
        judged,
        claim=claim,
        further=tuple(further),
        verdict=verdict,
        only_for=worst.only_for if verdict is worst.verdict else None,
        reason=reason,
        statements=said,
        differences=others,
        notes=(
            *judged.notes,
            *_looked_at(claim, world),
            *wording_differs(said),
            *((claim.note,) if claim.note else ()),
        ),
        nearest=tuple(_near(reading, world) for reading in claim.nearest),
        changed=changes(claim, world),
    )


def _of_expression(claim: Claim, world: World, asked: Collection[str]) -> JudgedClaim:
    stated = claim.figure
    window = accepted(stated) if stated is not None else None
    judged = JudgedClaim(claim=claim, verdict=ClaimVerdict.NOT_VERIFIABLE, accepted=window)
    if stated is None or claim.expr is None:
        why = claim.unverifiable or "the statements agree, and nothing here decides which value is true"
        return msgspec.structs.replace(judged, reason=why)
    try:
        tried = [trial.variant(world) for trial in trials(claim, stated, world, asked)]
    except NoValueError as error:
        if error.verdict is None:
            raise
        return msgspec.structs.replace(judged, verdict=error.verdict, reason=str(error))
    verdict, only_for = verdict_of(tried)
    holding = [variant for variant in tried if variant.decides and variant.holds]
    empty = not all(depends(variant.expr, world, on_inputs=True) for variant in holding)
    # The reading to explain further: the first that holds, else the first that counts.
    best = min(tried, key=lambda variant: (not variant.decides, not variant.holds))
    headline = best.deciding[0]
    reason = _unmet(best.expr, world, headline.basis) if stated.amount is True and not headline.value else None
    return msgspec.structs.replace(
        judged,
        verdict=ClaimVerdict.FAILS if empty else verdict,
        only_for=None if empty else only_for,
        reason="the expression depends on no result" if empty else reason,
        basis=headline.basis,
        computed=headline.value,
        readings=tuple(tried),
        break_even=tuple(_break_even(best.expr, headline, window, world)),
        notes=tuple(_notes(stated, best, tried)),
    )


def _unmet(expr: str, world: World, basis: str) -> str | None:
    """Return what each part of a condition that is not true compares; None where no part is untrue by itself."""
    found: list[str] = []
    for part in conditions(parse(expr), {}):
        try:
            if evaluate(part, world, basis) is False:
                found.append(", ".join(_sides(part, world, basis)))
        except NoValueError:
            continue
    return "; ".join(reversed(found)) or None


def _sides(part: Node, world: World, basis: str) -> Iterator[str]:
    """Yield the sides of a comparison with their values, or the whole of what is none."""
    compared = isinstance(part, Call) and part.function in COMPARISONS
    for side in part.arguments if isinstance(part, Call) and compared else (part,):
        if not isinstance(side, Constant):
            value = evaluate(side, world, basis)
            name = side.written if isinstance(side, Call) else side.name
            yield f"{name} is {decimal(value.low) if isinstance(value, Band) else show(value)}"


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


def _looked_at(claim: Claim, world: World) -> Iterator[str]:
    """Yield of which of all results given the functions over them speak."""
    nodes = [node for one in claim.readings for node in world.file.nodes_in(parse(one.expr))]
    for text, call in {node.written: node for node in nodes if isinstance(node, Call)}.items():
        try:
            among = world.among(call, whole=True)
        except NoValueError:
            continue
        if among is not None:
            yield f"{text} is said of the {words_of(among)}"


def _near(reading: ClaimReading, world: World) -> Near:
    expr = reading.expr
    try:
        answer = evaluate(parse(expr), world, "published")
    except NoValueError as error:
        if error.verdict is None:
            raise
        return Near(expr=expr, label=reading.label, value=None, reason=str(error))
    return Near(expr=expr, label=reading.label, value=answer.low if isinstance(answer, Band) else answer)


def labels(expressions: Sequence[str], world: World) -> list[str | None]:
    """What distinguishes each reading from the others: division, system, benchmark, ...; None for a single one."""
    if len(expressions) < 2:
        return [None] * len(expressions)
    for key in ("division", "benchmark", "round", "submitter", "system"):
        values = [_described(expression, key, world) for expression in expressions]
        if len(set(values)) == len(values):
            return [f"{key} {value}" for value in values]
    return list(expressions)


def _described(expression: str, key: str, world: World) -> str:
    known = [facts for facts in world.facts_in(expression) if facts.result]
    return "/".join(dict.fromkeys(str(value) for one in known if (value := getattr(one, key))))
