"""The convergence test of one entry, from its judged logs to a result and findings."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import NamedTuple

import msgspec

from mlsub.convergence import (
    CUTOFFS,
    USUAL,
    Algorithm,
    Options,
    algorithm_of,
    other_unit,
    samples_of_epoch,
    traits_of,
    unit_of,
    words,
)
from mlsub.convergence.curves import RcpReference, reference_of
from mlsub.convergence.verdict import Progress, judge_convergence, paired_rule, progress_of
from mlsub.divisions import division_of
from mlsub.findings import Finding
from mlsub.io import MlsubError
from mlsub.io.data import group_by_key
from mlsub.io.show import readable, show
from mlsub.log.run import Run
from mlsub.rounds import Round, overlay_rounds
from mlsub.rules.catalogue import isolated, reviewed
from mlsub.rules.load import EntryRequirements
from mlsub.submission.model import Entry
from mlsub.submission.params import NO_FLAGS, Flags
from mlsub.submission.report import RcpResult

#: So many batch sizes of one entry are each tested.
_MOST_SIZES = 10
#: What a bypass lets pass; a bypass cannot turn a test that could not begin.
_BYPASSED = ("exact", "interpolated", "missing")


class Convergence(msgspec.Struct, frozen=True):
    """The result of the test of an entry; ``several_benchmarks`` if it fails as its logs are of several."""

    result: RcpResult
    findings: tuple[Finding, ...] = ()
    several_benchmarks: bool = False


def convergence_of(
    entry: Entry, needs: EntryRequirements, round_: Round, flags: Flags = NO_FLAGS, options: Options = USUAL
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
    reason = _why_not_tested(entry, needs, round_, algorithm, options)
    if reason is not None or algorithm is None:
        return Convergence(RcpResult(verdict="not-required", how=reason))
    if all(log.without_run for log in entry.logs):
        return Convergence(RcpResult(verdict="not-required", how="no-runs"))
    logged = [name for log in entry.logs for name in log.run.reading.names if isinstance(name, str)]
    # To v2.1 the folder's name counts, from v3.0 what the logs say.
    name = needs.name if algorithm.named_by == "folder" or not logged else readable(logged[0])
    try:
        reference = reference_of(round_, name, options.reference, options.points)
    except MlsubError as error:
        missing = words.report_no_reference(entry, name, round_, str(error))
        return Convergence(RcpResult(verdict="missing", how="no-reference"), (missing,))
    runs = [log.run for log in entry.logs]
    judged, uncounted = _judge_as_asked(entry, runs, reference, flags, options)
    rcp = judged.rcp
    doubt = _doubt_samples(rcp.also, runs) if rcp.also is not None and rcp.also.counted == "train_samples" else None
    findings = [
        *words.report_result(entry, rcp, judged.progress, doubt, forced=options.train_samples is False),
        *uncounted,
        *reviewed("rcp.not-comparable", entry.path, lambda: words.report_not_comparable(entry, rcp)),
        *reviewed("rcp.hull", entry.path, lambda: _compare_hull(entry, reference, judged)),
        *reviewed("rcp.deadline-points", entry.path, lambda: _compare_cutoffs(entry, reference, judged)),
        *reviewed("rcp.mixed-batch-sizes", entry.path, lambda: _compare_sizes(entry, reference, judged)),
    ]
    if rcp.counted == "train_samples":
        option = "--rcp-bert-train-samples" if options.train_samples else None
        findings += words.report_train_samples(entry, rcp, flags.train_samples or option)
    if flags.rcp_bypass is not None:
        findings.append(words.report_bypass(entry, rcp, flags.rcp_bypass))
    other = next(
        (log.benchmark for log in entry.logs if log.benchmark not in (None, entry.benchmark, needs.name)), None
    )
    several = rcp.how == "no-batch-size" and words.are_of_several_benchmarks(entry)
    return Convergence(msgspec.structs.replace(rcp, logs_benchmark=other), tuple(findings), several)


def _why_not_tested(
    entry: Entry, needs: EntryRequirements, round_: Round, algorithm: Algorithm | None, options: Options
) -> str | None:
    """Why an entry is not tested; None where it is."""
    division = division_of(entry.division)
    if division is None or not division.convergence:
        return "open-division" if division else "unknown-division"
    if algorithm is None:
        return "round-without-test"
    if needs.name not in round_.benchmarks:
        return "unknown-benchmark"
    if not traits_of(needs.name).tested:
        return "benchmark-without-test"
    if round_.name in overlay_rounds(round_.usage, round_.overlay) and options.reference is None:
        return "round-of-your-own"
    return None


class _Judged(NamedTuple):
    """The result of the test by one way of counting: of the points that were read, and as it is reported."""

    result: RcpResult
    progress: Progress
    rcp: RcpResult


def _judge_as_asked(
    entry: Entry, runs: Sequence[Run], reference: RcpReference, flags: Flags, options: Options
) -> tuple[_Judged, tuple[Finding, ...]]:
    """The result that counts, for BERT with the other count's beside it; and what went wrong with that one.

    The training rules let BERT log the number of samples to converge in ``train_samples``, and have the package checker
    count these where a submitter does. So they decide where ``epoch_num`` is rejected, unless somebody asks for either.
    """
    if reference.benchmark != "bert":
        return _judge(runs, reference, flags, samples=False), ()
    samples = options.train_samples if options.train_samples is not None else flags.train_samples is not None
    first = _judge(runs, reference, flags, samples=samples)
    other, failed = isolated(
        "the other count of BERT", entry.path, lambda: _judge(runs, reference, flags, samples=not samples), None
    )
    if other is None:
        return first, failed
    if not samples and options.train_samples is None:
        rejected = first.rcp.verdict in ("fail", "missing") and first.rcp.how in _BYPASSED
        if rejected and other.rcp.verdict == "pass" and _doubt_samples(other.rcp, runs) is None:
            first, other = other, first
    return first._replace(rcp=msgspec.structs.replace(first.rcp, also=other.rcp)), failed


def _doubt_samples(by_samples: RcpResult, runs: Sequence[Run]) -> str | None:
    """Why ``train_samples`` are not the samples to converge of every run; None where they are.

    Logs that state the size of the data set there say nothing of convergence.
    """
    for count in (run.reading_by_samples for run in runs):
        if count.last is None or any(stop.kind not in ("point", "failed") for stop in count.stops):
            return "not every log has them"
    data_set = traits_of("bert").epoch or math.inf
    if any(point >= data_set for point in by_samples.points if point is not None):
        return f"they are the size of the data set, {words.format_number(data_set)}"
    return None


def _judge(runs: Sequence[Run], reference: RcpReference, flags: Flags, *, samples: bool) -> _Judged:
    progress = progress_of(runs, reference.benchmark, reference.round, samples=samples)
    result = judge_convergence(progress, reference)
    if result.reference_mean is None:
        read = tuple(crash for crash in progress.crashes if not crash.averaging)
        progress = msgspec.structs.replace(progress, crashes=read)
    verdict, how = result.verdict, result.how
    if progress.crashes:
        verdict, how = "fail", "crash"
    elif progress.unknown or progress.overflow:
        verdict, how = "fail", "no-point"
    bypass = flags.rcp_bypass if verdict != "pass" and how in _BYPASSED else None
    paired = paired_rule(reference.round, reference.benchmark)
    counted = paired.gathers.by if paired and paired.gathers else unit_of(reference.benchmark)
    counted = "train_samples" if samples else counted
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
    return _Judged(result, progress, rcp)


def _compare_hull(entry: Entry, reference: RcpReference, judged: _Judged) -> Iterator[Finding]:
    """Whether the hull of the written rules decides otherwise than the official pruning."""
    result = judged.result
    by_hull = judge_convergence(judged.progress, reference, by_hull=True)
    same = words.passes(by_hull) == words.passes(result) and abs(by_hull.scaling - result.scaling) < 1e-9
    if reference.algorithm.pruning != "none" and not same:
        yield words.report_hull(entry, judged.rcp, result, by_hull)


def _compare_cutoffs(entry: Entry, reference: RcpReference, judged: _Judged) -> Iterator[Finding]:
    """Which points count where those of the deadline were asked for, and the answers with the points of other days."""
    name, round_, result = reference.benchmark, reference.round, judged.result
    if reference.cutoff == "own":
        return
    if reference.cutoff == "deadline":
        yield words.report_deadline_points(entry, name, round_)
    seen = {reference.points}
    for cutoff in CUTOFFS:
        others = reference_of(round_, name, None, cutoff)
        if others.points in seen:
            continue
        seen.add(others.points)
        other = judge_convergence(judged.progress, others)
        if (words.passes(other), other.scaling) != (words.passes(result), result.scaling):
            yield words.report_other_points(entry, judged.rcp, name, (result, other), cutoff, round_)


def _compare_sizes(entry: Entry, reference: RcpReference, judged: _Judged) -> Iterator[Finding]:
    """To v2.1 the batch size of the log that is read last counts: the answer with each of several."""
    if reference.algorithm.named_by != "folder":
        return
    stated = [(size, log.name) for log in entry.logs for size in log.run.reading.sizes]
    sizes = {show(size): size for size, _ in stated}
    users = group_by_key((show(size), name) for size, name in stated)
    if len(sizes) > 1:
        progress = judged.progress
        answers = [
            (shown, users[shown], judge_convergence(msgspec.structs.replace(progress, batch_size=size), reference))
            for shown, size in list(sizes.items())[:_MOST_SIZES]
        ]
        yield words.report_mixed_sizes(entry, judged.rcp, answers, show(progress.batch_size))
