"""The convergence point of a run whose quality has several measures, logged one by one."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from mlsub.log.run import Evaluation
from mlsub.rules.model import KeyRule, RuleSet
from mlsub.rules.values import Stated


def paired_rule(rules: RuleSet) -> KeyRule | None:
    """The rule that gathers measures which belong together, where the benchmark has one."""
    return next((rule for rule in rules.rules if rule.gathers is not None), None)


def paired_convergence_point(evaluations: Iterable[Evaluation], rule: KeyRule) -> float | None:
    """The first step (in the unit the rule gathers by: steps in v3.1, samples later) at which every measure is met.

    Stable Diffusion's FID and CLIP are computed apart and logged in any order, so they are put together by step; the
    earliest step that meets both counts, as in the official tool (rcp_checker, get_submission_epochs). None where no
    step does.
    """
    gathers = rule.gathers
    if gathers is None:
        raise ValueError(f"{rule.key} gathers nothing")
    steps: dict[Any, dict[str, Any]] = {}
    for evaluation in evaluations:
        step = getattr(evaluation, gathers.by, None)
        if isinstance(step, (int, float)) and isinstance(evaluation.metric, str):
            steps.setdefault(step, {})[evaluation.metric] = evaluation.value
    return min((step for step, measures in steps.items() if _meets(measures, rule)), default=None)


def _meets(measures: dict[str, Any], rule: KeyRule) -> bool:
    nothing = Stated()
    try:
        return all(
            constraint.test()(measures[str(reach.field)], nothing)
            for reach in rule.reaches
            for constraint in reach.constraints
        )
    except (KeyError, TypeError, ValueError):
        return False
