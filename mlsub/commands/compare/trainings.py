"""Compare two trainings: which entries belong together, what is known of each, and what makes one faster."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Sequence
from difflib import get_close_matches
from typing import TypeVar

from msgspec.structs import replace

from mlsub.commands.compare.decompose import TIMED, Phases, Training, decompose, phases_of
from mlsub.commands.compare.model import Comparison, Convergence, EntrySide, PairComparison
from mlsub.commands.compare.reading import Reading, comparable, entry_name, read_side, runs_of
from mlsub.commands.compare.words import answer
from mlsub.convergence import unit_of_counts, unit_words
from mlsub.convergence.verdict import progress_of
from mlsub.io import MlsubError
from mlsub.log.changes import agreed_values, changed_fields, changed_hyperparameters, count_agreed
from mlsub.log.reading import usable_number
from mlsub.rounds import Round
from mlsub.rules.load import entry_requirements
from mlsub.submission.model import LogReport
from mlsub.submission.pairing import Pair, pairs, side_by_side, without
from mlsub.submission.result import Result
from mlsub.workspace import Context

#: A smaller number counts nothing.
_LEAST = 1e-9
T = TypeVar("T")


def compare(old: str, new: str, context: Context, forced: Sequence[str] = ()) -> Comparison:
    """Return what is different about two trainings, and what makes one of them faster.

    Args:
        old: a benchmark's folder, a system's, an organisation's tree, or a folder of organisations.
        new: another one; the two need not be of a kind.
        context: with the round to judge both by, None for each side's own.
        forced: pairs of entries, ``A_ENTRY=B_ENTRY``.

    Raises:
        MlsubError: a side holds nothing to compare, nothing belongs together, or a forced pair cannot be made.
    """
    before, after = read_timed(old, context), read_timed(new, context)
    return compare_sides(before, after, match(before, after, forced))


def read_timed(path: str, context: Context) -> Reading:
    """Check one side as ``read_side`` does, and collect the intervals of its logs."""
    return read_side(path, replace(context, request=replace(context.request, intervals=True)))


def compare_sides(before: Reading, after: Reading, found: Sequence[Pair]) -> Comparison:
    """Return the same of two sides that have been read, and their entries paired."""
    return Comparison(
        purpose="compare",
        old=before.side,
        new=after.side,
        pairs=tuple(_compare_entries(before, after, pair) for pair in found),
        only_old=tuple(map(entry_name, without(before.results, found, 0))),
        only_new=tuple(map(entry_name, without(after.results, found, 1))),
    )


def _compare_entries(before: Reading, after: Reading, pair: Pair) -> PairComparison:
    """Two entries side by side."""
    old, new = map(measure, pair)
    times = old.side.minutes, new.side.minutes
    undivided = old.undivided or new.undivided or ("one of them has no time" if None in times else None)
    if (old.side.usage, old.side.benchmark_name) != (new.side.usage, new.side.benchmark_name):
        undivided = "they train different benchmarks"
    parts = () if undivided else decompose(old, new)
    runs = [runs_of(result) for result in pair]
    changes = changed_hyperparameters(*runs)
    ratio = times[0] / times[1] if times[0] and times[1] and min(times[0], times[1]) > 0 else None
    compatible, warning = comparable(*pair)
    return PairComparison(
        old=old.side,
        new=new.side,
        ratio=ratio,
        reduction=None if ratio is None else 1 - 1 / ratio,
        parts=parts,
        undivided=undivided,
        same=count_agreed(*runs),
        hyperparameters=changes,
        fields=changed_fields(before.description(pair[0]), after.description(pair[1])),
        compatible=compatible,
        warning=warning,
        answer=answer(old.side, new.side, parts, undivided, changes),
    )


# Which entry belongs to which


def match(old: Reading, new: Reading, forced: Sequence[str] = ()) -> list[Pair]:
    """Pair the entries: those that are forced, then by benchmark, division and organisation, then by system.

    Where each side has one organisation, or one entry, these belong together whatever they are.

    Args:
        old: one side.
        new: the other.
        forced: ``A_ENTRY=B_ENTRY``, each by its system, or by system/benchmark, or with the organisation before.

    Raises:
        MlsubError: a forced pair names no entry, or several; or there is no pair at all.
    """
    ours, theirs = old.results, new.results
    found = _forced(forced, ours, theirs)
    many = any(len({one.organisation_name for one in side}) > 1 for side in (ours, theirs))
    left = without(ours, found, 0), without(theirs, found, 1)
    for _, (old_ones, new_ones) in sorted(side_by_side(*left, lambda one: _group(one, many=many)).items()):
        alone = len(old_ones) == len(new_ones) == 1
        found += [(old_ones[0], new_ones[0])] if alone else pairs(old_ones, new_ones)
    if len(ours) == len(theirs) == 1:
        found = [(ours[0], theirs[0])]
    if not found:
        first, second = (", ".join(map(entry_name, side[:3])) for side in (ours, theirs))
        raise MlsubError(
            f"No entry of {old.path} has a counterpart in {new.path}. --pair pairs what belongs together: "
            f"the first has {first}, the second {second}."
        )
    return found


def _group(result: Result, *, many: bool) -> tuple[str, ...]:
    names = result.benchmark_name, _division(result) or "", result.scaling_type or ""
    return (*names, result.organisation_name) if many else names


def _division(result: Result) -> str | None:
    """The division that the description means; as written where that is none."""
    return result.division_name or result.division


def _forced(forced: Sequence[str], ours: Sequence[Result], theirs: Sequence[Result]) -> list[Pair]:
    pairs: list[Pair] = []
    for text in forced:
        one, equals, other = text.partition("=")
        if not equals:
            raise MlsubError(f"--pair {text}: write A_ENTRY=B_ENTRY, such as rack1/resnet=rack2/resnet.")
        pair = _named(one, ours, "A"), _named(other, theirs, "B")
        if any(pair[0] is known[0] or pair[1] is known[1] for known in pairs):
            raise MlsubError(f"--pair {text}: an entry belongs to one pair only.")
        pairs.append(pair)
    return pairs


def _named(text: str, results: Sequence[Result], side: str) -> Result:
    wanted = [part for part in text.strip().split("/") if part]
    found = [one for one in results if wanted and _is_named(one, wanted)]
    if len(found) == 1:
        return found[0]
    names = [f"{one.system}/{one.benchmark}" for one in (found or results)]
    if found:
        raise MlsubError(f"--pair: {text} names {len(found)} entries of {side}: {', '.join(names[:5])}.")
    close = get_close_matches(text, names, 1, 0.4)
    hint = f"Did you mean {close[0]}?" if close else f"It has {', '.join(names[:5])}."
    raise MlsubError(f"--pair: {side} has no entry {text}. {hint}")


def _is_named(result: Result, wanted: list[str]) -> bool:
    full = [result.organisation, *filter(None, (result.system, result.scaling_type, result.benchmark))]
    return full[-len(wanted) :] == wanted or full[: len(wanted)] == wanted or full[1 : 1 + len(wanted)] == wanted


# What is known of an entry


def measure(result: Result) -> Training:
    """Gather what an entry is compared by; its logs have been read with their :class:`Intervals`."""
    round_, score, accelerators = result.rules, result.score, result.accelerators_count or None
    counted = _counted(result, round_)
    points, unit = _points(result, round_)
    works = _all_known(points[n] for n in counted)
    runs = _all_known(_phases(result.logs[n]) for n in counted) or ()
    phases, work = _phase_times(runs), _mean(works or ())
    training = phases.get("training")
    # How many samples make one unit of progress.
    samples = _number(result, "train_samples") if unit == "epochs" else 1.0 if unit == "samples" else None
    mean = _mean([result.logs[n].minutes or 0.0 for n in counted])
    unscaled = usable_number(mean if score.unscaled is None else score.unscaled)
    published, expected = (
        None if unscaled is None else usable_number(unscaled * factor)
        for factor in (score.scaling, score.expected_scaling)
    )
    same = "organisation system benchmark division path usage round runs organisation_name benchmark_name"
    side = EntrySide(
        **{name: getattr(result, name) for name in (*same.split(), "benchmark_title")},
        division_name=_division(result),
        official=result.verdict,
        counted=len(counted),
        minutes_of="mean" if score.unscaled is None else "score",
        unscaled=unscaled,
        scaling=score.scaling,
        minutes=published,
        expected_scaling=score.expected_scaling,
        expected=expected,
        accelerator=result.accelerator_model_name,
        accelerators=accelerators,
        accelerator_minutes=published * accelerators if published is not None and accelerators else None,
        convergence=_convergence(result, points, unit),
        work=work,
        throughput=work * samples / training if work and samples and training else None,
        batch_size=_number(result, "global_batch_size"),
        phases=phases,
    )
    undivided = None if runs else "no run has a time that counts, or its log cannot be read"
    if result.scaling_type == "weak":
        undivided = "models of weak scaling train side by side"
    return Training(side=side, phases=runs, work=works, samples=samples, undivided=undivided)


def _all_known(values: Iterable[T | None]) -> tuple[T, ...] | None:
    """The values; None where one of them is."""
    every = tuple(values)
    known = tuple(value for value in every if value is not None)
    return known if len(known) == len(every) else None


def _counted(result: Result, round_: Round) -> list[int]:
    """The runs behind the entry's time, by their place: the olympic mean drops the fastest and the slowest."""
    logs = result.logs
    if result.score.unscaled is None or result.scaling_type == "weak":
        return [n for n, log in enumerate(logs) if log.minutes is not None and math.isfinite(log.minutes)]
    known = result.benchmark in round_.benchmarks
    dropped = entry_requirements(round_.usage, round_.name, result.benchmark).forgiven if known else 0
    minutes = [log.minutes if log.counts_in(round_) and log.minutes is not None else math.inf for log in logs]
    ordered = sorted(range(len(logs)), key=lambda n: minutes[n])
    return ordered[dropped : len(ordered) - dropped]


