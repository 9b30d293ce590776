"""How far the runs of an entry trained to converge, beside the runs of the reference: a spread too small for chance."""

from __future__ import annotations

import bisect
import math
import statistics
from collections.abc import Iterator, Sequence
from itertools import pairwise

from mlsub.convergence.algorithm import algorithm_of, is_tested
from mlsub.convergence.reference import reference_file, runs_in_force
from mlsub.convergence.runs import paired_rule, progress_of
from mlsub.divisions import CLOSED
from mlsub.io.errors import MlsubError
from mlsub.review.facts import grouped
from mlsub.review.runs.model import (
    Entry,
    Observation,
    observe,
    places,
    thresholds,
)
from mlsub.rules.load import rules_for

#: Medians further apart than this factor count different things.
_SAME_UNIT = 4


def chance_of_range(values: Sequence[float], runs: int, width: float) -> float:
    """Return the chance that ``runs`` draws from ``values``, with putting back, lie within ``width`` of each other.

    Exact for the empirical distribution: the smallest draw is some value x, and all lie in [x, x + width]; from that
    those go off of which none is x.
    """
    ordered = sorted(values)
    count = len(ordered)
    total = 0.0
    for value in dict.fromkeys(ordered):
        low, above = bisect.bisect_left(ordered, value), bisect.bisect_right(ordered, value)
        high = bisect.bisect_right(ordered, value + width + 1e-9 * abs(value))
        total += ((high - low) / count) ** runs - ((high - above) / count) ** runs
    return min(1.0, total)


def find_small_spread(entry: Entry) -> Iterator[Observation]:
    """Yield a Closed entry whose runs converge within too small a range for chance, by the reference's runs."""
    limits = thresholds()
    name = entry.known_benchmark
    size = _batch_size(entry)
    reference = _reference(entry, name, size) if name is not None and size is not None else None
    if name is None or reference is None:
        return
    batch, values = reference
    points = _points(entry, name, statistics.median(values))
    if len(points) < limits.spread_runs:
        return
    on_grid = _on_grid(values, entry, points[0])
    if len(set(on_grid)) < limits.spread_values:
        return
    width = max(points) - min(points)
    chance = chance_of_range(on_grid, len(points), width)
    if chance < limits.spread_chance:
        yield observe(
            "inspect.small-spread",
            entry,
            f"{len(points)} runs {_span(points)}; {len(values)} reference runs at batch size {grouped(batch)} "
            f"{_span(on_grid)}, and {len(points)} of them are as close together with a chance of {chance:.1e}",
            expected=f"a chance of {limits.spread_chance:g} or more",
            chance=chance,
            width=width,
            runs=len(points),
        )


def _span(values: Sequence[float]) -> str:
    return f"from {grouped(min(values))} to {grouped(max(values))}"


def _points(entry: Entry, name: str, usual: float) -> list[float]:
    """Where the runs of a Closed entry converged; none where they count in another unit than the reference."""
    algorithm = algorithm_of(entry.round.usage, entry.round.name)
    if entry.division != CLOSED.name or algorithm is None or not is_tested(name):
        return []
    paired = paired_rule(rules_for(entry.round.usage, entry.round.name, CLOSED.name, name))
    runs = [trace.run for trace in entry.traces]
    # BERT counts samples, under either of two names.
    for samples in (False, True) if name == "bert" else (False,):
        by_run = progress_of(runs, name, algorithm, paired, samples=samples).by_run
        points = [point for point in by_run if point is not None]
        if points and usual / _SAME_UNIT < statistics.median(points) < usual * _SAME_UNIT:
            return points
    return []


def _batch_size(entry: Entry) -> float | None:
    sizes = {
        str(size): size for t in entry.traces if (size := t.run.hyperparameters.get("global_batch_size")) is not None
    }
    size = next(iter(sizes.values()), None)
    alone = len(sizes) == 1 and isinstance(size, (int, float)) and not isinstance(size, bool)
    return float(size) if alone and size and 0 < size < 1e15 else None


def _reference(entry: Entry, name: str, size: float) -> tuple[float, tuple[float, ...]] | None:
    """The reference runs at the batch size nearest to the entry's, if one is near enough."""
    try:
        file = reference_file(entry.round.usage, entry.round.ruleset, name)
        found = runs_in_force(file, name, entry.round) if file is not None else ()
    except MlsubError:
        return None
    near = [(abs(math.log(batch / size)), batch, values) for _, batch, values in found if batch > 0]
    distance, batch, values = min(near, default=(math.inf, 0.0, ()))
    return (batch, values) if distance <= math.log(thresholds().spread_batch) else None


def _on_grid(values: Sequence[float], entry: Entry, at: float) -> list[float]:
    """The reference's points where the entry's evaluations could have seen them: at the next evaluation."""
    steps = [b - a for trace in entry.traces for a, b in pairwise(places(trace)[1]) if b > a]
    step = statistics.median(steps) if steps else 0.0
    if step <= 0:
        return list(values)
    return [at + math.ceil((value - at) / step - 1e-6) * step for value in values]
