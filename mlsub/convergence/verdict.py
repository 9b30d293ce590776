"""The RCP test of one entry: how far its runs trained, which reference points remain, and whether they allow it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Literal

import msgspec

from mlsub.convergence.algorithm import Algorithm
from mlsub.convergence.reference import Point
from mlsub.convergence.statistics import between, cut_of, least_accepted_mean, mean_of, trimmed
from mlsub.log.reading import BEYOND as BEYOND
from mlsub.log.reading import Reading, Stop
from mlsub.log.run import Evaluation, Run
from mlsub.rules.constraints import Stated
from mlsub.rules.model import KeyRule, RuleSet


def paired_rule(rules: RuleSet) -> KeyRule | None:
    """The rule that gathers measures which belong together, where the benchmark has one."""
    return next((rule for rule in rules.rules if rule.gathers is not None), None)


def paired_convergence_point(evaluations: Iterable[Evaluation], rule: KeyRule) -> float | None:
    """The first step (in the unit the rule gathers by: steps in v3.1, samples later) at which every measure is met.

    Stable Diffusion's FID and CLIP are computed apart and logged in any order, so they are put together by step; the
    earliest step that meets both counts, as in the official tool (rcp_checker, get_submission_epochs). None where no
    step does.
    """
    gathers = rule.gathers
    if gathers is None:
        raise ValueError(f"{rule.key} gathers nothing")
    steps: dict[Any, dict[str, Any]] = {}
    for evaluation in evaluations:
        step = getattr(evaluation, gathers.by, None)
        if isinstance(step, (int, float)) and isinstance(evaluation.metric, str):
            steps.setdefault(step, {})[evaluation.metric] = evaluation.value
    return min((step for step, measures in steps.items() if _meets(measures, rule)), default=None)


def _meets(measures: dict[str, Any], rule: KeyRule) -> bool:
    nothing = Stated()
    try:
        return all(
            constraint.test()(measures[str(reach.field)], nothing)
            for reach in rule.reaches
            for constraint in reach.constraints
        )
    except (KeyError, TypeError, ValueError):
        return False


#: What a run that never converged counts as; the official tool's own number.
NEVER = 1e9
#: The one benchmark whose measures the official checker itself puts together.
_PAIRED = "stable_diffusion"


class CrashedRun(msgspec.Struct, frozen=True):
    """A run, by its number, at which the official checker ends in a traceback: where, and with what error.

    ``averaging``: not while it reads, but when it averages what it read, which it does where it has a reference.
    """

    run: int
    line: int
    error: str
    averaging: bool = False


class Progress(msgspec.Struct, frozen=True):
    """How far the runs of an entry had to train.

    ``by_run`` are the convergence points (epochs, samples or steps) in the order of the runs, None for a run that did
    not converge; ``points`` the list the round's test works on, with NEVER in place of what did not converge.
    ``failed`` counts the runs that did not, ``unknown`` names (by number) those that say success and show no point,
    ``beyond`` those with more records than are read, ``crashes`` those that the official checker cannot read.
    ``batch_size`` and ``benchmark`` are None where the logs state none, or several.
    """

    points: tuple[float, ...]
    failed: int
    batch_size: Any
    benchmark: str | None
    by_run: tuple[float | None, ...] = ()
    unknown: tuple[int, ...] = ()
    beyond: tuple[tuple[int, str], ...] = ()
    crashes: tuple[CrashedRun, ...] = ()


def progress_of(
    runs: Sequence[Run], folder: str, algorithm: Algorithm, paired: KeyRule | None = None, *, samples: bool = False
) -> Progress:
    """The convergence points of an entry's runs.

    Args:
        runs: in the order of their file names.
        folder: the name of the benchmark's folder.
        algorithm: that of the round.
        paired: the rule that puts measures together, where the benchmark has several.
        samples: BERT by ``train_samples`` in place of epochs.
    """
    counts = [run.reading_by_samples if samples else run.reading for run in runs]
    by_folder = algorithm.name == "folder"
    stops: list[tuple[Stop | None, ...]]
    stops = list(_carried(counts)) if by_folder else [count.stops or (None,) for count in counts]
    if paired is not None and folder != _PAIRED:
        stops = [(_of_rule(run, paired),) for run in runs]
    counted = [(n, stop) for n, some in enumerate(stops) for stop in some]
    names = [name for count in counts for name in count.names]
    size = _last([count.sizes for count in counts]) if by_folder else _agreed(counts)
    return Progress(
        points=tuple(stop.value if stop and stop.kind == "point" else NEVER for _, stop in counted),
        failed=sum(stop is None or stop.kind == "failed" for _, stop in counted),
        batch_size=size[0] if size else None,
        benchmark=folder if by_folder else next((name for name in names if isinstance(name, str)), None),
        by_run=tuple(_point(some) for some in stops),
        unknown=tuple(sorted({n for n, stop in counted if stop and stop.kind in ("none", "unordered")})),
        beyond=tuple((n, count.beyond) for n, count in enumerate(counts) if count.beyond),
        crashes=tuple(_crashes(counts, counted, size)),
    )


def _carried(counts: Sequence[Reading]) -> Iterator[tuple[Stop, ...]]:
    """To v2.1 each ``run_stop`` counts, and a log that stops without an evaluation goes on from the log before it."""
    last: Stop | None = None
    for count in counts:
        yield tuple(last if stop.kind == "none" and last is not None else stop for stop in count.stops)
        last = count.last or last


def _of_rule(run: Run, paired: KeyRule) -> Stop | None:
    """The same of a benchmark of the user's own whose measures a rule puts together."""
    line = run.status_line or 0
    if run.status != "success":
        return Stop("failed", line)
    point = paired_convergence_point(run.evaluations, paired)
    return Stop("none", line) if point is None else Stop("point", line, point)


