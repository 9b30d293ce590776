"""Facts of the written rules as tables, and evaluation frequency: was the model evaluated where they ask for it?"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Sequence
from functools import lru_cache
from operator import attrgetter
from typing import Any, NamedTuple, TypeVar

import msgspec

from mlsub.divisions import CLOSED
from mlsub.findings import Finding
from mlsub.io.data import shipped
from mlsub.log.reading import LARGEST_COUNT, usable_number
from mlsub.log.run import MAX_EVALUATIONS, Run
from mlsub.rules.catalogue import finding
from mlsub.rules.formula import UnknownValueError, parse

_ROUND = re.compile(r"v?(\d{1,4})\.(\d{1,4})")

_NUMBERS = frozenset((int, float))
#: No benchmark has a longer name, and none that a log makes up shall fill memory.
_LONGEST_NAME = 100


class Dated(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A fact that applies from a round on, like ``1.0``, until a later one replaces it."""

    since: str


Fact = TypeVar("Fact", bound=Dated)


def fact_of(run: Run | str, usage: str, round_: str, file: str, kind: type[Fact]) -> Fact | None:
    """Return what a table says of a benchmark in a round; None before the first fact, or for an odd round.

    Args:
        run: of the benchmark, or its name.
        usage: the first key of the table; the second one is the benchmark.
        round_: such as ``1.0``.
        file: the table, beside this module: facts by usage and benchmark, oldest first.
        kind: what its facts are.
    """
    name = run if isinstance(run, str) else run.identity.get("submission_benchmark")
    if not isinstance(name, str) or len(name) > _LONGEST_NAME:
        return None
    fact: Fact | None = _fact(file, kind, usage, round_, name)
    return fact


@lru_cache(maxsize=1024)
def _fact(file: str, kind: Any, usage: str, round_: str, name: str) -> Any:
    at = order(round_)
    facts = shipped(__file__, file, dict[str, dict[str, list[kind]]]).get(usage, {}).get(name, ())
    valid = [fact for fact in facts if at is not None and (order(fact.since) or at) <= at]
    return valid[-1] if valid else None


def order(round_: str) -> tuple[int, int] | None:
    """Return the numbers of a round, by which rounds are ordered; None for an odd name."""
    match = _ROUND.match(round_)
    return (int(match[1]), int(match[2])) if match else None


def is_closed(run: Run) -> bool:
    """Return whether a log says it is of the Closed division."""
    return bool(run.identity.get("submission_division") == CLOSED.name)


def all_numbers(values: Sequence[Any]) -> bool:
    """Return whether :func:`mlsub.log.reading.usable_number` takes all of them."""
    return _NUMBERS.issuperset(map(type, values)) and all(map(LARGEST_COUNT.__gt__, map(abs, values)))


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


def audit_dataset(run: Run, path: str, usage: str, round_: str) -> Iterator[Finding]:
    """Yield logged sizes that are not the data set's. Open may train on other data, but is evaluated on the same."""
    data = fact_of(run, usage, round_, "dataset.yaml", DataSet)
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
                expected=" or ".join(map(grouped, size.sizes)),
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
    if data.counts_batches is None or value <= 1:
        return False
    # No log states the size of the batches that an evaluation takes.
    batches = size / (batch if key == "train_samples" else math.ceil(size / value))
    return value in (math.floor(batches), math.ceil(batches))


#: Share of the interval by which an evaluation may miss its place, besides one batch.
SLACK = 0.05
#: How far a place of two decimal places may be from where it was before it was rounded or cut.
TWO_DECIMALS = 0.01


