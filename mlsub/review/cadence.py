"""Facts of the written rules as tables, and evaluation frequency: was the model evaluated where they ask for it?"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from functools import lru_cache
from operator import attrgetter
from typing import Any, NamedTuple, TypeVar

import msgspec

from mlsub.divisions import CLOSED
from mlsub.findings import Finding, Severity
from mlsub.io.data import shipped
from mlsub.io.show import join_words
from mlsub.log.reading import LARGEST_COUNT, usable_number
from mlsub.log.run import MAX_EVALUATIONS, Run
from mlsub.rounds import round_age
from mlsub.rules.catalogue import finding
from mlsub.rules.formula import UnknownValueError, parse

_NUMBERS = frozenset((int, float))
#: No benchmark has a longer name, and none that a log makes up shall fill memory.
_LONGEST_NAME = 100


class DatedFact(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A fact that applies from a round on, like ``1.0``, until a later one replaces it."""

    since: str


_AnyFact = TypeVar("_AnyFact", bound=DatedFact)


def find_fact(run: Run | str, usage: str, round_: str, file: str, kind: type[_AnyFact]) -> _AnyFact | None:
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
    fact: _AnyFact | None = _find_cached_fact(file, kind, usage, round_, name)
    return fact


@lru_cache(maxsize=1024)
def _find_cached_fact(file: str, kind: Any, usage: str, round_: str, name: str) -> Any:
    facts = shipped(__file__, file, dict[str, dict[str, list[kind]]]).get(usage, {}).get(name, ())
    valid = [fact for fact in facts if round_age(fact.since) <= round_age(round_)]
    return valid[-1] if valid else None


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


def compute_amount(value: float | int | str, size: float | None) -> float | None:
    """Return a number of a table, or what its formula gives for a batch size; None where it needs one and has none."""
    return _compute_formula(value, size) if isinstance(value, str) else float(value)


@lru_cache(maxsize=256, typed=True)
def _compute_formula(formula: str, size: float | int | None) -> float | None:
    try:
        result = float(parse(formula[1:]).compute({"global_batch_size": size} if size is not None else {}))
    except (UnknownValueError, ArithmeticError, ValueError, TypeError):
        return None
    return result if math.isfinite(result) and result > 0 else None


def show_count(value: float) -> str:
    """Return a count with commas between thousands; whole numbers without a decimal point."""
    if not math.isfinite(value):
        return str(value)
    return f"{int(value):,}" if value == int(value) else f"{value:,.6g}" if value >= 1000 else f"{value:.6g}"


_KEYS = ("train_samples", "eval_samples")