def _point(stops: Sequence[Stop | None]) -> float | None:
    """Where a run converged, by its last word."""
    last = stops[-1] if stops else None
    return last.value if last is not None and last.kind == "point" else None


def _last(stated: Sequence[tuple[Any, ...]]) -> tuple[Any, ...]:
    """To v2.1 the value of the last log that states one counts; the official tool's word for none is -1."""
    size = next((some for some in reversed(stated) if some), ())
    return () if size == (-1,) else size


def _agreed(counts: Sequence[Reading]) -> tuple[Any, ...]:
    """The one batch size, where the runs agree on it and on the benchmark; else None.

    Runs that say nothing before the first that does are passed over, as in the official tool.
    """
    name, size = _one([count.names for count in counts], None), _one([count.sizes for count in counts], -1)
    return size if name and isinstance(name[0], str) else ()


def _one(stated: Sequence[tuple[Any, ...]], nothing: Any) -> tuple[Any, ...]:
    values = [some[0] if some else nothing for some in stated]
    first = next((n for n, value in enumerate(values) if value != nothing), len(values))
    same = not any(value != values[first] for value in values[first:])
    return (values[first],) if same and first < len(values) else ()


def _crashes(
    counts: Sequence[Reading], stops: Sequence[tuple[int, Stop | None]], size: tuple[Any, ...]
) -> Iterator[CrashedRun]:
    """Where the official checker ends in a traceback: at a record, or when it computes with what it read."""
    read = {n: count.crash for n, count in enumerate(counts) if count.crash is not None}
    yield from (CrashedRun(n, crash.line, crash.error) for n, crash in read.items())
    if size and not isinstance(size[0], (int, float)):
        n = max(n for n, count in enumerate(counts) if count.sizes)
        yield CrashedRun(
            n, counts[n].size_line, "TypeError: the batch size cannot be compared with that of a reference"
        )
    mixed = len({stop is not None and stop.listed for _, stop in stops}) > 1
    for n, stop in stops:
        if stop is not None and n not in read and (stop.kind == "unusable" or (mixed and stop.listed)):
            error = "TypeError: the points of convergence cannot be sorted and averaged"
            yield CrashedRun(n, stop.line, error, averaging=True)


How = Literal[
    "exact",
    "interpolated",
    "smaller-batch",
    "missing",
    "insufficient-convergence",
    "no-batch-size",
]


def interpolated(batch_size: float, low: Point, high: Point, runs: int) -> Point:
    """The point between two others: mean and stdev linear in the batch size, counted as 2 × ``runs`` runs."""
    mean = between(batch_size, (low.batch_size, low.mean), (high.batch_size, high.mean))
    stdev = between(batch_size, (low.batch_size, low.stdev), (high.batch_size, high.stdev))
    return Point(batch_size, mean, stdev, least_accepted_mean(mean, stdev, 2 * runs, runs - 2), 0)


class Pruning(msgspec.Struct, frozen=True):
    """What the official pruning keeps, and why the rest goes.

    ``removed`` has the batch size of each point that goes, with those of the two neighbours whose interpolation is
    faster, or with that of the fastest point, below which it lies.
    """

    kept: tuple[Point, ...]
    removed: tuple[tuple[float, tuple[float, ...]], ...] = ()


