"""Share a difference in time out among its causes, so that the shares add up to it exactly.

A time is a sum of phases, and the phase of training a product: how far one trains, times the accelerator time that a
unit of it takes, divided by the number of accelerators; what comes out is multiplied by the scaling of the score. A
difference of sums is the sum of the differences. Of a product, each factor gets its change at the mean of all ways to
change the factors one after another (the value of Shapley): the order of the factors makes no difference, nothing is
left over, and the shares from B to A are those from A to B with the other sign.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from itertools import permutations

import msgspec

from mlsub.commands.compare.trainings.model import Part
from mlsub.commands.compare.trainings.phases import TIMED, Phases

_MINUTE = 60_000
#: Less training than this is none.
_LEAST = 1e-9
#: Counts further apart than this factor count different things, such as epochs and samples under one name.
_OTHER_UNIT = 1000


class Measured(msgspec.Struct, frozen=True, kw_only=True):
    """What one side brings: the phases of the runs that count (ms), and what its score is multiplied by.

    ``work`` is how far each of these runs trained, in ``unit``; None where that is not known of all. ``samples`` is
    how many of them make one unit, None where that is not known. ``accelerators`` is their number, None if unknown.
    """

    phases: tuple[Phases, ...]
    scaling: float = 1.0
    work: tuple[float, ...] | None = None
    unit: str = "epochs"
    samples: float | None = None
    accelerators: int | None = None


def shares(old: Sequence[Fraction], new: Sequence[Fraction]) -> list[Fraction]:
    """What each factor adds to the difference of two products; the sum is that difference."""
    found = [Fraction(0)] * len(old)
    orders = list(permutations(range(len(old))))
    for order in orders:
        now = list(old)
        before = _product(now)
        for factor in order:
            now[factor] = new[factor]
            after = _product(now)
            found[factor] += after - before
            before = after
    return [share / len(orders) for share in found]


def _product(factors: Sequence[Fraction]) -> Fraction:
    product = Fraction(1)
    for factor in factors:
        product *= factor
    return product


def decompose(old: Measured, new: Measured) -> tuple[Part, ...]:
    """The parts of the difference in minutes between two sides that have runs; they add up to it."""
    ours, theirs = _grouped(old, new)
    scalings = Fraction(old.scaling), Fraction(new.scaling)
    factor = (scalings[0] + scalings[1]) / 2
    parts: list[Part] = []
    for name in ours:
        was, now = ours[name], theirs[name]
        if name in ("training", "inside", "run") and (split := _training(was, now, old, new, factor)):
            parts += [msgspec.structs.replace(part, of=name if part.name == "pace" else None) for part in split]
        else:
            parts.append(_part(name, was, now, "s", (now - was) * factor, 1000))
    if scalings[0] != scalings[1]:
        mean = (sum(ours.values(), Fraction(0)) + sum(theirs.values(), Fraction(0))) / 2
        parts.append(_part("scaling", *scalings, "times", mean * (scalings[1] - scalings[0]), 1))
    return tuple(parts)


def _part(name: str, old: Fraction, new: Fraction, unit: str, ms: Fraction, per: int) -> Part:
    return Part(name=name, old=float(old / per), new=float(new / per), unit=unit, minutes=float(ms / _MINUTE))


def _grouped(old: Measured, new: Measured) -> tuple[dict[str, Fraction], dict[str, Fraction]]:
    """Mean phases (ms) of both, as finely as both tell them apart."""
    every = (*old.phases, *new.phases)
    if any(phases.training is None for phases in every):
        groups: dict[str, tuple[str, ...]] = {"run": TIMED}
    elif len({phases.evaluation is None for phases in every}) == 2:
        # Who logs no evaluation has it somewhere in training or pauses.
        inside = ("training", "before_evaluation", "evaluation", "pauses")
        groups = {"start": ("start",), "inside": inside, "end": ("end",)}
    else:
        known = [name for name in TIMED if getattr(every[0], name) is not None]
        groups = {name: (name,) for name in known}
    return _means(old, groups), _means(new, groups)


def _means(side: Measured, groups: Mapping[str, tuple[str, ...]]) -> dict[str, Fraction]:
    count = len(side.phases)
    return {
        group: sum((Fraction(getattr(run, name) or 0) for run in side.phases for name in names), Fraction(0)) / count
        for group, names in groups.items()
    }


def _training(was: Fraction, now: Fraction, old: Measured, new: Measured, factor: Fraction) -> list[Part]:
    """The time of training as work times pace; nothing where one of them is not known."""
    works = _work(old, new)
    if works is None:
        return []
    (one, other), unit = works
    names, before, after, units = ["work", "pace"], [one, was / one], [other, now / other], [unit, f"s per {unit[:-1]}"]
    if old.accelerators and new.accelerators and old.accelerators != new.accelerators:
        counts = Fraction(old.accelerators), Fraction(new.accelerators)
        before[1] *= counts[0]
        after[1] *= counts[1]
        units[1] = f"accelerator-s per {unit[:-1]}"
        names, units = [*names, "accelerators"], [*units, "accelerators"]
        before, after = [*before, 1 / counts[0]], [*after, 1 / counts[1]]
    parts = []
    for name, a, b, share, shown in zip(names, before, after, shares(before, after), units, strict=True):
        values = (1 / a, 1 / b) if name == "accelerators" else (a, b)
        parts.append(_part(name, *values, shown, share * factor, 1000 if name == "pace" else 1))
    return parts


def _work(old: Measured, new: Measured) -> tuple[tuple[Fraction, Fraction], str] | None:
    """How far both trained, in a unit that is the same for both."""
    one, other = _mean_work(old), _mean_work(new)
    if not one or not other:
        return None
    known, unit = old.samples and new.samples, old.unit
    if old.unit != new.unit or (known and old.samples != new.samples):
        if not old.samples or not new.samples:
            return None
        one, other, unit = one * Fraction(old.samples), other * Fraction(new.samples), "samples"
    return None if max(one, other) > _OTHER_UNIT * min(one, other) else ((one, other), unit)


def _mean_work(side: Measured) -> Fraction | None:
    if not side.work or len(side.work) != len(side.phases) or min(side.work) < _LEAST:
        return None
    return sum(map(Fraction, side.work), Fraction(0)) / len(side.work)
