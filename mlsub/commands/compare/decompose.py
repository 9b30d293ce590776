"""Cut a run into phases, and share a difference in time out among its causes, so that the shares add up to it exactly.

A time is a sum of phases, and the phase of training a product: how far one trains, times the accelerator time that a
unit of it takes, divided by the number of accelerators; what comes out is multiplied by the scaling of the score. A
difference of sums is the sum of the differences. Of a product, each factor gets its change at the mean of all ways to
change the factors one after another (the value of Shapley): the order of the factors makes no difference, nothing is
left over, and the shares from B to A are those from A to B with the other sign.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from fractions import Fraction
from itertools import groupby, permutations
from math import prod
from operator import itemgetter

import msgspec

from mlsub.commands.compare.model import EntrySide, Part
from mlsub.log.lengths import Intervals, Span

_MINUTE = 60_000
#: Less training than this is none.
_LEAST = 1e-9
#: Counts further apart than this factor count different things, such as epochs and samples under one name.
_OTHER_UNIT = 1000


class Phases(msgspec.Struct, frozen=True, kw_only=True):
    """Where the time of one run goes, in ms; None for a phase whose intervals are not logged.

    ``init`` comes before the clock starts. The other phases add up to the time to train: ``start`` is from run_start to
    the first training or evaluation, ``before_evaluation`` are the pauses from training to an evaluation, ``pauses``
    all others between two intervals, ``end`` is what follows the last. ``training`` is inside of epochs and blocks,
    less the evaluations in them. Where neither is logged, ``undivided`` is everything but evaluations.
    """

    init: float | None = None
    start: float | None = None
    training: float | None = None
    before_evaluation: float | None = None
    evaluation: float | None = None
    pauses: float | None = None
    end: float | None = None
    undivided: float | None = None


#: What is made of the time of training, or of what it cannot be told from.
_OF_TRAINING = ("training", "inside", "run")
#: The phases that add up to the time to train, in the order of a run.
TIMED = ("start", "training", "before_evaluation", "evaluation", "pauses", "end", "undivided")


def phases_of(intervals: Intervals, run: Span, init: float | None = None) -> Phases:
    """Return the phases of the timed region of a run.

    Where both epochs and blocks are logged, training is what lies in both: some log one epoch around everything, others
    a block around all evaluations.

    Args:
        intervals: those of the log.
        run: run_start and run_stop in ms.
        init: how long the initialisation took, in ms.
    """
    first, last = run
    if intervals.cut or not first <= last:
        return Phases(init=init, undivided=last - first)
    evaluation = _within(intervals.eval, run)
    epochs, blocks = _within(intervals.epoch, run), _within(intervals.block, run)
    trained = _where(all, epochs, blocks) or epochs or blocks
    training = _where(lambda now: now[0] > now[1], trained, evaluation)
    spent = dict.fromkeys(TIMED[:-1], 0.0)
    marked = sorted([*((*span, "training") for span in training), *((*span, "evaluation") for span in evaluation)])
    if not training:
        covered = sum(stop - start for start, stop in evaluation)
        return Phases(init=init, undivided=last - first - covered, evaluation=covered if evaluation else None)
    at, before = first, "start"
    for start, stop, kind in marked:
        spent[_gap(before, kind)] += start - at
        spent[kind] += stop - start
        at, before = stop, kind
    spent["end"] += last - at
    unlogged = () if evaluation else ("evaluation", "before_evaluation")
    return Phases(init=init, **{name: value for name, value in spent.items() if name not in unlogged})


def _gap(before: str, after: str) -> str:
    if before == "start":
        return "start"
    return "before_evaluation" if (before, after) == ("training", "evaluation") else "pauses"


def _within(spans: Iterable[Span], run: Span) -> list[Span]:
    """Spans in the order of time that do not overlap, cut to the timed region, without those that run backwards."""
    merged: list[Span] = []
    for start, stop in sorted((max(start, run[0]), min(stop, run[1])) for start, stop in spans):
        if stop < start:
            continue
        if merged and start <= merged[-1][1]:
            merged[-1] = (merged[-1][0], max(merged[-1][1], stop))
        else:
            merged.append((start, stop))
    return merged


def _where(wanted: Callable[[list[int]], bool], *lists: Sequence[Span]) -> list[Span]:
    """The disjoint spans in which something is true of how many spans of each list are open."""
    edges = [
        (at, n, step) for n, spans in enumerate(lists) for span in spans for at, step in zip(span, (1, -1), strict=True)
    ]
    now, since, found = [0] * len(lists), None, list[Span]()
    for at, group in groupby(sorted(edges), key=itemgetter(0)):
        for _, n, step in group:
            now[n] += step
        if wanted(now) and since is None:
            since = at
        elif not wanted(now) and since is not None:
            found.append((since, at))
            since = None
    return found


class Training(msgspec.Struct, frozen=True, kw_only=True):
    """An entry with all that it is compared by.

    ``phases`` are those of the runs that count (ms); ``work`` is how far each of these trained, in the unit of the
    side's convergence, None where that is not known of all; ``samples`` how many make one unit, None where that is not
    known. ``undivided`` says why its time has no parts, where it has none.
    """

    side: EntrySide
    phases: tuple[Phases, ...]
    work: tuple[float, ...] | None = None
    samples: float | None = None
    undivided: str | None = None


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


def decompose(old: Training, new: Training) -> tuple[Part, ...]:
    """Return the parts of the difference in minutes between two sides that have runs; they add up to it."""
    ours, theirs = _grouped(old, new)
    scalings = Fraction(old.side.scaling), Fraction(new.side.scaling)
    factor = (scalings[0] + scalings[1]) / 2
    parts: list[Part] = []
    for name in ours:
        was, now = ours[name], theirs[name]
        works = _work(old, new) if name in _OF_TRAINING else None
        if works is None:
            parts.append(_part(name, was, now, "s", (now - was) * factor))
        else:
            parts += _training(name, (was / works[0], now / works[1]), works, old, new, factor)
    if scalings[0] != scalings[1]:
        mean = (sum(ours.values(), Fraction(0)) + sum(theirs.values(), Fraction(0))) / 2
        parts.append(_part("scaling", *scalings, "times", mean * (scalings[1] - scalings[0])))
    return tuple(parts)


def _part(name: str, old: Fraction, new: Fraction, unit: str, ms: Fraction, of: str | None = None) -> Part:
    # Of a time in ms seconds are shown.
    per = 1000 if unit == "s" or name == "pace" else 1
    return Part(name=name, old=float(old / per), new=float(new / per), unit=unit, minutes=float(ms / _MINUTE), of=of)


def _grouped(old: Training, new: Training) -> tuple[dict[str, Fraction], dict[str, Fraction]]:
    """Mean phases (ms) of both, as finely as both tell them apart."""
    every = (*old.phases, *new.phases)
    if any(phases.training is None for phases in every):
        groups: dict[str, tuple[str, ...]] = {"run": TIMED}
    elif len({phases.evaluation is None for phases in every}) == 2:
        # Who logs no evaluation has it somewhere in training or pauses.
        inside = ("training", "before_evaluation", "evaluation", "pauses")
        groups = {"start": ("start",), "inside": inside, "end": ("end",)}
    else:
        groups = {name: (name,) for name in TIMED if getattr(every[0], name) is not None}
    return _means(old, groups), _means(new, groups)


def _means(side: Training, groups: Mapping[str, tuple[str, ...]]) -> dict[str, Fraction]:
    count = len(side.phases)
    return {
        group: sum((Fraction(getattr(run, name) or 0) for run in side.phases for name in names), Fraction(0)) / count
        for group, names in groups.items()
    }


def _training(
    name: str,
    paces: tuple[Fraction, Fraction],
    works: tuple[Fraction, Fraction, str],
    old: Training,
    new: Training,
    factor: Fraction,
) -> Iterator[Part]:
    """The time of training as work times pace; of another number of accelerators, by accelerator time."""
    unit, each = works[2], f"s per {works[2][:-1]}"
    factors = [("work", works[0], works[1], unit), ("pace", *paces, each)]
    ours, theirs = old.side.accelerators, new.side.accelerators
    if ours and theirs and ours != theirs:
        one, other = Fraction(ours), Fraction(theirs)
        factors[1:] = [
            ("pace", paces[0] * one, paces[1] * other, f"accelerator-{each}"),
            ("accelerators", 1 / one, 1 / other, "accelerators"),
        ]
    split = shares([before for _, before, _, _ in factors], [after for _, _, after, _ in factors])
    for (part, before, after, unit_), share in zip(factors, split, strict=True):
        values = (1 / before, 1 / after) if part == "accelerators" else (before, after)
        yield _part(part, *values, unit_, share * factor, of=name if part == "pace" else None)


def _work(old: Training, new: Training) -> tuple[Fraction, Fraction, str] | None:
    """How far both trained, in a unit that is the same for both, and the unit; None where that is not known."""
    one, other = _mean_work(old), _mean_work(new)
    if not one or not other:
        return None
    unit, known = old.side.convergence.unit, old.samples and new.samples
    if unit != new.side.convergence.unit or (known and old.samples != new.samples):
        if not old.samples or not new.samples:
            return None
        one, other, unit = one * Fraction(old.samples), other * Fraction(new.samples), "samples"
    return None if max(one, other) > _OTHER_UNIT * min(one, other) else (one, other, unit)


def _mean_work(side: Training) -> Fraction | None:
    if not side.work or len(side.work) != len(side.phases) or min(side.work) < _LEAST:
        return None
    return sum(map(Fraction, side.work), Fraction(0)) / len(side.work)