class Cadence(Dated, frozen=True, kw_only=True):
    """Where a benchmark's evaluations must be, from a round on; cadence.yaml says what each field means."""

    source: str
    every: float | str = 0
    first: list[float | str] | None = None
    count: str = "epoch_num"
    unit: str = "epochs"
    scale: int = 1
    samples: str | None = None
    rounded: float = 0.0
    at_least: bool = False
    some_skipped: bool = False
    silent: str | None = None


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
    rule = fact_of(run, usage, round_, "cadence.yaml", Cadence)
    if rule is None or rule.silent is not None:
        return
    places = _places(run, rule)
    every = amount(rule.every, run)
    starts = [start for of in (rule.first or [rule.every]) if (start := amount(of, run)) is not None]
    if every is None or not places or not starts:
        return
    slack = SLACK * every + _batch(run, rule)
    unit, scale, samples = rule.unit, float(rule.scale), amount(rule.samples or 0, run)
    # A first place nearer, by its ratio, to the samples of the first evaluation than to its epochs counts samples.
    if samples and places[0] > starts[0] * math.sqrt(samples):
        unit, scale = "samples", samples
    allowed = [start * scale for start in starts]
    if rule.some_skipped:
        miss = _off_grid(places, every * scale, slack * scale)
    else:
        miss = _leaves(places, every * scale, allowed, slack * scale, rule)
    # A run that does not converge gains nothing where it stops; results of evaluations beside the training may be lost.
    unsaid = {_STOPS: not run.converged, _MISSING: run.lengths.beside}
    if miss is not None and not unsaid.get(miss.message):
        yield finding(
            "run.eval-cadence",
            path,
            miss.message,
            line=next(one.line for one in run.evaluations if getattr(one, rule.count) == miss.place),
            expected=_asked(rule, allowed, every * scale, unit),
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


def _batch(run: Run, rule: Cadence) -> float:
    """How much one batch adds to the count."""
    fixed = {"epochs": 0.0, "steps": 1.0}
    return fixed[rule.unit] if rule.unit in fixed else float(batch_size(run) or 0)


def _leaves(places: list[float], every: float, starts: list[float], slack: float, rule: Cadence) -> _Miss | None:
    """Where a run leaves the schedule, whichever of the allowed starts is taken; None if one of them fits."""
    misses = []
    written = TWO_DECIMALS if all(place == round(place, 2) for place in places) else 0.0
    for start in starts:
        # Exactly counted starts come first: what is said of a run that fits none should be said of its own.
        for rounded in {0.0, rule.rounded}:
            off = written + rounded
            near = next((place for place in places if abs(place - start) <= slack + off), None)
            if near is None:
                continue
            at = max(near - off, start - slack), min(near + off, start + slack)
            miss = _walk(places, every, near, at, slack, written, rule.at_least)
            if miss is None:
                return None
            misses.append((rounded, miss))
    if misses:
        return min(misses, key=lambda pair: pair[0])[1]
    if rule.at_least and places[0] <= max(starts):
        return _walk(places, every, places[0], (places[0], places[0]), slack, written, least=True)
    late = next((place for place in places if place > max(starts)), places[-1])
    return _Miss(late, "No evaluation is where the rules require the first one")


def _walk(
    places: list[float], every: float, first: float, at: tuple[float, float], slack: float, written: float, least: bool
) -> _Miss | None:
    """Go over the places behind the first. More than required are not a fault, unless the run stops at one of them.

    Args:
        places: where the evaluations were, each known but for ``written``, which never adds up.
        every: the interval.
        first: the first of the places that is required.
        at: between which two places it was.
        slack: by how much an interval may miss.
        written: how far a place may be from where it was before it was rounded or cut.
        least: whether the interval is the longest that the rules allow.
    """
    (low, high), before, required = at, first, first
    for place in places:
        if place <= first:
            continue
        if place - written - (before if least else high) > every + slack:
            return _Miss(place, _MISSING)
        if place + written - low >= every - slack:
            low = max(place - written, low + every - slack)
            high = min(place + written, high + every + slack)
            required = place
        before = place
    return _Miss(places[-1], _STOPS) if not least and places[-1] > required else None


def _off_grid(places: list[float], every: float, slack: float) -> _Miss | None:
    """The first place that is not a multiple of the interval, where not every evaluation needs to be there."""
    for place in places:
        # Rounding up to whole batches adds up from one interval to the next.
        nearest = max(1, round(place / every))
        if abs(place - nearest * every) > slack + nearest * every * SLACK / 10:
            return _Miss(place, "An evaluation is not where the rules require it")
    return None


def _asked(rule: Cadence, starts: list[float], every: float, unit: str) -> str:
    of = "" if unit == rule.unit else f" {rule.unit}"
    formula = f" ({parse(rule.every[1:]).words().strip()}{of})" if isinstance(rule.every, str) else ""
    text = f"every {grouped(every)} {unit}{formula}"
    shown = [grouped(start) for start in starts]
    if rule.at_least:
        text += f" or more often, from {max(starts):g} at the latest"
    elif len(shown) > 1:
        text += f", first at {', '.join(shown[:-1])} or {shown[-1]}"
    elif starts[0] != every:
        text += f", first at {shown[0]}"
    return text


def _found(miss: _Miss, places: list[float]) -> str:
    at = places.index(miss.place)
    shown = ", ".join(grouped(place) for place in places[max(0, at - 3) : at + 2])
    stop = f" … {grouped(places[-1])}" if at + 3 < len(places) else f", {grouped(places[-1])}"
    return f"{'… ' if at > 3 else ''}{shown}{stop if at + 2 < len(places) else ''}"