class Size(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The sizes that are right, others that have a known reason, constants of known code, or why nothing is said."""

    sizes: list[int] = []
    explained: dict[int, str] = {}
    constants: dict[int, str] = {}
    not_checked: str | None = None


class DataSet(DatedFact, frozen=True):
    """A benchmark's data set from a round on; dataset.yaml says what each field means."""

    source: str
    train_samples: Size
    eval_samples: Size
    counts_batches: str | None = None


def audit_dataset(run: Run, path: str, usage: str, round_: str) -> Iterator[Finding]:
    """Yield logged sizes that are not the data set's. Open may train on other data, but is evaluated on the same."""
    data = find_fact(run, usage, round_, "dataset.yaml", DataSet)
    if data is None:
        return
    for key in _KEYS if is_closed(run) else _KEYS[1:]:
        size: Size = getattr(data, key)
        value = usable_number(run.hyperparameters.get(key))
        if value is None or size.not_checked is not None or not size.sizes:
            continue
        if value not in size.explained and not any(_is_size(key, value, n, run, data) for n in size.sizes):
            constant = size.constants.get(int(value))
            yield finding(
                f"run.{key.replace('_', '-')}",
                path,
                f"{key} is not the size of the benchmark's data set",
                line=run.lines.get(key),
                expected=" or ".join(map(show_count, size.sizes)),
                actual=show_count(value) + (f", {constant}" if constant else ""),
                source=data.source,
                severity=Severity.NOTE if constant else None,
            )


def _is_size(key: str, value: float, size: int, run: Run, data: DataSet) -> bool:
    """Return whether a value is a size, or this rounded to whole batches: in training either way, else only up."""
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


class Cadence(DatedFact, frozen=True, kw_only=True):
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
    not_checked: str | None = None


_MISSING = "Two evaluations are further apart than the rules ask for"
_STOPS = "The run stops at an evaluation that the rules do not ask for"
_LATE = "First evaluation after {place} {unit}; the rules ask for {first}"
_NOT_FIRST = "No evaluation where the rules ask for {first}; one is after {place} {unit}"


class _Deviation(NamedTuple):
    """The first place where a run leaves its schedule, and what to say of it."""

    place: float
    message: str


class _Spacing(NamedTuple):
    """How far apart the evaluations of a run are to be.

    ``slack`` is by how much an interval may miss; ``rounding`` how far a logged place may be from where it was before
    it was rounded or cut, which never adds up; ``longest`` says that the rules allow shorter intervals.
    """

    every: float
    slack: float
    rounding: float
    longest: bool


def audit_cadence(run: Run, path: str, usage: str, round_: str) -> Iterator[Finding]:
    """Yield a Closed run that was not evaluated where the rules ask for it, or that stopped at another place."""
    if not is_closed(run) or len(run.evaluations) >= MAX_EVALUATIONS:
        return
    rule = find_fact(run, usage, round_, "cadence.yaml", Cadence)
    if rule is None or rule.not_checked is not None:
        return
    places = _evaluation_places(run, rule)
    size = batch_size(run)
    every = compute_amount(rule.every, size)
    starts = [start for place in (rule.first or [rule.every]) if (start := compute_amount(place, size)) is not None]
    if every is None or not places or not starts:
        return
    slack = SLACK * every + _batch_in_unit(run, rule)
    unit, scale, samples = rule.unit, float(rule.scale), compute_amount(rule.samples or 0, size)
    # A first place nearer, by its ratio, to the samples of the first evaluation than to its epochs counts samples.
    if samples and places[0] > starts[0] * math.sqrt(samples):
        unit, scale = "samples", samples
    allowed = [start * scale for start in starts]
    if rule.some_skipped:
        deviation = _find_off_multiples(places, every * scale, slack * scale)
    else:
        rounding = TWO_DECIMALS if all(place == round(place, 2) for place in places) else 0.0
        spacing = _Spacing(every * scale, slack * scale, rounding, rule.at_least)
        deviation = _find_deviation(places, allowed, spacing, rule.rounded)
    # A run that does not converge gains nothing where it stops; results of evaluations beside the training may be lost.
    excused = {_STOPS: not run.converged, _MISSING: run.lengths.beside}
    if deviation is not None and not excused.get(deviation.message):
        first = "one every" if allowed == [every * scale] else "the first at"
        first += f" {join_words(map(show_count, allowed), 'or')}"
        yield finding(
            "run.eval-cadence",
            path,
            deviation.message.format(place=show_count(deviation.place), unit=unit, first=first),
            line=next(one.line for one in run.evaluations if getattr(one, rule.count) == deviation.place),
            expected=_describe_schedule(rule, allowed, every * scale, unit),
            actual=_describe_places(places, deviation.place),
            source=rule.source,
        )


def evaluations_asked(benchmark: str, usage: str, round_: str, size: float) -> tuple[str, float, float] | None:
    """Return where the rules ask for evaluations at a batch size: in which unit, the first one, and the interval."""
    rule = find_fact(benchmark, usage, round_, "cadence.yaml", Cadence)
    if rule is None or not rule.every:
        return None
    first, every = (compute_amount(value, size) for value in ((rule.first or [rule.every])[0], rule.every))
    return None if first is None or every is None else (rule.unit, first * rule.scale, every * rule.scale)


def _evaluation_places(run: Run, rule: Cadence) -> list[float]:
    """Return the places of a run's evaluations in order; none where the log cannot mean what the rules count."""
    logged = list(map(attrgetter(rule.count), run.evaluations))
    if not all_numbers(logged):
        return []
    places = sorted({*map(float, logged)})
    # A number below one batch counts epochs, whatever the rules count.
    counted = max(places, default=0) >= _batch_in_unit(run, rule)
    return places if counted and (len(places) > 1 or len(logged) == 1) else []


def _batch_in_unit(run: Run, rule: Cadence) -> float:
    """Return how much one batch adds to the count."""
    fixed = {"epochs": 0.0, "steps": 1.0}
    return fixed[rule.unit] if rule.unit in fixed else float(batch_size(run) or 0)


def _find_deviation(
    places: list[float], starts: list[float], spacing: _Spacing, rounded_start: float
) -> _Deviation | None:
    """Return where a run leaves the schedule, whichever of the allowed starts is taken; None if one of them fits."""
    found = []
    for start in starts:
        # Exactly counted starts come first: what is said of a run that fits none should be said of its own.
        for rounded in {0.0, rounded_start}:
            off = spacing.rounding + rounded
            near = next((place for place in places if abs(place - start) <= spacing.slack + off), None)
            if near is None:
                continue
            between = max(near - off, start - spacing.slack), min(near + off, start + spacing.slack)
            deviation = _follow_schedule(places, spacing, near, between)
            if deviation is None:
                return None
            found.append((rounded, deviation))
    if found:
        return min(found, key=lambda pair: pair[0])[1]
    if spacing.longest and places[0] <= max(starts):
        return _follow_schedule(places, spacing, places[0], (places[0], places[0]))
    late = next((place for place in places if place > max(starts)), places[-1])
    return _Deviation(late, _LATE if late == places[0] else _NOT_FIRST)


def _follow_schedule(
    places: list[float], spacing: _Spacing, first: float, between: tuple[float, float]
) -> _Deviation | None:
    """Go over the places behind the first. More than required are not a fault, unless the run stops at one of them.

    Args:
        places: where the evaluations were, as logged.
        spacing: how far apart they are to be.
        first: the first of the places that is required.
        between: the two places between which it was.
    """
    (low, high), before, required = between, first, first
    every, slack, rounding, longest = spacing
    for place in places:
        if place <= first:
            continue
        if place - rounding - (before if longest else high) > every + slack:
            return _Deviation(place, _MISSING)
        if place + rounding - low >= every - slack:
            low = max(place - rounding, low + every - slack)
            high = min(place + rounding, high + every + slack)
            required = place
        before = place
    return _Deviation(places[-1], _STOPS) if not longest and places[-1] > required else None


def _find_off_multiples(places: list[float], every: float, slack: float) -> _Deviation | None:
    """Return the first place that is not a multiple of the interval, where evaluations may be skipped."""
    for place in places:
        # Rounding up to whole batches adds up from one interval to the next.
        nearest = max(1, round(place / every))
        if abs(place - nearest * every) > slack + nearest * every * SLACK / 10:
            return _Deviation(place, "An evaluation is not where the rules ask for one")
    return None


def _describe_schedule(rule: Cadence, starts: list[float], every: float, unit: str) -> str:
    counted = "" if unit == rule.unit else f" {rule.unit}"
    formula = f" ({parse(rule.every[1:]).words().strip()}{counted})" if isinstance(rule.every, str) else ""
    text = f"every {show_count(every)} {unit}{formula}"
    if rule.at_least:
        text += f" or more often, from {max(starts):g} at the latest"
    elif len(starts) > 1 or starts[0] != every:
        text += f", first at {join_words(map(show_count, starts), 'or')}"
    return text


def _describe_places(places: list[float], place: float) -> str:
    """Return the places around one of them, and the last."""
    at = places.index(place)
    shown = ", ".join(show_count(one) for one in places[max(0, at - 3) : at + 2])
    stop = f" … {show_count(places[-1])}" if at + 3 < len(places) else f", {show_count(places[-1])}"
    return f"{'… ' if at > 3 else ''}{shown}{stop if at + 2 < len(places) else ''}"
