"""The rules on one entry: number of runs, compliance, seeds, convergence, energy."""

from __future__ import annotations

import stat
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

import msgspec

from mlsub.convergence import USUAL, Options, algorithm_of
from mlsub.convergence.entry import Convergence, convergence_of
from mlsub.divisions import division_of
from mlsub.findings import Blocks, Effect, Finding, Kind, Severity, Verdict
from mlsub.io import reason_of
from mlsub.io.look import status_of
from mlsub.io.show import several
from mlsub.judge.keys import audit_keys, hyperparameter_keys
from mlsub.judge.runs import audit_dates, judge_seeds
from mlsub.review.cross import audit_entry, audit_samples
from mlsub.review.entry import audit_peak, audit_runs
from mlsub.review.fingerprints import audit_resubmission
from mlsub.rounds import Round
from mlsub.rules.catalogue import find_rule, finding, has_effect, reviewed
from mlsub.rules.load import EntryRequirements
from mlsub.score import FILE, audit_factor, audit_scales, energy_of, judge_score, power_of
from mlsub.submission.model import POWER, Entry
from mlsub.submission.params import NO_FLAGS, Flags
from mlsub.submission.remedies import fix_for_run_count
from mlsub.submission.report import EnergyResult, EntryResult, RcpResult, ScoreResult

#: What rightly lies beside results: a scaling factor, power measurements, flags of the package checker.
KNOWN_COMPANIONS = frozenset((FILE, POWER, "package_checker_params"))

#: Who forgives runs in a round without a package checker.
_BY_RULES = "training rules: olympic scoring drops the slowest run"


class JudgedEntry(NamedTuple):
    """The verdict on an entry, the findings beyond those of its logs, and the logs that these call copies."""

    result: EntryResult
    findings: tuple[Finding, ...]
    copies: frozenset[str]


def judge_entry(
    entry: Entry,
    needs: EntryRequirements,
    round_: Round,
    flags: Flags = NO_FLAGS,
    options: Options = USUAL,
    *,
    misplaced: bool = False,
) -> JudgedEntry:
    """Judge an entry whose logs have been judged.

    Args:
        entry: with its judged logs.
        needs: what its benchmark asks for.
        round_: whose rules hold.
        flags: those of the submission.
        options: what the caller asks of the convergence test.
        misplaced: it lies where no package checker finds it.
    """
    path, name = entry.path, needs.name
    power, unmeasured = power_of(entry, round_)
    convergence = convergence_of(entry, needs, round_, flags, options)
    score, about_score = judge_score(entry, needs, round_, convergence)
    factor, unknown_factor = audit_factor(entry, score, convergence)
    energy, uncounted = energy_of(entry, needs, power, score)
    seeds = judge_seeds(entry, round_, flags)
    mismatches = reviewed("cross", path, lambda: audit_entry(entry))
    reported = {found.rule for found in (*mismatches, *convergence.findings) if found.severity is not Severity.NOTE}
    findings = [
        *_check_files(entry, needs, round_),
        *_check_compliance(entry, needs, round_, power.faulted if power else frozenset()),
        *seeds.findings,
        *_on_convergence(entry, convergence.findings, score),
        *_check_scaling_file(entry, convergence.result, round_),
        *about_score,
        *audit_scales(entry),
        *mismatches,
        *reviewed("cross.runs-differ", path, lambda: audit_runs(entry, hyperparameter_keys(round_, name), reported)),
        *reviewed("cross.round", path, lambda: audit_dates(entry, round_, name)),
        *reviewed("run.misspelt-key", path, lambda: audit_keys(entry.logs, round_, name)),
        *reviewed("entry.resubmitted", path, lambda: audit_resubmission(entry, round_)),
        *reviewed("entry.faster-than-peak", path, lambda: audit_peak(entry, name, convergence.result)),
        *reviewed("entry.samples-count", path, lambda: audit_samples(entry, convergence.result)),
        *(power.crashes if power else ()),
        *unmeasured,
        *uncounted,
    ]
    findings = official_only_if_checked(_with_crashes(entry, findings), round_)
    # No checker accepts an entry with a file without a run, or whose description the package checker lacks.
    unacceptable = any(log.without_run for log in entry.logs) or (round_.descriptions_checked and entry.undescribed)
    rejected = unacceptable or any(f.rejects for f in findings)
    # A factor says something of an entry that counts, in a division that has a convergence test, or has none.
    counts = not rejected and division_of(entry.division) is not None
    findings += (*(factor if counts else ()), *unknown_factor)
    findings = _without_void(entry, findings, convergence, rejected=rejected)
    rejected = unacceptable or (misplaced and round_.package_checker) or any(f.rejects for f in findings)
    result = _build_result(entry, needs, convergence.result, score, energy, rejected=rejected)
    # The findings on power are about single runs, like those of logs: an entry may hold some of them.
    return JudgedEntry(result, (*(power.findings if power else ()), *findings), seeds.copies)


def _build_result(
    entry: Entry,
    needs: EntryRequirements,
    rcp: RcpResult,
    score: ScoreResult,
    energy: EnergyResult | None,
    *,
    rejected: bool,
) -> EntryResult:
    return EntryResult(
        path=entry.path,
        organisation=entry.organisation,
        system=entry.system,
        benchmark=needs.name,
        scaling_type=entry.scaling_type,
        division=entry.division,
        official=Verdict.REJECTED if rejected else Verdict.ACCEPTED,
        runs=len(entry.logs),
        compliant=sum(log.compliant for log in entry.logs),
        converged=sum(log.run.converged for log in entry.logs),
        minutes=score.published,
        rcp=rcp,
        score=score,
        energy=energy,
    )


