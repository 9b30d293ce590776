"""Judge one claim: its readings on every basis, held against the wording, and what would change the verdict."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping
from fractions import Fraction

import msgspec

from mlsub.commands.audit.band import Band
from mlsub.commands.audit.bases import deciding
from mlsub.commands.audit.breakeven import break_evens
from mlsub.commands.audit.context import changes
from mlsub.commands.audit.evaluate import (
    Answer,
    EvaluationError,
    NoBasisError,
    NotThereError,
    World,
    evaluate,
)
from mlsub.commands.audit.expression import Expression
from mlsub.commands.audit.kinds import BASES
from mlsub.commands.audit.lookups import NothingSaidError
from mlsub.commands.audit.model import Claim, Stated
from mlsub.commands.audit.names import labels, results_in
from mlsub.commands.audit.statements import contradicts, said, wording_differs
from mlsub.commands.audit.subject import differences
from mlsub.commands.audit.tree import Call
from mlsub.commands.audit.verdict import ClaimVerdict, Judged, Near, Outcome, Variant
from mlsub.commands.audit.wording import Interval, accepted, halfway, truncated, understated

#: From minutes, or from a part of one, to the unit that is stated.
_UNITS = {"%": Fraction(100), "h": Fraction(1, 60), "s": Fraction(60)}
_Transform = Callable[[Fraction], Fraction]


def judge(claim: Claim, world: World, asked: Collection[str] = ()) -> Judged:
    """The verdict on a claim.

    Args:
        claim: what is claimed.
        world: the facts it is held against.
        asked: bases that decide in the place of the usual.

    Raises:
        EvaluationError: an expression has no value, whatever the results are.
    """
    judged = _of_expression(claim, world, claim.basis or asked)
    statements = said(claim, world.file)
    notes = [*judged.notes, *wording_differs(statements)]
    verdict, reason = judged.verdict, judged.reason
    others = differences(claim, world) if verdict is not ClaimVerdict.NOT_CHECKED else ()
    if others:
        verdict, reason = ClaimVerdict.FAILS, "the words are about something else than the results"
    if contradicts(statements):
        verdict, reason = ClaimVerdict.CONTRADICTION, "no value fits all statements of it"
    return msgspec.structs.replace(
        judged,
        verdict=verdict,
        only_for=None if others else judged.only_for,
        reason=reason,
        statements=statements,
        differences=others,
        notes=tuple(notes),
        nearest=tuple(_nearest(claim, world)),
        changes=changes(claim, world),
    )


def _of_expression(claim: Claim, world: World, asked: Collection[str]) -> Judged:
    if claim.expr is None or claim.stated is None:
        reason = claim.unverifiable or "the statements agree, and nothing here decides which value is true"
        window = accepted(claim.stated) if claim.stated and not isinstance(claim.stated.value, bool) else None
        return Judged(claim=claim, verdict=ClaimVerdict.NOT_VERIFIABLE, reason=reason, accepted=window)
    window = None if isinstance(claim.stated.value, bool) else accepted(claim.stated)
    try:
        variants = tuple(_variants(claim, claim.stated, window, world, asked))
    except NotThereError as error:
        return Judged(claim=claim, verdict=ClaimVerdict.NOT_CHECKED, reason=str(error.args[0]), accepted=window)
    except (NothingSaidError, NoBasisError) as error:
        return Judged(claim=claim, verdict=ClaimVerdict.NOT_VERIFIABLE, reason=str(error.args[0]), accepted=window)
    verdict, only_for = _verdict(variants)
    return Judged(
        claim=claim,
        verdict=verdict,
        only_for=only_for,
        accepted=window,
        variants=variants,
        break_evens=break_evens(_best(variants), claim, window, world),
        notes=tuple(_notes(claim.stated, variants)),
    )


def _verdict(variants: tuple[Variant, ...]) -> tuple[ClaimVerdict, str | None]:
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


def _best(variants: tuple[Variant, ...]) -> Variant:
    """The reading to explain further: the first that holds, else the first."""
    return next((variant for variant in variants if variant.decides and variant.holds), variants[0])


def _variants(
    claim: Claim, stated: Stated, window: Interval | None, world: World, asked: Collection[str]
) -> Iterator[Variant]:
    exprs = [(claim.expr, claim.label), *((reading.expr, reading.label) for reading in claim.also)]
    given = [(expr, label) for expr, label in exprs if expr is not None]
    told = labels([expr for expr, _ in given], world)
    for (expr, label), other in zip(given, told, strict=True):
        for reading, transform in _transforms(expr, stated):
            of_reading = f"reading {reading}" if reading and reading != stated.reading else None
            names = [name for name in (label or other, of_reading) if name]
            yield _variant(
                expr,
                ", ".join(names) or None,
                stated.reading in (None, reading) or reading is None,
                lambda basis, spread, expr=expr, transform=transform: _value(  # type: ignore[misc]
                    evaluate(expr.tree, world, basis, spread=spread), transform
                ),
                _Question(stated, window, _bases(expr, world, asked)),
            )


class _Question(msgspec.Struct, frozen=True):
    """What a value is held against, and on which bases."""

    stated: Stated
    window: Interval | None
    bases: tuple[str, ...]


def _bases(expr: Expression, world: World, asked: Collection[str]) -> tuple[str, ...]:
    return deciding([world.fact(name) for name in results_in(expr, world.file)], asked)


def _variant(
    expr: Expression,
    label: str | None,
    decides: bool,
    value_on: Callable[[str, bool], Band | bool | None],
    question: _Question,
) -> Variant:
    outcomes: list[Outcome] = []
    for basis in (*question.bases, *(basis for basis in BASES if basis not in question.bases)):
        try:
            value = value_on(basis, False)
        except NoBasisError:
            if basis == question.bases[0]:
                raise
            continue
        outcomes.append(_outcome(basis, value, question))
    told = [outcome.basis for outcome in outcomes if outcome.decides]
    spread, *others = [_spread(value_on, basis) for basis in told]
    certain = isinstance(spread, Band) and not spread.certain
    return Variant(
        expr=expr.text,
        label=label,
        decides=decides,
        outcomes=tuple(_told(outcomes)),
        low=spread.low if certain and isinstance(spread, Band) else None,
        high=spread.high if certain and isinstance(spread, Band) else None,
        fragile=not all(_inside(one, question) for one in (spread, *others)),
    )


def _outcome(basis: str, value: Band | bool | None, question: _Question) -> Outcome:
    decides = basis in question.bases
    stated, window = question.stated, question.window
    if isinstance(value, Band) and window is not None:
        number = value.low
        beyond = truncated(stated)
        cut = number not in window and beyond is not None and number in beyond
        holds = cut or _fits(number, stated, window)
        return Outcome(basis=basis, value=number, holds=holds, decides=decides, truncated=cut)
    if isinstance(value, Band) or isinstance(stated.value, Fraction):
        raise EvaluationError("a number is held against true or false")
    return Outcome(basis=basis, value=bool(value), holds=value == stated.value, decides=decides)


def _told(outcomes: list[Outcome]) -> Iterator[Outcome]:
    """Those that make a difference: one of a value, and every one that is asked for but the copies of the first."""
    seen: set[Fraction | bool] = set()
    for outcome in outcomes:
        if outcome.value not in seen:
            seen.add(outcome.value)
            yield outcome


def _spread(value_on: Callable[[str, bool], Band | bool | None], basis: str) -> Band | bool | None:
    try:
        return value_on(basis, True)
    except EvaluationError:
        return None


def _inside(spread: Band | bool | None, question: _Question) -> bool:
    """Whether all that the inputs' uncertainty allows is accepted."""
    if not isinstance(spread, Band) or question.window is None:
        return spread == question.stated.value
    beyond = truncated(question.stated)
    return all(
        _fits(end, question.stated, question.window) or (beyond is not None and end in beyond)
        for end in (spread.low, spread.high)
    )


