"""What a run is compared with while it trains: the reference convergence at its batch size."""

from __future__ import annotations

from typing import Any

from mlsub.convergence.algorithm import algorithm_of, unit_of
from mlsub.convergence.point import paired_rule
from mlsub.convergence.runs import BEYOND, progress_of
from mlsub.convergence.table import Plan, plan_of
from mlsub.divisions import CLOSED, division_of
from mlsub.io.errors import MlsubError
from mlsub.log.run import Run
from mlsub.rounds import Round
from mlsub.rules.load import rules_for


def reference_of(round_: Round, division: str | None, benchmark: str | None, batch_size: Any) -> Plan | None:
    """What a run is compared with; None where no reference applies, or its batch size is not a number."""
    of = division_of(division)
    if of is None or not of.convergence or benchmark not in round_.benchmarks:
        return None
    if number(batch_size) is None or batch_size <= 0:
        return None
    try:
        return plan_of(round_, str(benchmark), float(batch_size))
    except MlsubError:
        return None


def position_of(benchmark: str | None, metadata: Any) -> float | None:
    """How far the training had come at an evaluation, in the unit of the reference."""
    return number(metadata.get(unit_of(str(benchmark)))) if isinstance(metadata, dict) else None


def too_fast(run: Run, round_: Round, plan: Plan) -> float | None:
    """Where a run that has ended converged, if that is faster than an entry may on average; in the plan's unit."""
    algorithm = algorithm_of(round_.usage, round_.name, round_.overlay)
    if algorithm is None or plan.minimum is None:
        return None
    name = plan.benchmark
    paired = paired_rule(rules_for(round_.usage, round_.name, CLOSED.name, name, round_.overlay))
    [point] = progress_of([run], name, algorithm, paired).by_run
    return point if point is not None and point < plan.minimum else None


def number(value: Any) -> float | None:
    """A number that can be computed with, and is not a truth value."""
    if not isinstance(value, (int, float)) or isinstance(value, bool) or not abs(value) < BEYOND:
        return None
    return value
