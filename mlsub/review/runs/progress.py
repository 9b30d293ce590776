"""How far a run trained, as far as its evaluations tell."""

from __future__ import annotations

from mlsub.log.run import Evaluation
from mlsub.log.trace import Trace
from mlsub.review.facts import number

#: In the order in which they are asked; the later ones count in a unit of the benchmark.
COUNTS = ("samples_count", "epoch_num", "step_num")


def before_stop(trace: Trace) -> list[Evaluation]:
    """The evaluations up to run_stop; some logs go on with some that do not count."""
    stop = trace.run.status_line
    return [e for e in trace.run.evaluations if stop is None or e.line < stop]


def places(trace: Trace) -> tuple[str, list[float]]:
    """The count that a run's evaluations carry, and the place of each; an empty name where they carry none."""
    before = before_stop(trace)
    for name in COUNTS:
        found = [place for e in before if (place := number(getattr(e, name))) is not None]
        if found and len(found) == len(before):
            return name, [float(place) for place in found]
    return "", []


def reached(trace: Trace) -> tuple[str, float] | None:
    """The furthest place of a run's evaluations above zero, and what it counts."""
    name, found = places(trace)
    furthest = max(found, default=0.0)
    return (name, furthest) if furthest > 0 else None
