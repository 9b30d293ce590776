"""The convergence test of one entry, from its judged logs to a result and findings."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import msgspec

from mlsub.convergence import words
from mlsub.convergence.algorithm import (
    Algorithm,
    algorithm_of,
    is_tested,
    other_unit,
    samples_of_epoch,
    traits_of,
    unit_of,
)
from mlsub.convergence.curves import Reference, reference_of
from mlsub.convergence.reference import WHICH, Which
from mlsub.convergence.verdict import Progress, judge_convergence, paired_rule, progress_of
from mlsub.divisions import division_of
from mlsub.findings import Finding
from mlsub.io.errors import MlsubError
from mlsub.io.show import readable, show
from mlsub.log.reading import RcpReading
from mlsub.log.run import Run
from mlsub.rounds import Round, overlay_rounds
from mlsub.rules.catalogue import isolated, reviewed
from mlsub.rules.load import Benchmark
from mlsub.submission.model import Entry
from mlsub.submission.params import NO_FLAGS, Flags
from mlsub.submission.report import RcpResult

#: So many batch sizes of one entry are each tested.
_MOST_SIZES = 10
#: What a bypass lets pass; a bypass cannot turn a test that could not begin.
_BYPASSED = ("exact", "interpolated", "missing")


class Options(msgspec.Struct, frozen=True):
    """What the caller asks of the test: a reference file of his own, how BERT is counted, and which points.

    ``train_samples``: BERT by these, or by ``epoch_num``; None for the latter, unless only the former accept it.
    """

    reference: str | None = None
    train_samples: bool | None = None
    points: Which = "published"


USUAL = Options()


class Convergence(msgspec.Struct, frozen=True):
    """The result of the test of an entry."""

    result: RcpResult
    findings: tuple[Finding, ...] = ()


def convergence_of(
    entry: Entry, needs: Benchmark, round_: Round, flags: Flags = NO_FLAGS, options: Options = USUAL
) -> Convergence:
    """Compare an entry with the reference of its round, as the official checker in force for the round does.

    Args:
        entry: with its judged logs.
        needs: what the folder's benchmark asks for.
        round_: whose reference and algorithm apply.
        flags: those of the submission.
        options: those of the caller.
    """
    algorithm = algorithm_of(round_.usage, round_.name, round_.overlay)
    reason = _not_required(entry, needs, round_, algorithm, own=options.reference is not None)
    if reason is not None or algorithm is None:
        return Convergence(RcpResult(verdict="not-required", how=reason))
    if all(log.without_run for log in entry.logs):
        return Convergence(RcpResult(verdict="not-required", how="no-runs"))
    logged = [name for log in entry.logs for name in log.run.reading.names if isinstance(name, str)]
    # To v2.1 the folder's name counts, from v3.0 what the logs say.
    name = needs.name if algorithm.name == "folder" or not logged else readable(logged[0])
    try:
        reference = reference_of(round_, name, options.reference, options.points)
    except MlsubError as error:
        missing = words.no_reference(entry, name, round_, str(error))
        return Convergence(RcpResult(verdict="missing", how="no-reference"), (missing,))
    runs = [log.run for log in entry.logs]
    (result, progress, rcp), uncounted = _counted_as_asked(entry, runs, reference, flags, options)
    doubt = _doubt(rcp.also, runs) if rcp.also is not None and rcp.also.counted == "train_samples" else None
    findings = [
        *words.about(entry, rcp, progress, doubt, forced=options.train_samples is False),
        *uncounted,
        *reviewed("rcp.not-comparable", entry.path, lambda: words.not_comparable(entry, rcp)),
        *reviewed("rcp.hull", entry.path, lambda: _hull(entry, reference, progress, result, rcp)),
        *reviewed("rcp.deadline-points", entry.path, lambda: _other_days(entry, reference, progress, result, rcp)),
        *reviewed("rcp.mixed-batch-sizes", entry.path, lambda: _mixed(entry, reference, progress, rcp)),
    ]
    if rcp.counted == "train_samples":
        option = "--rcp-bert-train-samples" if options.train_samples else None
        findings += words.by_train_samples(entry, rcp, flags.train_samples or option)
    if flags.rcp_bypass is not None:
        findings.append(words.bypass(entry, rcp, flags.rcp_bypass))
    other = next(
        (log.benchmark for log in entry.logs if log.benchmark not in (None, entry.benchmark, needs.name)), None
    )
    return Convergence(msgspec.structs.replace(rcp, logs_benchmark=other), tuple(findings))


def _not_required(
    entry: Entry, needs: Benchmark, round_: Round, algorithm: Algorithm | None, *, own: bool
) -> str | None:
    """Why an entry is not tested; None where it is."""
    division = division_of(entry.division)
    if division is None or not division.convergence:
        return "open-division" if division else "unknown-division"
    if algorithm is None:
        return "round-without-test"
    if needs.name not in round_.benchmarks:
        return "unknown-benchmark"
    if not is_tested(needs.name):
        return "benchmark-without-test"
    return "round-of-your-own" if round_.name in overlay_rounds(round_.usage, round_.overlay) and not own else None


class _Answer(NamedTuple):
    """What the test says by one way of counting: of the points that were read, and as it is reported."""

    result: RcpResult
    progress: Progress
    rcp: RcpResult


def _counted_as_asked(
    entry: Entry, runs: Sequence[Run], reference: Reference, flags: Flags, options: Options
) -> tuple[_Answer, tuple[Finding, ...]]:
    """The answer that counts, for BERT with the other count's beside it; and what went wrong with that one.

    The training rules let BERT log the number of samples to converge in ``train_samples``, and have the package checker
    count these where a submitter does. So they decide where ``epoch_num`` is rejected, unless somebody asks for either.
    """
    if reference.benchmark != "bert":
        return _answer(runs, reference, flags, samples=False), ()
    samples = options.train_samples if options.train_samples is not None else flags.train_samples is not None
    first = _answer(runs, reference, flags, samples=samples)
    other, failed = isolated(
        "the other count of BERT", entry.path, lambda: _answer(runs, reference, flags, samples=not samples), None
    )
    if other is None:
        return first, failed
    if not samples and options.train_samples is None and _samples_decide(first.rcp, other.rcp, runs):
        first, other = other, first
    return first._replace(rcp=msgspec.structs.replace(first.rcp, also=other.rcp)), failed


def _samples_decide(by_epochs: RcpResult, by_samples: RcpResult, runs: Sequence[Run]) -> bool:
    """Whether ``train_samples`` of every log are samples to converge, and accept what ``epoch_num`` is rejected for.

    Logs that state the size of the data set there say nothing of convergence.
    """
    rejected = by_epochs.verdict in ("fail", "missing") and by_epochs.how in _BYPASSED
    return rejected and by_samples.verdict == "pass" and _doubt(by_samples, runs) is None


def _doubt(by_samples: RcpResult, runs: Sequence[Run]) -> str | None:
    """Why ``train_samples`` are not the samples to converge of every run; None where they are."""
    if not all(_states_samples(run.reading_by_samples) for run in runs):
        return "not every log has them"
    data_set = traits_of("bert").epoch or math.inf
    if any(point >= data_set for point in by_samples.points if point is not None):
        return f"they are the size of the data set, {words.number(data_set)}"
    return None


def _states_samples(count: RcpReading) -> bool:
    """Whether a log has ``train_samples`` of its own before it stops."""
    return count.last is not None and all(stop.kind in ("point", "failed") for stop in count.stops)


def _answer(runs: Sequence[Run], reference: Reference, flags: Flags, *, samples: bool) -> _Answer:
    progress = progress_of(runs, reference.benchmark, reference.round, samples=samples)
    result = judge_convergence(progress, reference)
    if result.reference_mean is None:
        read = tuple(crash for crash in progress.crashes if not crash.averaging)
        progress = msgspec.structs.replace(progress, crashes=read)
    how = _not_read(progress) or result.how
    verdict = result.verdict if how == result.how else "fail"
    bypass = flags.rcp_bypass if verdict != "pass" and how in _BYPASSED else None
    counted = "train_samples" if samples else _counted(reference)
    logs_unit = None
    if counted == "epoch_num":
        epoch = samples_of_epoch(reference.benchmark, runs)
        logs_unit = other_unit(progress.by_run, reference.unit, result.batch_size, result.reference_mean, epoch)
    rcp = msgspec.structs.replace(
        result,
        verdict="bypassed" if bypass else verdict,
        how=how,
        counted=counted,
        logs_unit=logs_unit,
        mean=result.mean if logs_unit is None else None,
        bypass=bypass,
    )
    return _Answer(result, progress, rcp)


def _not_read(progress: Progress) -> str | None:
    """Why the points of the runs are not known."""
    if progress.crashes:
        return "crash"
    return "no-point" if progress.unknown or progress.overflow else None


def _counted(reference: Reference) -> str:
    paired = paired_rule(reference.round, reference.benchmark)
    return paired.gathers.by if paired and paired.gathers else unit_of(reference.benchmark)


def _hull(
    entry: Entry, reference: Reference, progress: Progress, result: RcpResult, rcp: RcpResult
) -> Iterator[Finding]:
    """Whether the hull of the written rules decides otherwise than the official pruning."""
    by_hull = judge_convergence(progress, reference, by_hull=True)
    same = words.passes(by_hull) == words.passes(result) and abs(by_hull.scaling - result.scaling) < 1e-9
    if reference.algorithm.pruning != "none" and not same:
        yield words.hull(entry, rcp, result, by_hull)


def _other_days(
    entry: Entry, reference: Reference, progress: Progress, result: RcpResult, rcp: RcpResult
) -> Iterator[Finding]:
    """Which points count where those of the deadline were asked for, and the answers with the points of other days."""
    name, round_ = reference.benchmark, reference.round
    if reference.which == "own":
        return
    if reference.which == "deadline":
        yield words.deadline_points(entry, name, round_)
    seen = {reference.points}
    for which in WHICH:
        others = reference_of(round_, name, None, which)
        if others.points in seen:
            continue
        seen.add(others.points)
        other = judge_convergence(progress, others)
        if (words.passes(other), other.scaling) != (words.passes(result), result.scaling):
            yield words.other_points(entry, rcp, name, (result, other), which, round_)


def _mixed(entry: Entry, reference: Reference, progress: Progress, rcp: RcpResult) -> Iterator[Finding]:
    """To v2.1 the batch size of the log that is read last counts: the answer with each of several."""
    if reference.algorithm.name != "folder":
        return
    sizes: dict[str, Any] = {}
    users: dict[str, list[str]] = {}
    for log in entry.logs:
        for size in log.run.reading.sizes:
            shown = show(size)
            sizes.setdefault(shown, size)
            users.setdefault(shown, []).append(log.name)
    if len(sizes) > 1:
        answers = [
            (shown, users[shown], judge_convergence(msgspec.structs.replace(progress, batch_size=size), reference))
            for shown, size in list(sizes.items())[:_MOST_SIZES]
        ]
        yield words.mixed_sizes(entry, rcp, answers, show(progress.batch_size))
