"""The convergence test of one entry, from its judged logs to a result and findings."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, Literal, NamedTuple

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
    unit_words,
)
from mlsub.convergence.reference import (
    Point,
    Which,
    benchmark_in,
    other_points,
    points_in_force,
    points_of,
    reference_file,
)
from mlsub.convergence.verdict import Progress, Result, judge_convergence, paired_rule, progress_of
from mlsub.divisions import CLOSED, division_of
from mlsub.findings import Finding
from mlsub.io.errors import MlsubError
from mlsub.io.show import readable, show
from mlsub.log.reading import Reading
from mlsub.log.run import Run
from mlsub.rounds import Round, overlay_rounds
from mlsub.rules.catalogue import isolated, reviewed
from mlsub.rules.load import Benchmark, benchmark, rules_for
from mlsub.rules.model import KeyRule
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


class _Setting(msgspec.Struct, frozen=True):
    """All the test of one entry needs; ``others`` are the points of other days, where they differ."""

    algorithm: Algorithm
    needs: Benchmark
    points: tuple[Point, ...]
    paired: KeyRule | None
    unit: str
    which: Which | Literal["own"] = "published"
    others: tuple[tuple[Which, tuple[Point, ...]], ...] = ()


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
    if not entry.logs:
        return Convergence(RcpResult(verdict="fail", how="no-runs"))
    runs = [log.run for log in entry.logs]
    found = _setting(entry, needs, round_, algorithm, options)
    if isinstance(found, Finding):
        return Convergence(RcpResult(verdict="missing", how="no-reference"), (found,))
    (result, progress, rcp), uncounted = _counted_as_asked(entry, runs, found, flags, options)
    findings = [
        *words.about(entry, rcp, progress, _choice(rcp, runs, options)),
        *uncounted,
        *reviewed("rcp.not-comparable", entry.path, lambda: words.not_comparable(entry, rcp)),
        *reviewed("rcp.hull", entry.path, lambda: _hull(entry, found, progress, result, rcp)),
        *reviewed("rcp.deadline-points", entry.path, lambda: _deadline(entry, found, progress, result, round_, rcp)),
        *reviewed("rcp.mixed-batch-sizes", entry.path, lambda: _mixed(entry, found, progress, rcp)),
    ]
    if rcp.counted == "train_samples":
        option = "--rcp-bert-train-samples" if options.train_samples else None
        findings += words.by_train_samples(entry, rcp, flags.train_samples or option)
    if flags.rcp_bypass is not None:
        findings.append(words.bypass(entry, rcp, flags.rcp_bypass))
    return Convergence(rcp, tuple(findings))


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


def _setting(
    entry: Entry, needs: Benchmark, round_: Round, algorithm: Algorithm, options: Options
) -> _Setting | Finding:
    """The reference of the entry's benchmark: to v2.1 the folder's name counts, from v3.0 what the logs say."""
    logged = [name for log in entry.logs for name in log.run.reading.names if isinstance(name, str)]
    name = needs.name if algorithm.name == "folder" or not logged else readable(logged[0])
    own = Path(options.reference) if options.reference else None
    try:
        file = own if own and benchmark_in(own) == name else reference_file(round_.usage, round_.ruleset, name)
        if file is None:
            return words.no_reference(
                entry, name, round_, "the installed mlperf-logging has no reference points for it"
            )
        asked = benchmark(round_.usage, round_.name, name, round_.overlay)
        others: tuple[tuple[Which, tuple[Point, ...]], ...] = ()
        if file is own:
            points = points_of(file, name, asked.runs, algorithm)
        else:
            points = points_in_force(file, name, round_, asked.runs, algorithm, options.points)
            others = other_points(points, file, name, round_, asked.runs, algorithm)
    except (KeyError, MlsubError) as error:
        why = "it is not a benchmark of this round" if isinstance(error, KeyError) else str(error)
        return words.no_reference(entry, name, round_, why)
    paired = paired_rule(rules_for(round_.usage, round_.name, CLOSED.name, name))
    which: Which | Literal["own"] = "own" if file is own else options.points
    return _Setting(algorithm, asked, points, paired, unit_words(name, round_), which, others)


class _Answer(NamedTuple):
    """What the test says by one way of counting."""

    result: Result
    progress: Progress
    rcp: RcpResult


def _counted_as_asked(
    entry: Entry, runs: Sequence[Run], test: _Setting, flags: Flags, options: Options
) -> tuple[_Answer, tuple[Finding, ...]]:
    """The answer that counts, for BERT with the other count's beside it; and what went wrong with that one.

    The training rules let BERT log the number of samples to converge in ``train_samples``, and have the package checker
    count these where a submitter does. So they decide where ``epoch_num`` is rejected, unless somebody asks for either.
    """
    if test.needs.name != "bert":
        return _answer(runs, test, flags, samples=False), ()
    samples = options.train_samples if options.train_samples is not None else flags.train_samples is not None
    first = _answer(runs, test, flags, samples=samples)
    other, failed = isolated(
        "the other count of BERT", entry.path, lambda: _answer(runs, test, flags, samples=not samples), None
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


def _choice(rcp: RcpResult, runs: Sequence[Run], options: Options) -> words.Choice:
    doubt = _doubt(rcp.also, runs) if rcp.also is not None and rcp.also.counted == "train_samples" else None
    return words.Choice(options.train_samples is False, doubt)


def _states_samples(count: Reading) -> bool:
    """Whether a log has ``train_samples`` of its own before it stops."""
    return count.last is not None and all(stop.kind in ("point", "failed") for stop in count.stops)


def _answer(runs: Sequence[Run], test: _Setting, flags: Flags, *, samples: bool) -> _Answer:
    progress = progress_of(runs, test.needs.name, test.algorithm, test.paired, samples=samples)
    result = _judged(progress, test)
    if result.reference is None:
        read = tuple(crash for crash in progress.crashes if not crash.averaging)
        progress = msgspec.structs.replace(progress, crashes=read)
    return _Answer(result, progress, _rcp(result, progress, test, runs, flags, samples=samples))


def _judged(progress: Progress, test: _Setting, *, by_hull: bool = False) -> Result:
    return judge_convergence(progress, test.points, test.needs.name, test.needs.runs, test.algorithm, by_hull=by_hull)


def _rcp(
    result: Result, progress: Progress, test: _Setting, runs: Sequence[Run], flags: Flags, *, samples: bool
) -> RcpResult:
    reference = result.reference
    how = _not_read(progress) or result.how
    passed = result.passed and how == result.how
    verdict = "pass" if passed else "missing" if how == "missing" else "fail"
    bypass = flags.rcp_bypass if not passed and how in _BYPASSED else None
    counted = "train_samples" if samples else _counted(test)
    of_reference = reference.mean if reference else None
    logs_unit = None
    if counted == "epoch_num":
        epoch = samples_of_epoch(test.needs.name, runs)
        logs_unit = other_unit(progress.by_run, test.unit, result.batch_size, of_reference, epoch)
    return RcpResult(
        verdict="bypassed" if bypass else verdict,
        how=how,
        counted=counted,
        unit=test.unit,
        logs_unit=logs_unit,
        batch_size=result.batch_size,
        mean=result.mean if logs_unit is None else None,
        reference_mean=of_reference,
        reference_stdev=reference.stdev if reference else None,
        reference_runs=reference.runs if reference else None,
        minimum=result.minimum,
        scaling=result.scaling,
        points=progress.by_run,
        bypass=bypass,
        reference_points=test.which,
    )


def _not_read(progress: Progress) -> str | None:
    """Why the points of the runs are not known."""
    if progress.crashes:
        return "crash"
    return "no-point" if progress.unknown or progress.beyond else None


def _counted(test: _Setting) -> str:
    gathers: Any = test.paired.gathers if test.paired else None
    return str(gathers.by) if gathers is not None else unit_of(test.needs.name)


def _hull(entry: Entry, test: _Setting, progress: Progress, result: Result, rcp: RcpResult) -> tuple[Finding, ...]:
    """Whether the hull of the written rules decides otherwise than the official pruning."""
    if test.algorithm.pruning == "none":
        return ()
    by_hull = _judged(progress, test, by_hull=True)
    if by_hull.passed == result.passed and abs(by_hull.scaling - result.scaling) < 1e-9:
        return ()
    return (words.hull(entry, rcp, result, by_hull),)


def _deadline(
    entry: Entry, test: _Setting, progress: Progress, result: Result, round_: Round, rcp: RcpResult
) -> Iterator[Finding]:
    """Which points count where those of the deadline were asked for, and the answers with the points of other days."""
    name = test.needs.name
    if test.which == "deadline":
        yield words.deadline_points(entry, name, round_)
    for which, points in test.others:
        other = _judged(progress, msgspec.structs.replace(test, points=points))
        if (other.passed, other.scaling) != (result.passed, result.scaling):
            yield words.other_points(entry, rcp, name, (result, other), which, round_)


def _mixed(entry: Entry, test: _Setting, progress: Progress, rcp: RcpResult) -> Iterator[Finding]:
    """To v2.1 the batch size of the log that is read last counts: the answer with each of several."""
    if test.algorithm.name != "folder":
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
            (shown, users[shown], _judged(msgspec.structs.replace(progress, batch_size=size), test))
            for shown, size in list(sizes.items())[:_MOST_SIZES]
        ]
        yield words.mixed_sizes(entry, rcp, answers, show(progress.batch_size))