def _convergence(result: Result, points: Sequence[float | None], unit: str) -> Convergence:
    """How far the runs that converged had to train."""
    converged = [float(point) for point in points if point is not None]
    return Convergence(
        unit=unit,
        runs=len(converged),
        minimum=min(converged, default=None),
        mean=_mean(converged),
        maximum=max(converged, default=None),
        verdict=result.rcp.verdict,
        scaling=result.rcp.scaling,
        minimum_accepted=result.rcp.minimum if result.rcp.logs_unit is None else None,
    )


def _phase_times(runs: Sequence[Phases]) -> dict[str, float | None]:
    """The mean of each phase over the runs; None where one of them does not log it."""
    names = ("init", *(name for name in TIMED if name != "undivided" or any(run.undivided is not None for run in runs)))
    means = {name: _mean(_all_known(getattr(run, name) for run in runs) or ()) for name in names}
    return {name: None if mean is None else mean / 1000 for name, mean in means.items()}


def _points(result: Result, round_: Round) -> tuple[tuple[float | None, ...], str]:
    """How far each run trained until it converged, and in what unit: as the convergence test counts, in Open too."""
    name, rcp = result.benchmark, result.rcp
    if rcp.points:
        return rcp.points, rcp.logs_unit or rcp.unit or unit_words(name, round_)
    points = progress_of(runs_of(result), name, round_).by_run
    return points, unit_of_counts(points, name, round_, _number(result, "global_batch_size"))


def _phases(log: LogReport) -> Phases | None:
    """The phases of a run; None where its times are not known."""
    timeline, intervals = log.run.timeline, log.intervals
    start, stop = usable_number(timeline.run_start), usable_number(timeline.run_stop)
    if start is None or stop is None or intervals is None:
        return None
    began, ended = usable_number(timeline.init_start), usable_number(timeline.init_stop)
    return phases_of(intervals, (start, stop), None if began is None or ended is None else ended - began)


def _number(result: Result, key: str) -> float | None:
    """What most runs logged of a key, if it is a number that counts something."""
    value = usable_number(json.loads(agreed_values(runs_of(result)).get(key, "null")))
    return float(value) if value is not None and value > _LEAST else None


def _mean(values: Sequence[float]) -> float | None:
    return sum(values) / len(values) if values else None
