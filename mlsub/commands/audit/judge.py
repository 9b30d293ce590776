"""Judge one claim: its readings on every basis, checked against the wording, and what would change the verdict."""

from __future__ import annotations

from collections.abc import Collection, Iterator

import msgspec

from mlsub.commands.audit.beside import break_even, changes, contradicts, statements, wording_differs
from mlsub.commands.audit.evaluate import Band, NoBasisError, NotThereError, World, evaluate
from mlsub.commands.audit.facts import score_words
from mlsub.commands.audit.lookups import NothingSaidError
from mlsub.commands.audit.model import Claim, Reading, Stated
from mlsub.commands.audit.spoken import misquoted
from mlsub.commands.audit.subject import differences
from mlsub.commands.audit.trial import trials, verdict_of
from mlsub.commands.audit.verdict import ClaimVerdict, Judged, Near, Variant
from mlsub.commands.audit.wording import accepted, understated

#: The worst first: a claim that states several figures is as good as the worst of them.
_WORST = (
    ClaimVerdict.NOT_CHECKED,
    ClaimVerdict.CONTRADICTION,
    ClaimVerdict.FAILS,
    ClaimVerdict.DEPENDS,
    ClaimVerdict.NOT_VERIFIABLE,
    ClaimVerdict.ONLY_FOR,
    ClaimVerdict.FRAGILE,
    ClaimVerdict.HOLDS,
)


def judge(claim: Claim, world: World, asked: Collection[str] = ()) -> Judged:
    """The verdict on a claim.

    Args:
        claim: what is claimed.
        world: the facts it is checked against.
        asked: bases that decide in the place of the usual.

    Raises:
        EvaluationError: an expression has no value, whatever the results are.
    """
    judged, *further = (_of_expression(one, world, claim.basis or asked) for one in claim.figures)
    said = statements(claim, world.file)
    worst = min((judged, *further), key=lambda one: _WORST.index(one.verdict))
    verdict, reason = worst.verdict, worst.reason
    others = () if verdict is ClaimVerdict.NOT_CHECKED else (*differences(claim, world), *misquoted(claim))
    if others:
        verdict, reason = ClaimVerdict.FAILS, "the words describe something other than the results"
    if contradicts(said):
        verdict, reason = ClaimVerdict.CONTRADICTION, "its statements have no value in common"
    return msgspec.structs.replace(
        judged,
        claim=claim,
        further=tuple(further),
        verdict=verdict,
        only_for=None if others else worst.only_for,
        reason=reason,
        statements=said,
        differences=others,
        notes=(*judged.notes, *wording_differs(said), *((claim.note,) if claim.note else ())),
        nearest=tuple(_near(reading, world) for reading in claim.nearest),
        changed=changes(claim, world),
    )


def _of_expression(claim: Claim, world: World, asked: Collection[str]) -> Judged:
    stated = claim.stated
    window = accepted(stated) if stated is not None and not isinstance(stated.value, bool) else None
    judged = Judged(claim=claim, verdict=ClaimVerdict.NOT_VERIFIABLE, accepted=window)
    if stated is None or claim.expr is None:
        reason = claim.unverifiable or "the statements agree, and nothing here decides which value is true"
        return msgspec.structs.replace(judged, reason=reason)
    try:
        tried = [(trial, trial.variant(world)) for trial in trials(claim, world, asked)]
    except NotThereError as error:
        return msgspec.structs.replace(judged, verdict=ClaimVerdict.NOT_CHECKED, reason=str(error.args[0]))
    except (NothingSaidError, NoBasisError) as error:
        return msgspec.structs.replace(judged, reason=str(error.args[0]))
    verdict, only_for = verdict_of([variant for _, variant in tried])
    # The reading to explain further: the first that holds, else the first that counts.
    trial, best = min(tried, key=lambda one: (not one[1].decides, not one[1].holds))
    headline = best.deciding[0]
    return msgspec.structs.replace(
        judged,
        verdict=verdict,
        only_for=only_for,
        basis=headline.basis,
        computed=headline.value,
        readings=tuple(variant for _, variant in tried),
        break_even=break_even(trial.expr, headline, window, world),
        notes=tuple(_notes(stated, best, [variant for _, variant in tried])),
    )


def _notes(stated: Stated, best: Variant, variants: Collection[Variant]) -> Iterator[str]:
    headline = best.deciding[0]
    if any(outcome.truncated for outcome in best.deciding):
        yield "holds with the digits cut off; rounded, it would not"
    if best.holds and not isinstance(headline.value, bool) and understated(stated, headline.value):
        yield "understated: the figure is far above"
    if best.holds and best.fragile and not isinstance(headline.value, bool) and best.low is None:
        yield "within the uncertainty of its inputs a divisor may be zero: the figure has no bounds"
    elif best.holds and best.fragile and any(variant.holds is not True for variant in variants if variant.decides):
        yield "fragile: not for all values that its inputs may have"
    for outcome in best.bases:
        if not outcome.decides and outcome.holds != headline.holds:
            answer = "holds" if outcome.holds else "fails"
            yield f"on the {score_words(outcome.basis)}, which does not decide here, it {answer}"


def _near(reading: Reading, world: World) -> Near:
    expr = reading.expr.text
    try:
        answer = evaluate(reading.expr.tree, world, "published")
    except (NotThereError, NothingSaidError, NoBasisError) as error:
        return Near(expr=expr, label=reading.label, value=None, reason=str(error.args[0]))
    return Near(expr=expr, label=reading.label, value=answer.low if isinstance(answer, Band) else answer)
