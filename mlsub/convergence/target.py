"""The quality target of a run: what the rules of its round, division and benchmark ask its evaluations to reach."""

from __future__ import annotations

import math
import sys
from typing import Any

import msgspec

from mlsub.divisions import division_of
from mlsub.log.event import Event
from mlsub.rounds import Round
from mlsub.rules.aspects.values import target_test
from mlsub.rules.constraints import Constraint, StatedValues, Test
from mlsub.rules.engine import CompiledRules, compiled_rules
from mlsub.rules.formula import is_formula, parse
from mlsub.rules.model import Reach

#: Steps whose measures are kept until they are complete; published logs have one or two open at a time.
_MAX_STEPS = 64


class TargetBand(msgspec.Struct, frozen=True):
    """The values of one measure that are good enough: from ``low`` to ``high``, None for no bound.

    ``name`` is that of the measure where a benchmark has several.
    """

    name: str | None
    low: float | None
    high: float | None


class QualityTarget(msgspec.Struct, frozen=True):
    """A quality target.

    ``key`` is the key of the evaluations; where ``field`` is given, each of them has one measure, named by this entry
    of its metadata, and those with the same ``by`` count together. ``words`` say the target.
    """

    key: str
    words: str
    bands: tuple[TargetBand, ...]
    test: Test
    field: str | None = None
    by: str | None = None


def target_of(round_: Round, division: str | None, benchmark: str | None, stated: StatedValues) -> QualityTarget | None:
    """The target of a log.

    Args:
        round_: whose rules hold.
        division: what the log says it is of; None for nothing known.
        benchmark: likewise.
        stated: values of the log that the target may be computed from.
    """
    for compiled in plan_of_log(round_, division, benchmark).keys:
        rule = compiled.rule
        if not rule.reaches:
            continue
        return QualityTarget(
            key=rule.gathers.key if rule.gathers else rule.key,
            words=", ".join(reach.words() for reach in rule.reaches),
            bands=tuple(_target_band(reach, stated) for reach in rule.reaches),
            test=target_test(rule.reaches),
            field=rule.gathers.field if rule.gathers else None,
            by=rule.gathers.by if rule.gathers else None,
        )
    return None


def plan_of_log(round_: Round, division: str | None, benchmark: str | None) -> CompiledRules:
    """The rules of a log that says it is of this division and benchmark; unknown names pick none of their own."""
    known, name = division_of(division), benchmark if benchmark in round_.benchmarks else None
    return compiled_rules(round_.usage, round_.name, known.name if known is not None else None, name, round_.overlay)


def _target_band(reach: Reach, stated: StatedValues) -> TargetBand:
    low = [_number(c, stated) for c in reach.constraints if c.operator in ("at_least", "above")]
    high = [_number(c, stated) for c in reach.constraints if c.operator in ("at_most", "below")]
    return TargetBand(reach.field, next(iter(low), None), next(iter(high), None))


def _number(constraint: Constraint, stated: StatedValues) -> float | None:
    operand = constraint.operand
    try:
        number = float(parse(operand[1:]).compute(stated) if is_formula(operand) else operand)
    except Exception:
        return None  # What it is computed from is not logged, or is not a number: then there is no curve to follow.
    return number if math.isfinite(number) else None


class MeasuredEvaluation(msgspec.Struct, frozen=True):
    """What one evaluation shows: the value of each measure by its name, and whether the target is reached with it."""

    values: dict[str | None, float]
    reached: bool


class MeasureReader:
    """Reads the evaluations of one log; those that hold one measure each are put together."""

    def __init__(self, target: QualityTarget, stated: StatedValues) -> None:
        self._target = target
        self._stated = stated
        self._steps: dict[float, dict[Any, float]] = {}

    def read(self, event: Event) -> MeasuredEvaluation:
        """The measures of an evaluation, and whether they reach the target."""
        if self._target.field is None:
            return MeasuredEvaluation(self._values(event.value), self._reached(event.value))
        metadata = event.metadata if isinstance(event.metadata, dict) else {}
        name, step = metadata.get(self._target.field), metadata.get(str(self._target.by))
        known = any(band.name == name for band in self._target.bands)
        if not known or not isinstance(step, (int, float)) or not isinstance(event.value, (int, float)):
            return MeasuredEvaluation({}, reached=False)
        gathered = self._steps.setdefault(step, {})
        gathered[name] = event.value
        while len(self._steps) > _MAX_STEPS:
            del self._steps[next(iter(self._steps))]
        complete = all(band.name in gathered for band in self._target.bands)
        return MeasuredEvaluation(self._values({name: event.value}), complete and self._reached(gathered))

    def _values(self, value: Any) -> dict[str | None, float]:
        found: dict[str | None, float] = {}
        for band in self._target.bands:
            part = value
            if band.name is not None:
                part = value.get(band.name) if isinstance(value, dict) else None
            if isinstance(part, (int, float)) and not isinstance(part, bool) and abs(part) <= sys.float_info.max:
                found[band.name] = float(part)
        return found

    def _reached(self, value: Any) -> bool:
        try:
            return self._target.test(value, self._stated)
        except Exception:
            return False  # What Python cannot compare does not reach it; the judge reports why.