def official_only_if_checked(findings: Iterable[Finding], round_: Round) -> list[Finding]:
    """Return the findings; those that would reject are review where no checker of the round looks.

    Without a package checker only what logs break rejects; nothing on descriptions does where it reads none.
    """

    def is_checked(found: Finding) -> bool:
        unread = not round_.descriptions_checked and has_effect(found, Effect.DESCRIPTION)
        return (round_.package_checker and not unread) or has_effect(found, Effect.LOG_CHECKER)

    return [
        msgspec.structs.replace(found, kind=Kind.REVIEW, blocks=Blocks.NONE)
        if found.rejects and not is_checked(found)
        else found
        for found in findings
    ]


def _check_scaling_file(entry: Entry, rcp: RcpResult, round_: Round) -> Iterator[Finding]:
    """Where a reference point applies, the official checker removes ``scaling.json``, which it cannot of a folder."""
    algorithm = algorithm_of(round_.usage, round_.name, round_.overlay)
    if algorithm is None or not algorithm.normalise or rcp.minimum is None:
        return
    file, path = entry.folder / FILE, f"{entry.path}/{FILE}" if entry.path not in ("", ".") else FILE
    try:
        found = status_of(file, follow=False)
    except OSError as error:
        yield finding("score.scaling-file", path, actual=reason_of(error))
        return
    if found is not None and stat.S_ISDIR(found.st_mode):
        yield finding(
            "official.crash",
            path,
            "The official checker ends with a traceback on a scaling.json that is a folder",
            expected="a file, or none",
            actual="a folder",
        )


def _on_convergence(entry: Entry, findings: Iterable[Finding], score: ScoreResult) -> Iterator[Finding]:
    """The findings on convergence; a score is not scaled in weak scaling, nor twice where scaling.json agrees."""
    settled = entry.scaling_type == "weak" or (score.scaling_file and score.as_expected)
    return (found for found in findings if not (settled and has_effect(found, Effect.SCALES)))


def _without_void(
    entry: Entry, findings: Sequence[Finding], convergence: Convergence, *, rejected: bool
) -> list[Finding]:
    """The findings of an entry without those that another one of the same defect explains, or makes void."""
    several = convergence.several_benchmarks
    unread = {f.path for f in findings if f.rejects} & {log.path for log in entry.logs if log.undecodable}
    causes = [info for f in findings if (info := find_rule(f.rule)) is not None and info.explains]

    def is_void(found: Finding) -> bool:
        return (
            (several and has_effect(found, Effect.ONE_BENCHMARK))
            or (rejected and (several or bool(unread)) and has_effect(found, Effect.FORGIVES))
            or (has_effect(found, Effect.FOLLOWS) and any(cause.explains_rule(found.rule) for cause in causes))
        )

    return [found for found in findings if not is_void(found)]


def _check_files(entry: Entry, needs: EntryRequirements, round_: Round) -> Iterator[Finding]:
    """How many result files there are, whether the official tools find them, and what else lies there."""
    if entry.elsewhere is not None:
        yield finding("entry.glob-name", entry.path, actual=entry.elsewhere)
    runs = len(entry.results)
    strays = [name for name in entry.strays if name not in KNOWN_COMPANIONS]
    weak = entry.scaling_type == "weak"
    if runs < needs.runs or (runs > needs.runs and not weak):
        misnamed = f"; also there: {', '.join(strays[:5])}" if strays else ""
        yield finding(
            "entry.run-count" if round_.run_count_demanded or not runs else "entry.run-count-reported",
            entry.path,
            f"The number of result files differs from what {needs.name} requires",
            expected=f"{'at least ' if weak else ''}{needs.runs} files named result_*.txt",
            actual=f"{runs}{misnamed}",
            fix=fix_for_run_count(entry, needs.runs),
        )
    elif strays:
        yield finding("entry.stray-files", entry.path, actual=several(strays, 10))


def _with_crashes(entry: Entry, findings: list[Finding]) -> list[Finding]:
    """The findings, with those on crashes of official tools where nothing else says that the run is not acceptable.

    A run that would be forgiven is not, if the official tools cannot read it. A record that cannot be decoded has its
    own finding, and in Closed the seed check fails on it.
    """
    broken = {log.path for log in entry.logs if log.undecodable}
    others = [f for f in findings if not (has_effect(f, Effect.CRASH) and f.path in broken)]
    if any(f.rejects for f in others):
        return others
    reported = {f.path for f in findings if has_effect(f, Effect.CRASH)}
    return findings + [
        finding(
            "official.crash",
            log.path,
            "The official compliance checker ends with a traceback at this record, so the package cannot be checked",
            line=log.crash.line,
            expected="runs that it can read, including forgiven ones",
            actual=log.crash.error,
        )
        for log in entry.logs
        if log.crash is not None and log.path not in reported
    ]


def _check_compliance(
    entry: Entry, needs: EntryRequirements, round_: Round, faulted: frozenset[str]
) -> Iterator[Finding]:
    """How many runs are noncompliant, by their logs or by their power measurements (``faulted``)."""
    missing = [log for log in entry.logs if log.without_run]
    bad = [log.name for log in entry.logs if not log.compliant or log.name in faulted]
    too_many = len(bad) > needs.forgiven and len(bad) > len(missing)
    if too_many or (bad and not missing):
        yield finding(
            "entry.noncompliant-runs" if too_many else "entry.forgiven-runs",
            entry.path,
            expected=f"at most {needs.forgiven}",
            actual=f"{len(bad)}: {several(bad, 10)}",
            source=None if round_.package_checker else _BY_RULES,
        )
