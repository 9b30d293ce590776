"""Audit of evaluation frequency: was the model evaluated where the written rules of the round ask for it?"""

from __future__ import annotations

from collections.abc import Iterator
from operator import attrgetter
from typing import NamedTuple

import msgspec

from mlsub.findings import Finding
from mlsub.io.data import shipped
from mlsub.log.run import MAX_EVALUATIONS, Run
from mlsub.review.facts import all_numbers, amount, batch_size, fact_of, grouped, in_words, is_closed
from mlsub.rules.catalogue import finding

#: Share of the interval by which an evaluation may miss its place, besides one batch.
SLACK = 0.05


class Cadence(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """Where a benchmark's evaluations must be, from a round on; cadence.yaml says what each field means."""

    since: str
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
    if miss is not None:
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
    return _Miss(late, "The first evaluation is not where the rules require it")


def _walk(places: list[float], every: float, first: float, on: float, slack: float, at_least: bool) -> _Miss | None:
    """Go over the places behind the first. More than required are not a fault, unless the run stops at one of them."""
    before = first
    for place in places:
        if place <= first:
            continue
        if place - (before if at_least else on) > every + slack:
            return _Miss(place, "An evaluation that the rules require is missing")
        if place - on >= every - slack:
            on = place
        before = place
    if not at_least and places[-1] > max(on, first):
        return _Miss(places[-1], "The run stops at an evaluation that the rules do not require")
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
    return f"{'… ' if at > 3 else ''}{shown}{' …' if at + 2 < len(places) else ''}"
