"""Where the time of a run goes: the phases that its intervals cut the timed region into."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from itertools import groupby
from operator import itemgetter

import msgspec

from mlsub.log.intervals import Intervals, Span


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


#: The phases that add up to the time to train, in the order of a run.
TIMED = ("start", "training", "before_evaluation", "evaluation", "pauses", "end", "undivided")


def phases_of(intervals: Intervals, run: Span, init: float | None = None) -> Phases:
    """Cut the timed region of a run into phases.

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
    spent = dict.fromkeys(TIMED[:-1], 0.0) if training else {}
    marked = sorted([*((*span, "training") for span in training), *((*span, "evaluation") for span in evaluation)])
    if not training:
        covered = sum(stop - start for start, stop in evaluation)
        known = {"evaluation": covered} if evaluation else {}
        return Phases(init=init, undivided=last - first - covered, **known)
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
