"""An audit of claims for machines: every number as a double beside the exact fraction."""

from __future__ import annotations

from fractions import Fraction
from typing import Any, ClassVar

import msgspec

from mlsub.commands.audit.audit import Audit
from mlsub.commands.audit.facts import Facts, Missing
from mlsub.commands.audit.judge import tally
from mlsub.commands.audit.kinds import BASES
from mlsub.commands.audit.messaging.judge import Messaging
from mlsub.commands.audit.messaging.model import Untold
from mlsub.commands.audit.messaging.write import Written
from mlsub.commands.audit.model import Input, Source, Stated
from mlsub.commands.audit.verdict import BreakEven, Change, ClaimVerdict, Difference, Judged, Variant
from mlsub.commands.audit.wording import Interval
from mlsub.commands.audit.words import remarks
from mlsub.findings import Finding
from mlsub.present.envelope import Answer


class Number(msgspec.Struct, frozen=True):
    """A double, null beyond the range of doubles, and the exact fraction as ``numerator/denominator``."""

    value: float | None
    exact: str


class Accepted(msgspec.Struct, frozen=True):
    """The values that a wording allows; an end of null is infinite."""

    low: Number | None
    low_included: bool
    high: Number | None
    high_included: bool
    text: str


class Rcp(msgspec.Struct, frozen=True):
    """The convergence test, and the factor that takes the time to the mean of the reference points."""

    verdict: str
    factor: Number | None


class ResultFacts(msgspec.Struct, frozen=True, kw_only=True):
    """A result; where it is not ``found``, ``reason`` says why, and what follows is empty. Times are in minutes."""

    name: str
    round: str
    submitter: str | None
    system: str | None
    benchmark: str | None
    division: str | None
    found: bool
    reason: str | None = None
    path: str | None = None
    division_in_logs: tuple[str, ...] = ()
    runs: int | None = None
    converged: int | None = None
    rcp: Rcp | None = None
    edit_factor: Number | None = None
    scaling_json: Number | None = None
    published_source: str | None = None
    minutes: dict[str, Number | None] = {}
    run_minutes: tuple[Number | None, ...] = ()
    remarks: tuple[str, ...] = ()


class InputFacts(msgspec.Struct, frozen=True, kw_only=True):
    """A number that no log can supply, and its uncertainty in its own unit."""

    name: str
    value: Number
    plus_minus: Number
    unit: str | None
    kind: str
    source: str
    date: str | None


class StatedFigure(msgspec.Struct, frozen=True, kw_only=True):
    """What a claim states: a number or a truth."""

    value: Number | bool
    written: str
    unit: str | None
    wording: str
    reading: str | None


class OnBasis(msgspec.Struct, frozen=True, kw_only=True):
    """A reading on one basis; ``decides`` says whether it counts for the verdict."""

    basis: str
    value: Number | bool
    holds: bool
    decides: bool
    truncated: bool


class ReadingFacts(msgspec.Struct, frozen=True, kw_only=True):
    """One reading of a claim on every basis; ``low`` and ``high`` are what the uncertainty of inputs allows."""

    label: str | None
    expr: str
    decides: bool
    holds: bool | None
    fragile: bool
    low: Number | None
    high: Number | None
    bases: tuple[OnBasis, ...]


class BreakEvenPoint(msgspec.Struct, frozen=True, kw_only=True):
    """The value of an input at which the claim begins or ends to hold."""

    input: str
    unit: str | None
    at: Number
    stated: Number
    bound: Number
    within_uncertainty: bool


class NearFigure(msgspec.Struct, frozen=True, kw_only=True):
    """A figure shown for scale; where there is none, ``reason`` says why."""

    expr: str
    label: str | None
    value: Number | bool | str | None
    reason: str | None


class StatementFacts(msgspec.Struct, frozen=True, kw_only=True):
    """One of several statements of the same quantity."""

    where: str
    written: str
    accepted: Accepted


class ClaimFacts(msgspec.Struct, frozen=True, kw_only=True):
    """A claim and its verdict; ``computed`` is the figure on ``basis``, the first that decides."""

    id: str
    line: int
    text: str
    kind: str | None
    source: Source
    where: str | None
    verdict: ClaimVerdict
    only_for: str | None
    reason: str | None
    stated: StatedFigure | None
    accepted: Accepted | None
    basis: str | None
    computed: Number | bool | None
    readings: tuple[ReadingFacts, ...]
    break_even: tuple[BreakEvenPoint, ...]
    nearest: tuple[NearFigure, ...]
    changed: tuple[Change, ...]
    statements: tuple[StatementFacts, ...]
    differences: tuple[Difference, ...]
    says: dict[str, Any]
    notes: tuple[str, ...]
    footnote: str | None


class QuotingFinding(Finding, frozen=True, kw_only=True):
    """A finding on how results are quoted, with the claim (null for a document's own) and the document."""

    claim: str | None
    document: str


class RulesText(msgspec.Struct, frozen=True):
    """A text of the rules on quoting results."""

    name: str
    title: str
    source: str


class ByHand(msgspec.Struct, frozen=True):
    """A rule that only a person can check."""

    rule: str
    title: str


class Quoting(msgspec.Struct, frozen=True, kw_only=True):
    """What was applied to each document, what could not be checked, and the footnotes that the rules want."""

    rules: dict[str, RulesText]
    not_looked_at: tuple[Untold, ...]
    by_hand: tuple[ByHand, ...]
    footnotes: tuple[Written, ...]


