"""Facts of the written rules as tables, and the sizes of data sets: train_samples and eval_samples that do not fit."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import lru_cache
from typing import Any, Protocol, TypeVar

import msgspec

from mlsub.divisions import CLOSED
from mlsub.findings import Finding
from mlsub.io.data import shipped
from mlsub.log.reading import BEYOND, usable_number
from mlsub.log.run import Run
from mlsub.rules.catalogue import finding
from mlsub.rules.formula import UnknownValueError, is_formula, parse

_ROUND = re.compile(r"v?(\d{1,4})\.(\d{1,4})")

_NUMBERS = frozenset((int, float))
#: No benchmark has a longer name, and none that a log makes up shall fill memory.
_LONGEST_NAME = 100


class Dated(Protocol):
    """A fact that applies from a round on, until a later one replaces it."""

    @property
    def since(self) -> str:
        """The first round, like ``1.0``."""


Fact = TypeVar("Fact", bound=Dated)


Table = Callable[[], Mapping[str, Mapping[str, Sequence[Fact]]]]


def fact_of(run: Run, usage: str, round_: str, table: Table[Fact]) -> Fact | None:
    """Return what a table says of a run's benchmark in a round; None before the first fact, or for an odd round.

    Args:
        run: names its benchmark.
        usage: the first key of the table; the second one is the benchmark.
        round_: such as ``1.0``.
        table: a function of a module that gives the facts by usage and benchmark, oldest first.
    """
    name = run.identity.get("submission_benchmark")
    known: Callable[..., Fact | None] = _fact
    return known(table, usage, round_, name) if isinstance(name, str) and len(name) <= _LONGEST_NAME else None


@lru_cache(maxsize=1024)
def _fact(table: Table[Fact], usage: str, round_: str, name: str) -> Fact | None:
    at = _order(round_)
    facts = table().get(usage, {}).get(name, ())
    valid = [fact for fact in facts if at is not None and (_order(fact.since) or at) <= at]
    return valid[-1] if valid else None


def _order(round_: str) -> tuple[int, int] | None:
    match = _ROUND.match(round_)
    return (int(match[1]), int(match[2])) if match else None


def is_closed(run: Run) -> bool:
    """Return whether a log says it is of the Closed division."""
    return bool(run.identity.get("submission_division") == CLOSED.name)


def all_numbers(values: Sequence[Any]) -> bool:
    """Return whether :func:`mlsub.log.reading.usable_number` takes all of them."""
    return _NUMBERS.issuperset(map(type, values)) and all(map(BEYOND.__gt__, map(abs, values)))


def batch_size(run: Run) -> float | int | None:
    """Return the run's global batch size; None where it is not a number of at least one."""
    size = usable_number(run.hyperparameters.get("global_batch_size"))
    return size if size is not None and size >= 1 else None


def amount(value: float | int | str, run: Run) -> float | None:
    """Return a number of the data, or what its formula gives for a run; None where the run lacks a value of it."""
    if not isinstance(value, str):
        return float(value)
    return _computed(value, batch_size(run))


@lru_cache(maxsize=256, typed=True)
def _computed(formula: str, size: float | int | None) -> float | None:
    try:
        result = float(parse(formula[1:]).compute({"global_batch_size": size} if size is not None else {}))
    except (UnknownValueError, ArithmeticError, ValueError, TypeError):
        return None
    return result if math.isfinite(result) and result > 0 else None


def in_words(value: float | int | str) -> str:
    """Return a number of the data, or its formula, for a message."""
    return parse(value[1:]).words().strip() if is_formula(value) and isinstance(value, str) else grouped(float(value))


def grouped(value: float) -> str:
    """Return a count with its thousands apart; whole numbers without a decimal point."""
    if not math.isfinite(value):
        return str(value)
    return f"{int(value):,}" if value == int(value) else f"{value:,.6g}" if value >= 1000 else f"{value:.6g}"


_KEYS = ("train_samples", "eval_samples")


class Size(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The sizes that are right, others that have a known reason, or why nothing is said."""

    sizes: list[int] = []
    also: dict[int, str] = {}
    silent: str | None = None


class DataSet(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A benchmark's data set from a round on; dataset.yaml says what each field means."""

    since: str
    source: str
    train_samples: Size
    eval_samples: Size
    counts_batches: str | None = None


def _data_sets() -> dict[str, dict[str, list[DataSet]]]:
    return shipped(__file__, "dataset.yaml", dict[str, dict[str, list[DataSet]]])


def audit_dataset(run: Run, path: str, usage: str, round_: str) -> Iterator[Finding]:
    """Yield logged sizes that are not the data set's. Open may train on other data, but is evaluated on the same."""
    data = fact_of(run, usage, round_, _data_sets)
    if data is None:
        return
    for key in _KEYS if is_closed(run) else _KEYS[1:]:
        size: Size = getattr(data, key)
        value = usable_number(run.hyperparameters.get(key))
        if value is None or size.silent is not None or not size.sizes:
            continue
        if value not in size.also and not any(_fits(key, value, n, run, data) for n in size.sizes):
            yield finding(
                f"run.{key.replace('_', '-')}",
                path,
                f"{key} is not the size of the benchmark's data set",
                line=run.lines.get(key),
                expected=_sizes(size),
                actual=grouped(value),
                source=data.source,
            )


def _fits(key: str, value: float, size: int, run: Run, data: DataSet) -> bool:
    """Equal, or rounded to whole batches: either way in training, and only up in evaluation."""
    batch: Any = batch_size(run)
    if value == size or batch is None:
        return value == size
    least = size - batch if key == "train_samples" else size
    if least < value < size + batch:
        return True
    batches = size / batch
    return data.counts_batches is not None and value in (math.floor(batches), math.ceil(batches))


def _sizes(size: Size) -> str:
    return " or ".join(grouped(n) for n in size.sizes)
