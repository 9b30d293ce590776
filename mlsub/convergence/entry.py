"""The convergence test of one entry, from its judged logs to a result and findings."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import msgspec

from mlsub.convergence import words
from mlsub.convergence.algorithm import Algorithm, algorithm_of, is_tested, unit_of, unit_words
from mlsub.convergence.point import paired_rule
from mlsub.convergence.reference import Point, ReferenceFileError, benchmark_in, points_of, reference_file
from mlsub.convergence.runs import Progress, progress_of
from mlsub.convergence.verdict import Result, judge_convergence
from mlsub.divisions import division_of
from mlsub.findings import Finding
from mlsub.log.run import Run
from mlsub.report.model import RcpResult
from mlsub.rounds import Round, overlay_rounds
from mlsub.rules.load import Benchmark, benchmark, rules_for
from mlsub.rules.model import KeyRule
from mlsub.submission.model import Entry
from mlsub.submission.params import NO_FLAGS, Flags

#: What a bypass lets pass; a test that could not begin is no result that a bypass can turn.
_BYPASSED = ("exact", "interpolated", "missing")


class Options(msgspec.Struct, frozen=True):
    """What the caller asks of the test: a reference file of his own, and BERT counted by ``train_samples``."""

    reference: str | None = None
    train_samples: bool = False


USUAL = Options()


class Convergence(msgspec.Struct, frozen=True):
    """What the test of an entry comes to."""

    result: RcpResult
    findings: tuple[Finding, ...] = ()


class _Setting(msgspec.Struct, frozen=True):
    """All the test of one entry needs."""

    algorithm: Algorithm
    needs: Benchmark
    points: tuple[Point, ...]
    paired: KeyRule | None
    unit: str


def convergence_of(
    entry: Entry, needs: Benchmark, round_: Round, flags: Flags = NO_FLAGS, options: Options = USUAL
) -> Convergence:
    """Hold an entry against the reference of its round, as the official checker of the round's day does.

    Args:
        entry: with its judged logs.
        needs: what the folder's benchmark asks for.
        round_: whose reference and algorithm hold.
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
    by_samples = found.needs.name == "bert" and (options.train_samples or flags.train_samples is not None)
    result, progress = _outcome(runs, found, samples=by_samples)
    rcp = _rcp(result, progress, found, by_samples, flags)
    rcp = _with_other_count(rcp, runs, found, by_samples, flags)
    findings = [*words.about(entry, rcp, progress), *_hull(entry, found, progress, result, rcp)]
    if by_samples:
        findings.append(words.by_train_samples(entry, flags.train_samples))
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
    logged = next((log.benchmark for log in entry.logs if log.benchmark), None)
    name = needs.name if algorithm.name == "folder" or logged is None else logged
    own = Path(options.reference) if options.reference else None
    try:
        file = own if own and benchmark_in(own) == name else reference_file(round_.usage, round_.ruleset, name)
        if file is None:
            return words.no_reference(
                entry, name, round_, "the installed mlperf-logging has no reference points for it"
            )
        asked = benchmark(round_.usage, round_.name, name, round_.overlay)
        points = points_of(file, name, asked.runs, algorithm)
    except (KeyError, ReferenceFileError) as error:
        why = "it is no benchmark of this round" if isinstance(error, KeyError) else str(error)
        return words.no_reference(entry, name, round_, why)
    paired = paired_rule(rules_for(round_.usage, round_.name, "closed", name))
    return _Setting(algorithm, asked, points, paired, unit_words(name, round_))


def _outcome(runs: Sequence[Run], test: _Setting, *, samples: bool, by_hull: bool = False) -> tuple[Result, Progress]:
    name = test.needs.name
    progress = progress_of(runs, name, test.algorithm, unit_of(name), test.paired, samples=samples)
    return _judged(progress, test, by_hull=by_hull), progress


def _judged(progress: Progress, test: _Setting, *, by_hull: bool = False) -> Result:
    return judge_convergence(progress, test.points, test.needs.name, test.needs.runs, test.algorithm, by_hull=by_hull)


def _rcp(result: Result, progress: Progress, test: _Setting, samples: bool, flags: Flags) -> RcpResult:
    reference = result.reference
    how = "no-point" if progress.untold else result.how
    passed = result.passed and not progress.untold
    verdict = "pass" if passed else "missing" if how == "missing" else "fail"
    bypass = flags.rcp_bypass if not passed and how in _BYPASSED else None
    counted = "train_samples" if samples else _counted(test)
    return RcpResult(
        verdict="bypassed" if bypass else verdict,
        how=how,
        counted=counted,
        unit=test.unit,
        batch_size=result.batch_size,
        mean=result.mean,
        reference_mean=reference.mean if reference else None,
        reference_stdev=reference.stdev if reference else None,
        reference_runs=reference.runs if reference else None,
        minimum=result.minimum,
        scaling=result.scaling,
        points=progress.by_run,
        bypass=bypass,
    )


def _counted(test: _Setting) -> str:
    gathers: Any = test.paired.gathers if test.paired else None
    return str(gathers.by) if gathers is not None else unit_of(test.needs.name)


def _with_other_count(rcp: RcpResult, runs: Sequence[Run], test: _Setting, samples: bool, flags: Flags) -> RcpResult:
    """BERT's answer by the other way of counting beside the one that counts."""
    if test.needs.name != "bert":
        return rcp
    result, progress = _outcome(runs, test, samples=not samples)
    return msgspec.structs.replace(rcp, also=_rcp(result, progress, test, not samples, flags))


def _hull(entry: Entry, test: _Setting, progress: Progress, result: Result, rcp: RcpResult) -> tuple[Finding, ...]:
    """Whether the hull of the written rules decides otherwise than the official pruning."""
    if test.algorithm.pruning == "none":
        return ()
    by_hull = _judged(progress, test, by_hull=True)
    if by_hull.passed == result.passed and abs(by_hull.scaling - result.scaling) < 1e-9:
        return ()
    return (words.hull(entry, rcp, result, by_hull),)
