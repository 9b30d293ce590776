"""The rules on one entry: number of runs, compliance, seeds, convergence, energy."""

from __future__ import annotations

import stat
from collections.abc import Iterable, Iterator
from typing import Any

import msgspec

from mlsub.convergence.algorithm import algorithm_of
from mlsub.convergence.entry import USUAL, Options, convergence_of
from mlsub.convergence.words import SEVERAL_BENCHMARKS
from mlsub.divisions import division_of
from mlsub.findings import Blocks, Finding, Kind, Severity, Verdict
from mlsub.io.errors import reason_of
from mlsub.io.look import status_of
from mlsub.io.show import plural, several, show
from mlsub.judge.dates import audit_dates
from mlsub.judge.keys import audit_keys, hyperparameter_keys
from mlsub.judge.scoring import audit_scales, energy_of, judge_score, power_of
from mlsub.log.event import Seed
from mlsub.log.run import MAX_SEEDS
from mlsub.review.cross import audit_entry, audit_samples, audit_seeds, digest_log
from mlsub.review.entry import audit_runs
from mlsub.rounds import Round
from mlsub.rules.catalogue import finding, reviewed
from mlsub.rules.load import EntryRequirements
from mlsub.score.scaled import FILE
from mlsub.submission.model import POWER, Entry, LogReport
from mlsub.submission.params import NO_FLAGS, Flags
from mlsub.submission.remedies import fix_for_run_count
from mlsub.submission.report import EnergyResult, EntryResult, RcpResult, ScoreResult

#: What rightly lies beside results: a scaling factor, power measurements, flags of the package checker.
KNOWN_COMPANIONS = frozenset((FILE, POWER, "package_checker_params"))

_CRASH = "official.crash"
#: The rules that decide in a round without a package checker: what a log breaks, and what kept it from being read.
_OF_LOGS = ("key.", "log.", "check.", "tree.no-logs", "tree.unreadable", "entry.noncompliant-runs")
#: The rules on descriptions, which decide nothing in a round whose package checker reads none.
_OF_DESCRIPTIONS = ("system.", "tree.system")
#: Who forgives runs in a round without a package checker.
_BY_RULES = "training rules: olympic scoring drops the slowest run"
#: What a shared seed says where all of the log is that of another run.
COPIED = "The log is a copy of another run's, with the same seed"


def judge_entry(
    entry: Entry,
    needs: EntryRequirements,
    round_: Round,
    flags: Flags = NO_FLAGS,
    options: Options = USUAL,
    *,
    misplaced: bool = False,
) -> tuple[EntryResult, tuple[Finding, ...]]:
    """Return the verdict on an entry, and the findings beyond those of its logs.

    Args:
        entry: with its judged logs.
        needs: what its benchmark asks for.
        round_: whose rules hold.
        flags: those of the submission.
        options: what the caller asks of the convergence test.
        misplaced: it lies where no package checker finds it.
    """
    power, unmeasured = power_of(entry, round_)
    noncompliant = frozenset(log.name for log in entry.logs if not log.compliant)
    dropped = noncompliant | power.faulted if power else noncompliant
    convergence = convergence_of(entry, needs, round_, flags, options)
    score, about_score, differs = judge_score(entry, needs, round_, convergence)
    energy, uncounted = energy_of(entry, needs, power, score)
    mismatches = reviewed("cross", entry.path, lambda: audit_entry(entry))
    reported = {found.rule for found in (*mismatches, *convergence.findings) if found.severity is not Severity.NOTE}
    findings = [
        *_files(entry, needs, round_),
        *_compliance(entry, needs, round_, dropped),
        *_seeds(entry, round_, flags),
        *_settled(entry, convergence.findings, score),
        *_scaling_place(entry, convergence.result, round_),
        *about_score,
        *audit_scales(entry),
        *mismatches,
        *reviewed(
            "cross.runs-differ",
            entry.path,
            lambda: audit_runs(entry, hyperparameter_keys(round_, needs.name), reported),
        ),
        *reviewed("cross.round", entry.path, lambda: audit_dates(entry, round_, needs.name)),
        *reviewed("run.misspelt-key", entry.path, lambda: audit_keys(entry.logs, round_, needs.name)),
        *reviewed("entry.samples-count", entry.path, lambda: audit_samples(entry, convergence.result)),
        *(power.crashes if power else ()),
        *unmeasured,
        *uncounted,
    ]
    findings = binding(_crashes(entry, findings), round_)
    rejected = _without_result(entry, round_) or any(f.rejects for f in findings)
    # A factor says something of an entry that counts, in a division that has a convergence test, or has none.
    counts = not rejected and division_of(entry.division) is not None
    findings += [f for f in differs if counts or f.rule != "score.scaling-differs"]
    findings = _without_follow_ups(entry, findings, rejected=rejected)
    no_result = _without_result(entry, round_) or (misplaced and round_.package_checker)
    rejected = no_result or any(f.rejects for f in findings)
    result = _result(entry, needs, convergence.result, score, energy, rejected=rejected)
    # The findings on power are about single runs, like those of logs: an entry may hold some of them.
    return result, (*(power.findings if power else ()), *findings)


