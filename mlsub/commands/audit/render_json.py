"""An audit as JSON: every number as a double beside the exact fraction."""

from __future__ import annotations

import json
from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import msgspec

import mlsub
from mlsub.commands.audit.audit import Audit
from mlsub.commands.audit.facts import Facts, Missing
from mlsub.commands.audit.judge import tally
from mlsub.commands.audit.kinds import BASES
from mlsub.commands.audit.messaging.sections import as_json as messaging_json
from mlsub.commands.audit.model import Input
from mlsub.commands.audit.verdict import Judged, Said, Variant
from mlsub.commands.audit.wording import Interval
from mlsub.commands.audit.words import remarks

#: Raised where a field is renamed or goes; a field that comes does not raise it.
SCHEMA = 2


def render(audit: Audit) -> str:
    """The audit as a document that ends in a line feed."""
    file = audit.world.file
    document = {
        "schema": SCHEMA,
        "mlsub": mlsub.__version__,
        "kind": "claims-audit",
        "file": str(file.file),
        "source": msgspec.to_builtins(file.source),
        "bases": list(audit.asked),
        "verdicts": dict(tally(audit.claims)),
        "results": [_result(facts) for facts in audit.world.facts.values()],
        "inputs": [_input(given) for given in file.inputs.values()],
        "claims": [_claim(judged) for judged in audit.claims],
        **messaging_json(audit.messaging),
    }
    return json.dumps(document, indent=2, allow_nan=False) + "\n"


def number(value: Fraction | None) -> dict[str, Any] | None:
    """A number as ``{"value": double, "exact": "num/den"}``; the double is None beyond the range of doubles."""
    if value is None:
        return None
    try:
        double: float | None = float(value)
    except OverflowError:
        double = None
    return {"value": double, "exact": f"{value.numerator}/{value.denominator}"}


def _figure(value: Fraction | bool | str | None) -> Any:
    return number(value) if isinstance(value, Fraction) else value


def _interval(interval: Interval | None) -> dict[str, Any] | None:
    if interval is None:
        return None
    return {
        "low": number(interval.low),
        "low_included": interval.low_in,
        "high": number(interval.high),
        "high_included": interval.high_in,
        "text": interval.words(),
    }


def _result(facts: Facts | Missing) -> dict[str, Any]:
    result = facts.result
    named = {key: getattr(result, key) for key in ("name", "round", "submitter", "system", "benchmark", "division")}
    if isinstance(facts, Missing):
        return {**named, "found": False, "reason": facts.reason}
    return {
        **named,
        "found": True,
        "path": facts.place,
        "division": facts.division,
        "division_in_logs": list(facts.logged),
        "runs": len(facts.logs),
        "converged": facts.converged,
        "rcp": {"verdict": facts.rcp_verdict, "factor": number(facts.rcp_factor)},
        "edit_factor": number(facts.edit),
        "scaling_json": number(facts.scaling),
        "published_source": result.published_source,
        "minutes": {basis: number(facts.score(basis)) for basis in BASES},
        "run_minutes": [number(value) for value in facts.minutes],
        "remarks": list(remarks(facts)),
    }


def _input(given: Input) -> dict[str, Any]:
    return {
        "name": given.name,
        "value": number(given.value),
        "plus_minus": number(given.plus_minus),
        "unit": given.unit,
        "kind": given.kind,
        "source": given.source,
        "date": given.date,
    }


def _claim(judged: Judged) -> dict[str, Any]:
    claim, headline = judged.claim, judged.headline
    stated = claim.stated
    return {
        "id": claim.id,
        "line": claim.line,
        "text": claim.text,
        "kind": claim.kind,
        "source": msgspec.to_builtins(claim.source),
        "where": claim.where,
        "verdict": judged.verdict.value,
        "only_for": judged.only_for,
        "reason": judged.reason,
        "stated": None
        if stated is None
        else {
            "value": _figure(stated.value),
            "written": stated.written,
            "unit": stated.unit,
            "wording": stated.wording,
            "reading": stated.reading,
        },
        "accepted": _interval(judged.accepted),
        "basis": headline.basis if headline else None,
        "computed": _figure(headline.value) if headline else None,
        "readings": [_variant(variant) for variant in judged.variants],
        "break_even": [
            {
                "input": one.input,
                "unit": one.unit,
                "at": number(one.at),
                "stated": number(one.stated),
                "bound": number(one.bound),
                "within_uncertainty": one.within,
            }
            for one in judged.break_evens
        ],
        "nearest": [
            {"expr": near.expr, "label": near.label, "value": _figure(near.value), "reason": near.why}
            for near in judged.nearest
        ],
        "changed": [msgspec.to_builtins(change) for change in judged.changes],
        "statements": _statements(judged.statements),
        "differences": [msgspec.to_builtins(one) for one in judged.differences],
        "says": claim.says,
        "notes": [*judged.notes, *((claim.note,) if claim.note else ())],
        "footnote": claim.footnote,
    }


def _variant(variant: Variant) -> dict[str, Any]:
    return {
        "label": variant.label,
        "expr": variant.expr,
        "decides": variant.decides,
        "holds": variant.holds,
        "fragile": variant.fragile and bool(variant.holds),
        "low": number(variant.low),
        "high": number(variant.high),
        "bases": [
            {
                "basis": outcome.basis,
                "value": _figure(outcome.value),
                "holds": outcome.holds,
                "decides": outcome.decides,
                "truncated": outcome.truncated,
            }
            for outcome in variant.outcomes
        ],
    }


def _statements(statements: Sequence[Said]) -> list[dict[str, Any]]:
    return [{"where": one.where, "written": one.written, "accepted": _interval(one.accepted)} for one in statements]
