"""The RCP test of one entry: how far its runs trained, and whether the reference points allow it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from functools import partial
from typing import Any

import msgspec

from mlsub.convergence import algorithm_of, cut_of, mean_of, newest_algorithm, trim
from mlsub.convergence.curves import RcpReference
from mlsub.divisions import CLOSED
from mlsub.log.reading import RcpReading, Stop, usable_number
from mlsub.log.run import Evaluation, Run
from mlsub.rounds import Round
from mlsub.rules.constraints import StatedValues
from mlsub.rules.load import rules_for
from mlsub.rules.model import KeyRule
from mlsub.submission.report import RcpResult


def paired_rule(round_: Round, name: str) -> KeyRule | None:
    """The rule that gathers measures which belong together, where the benchmark has one in the round."""
    rules = rules_for(round_.usage, round_.name, CLOSED.name, name, round_.overlay)
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
    nothing = StatedValues()
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
    ``overflow`` those with more records than are read, ``crashes`` those that the official checker cannot read.
    ``batch_size`` is None where the logs state none, or several.
    """

    points: tuple[float, ...]
    failed: int
    batch_size: Any
    by_run: tuple[float | None, ...] = ()
    unknown: tuple[int, ...] = ()
    overflow: tuple[tuple[int, str], ...] = ()
    crashes: tuple[CrashedRun, ...] = ()


def progress_of(runs: Sequence[Run], name: str, round_: Round, *, samples: bool = False) -> Progress:
    """The convergence points of an entry's runs.

    Args:
        runs: in the order of their file names.
        name: the benchmark.
        round_: by whose algorithm they are read; where it had no such test, by the newest.
        samples: BERT by ``train_samples`` in place of epochs.
    """
    algorithm = algorithm_of(round_.usage, round_.name, round_.overlay) or newest_algorithm()
    paired = paired_rule(round_, name)
    counts = [run.reading_by_samples if samples else run.reading for run in runs]
    stops: list[tuple[Stop | None, ...]]
    if algorithm.named_by == "folder":
        stops = list(_carry_over_stops(counts))
        # To v2.1 the size of the last log that states one counts; the official tool's word for none is -1.
        size = next((count.sizes for count in reversed(counts) if count.sizes), ())
        size = () if size == (-1,) else size
    else:
        stops = [count.stops or (None,) for count in counts]
        size = _agreed_size(counts)
    if paired is not None and name != _PAIRED:
        stops = [(_stop_by_rule(run, paired),) for run in runs]
    counted = [(n, stop) for n, some in enumerate(stops) for stop in some]
    return Progress(
        points=tuple(stop.value if stop and stop.kind == "point" else NEVER for _, stop in counted),
        failed=sum(stop is None or stop.kind == "failed" for _, stop in counted),
        batch_size=size[0] if size else None,
        by_run=tuple(_last_point(some) for some in stops),
        unknown=tuple(sorted({n for n, stop in counted if stop and stop.kind in ("none", "unordered")})),
        overflow=tuple((n, count.overflow) for n, count in enumerate(counts) if count.overflow),
        crashes=tuple(_find_crashes(counts, counted, size)),
    )


def _carry_over_stops(counts: Sequence[RcpReading]) -> Iterator[tuple[Stop, ...]]:
    """To v2.1 each ``run_stop`` counts, and a log that stops without an evaluation goes on from the log before it."""
    last: Stop | None = None
    for count in counts:
        yield tuple(last if stop.kind == "none" and last is not None else stop for stop in count.stops)
        last = count.last or last


def _stop_by_rule(run: Run, paired: KeyRule) -> Stop:
    """Where a run of a benchmark of the user's own stops, whose measures a rule puts together."""
    line = run.status_line or 0
    if run.status != "success":
        return Stop("failed", line)
    point = paired_convergence_point(run.evaluations, paired)
    return Stop("none", line) if point is None else Stop("point", line, point)


def _last_point(stops: Sequence[Stop | None]) -> float | None:
    """Where a run converged, by its last word."""
    last = stops[-1] if stops else None
    return last.value if last is not None and last.kind == "point" else None


def _agreed_size(counts: Sequence[RcpReading]) -> tuple[Any, ...]:
    """The one batch size, where the runs agree on it and on the benchmark; else empty.

    Runs that say nothing before the first that does are passed over, as in the official tool.
    """
    name = _agreed_value([count.names for count in counts], None)
    size = _agreed_value([count.sizes for count in counts], -1)
    return size if name and isinstance(name[0], str) else ()


def _agreed_value(stated: Sequence[tuple[Any, ...]], nothing: Any) -> tuple[Any, ...]:
    values = [some[0] if some else nothing for some in stated]
    first = next((n for n, value in enumerate(values) if value != nothing), len(values))
    same = not any(value != values[first] for value in values[first:])
    return (values[first],) if same and first < len(values) else ()


def _find_crashes(
    counts: Sequence[RcpReading], stops: Sequence[tuple[int, Stop | None]], size: tuple[Any, ...]
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


def judge_convergence(progress: Progress, reference: RcpReference, *, by_hull: bool = False) -> RcpResult:
    """Compare the runs of an entry with the reference.

    Args:
        progress: how far the runs had to train.
        reference: that of their benchmark.
        by_hull: against the lower hull of the written rules in place of the official pruning.

    Returns:
        ``pass``, ``fail`` or ``missing``, without what the runs are counted by, and without a bypass.
    """
    size, name = usable_number(progress.batch_size), reference.benchmark
    answer = partial(
        RcpResult, unit=reference.unit, points=progress.by_run, reference_points=reference.cutoff, batch_size=size
    )
    if size is None:
        return answer(verdict="fail", how="no-batch-size")
    kept = trim(progress.points, name)
    if progress.failed > cut_of(name) or not kept:
        return answer(verdict="fail", how="insufficient-convergence")
    mean = mean_of(kept)
    point, how = reference.point_for(size, by_hull=by_hull)
    if point is None:
        return answer(verdict="missing", how="missing", mean=mean)
    passed, faster = mean >= point.minimum, mean < point.mean
    found = "missing" if how == "smaller-batch" and not passed else how
    return answer(
        verdict="pass" if passed else "missing" if found == "missing" else "fail",
        how=found,
        mean=mean,
        reference_mean=point.mean,
        reference_stdev=point.stdev,
        reference_runs=point.runs,
        minimum=point.minimum,
        scaling=point.mean / mean if reference.algorithm.normalise and passed and faster and mean > 0 else 1.0,
    )