class ClaimsAudit(Answer, frozen=True, kw_only=True):
    """Claims checked against published results; ``bases`` are those that were asked for."""

    SCHEMA: ClassVar[int] = 4

    file: str
    source: Source
    bases: tuple[str, ...]
    verdicts: dict[str, int]
    results: tuple[ResultFacts, ...]
    inputs: tuple[InputFacts, ...]
    claims: tuple[ClaimFacts, ...]
    findings: tuple[QuotingFinding, ...]
    messaging: Quoting


def answer_of(audit: Audit) -> ClaimsAudit:
    """Everything that an audit found."""
    file = audit.world.file
    return ClaimsAudit(
        file=str(file.file),
        source=file.source,
        bases=audit.asked,
        verdicts={str(verdict): count for verdict, count in tally(audit.claims).items()},
        results=tuple(map(_result, audit.world.facts.values())),
        inputs=tuple(map(_input, file.inputs.values())),
        claims=tuple(map(_claim, audit.claims)),
        findings=tuple(
            QuotingFinding(claim=one.claim, document=one.document, **msgspec.structs.asdict(one.finding))
            for one in audit.messaging.checked.remarks
        ),
        messaging=_quoting(audit.messaging),
    )


def _quoting(messaging: Messaging) -> Quoting:
    checked = messaging.checked
    return Quoting(
        rules={name: RulesText(text.name, text.title, text.source) for name, text in checked.texts.items()},
        not_looked_at=checked.untold,
        by_hand=tuple(ByHand(rule.id, rule.title) for rule in checked.by_hand),
        footnotes=messaging.footnotes,
    )


def _number(value: Fraction) -> Number:
    try:
        double: float | None = float(value)
    except OverflowError:
        double = None
    return Number(double, f"{value.numerator}/{value.denominator}")


def _maybe(value: Fraction | None) -> Number | None:
    return None if value is None else _number(value)


def _figure(value: Fraction | bool) -> Number | bool:
    return _number(value) if isinstance(value, Fraction) else value


def _accepted(known: Interval) -> Accepted:
    return Accepted(_maybe(known.low), known.low_in, _maybe(known.high), known.high_in, known.words())


def _result(facts: Facts | Missing) -> ResultFacts:
    result = facts.result
    named = {key: getattr(result, key) for key in ("name", "round", "submitter", "system", "benchmark")}
    if isinstance(facts, Missing):
        return ResultFacts(**named, division=result.division, found=False, reason=facts.reason)
    return ResultFacts(
        **named,
        division=facts.division,
        found=True,
        path=facts.place,
        division_in_logs=facts.logged,
        runs=len(facts.logs),
        converged=facts.converged,
        rcp=Rcp(facts.rcp_verdict, _maybe(facts.rcp_factor)),
        edit_factor=_maybe(facts.edit),
        scaling_json=_maybe(facts.scaling),
        published_source=result.published_source,
        minutes={basis: _maybe(facts.score(basis)) for basis in BASES},
        run_minutes=tuple(map(_maybe, facts.minutes)),
        remarks=tuple(remarks(facts)),
    )


def _input(given: Input) -> InputFacts:
    return InputFacts(
        name=given.name,
        value=_number(given.value),
        plus_minus=_number(given.plus_minus),
        unit=given.unit,
        kind=given.kind,
        source=given.source,
        date=given.date,
    )


def _claim(judged: Judged) -> ClaimFacts:
    claim, headline, stated = judged.claim, judged.headline, judged.claim.stated
    return ClaimFacts(
        id=claim.id,
        line=claim.line,
        text=claim.text,
        kind=claim.kind,
        source=claim.source,
        where=claim.where,
        verdict=judged.verdict,
        only_for=judged.only_for,
        reason=judged.reason,
        stated=None if stated is None else _stated(stated),
        accepted=None if judged.accepted is None else _accepted(judged.accepted),
        basis=headline.basis if headline else None,
        computed=_figure(headline.value) if headline else None,
        readings=tuple(map(_reading, judged.variants)),
        break_even=tuple(map(_break_even, judged.break_evens)),
        nearest=tuple(
            NearFigure(
                expr=near.expr,
                label=near.label,
                value=_number(near.value) if isinstance(near.value, Fraction) else near.value,
                reason=near.why,
            )
            for near in judged.nearest
        ),
        changed=judged.changes,
        statements=tuple(
            StatementFacts(where=one.where, written=one.written, accepted=_accepted(one.accepted))
            for one in judged.statements
        ),
        differences=judged.differences,
        says=claim.says,
        notes=(*judged.notes, *((claim.note,) if claim.note else ())),
        footnote=claim.footnote,
    )


def _stated(stated: Stated) -> StatedFigure:
    return StatedFigure(
        value=_figure(stated.value),
        written=stated.written,
        unit=stated.unit,
        wording=stated.wording,
        reading=stated.reading,
    )


def _reading(variant: Variant) -> ReadingFacts:
    return ReadingFacts(
        label=variant.label,
        expr=variant.expr,
        decides=variant.decides,
        holds=variant.holds,
        fragile=variant.fragile and bool(variant.holds),
        low=_maybe(variant.low),
        high=_maybe(variant.high),
        bases=tuple(
            OnBasis(
                basis=outcome.basis,
                value=_figure(outcome.value),
                holds=outcome.holds,
                decides=outcome.decides,
                truncated=outcome.truncated,
            )
            for outcome in variant.outcomes
        ),
    )


def _break_even(one: BreakEven) -> BreakEvenPoint:
    return BreakEvenPoint(
        input=one.input,
        unit=one.unit,
        at=_number(one.at),
        stated=_number(one.stated),
        bound=_number(one.bound),
        within_uncertainty=one.within,
    )
