"""Share a difference in time out among its causes, so that the shares add up to it exactly.

A time is a sum of phases, and the phase of training a product: how far one trains, times the accelerator time that a
unit of it takes, divided by the number of accelerators; what comes out is multiplied by the scaling of the score. A
difference of sums is the sum of the differences. Of a product, each factor gets its change at the mean of all ways to
change the factors one after another (the value of Shapley): the order of the factors makes no difference, nothing is
left over, and the shares from B to A are those from A to B with the other sign.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from itertools import permutations
from math import prod

import msgspec

from mlsub.score.difference.measure import TIMED, MeasuredEntry, Phases

_MINUTE = 60_000
#: Less training than this is none.
_LEAST = 1e-9
#: Counts further apart than this factor count different things, such as epochs and samples under one name.
_OTHER_UNIT = 1000
#: What is made of the time of training, or of what it cannot be told from.
_OF_TRAINING = ("training", "inside", "run")


class TimePart(msgspec.Struct, frozen=True, kw_only=True):
    """A part of the difference in time: ``minutes`` more (or less, where negative) because ``old`` became ``new``.

    ``name`` is ``work``, ``pace``, ``accelerators``, ``scaling`` or a phase; ``unit`` that of the two values. ``of``
    says what a pace is the pace of: ``training``, or where logs do not tell that apart ``inside``, training with
    evaluations and pauses, or ``run``.
    """

    name: str
    old: float
    new: float
    unit: str
    minutes: float
    of: str | None = None


def decompose(old: MeasuredEntry, new: MeasuredEntry) -> tuple[TimePart, ...]:
    """Return the parts of the difference in minutes between two entries that have runs; they add up to it."""
    groups = _phase_groups((*old.phases, *new.phases))
    ours, theirs = (_mean_times(entry.phases, groups) for entry in (old, new))
    scalings = Fraction(old.result.score.scaling), Fraction(new.result.score.scaling)
    factor = (scalings[0] + scalings[1]) / 2
    parts: list[TimePart] = []
    for name in groups:
        was, now = ours[name], theirs[name]
        works = _comparable_work(old, new) if name in _OF_TRAINING else None
        if works is None:
            parts.append(_make_part(name, was, now, "s", (now - was) * factor))
        else:
            accelerators = old.result.accelerators_count, new.result.accelerators_count
            for part, before, after, unit, share in _share_training((was, now), works, accelerators):
                of = name if part == "pace" else None
                parts.append(_make_part(part, before, after, unit, share * factor, of))
    if scalings[0] != scalings[1]:
        mean = (sum(ours.values(), Fraction(0)) + sum(theirs.values(), Fraction(0))) / 2
        parts.append(_make_part("scaling", *scalings, "times", mean * (scalings[1] - scalings[0])))
    return tuple(parts)


def _make_part(name: str, old: Fraction, new: Fraction, unit: str, ms: Fraction, of: str | None = None) -> TimePart:
    # Of a time in ms seconds are shown.
    per = 1000 if unit == "s" or name == "pace" else 1
    return TimePart(
        name=name, old=float(old / per), new=float(new / per), unit=unit, minutes=float(ms / _MINUTE), of=of
    )


def _phase_groups(phases: Sequence[Phases]) -> dict[str, tuple[str, ...]]:
    """The phases that are compared together, as finely as all runs tell them apart."""
    if any(run.training is None for run in phases):
        return {"run": TIMED}
    if len({run.evaluation is None for run in phases}) == 2:
        # Who logs no evaluation has it somewhere in training or pauses.
        inside = ("training", "before_evaluation", "evaluation", "pauses")
        return {"start": ("start",), "inside": inside, "end": ("end",)}
    return {name: (name,) for name in TIMED if getattr(phases[0], name) is not None}


def _mean_times(runs: Sequence[Phases], groups: Mapping[str, tuple[str, ...]]) -> dict[str, Fraction]:
    return {
        group: sum((Fraction(getattr(run, name) or 0) for run in runs for name in names), Fraction(0)) / len(runs)
        for group, names in groups.items()
    }


def _comparable_work(old: MeasuredEntry, new: MeasuredEntry) -> tuple[Fraction, Fraction, str] | None:
    """How far both trained, in a unit that is the same for both, and the unit; None where that is not known."""
    one, other = _mean_work(old), _mean_work(new)
    if not one or not other:
        return None
    unit, known = old.convergence.unit, old.samples and new.samples
    if unit != new.convergence.unit or (known and old.samples != new.samples):
        if not old.samples or not new.samples:
            return None
        one, other, unit = one * Fraction(old.samples), other * Fraction(new.samples), "samples"
    return None if max(one, other) > _OTHER_UNIT * min(one, other) else (one, other, unit)


def _mean_work(entry: MeasuredEntry) -> Fraction | None:
    if not entry.work or len(entry.work) != len(entry.phases) or min(entry.work) < _LEAST:
        return None
    return sum(map(Fraction, entry.work), Fraction(0)) / len(entry.work)


def _share_training(
    times: tuple[Fraction, Fraction], works: tuple[Fraction, Fraction, str], accelerators: tuple[int | None, int | None]
) -> Iterator[tuple[str, Fraction, Fraction, str, Fraction]]:
    """Yield the factors of the time of training: name, both values, unit, and share of the difference in ms.

    The factors are work and pace; with another number of accelerators the pace is in accelerator time.
    """
    unit, each = works[2], f"s per {works[2][:-1]}"
    paces = times[0] / works[0], times[1] / works[1]
    factors = [("work", works[0], works[1], unit), ("pace", *paces, each)]
    ours, theirs = accelerators
    if ours and theirs and ours != theirs:
        factors[1:] = [
            ("pace", paces[0] * ours, paces[1] * theirs, f"accelerator-{each}"),
            ("accelerators", Fraction(1, ours), Fraction(1, theirs), "accelerators"),
        ]
    split = shares([before for _, before, _, _ in factors], [after for _, _, after, _ in factors])
    for (name, before, after, unit_), share in zip(factors, split, strict=True):
        values = (1 / before, 1 / after) if name == "accelerators" else (before, after)
        yield name, *values, unit_, share


def shares(old: Sequence[Fraction], new: Sequence[Fraction]) -> list[Fraction]:
    """Return what each factor adds to the difference of two products; the sum is that difference."""
    found = [Fraction(0)] * len(old)
    orders = list(permutations(range(len(old))))
    for order in orders:
        now = list(old)
        before = prod(now)
        for factor in order:
            now[factor] = new[factor]
            after = prod(now)
            found[factor] += after - before
            before = after
    return [share / len(orders) for share in found]
