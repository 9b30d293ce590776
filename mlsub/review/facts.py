"""Facts of the written rules, as data: a table a subject, read when first asked for."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any, Protocol, TypeVar

from mlsub.divisions import CLOSED
from mlsub.log.run import Run
from mlsub.rules.formula import UnknownValueError, is_formula, parse

_ROUND = re.compile(r"v?(\d{1,4})\.(\d{1,4})")

#: What a logged count can be; larger ones are nonsense, and floats lose whole numbers there.
MAX_COUNT = 1e15


class Dated(Protocol):
    """A fact that applies from a round on, until a later one replaces it."""

    @property
    def since(self) -> str:
        """The first round, like ``1.0``."""


Fact = TypeVar("Fact", bound=Dated)


def fact_of(run: Run, usage: str, round_: str, table: Mapping[str, Mapping[str, Sequence[Fact]]]) -> Fact | None:
    """What a table says of a run's benchmark in a round; None before the first fact, or for an odd name of a round.

    Args:
        run: names its benchmark.
        usage: the first key of the table; the second one is the benchmark.
        round_: such as ``1.0``.
        table: facts by usage and benchmark, oldest first.
    """
    name = run.identity.get("submission_benchmark")
    facts = table.get(usage, {}).get(name if isinstance(name, str) else "", ())
    at = _order(round_)
    valid = [fact for fact in facts if at is not None and (_order(fact.since) or at) <= at]
    return valid[-1] if valid else None


@lru_cache(maxsize=256)
def _order(round_: str) -> tuple[int, int] | None:
    match = _ROUND.match(round_)
    return (int(match[1]), int(match[2])) if match else None


def is_closed(run: Run) -> bool:
    """Whether a log says it is of the Closed division."""
    return bool(run.identity.get("submission_division") == CLOSED.name)


def number(value: Any) -> float | int | None:
    """A logged count; None for anything else."""
    if (type(value) is float or type(value) is int) and abs(value) < MAX_COUNT:
        return value
    return None


def batch_size(run: Run) -> float | int | None:
    """The run's global batch size; None where it is not a number of at least one."""
    size = number(run.hyperparameters.get("global_batch_size"))
    return size if size is not None and size >= 1 else None


def amount(value: float | int | str, run: Run) -> float | None:
    """A number of the data, or what its formula gives for a run; None where the run lacks what the formula needs."""
    if not isinstance(value, str):
        return float(value)
    size = batch_size(run)
    try:
        result = float(parse(value[1:]).compute({"global_batch_size": size} if size is not None else {}))
    except (UnknownValueError, ArithmeticError, ValueError, TypeError):
        return None
    return result if math.isfinite(result) and result > 0 else None


def in_words(value: float | int | str) -> str:
    """A number of the data, or its formula, for a message."""
    return parse(value[1:]).words().strip() if is_formula(value) and isinstance(value, str) else grouped(float(value))


def grouped(value: float) -> str:
    """A count with its thousands apart; whole numbers without a decimal point."""
    if not math.isfinite(value):
        return str(value)
    return f"{int(value):,}" if value == int(value) else f"{value:,.6g}" if value >= 1000 else f"{value:.6g}"
