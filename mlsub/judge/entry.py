"""The rules on one entry: number of runs, compliance, seeds, convergence, energy."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import msgspec

from mlsub.audit.cross import audit_entry
from mlsub.audit.seeds import audit_seeds
from mlsub.convergence.entry import USUAL, Options, convergence_of
from mlsub.divisions import division_of
from mlsub.energy import energy_result, judge_power
from mlsub.findings import Finding
from mlsub.judge.seeds import check_seeds
from mlsub.log.report import LogReport
from mlsub.report.model import EnergyResult, RcpResult, ScoreResult
from mlsub.rounds import Round
from mlsub.rules.catalogue import finding
from mlsub.rules.load import Benchmark
from mlsub.score.olympic import olympic_mean
from mlsub.score.scaled import audit_scaling, read_scaling, score_of
from mlsub.score.weak import weak_minutes
from mlsub.submission.model import Entry
from mlsub.submission.params import NO_FLAGS, Flags

#: What rightly lies beside results: the committee's scaling factor, power measurements, flags of the package checker.
KNOWN_COMPANIONS = frozenset(("scaling.json", "power", "package_checker_params"))

_CRASH = "official.crash"


class Judged(msgspec.Struct, frozen=True):
    """What there is to say of an entry beyond its single logs.

    ``findings`` decide of the entry; ``of_runs`` are about single runs, like those of their logs, and an entry may hold
    some of them.
    """

    findings: tuple[Finding, ...]
    of_runs: tuple[Finding, ...]
    rcp: RcpResult
    score: ScoreResult
    energy: EnergyResult | None


def judge_entry(
    entry: Entry, needs: Benchmark, round_: Round, flags: Flags = NO_FLAGS, options: Options = USUAL
) -> Judged:
    """Judge an entry.

    Args:
        entry: with its judged logs.
        needs: what its benchmark asks for.
        round_: whose rules hold.
        flags: those of the submission.
        options: what the caller asks of the convergence test.
    """
    power = judge_power(entry, round_)
    noncompliant = frozenset(_name(log) for log in entry.logs if not log.compliant)
    dropped = noncompliant | power.faulted if power else noncompliant
    convergence = convergence_of(entry, needs, round_, flags, options)
    minutes = minutes_of(entry, needs)
    file = read_scaling(entry.files.folder, entry.path)
    score = score_of(minutes, convergence.result.scaling, file)
    findings = [
        *_files(entry, needs, round_),
        *_compliance(entry, needs, dropped),
        *_seeds(entry, round_, flags),
        *convergence.findings,
        *file.findings,
        *audit_scaling(entry.path, convergence.result.scaling, file),
        *audit_entry(entry),
    ]
    findings = _crashes(entry, findings)
    counted = [log.minutes if log.compliant else None for log in entry.logs]
    return Judged(
        findings=tuple(findings),
        of_runs=power.findings if power else (),
        rcp=convergence.result,
        score=score,
        energy=energy_result(power, counted, needs.forgiven, score.scaling) if power else None,
    )


def minutes_of(entry: Entry, needs: Benchmark) -> float | None:
    """The time to train before any scaling, in minutes: of HPC's weak scaling that of all models together."""
    if entry.files.scaling_type == "weak":
        return weak_minutes([log.run.timeline for log in entry.logs if log.compliant], needs.runs)
    return olympic_mean([log.minutes if log.compliant else None for log in entry.logs], needs.forgiven)


def _seeds(entry: Entry, round_: Round, flags: Flags) -> Iterator[Finding]:
    division = division_of(entry.division)
    bound = division is not None and division.seeds and round_.seeds != "unchecked"
    seeds = list(check_seeds(entry.logs, required=round_.seeds == "required")) if bound else []
    if bound and flags.seed_bypass is not None:
        yield finding(
            "seed.bypass",
            entry.path,
            f"{flags.seed_bypass} asks not to check the seeds",
            actual=f"{len(seeds)} findings on seeds are not shown" if seeds else "the seeds would pass",
        )
    else:
        yield from seeds
    yield from audit_seeds(entry.logs, frozenset(f.path for f in seeds if f.rule == "seed.shared"))


def _files(entry: Entry, needs: Benchmark, round_: Round) -> Iterator[Finding]:
    runs = len(entry.files.results)
    strays = [name for name in entry.files.strays if name not in KNOWN_COMPANIONS]
    weak = entry.files.scaling_type == "weak"
    if runs < needs.runs or (runs > needs.runs and not weak):
        misnamed = f"; also there: {', '.join(strays[:5])}" if strays else ""
        yield finding(
            "entry.run-count" if round_.run_count_demanded or not runs else "entry.run-count-told",
            entry.path,
            f"The number of result files is not that of {needs.name}",
            expected=f"{'at least ' if weak else ''}{needs.runs} files named result_*.txt",
            actual=f"{runs}{misnamed}",
        )
    elif strays:
        yield finding(
            "entry.stray-files",
            entry.path,
            "The folder holds files that are not named result_*.txt",
            actual=_list(strays),
        )


def _crashes(entry: Entry, findings: list[Finding]) -> list[Finding]:
    """The findings, with those on crashes of official tools where nothing else says that the run is not acceptable.

    A run that would be forgiven is not, if the official tools cannot read it. A record that cannot be decoded has its
    own finding, and in Closed the seed check fails on it.
    """
    broken = {log.path for log in entry.logs if log.undecodable}
    others = [f for f in findings if f.rule != _CRASH or f.path not in broken]
    if any(f.rejects for f in others):
        return others
    told = {f.path for f in findings if f.rule == _CRASH}
    return findings + [
        finding(
            _CRASH,
            log.path,
            "The official compliance checker ends in a traceback at this record, so the package cannot be checked",
            line=log.crash.line,
            expected="runs that it can read, also those that are forgiven",
            actual=log.crash.error,
        )
        for log in entry.logs
        if log.crash is not None and log.path not in told
    ]


def _name(log: LogReport) -> str:
    return log.path.rpartition("/")[2]


def _list(names: Sequence[str]) -> str:
    return ", ".join(names[:10]) + (", …" if len(names) > 10 else "")


def _compliance(entry: Entry, needs: Benchmark, dropped: frozenset[str]) -> Iterator[Finding]:
    missing = [log for log in entry.logs if log.without_run]
    bad = [_name(log) for log in entry.logs if _name(log) in dropped]
    if len(bad) > needs.forgiven and len(bad) > len(missing):
        yield finding(
            "entry.noncompliant-runs",
            entry.path,
            "More runs are noncompliant than olympic scoring forgives",
            expected=f"at most {needs.forgiven}",
            actual=f"{len(bad)}: {_list(bad)}",
        )
    elif bad and not missing:
        yield finding(
            "entry.forgiven-runs",
            entry.path,
            "Noncompliant runs are forgiven and count as slowest",
            expected=f"at most {needs.forgiven}",
            actual=f"{len(bad)}: {_list(bad)}",
        )