def prune(points: Sequence[Point], algorithm: Algorithm, runs: int) -> Pruning:
    """Prune as the official checker in force for the round does.

    Points below the batch size of the fastest go first. Then, from left to right, an inner point slower than the
    interpolation of its neighbours goes; the left neighbour is never looked at again, so this is not the lower hull
    that the written rules describe (logging issue 368). Where several points have a batch size that one of them keeps,
    all of them stay, as reference data of the user's own may have it.
    """
    if algorithm.pruning == "none":
        return Pruning(tuple(points))

    def speed(point: Point) -> float:
        return point.minimum if algorithm.pruning == "minimum" else point.mean

    fastest = min(points, key=speed)
    kept = [point for point in points if point.batch_size >= fastest.batch_size]
    removed = [(p.batch_size, (fastest.batch_size,)) for p in points if p.batch_size < fastest.batch_size]
    slower: list[tuple[float, tuple[float, ...]]] = []
    at = 1
    while at < len(kept) - 1:
        low, point, high = kept[at - 1 : at + 2]
        if speed(point) > speed(interpolated(point.batch_size, low, high, runs)):
            slower.append((point.batch_size, (low.batch_size, high.batch_size)))
            del kept[at]
        else:
            at += 1
    sizes = {point.batch_size for point in kept}
    gone = tuple(some for some in (*removed, *slower) if some[0] not in sizes)
    return Pruning(tuple(point for point in points if point.batch_size in sizes), gone)


def pruned(points: Sequence[Point], algorithm: Algorithm, runs: int) -> tuple[Point, ...]:
    """The points that the official checker in force for the round keeps."""
    return prune(points, algorithm, runs).kept


def lower_hull(points: Sequence[Point]) -> tuple[Point, ...]:
    """The lower convex hull of the means, from the fastest point on, as the written rules describe it."""
    if not points:
        return ()
    fastest = min(points, key=lambda point: point.mean)
    hull: list[Point] = []
    for point in sorted(points, key=lambda point: point.batch_size):
        if point.batch_size < fastest.batch_size:
            continue
        while len(hull) > 1 and _turns_down(hull[-2], hull[-1], point):
            hull.pop()
        hull.append(point)
    return tuple(hull)


def _turns_down(first: Point, middle: Point, last: Point) -> bool:
    """Whether the middle point lies on or above the line between its neighbours."""
    run, rise = last.batch_size - first.batch_size, last.mean - first.mean
    return (middle.mean - first.mean) * run >= rise * (middle.batch_size - first.batch_size)


class Result(msgspec.Struct, frozen=True):
    """The result of the test.

    ``mean`` is the olympic mean of the runs, in the benchmark's unit; ``reference`` the point it is compared with;
    ``minimum`` the least mean that is accepted; ``scaling`` the factor by which the time is scaled (1 for none).
    """

    passed: bool
    how: How
    batch_size: float | None = None
    mean: float | None = None
    reference: Point | None = None
    minimum: float | None = None
    scaling: float = 1.0


def judge_convergence(
    progress: Progress,
    points: Sequence[Point],
    benchmark: str,
    runs: int,
    algorithm: Algorithm,
    *,
    by_hull: bool = False,
) -> Result:
    """Compare the runs of an entry with the reference.

    Args:
        progress: how far the runs had to train.
        points: all reference points of the benchmark, by batch size.
        benchmark: decides how many runs are trimmed.
        runs: result files an entry of the benchmark has.
        algorithm: that of the round.
        by_hull: against the lower hull of the written rules in place of the official pruning.
    """
    size = progress.batch_size
    if not isinstance(size, (int, float)) or isinstance(size, bool) or not abs(size) < BEYOND:
        return Result(False, "no-batch-size")
    if progress.failed > cut_of(benchmark):
        return Result(False, "insufficient-convergence", size)
    kept = trimmed(progress.points, benchmark)
    if not kept:
        return Result(False, "insufficient-convergence", size)
    mean = mean_of(kept)
    reference, how = reference_for(size, lower_hull(points) if by_hull else pruned(points, algorithm, runs), runs)
    if reference is None:
        return Result(False, "missing", size, mean)
    minimum = reference.accepted_from(dict(algorithm.earlier).get(benchmark, 0))
    passed = how != "missing" and mean >= minimum
    faster = mean < reference.mean
    scaling = reference.mean / mean if algorithm.normalise and passed and faster and mean > 0 else 1.0
    return Result(
        passed, how if passed or how != "smaller-batch" else "missing", size, mean, reference, minimum, scaling
    )


def reference_for(size: float, points: Sequence[Point], runs: int) -> tuple[Point | None, How]:
    """The point to compare a batch size with, and how it was found; of several points of one size the first counts."""
    for point in points:
        if point.batch_size == size:
            return point, "exact"
    below = [point for point in points if point.batch_size < size]
    above = [point for point in points if point.batch_size > size]
    if below and above:
        low = next(point for point in below if point.batch_size == below[-1].batch_size)
        return interpolated(size, low, above[0], runs), "interpolated"
    if above:
        return above[0], "smaller-batch"
    return None, "missing"