def _fits(number: Fraction, stated: Stated, window: Interval) -> bool:
    return number in window or number == halfway(stated)


def _transforms(expr: Expression, stated: Stated) -> list[tuple[str | None, _Transform]]:
    """How values become the unit that is stated; a percentage of time has two readings."""
    factor = _UNITS.get(stated.unit or "", Fraction(1))

    def plain(value: Fraction) -> Fraction:
        return value * factor

    tree = expr.tree
    if stated.unit != "%" or not isinstance(tree, Call) or tree.function not in ("reduction", "speedup"):
        return [(None, plain)]
    reduces = tree.function == "reduction"

    def turned(value: Fraction) -> Fraction:
        # A part p less time is p / (1 - p) more speed; a speed-up of s is s / (1 + s) less time.
        rest = 1 - value if reduces else 1 + value
        if rest == 0:
            raise EvaluationError("division by zero")
        return value / rest * factor

    own, other = ("reduction", "speedup") if reduces else ("speedup", "reduction")
    both: list[tuple[str | None, _Transform]] = [(own, plain), (other, turned)]
    return both if stated.reading in (None, own) else both[::-1]


def _value(answer: Answer, transform: _Transform) -> Band | bool | None:
    if isinstance(answer, Band):
        return Band(transform(answer.low), transform(answer.high))
    if isinstance(answer, str):
        raise EvaluationError("text is held against a value")
    return answer


def _notes(stated: Stated, variants: tuple[Variant, ...]) -> Iterator[str]:
    best = _best(variants)
    if any(outcome.truncated for outcome in best.deciding):
        yield "holds with the digits cut off; rounded, it would not"
    value = best.deciding[0].value
    if best.holds and isinstance(value, Fraction) and understated(stated, value):
        yield "understated: the figure is far above"
    if best.holds and best.fragile and isinstance(value, Fraction) and best.low is None:
        yield "within the uncertainty of its inputs a divisor may be zero: the figure has no bounds"
    elif best.holds and best.fragile and any(variant.holds is not True for variant in variants if variant.decides):
        yield "fragile: not for all values that its inputs may have"
    for outcome in best.outcomes:
        if not outcome.decides and outcome.holds != best.deciding[0].holds:
            answer = "holds" if outcome.holds else "fails"
            yield f"on the basis {outcome.basis}, which does not decide here, it {answer}"


def _nearest(claim: Claim, world: World) -> Iterator[Near]:
    for reading in claim.nearest:
        value: Fraction | bool | str | None = None
        why = None
        try:
            answer = evaluate(reading.expr.tree, world, "published")
            value = answer.low if isinstance(answer, Band) else answer
        except (NotThereError, NothingSaidError, NoBasisError) as error:
            why = str(error.args[0])
        yield Near(expr=reading.expr.text, label=reading.label, value=value, why=why)


def tally(judged: Collection[Judged]) -> Mapping[str, int]:
    """How many claims have which verdict, in the order of the verdicts."""
    counts = {verdict.value: sum(one.verdict is verdict for one in judged) for verdict in ClaimVerdict}
    return {verdict: count for verdict, count in counts.items() if count}
