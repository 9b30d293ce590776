"""Facts of the written rules as tables, and evaluation frequency: was the model evaluated where they ask for it?"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import lru_cache
from operator import attrgetter
from typing import Any, NamedTuple, TypeVar

import msgspec

from mlsub.divisions import CLOSED
from mlsub.findings import Finding
from mlsub.io.data import shipped
from mlsub.log.reading import BEYOND, usable_number
from mlsub.log.run import MAX_EVALUATIONS, Run
from mlsub.rules.catalogue import finding
from mlsub.rules.formula import UnknownValueError, is_formula, parse

_ROUND = re.compile(r"v?(\d{1,4})\.(\d{1,4})")

_NUMBERS = frozenset((int, float))
#: No benchmark has a longer name, and none that a log makes up shall fill memory.
_LONGEST_NAME = 100


class Dated(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A fact that applies from a round on, like ``1.0``, until a later one replaces it."""

    since: str


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


class DataSet(Dated, frozen=True):
    """A benchmark's data set from a round on; dataset.yaml says what each field means."""

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


#: Share of the interval by which an evaluation may miss its place, besides one batch.
SLACK = 0.05


class Cadence(Dated, frozen=True, kw_only=True):
    """Where a benchmark's evaluations must be, from a round on; cadence.yaml says what each field means."""

    source: str
    every: float | str = 0
    first: list[float | str] | None = None
    count: str = "epoch_num"
    unit: str = "epochs"
    scale: int = 1
    rounded: float = 0.0
    at_least: bool = False
    some_skipped: bool = False
    silent: str | None = None


def _cadences() -> dict[str, dict[str, list[Cadence]]]:
    return shipped(__file__, "cadence.yaml", dict[str, dict[str, list[Cadence]]])


_MISSING = "An evaluation that the rules require is missing"
_STOPS = "The run stops at an evaluation that the rules do not require"


class _Miss(NamedTuple):
    """The first place where a run leaves its schedule, and what to say of it."""

    place: float
    message: str


def audit_cadence(run: Run, path: str, usage: str, round_: str) -> Iterator[Finding]:
    """Yield a Closed run that was not evaluated where the rules ask for it, or that stopped at another place."""
    if not is_closed(run) or len(run.evaluations) >= MAX_EVALUATIONS:
        return
    rule = fact_of(run, usage, round_, _cadences)
    if rule is None or rule.silent is not None:
        return
    places = _places(run, rule)
    every = amount(rule.every, run)
    starts = [amount(start, run) for start in (rule.first or [rule.every])]
    if every is None or not places or any(start is None for start in starts):
        return
    slack = SLACK * every + _batch(run, rule)
    allowed = [start * rule.scale for start in starts if start is not None]
    if rule.some_skipped:
        miss = _off_grid(places, every * rule.scale, slack * rule.scale)
    else:
        miss = _leaves(places, every * rule.scale, allowed, slack * rule.scale, rule)
    # A run that does not converge gains nothing where it stops; results of evaluations beside the training may be lost.
    unsaid = {_STOPS: not run.converged, _MISSING: run.lengths.beside}
    if miss is not None and not unsaid.get(miss.message):
        yield finding(
            "run.eval-cadence",
            path,
            miss.message,
            line=_line(run, rule, miss.place),
            expected=_asked(rule, allowed, every),
            actual=_found(miss, places),
            source=rule.source,
        )


def _places(run: Run, rule: Cadence) -> list[float]:
    """The places of a run's evaluations in order; none where the log cannot mean what the rules count."""
    logged = list(map(attrgetter(rule.count), run.evaluations))
    if not all_numbers(logged):
        return []
    places = sorted({*map(float, logged)})
    # A number below one batch counts epochs, whatever the rules count.
    counted = max(places, default=0) >= _batch(run, rule)
    return places if counted and (len(places) > 1 or len(logged) == 1) else []


def _line(run: Run, rule: Cadence, place: float) -> int:
    """Where the first evaluation at a place is logged."""
    logged = attrgetter(rule.count)
    return next(evaluation.line for evaluation in run.evaluations if logged(evaluation) == place)


def _batch(run: Run, rule: Cadence) -> float:
    """How much one batch adds to the count."""
    fixed = {"epochs": 0.0, "steps": 1.0}
    return fixed[rule.unit] if rule.unit in fixed else float(batch_size(run) or 0)


def _leaves(places: list[float], every: float, starts: list[float], slack: float, rule: Cadence) -> _Miss | None:
    """Where a run leaves the schedule, whichever of the allowed starts is taken; None if one of them fits."""
    misses = []
    for start in starts:
        # Exactly counted starts come first: what is said of a run that fits none should be said of its own.
        for rounded in {0.0, rule.rounded}:
            near = next((place for place in places if abs(place - start) <= slack + rounded), None)
            if near is None:
                continue
            miss = _walk(places, every, near, start if rounded else near, slack, rule.at_least)
            if miss is None:
                return None
            misses.append((rounded, miss))
    if misses:
        return min(misses, key=lambda pair: pair[0])[1]
    if rule.at_least and places[0] <= max(starts):
        return _walk(places, every, places[0], places[0], slack, at_least=True)
    late = next((place for place in places if place > max(starts)), places[-1])
    return _Miss(late, "No evaluation is where the rules require the first one")


def _walk(places: list[float], every: float, first: float, on: float, slack: float, at_least: bool) -> _Miss | None:
    """Go over the places behind the first. More than required are not a fault, unless the run stops at one of them."""
    before = first
    for place in places:
        if place <= first:
            continue
        if place - (before if at_least else on) > every + slack:
            return _Miss(place, _MISSING)
        if place - on >= every - slack:
            on = place
        before = place
    if not at_least and places[-1] > max(on, first):
        return _Miss(places[-1], _STOPS)
    return None


def _off_grid(places: list[float], every: float, slack: float) -> _Miss | None:
    """The first place that is not a multiple of the interval, where not every evaluation needs to be there."""
    for place in places:
        # Rounding up to whole batches adds up from one interval to the next.
        nearest = max(1, round(place / every))
        if abs(place - nearest * every) > slack + nearest * every * SLACK / 10:
            return _Miss(place, "An evaluation is not where the rules require it")
    return None


def _asked(rule: Cadence, starts: list[float], every: float) -> str:
    unit = rule.unit
    formula = f" ({in_words(rule.every)})" if isinstance(rule.every, str) else ""
    text = f"every {grouped(every * rule.scale)} {unit}{formula}"
    shown = [grouped(start) for start in starts]
    if rule.at_least:
        text += f" or more often, from {max(starts):g} at the latest"
    elif len(shown) > 1:
        text += f", first at {', '.join(shown[:-1])} or {shown[-1]}"
    elif starts[0] != every * rule.scale:
        text += f", first at {shown[0]}"
    return text


def _found(miss: _Miss, places: list[float]) -> str:
    at = places.index(miss.place)
    shown = ", ".join(grouped(place) for place in places[max(0, at - 3) : at + 2])
    stop = f" … {grouped(places[-1])}" if at + 3 < len(places) else f", {grouped(places[-1])}"
    return f"{'… ' if at > 3 else ''}{shown}{stop if at + 2 < len(places) else ''}"