def _result(
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


def _without_result(entry: Entry, round_: Round) -> bool:
    """Whether no checker can accept an entry: a file has no run, or the package checker finds no description."""
    return (round_.descriptions_checked and entry.undescribed) or any(log.without_run for log in entry.logs)


def binding(findings: Iterable[Finding], round_: Round) -> list[Finding]:
    """The findings; what the checkers of the round do not look at is not official.

    Without a package checker only what logs break is; where that reads no descriptions, nothing that is about them.
    """
    unread = () if round_.descriptions_checked else _OF_DESCRIPTIONS
    return [
        found
        if (round_.package_checker and not found.rule.startswith(unread)) or found.rule.startswith(_OF_LOGS)
        else msgspec.structs.replace(found, kind=Kind.REVIEW, blocks=Blocks.NONE)
        if found.rejects
        else found
        for found in findings
    ]


def _scaling_place(entry: Entry, rcp: RcpResult, round_: Round) -> Iterator[Finding]:
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


def _settled(entry: Entry, findings: Iterable[Finding], score: ScoreResult) -> Iterator[Finding]:
    """The findings on convergence; a score that is scaled as expected leaves nothing to do.

    One of weak scaling is not scaled at all.
    """
    done = score.scaling_file and score.as_expected
    for found in findings:
        settled = done and found.rule == "rcp.normalised"
        if found.rule == "rcp.normalised" and entry.scaling_type == "weak":
            continue
        yield msgspec.structs.replace(found, fix="Nothing: scaling.json has this factor.") if settled else found


def _without_follow_ups(entry: Entry, findings: list[Finding], *, rejected: bool) -> list[Finding]:
    """The findings of an entry without those that another one of the same defect explains, or makes void."""
    several = any(f.rule == "rcp.batch-size" and f.message == SEVERAL_BENCHMARKS for f in findings)
    unread = {f.path for f in findings if f.rejects} & {log.path for log in entry.logs if log.undecodable}
    void = {
        "cross.benchmark": several,
        "cross.runs-differ": several,
        "entry.forgiven-runs": rejected and (several or bool(unread)),
        "rcp.mixed-batch-sizes": any(f.rule == "cross.benchmark" for f in findings),
    }
    return [f for f in findings if not void.get(f.rule)]


def _seeds(entry: Entry, round_: Round, flags: Flags) -> Iterator[Finding]:
    division = division_of(entry.division)
    bound = division is not None and division.seeds and round_.seeds != "unchecked"
    seeds = list(check_seeds(entry.logs, required=round_.seeds == "required")) if bound else []
    if bound and flags.seed_bypass is not None:
        yield finding(
            "seed.bypass",
            entry.path,
            f"{flags.seed_bypass} turns off the seed check",
            actual=f"not shown: {plural(len(seeds), 'finding')} on seeds" if seeds else "the seeds would pass",
        )
    else:
        yield from seeds
    shared = frozenset(f.path for f in seeds if f.rule == "seed.shared")
    yield from reviewed("seed.reused", entry.path, lambda: audit_seeds(entry.logs, shared))


def _files(entry: Entry, needs: EntryRequirements, round_: Round) -> Iterator[Finding]:
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


def _crashes(entry: Entry, findings: list[Finding]) -> list[Finding]:
    """The findings, with those on crashes of official tools where nothing else says that the run is not acceptable.

    A run that would be forgiven is not, if the official tools cannot read it. A record that cannot be decoded has its
    own finding, and in Closed the seed check fails on it.
    """
    broken = {log.path for log in entry.logs if log.undecodable}
    others = [f for f in findings if f.rule != _CRASH or f.path not in broken]
    if any(f.rejects for f in others):
        return others
    reported = {f.path for f in findings if f.rule == _CRASH}
    return findings + [
        finding(
            _CRASH,
            log.path,
            "The official compliance checker ends with a traceback at this record, so the package cannot be checked",
            line=log.crash.line,
            expected="runs that it can read, including forgiven ones",
            actual=log.crash.error,
        )
        for log in entry.logs
        if log.crash is not None and log.path not in reported
    ]


def _compliance(entry: Entry, needs: EntryRequirements, round_: Round, dropped: frozenset[str]) -> Iterator[Finding]:
    missing = [log for log in entry.logs if log.without_run]
    bad = [log.name for log in entry.logs if log.name in dropped]
    too_many = len(bad) > needs.forgiven and len(bad) > len(missing)
    if too_many or (bad and not missing):
        yield finding(
            "entry.noncompliant-runs" if too_many else "entry.forgiven-runs",
            entry.path,
            expected=f"at most {needs.forgiven}",
            actual=f"{len(bad)}: {several(bad, 10)}",
            source=None if round_.package_checker else _BY_RULES,
        )


def check_seeds(logs: tuple[LogReport, ...], *, required: bool = False) -> Iterator[Finding]:
    """Findings on the seeds of an entry's runs, in the order of their file names.

    From round 4.1 every run must log one (``required``). Before, an entry without any seed passes, and so do runs
    without one that sort before the first run with one; a later run without a seed does not. A seed is known by its
    value and the source line that logged it.
    """
    users: dict[tuple[Any, Any, Any], tuple[LogReport, Seed]] = {}
    some_seed = False
    for log in logs:
        if log.without_run:
            continue  # The missing run has its own finding.
        if log.undecodable:
            yield finding("seed.log-undecodable", log.path)
            continue
        unusable = next((seed for seed in log.run.seeds if seed.error), None)
        if unusable is not None:
            yield finding("seed.unusable", log.path, line=unusable.line, actual=unusable.error)
            continue
        some_seed = some_seed or bool(log.run.seeds)
        if required and not log.run.seeds:
            yield finding("seed.missing", log.path, expected="a different seed for each run", actual="none")
        elif some_seed and not log.run.seeds:
            yield finding(
                "seed.missing", log.path, "The run does not log its seed, but an earlier run of the entry does"
            )
        again = []
        for seed in log.run.seeds:
            first = users.setdefault((seed.file, seed.lineno, seed.value), (log, seed))
            if first[1] is not seed:
                again.append((seed, first[0]))
        if again:
            seed, owner = again[0]
            more = f", and {len(again) - 1} more" if len(again) > 1 else ""
            copied = owner is not log and digest_log(log) == digest_log(owner)
            yield finding(
                "seed.shared",
                log.path,
                COPIED if copied else None,
                line=seed.line,
                actual=f"seed {seed.value} of {show(seed.file)}:{show(seed.lineno)}, as in {owner.path}{more}",
                fix="Remove it, or put another run in its place." if copied else None,
            )
        if log.run.seeds_left_out:
            yield finding(
                "seed.too-many",
                log.path,
                expected=f"at most {MAX_SEEDS:,}",
                actual=f"{len(log.run.seeds) + log.run.seeds_left_out:,}",
            )
