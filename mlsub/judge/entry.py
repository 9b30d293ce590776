"""The rules on one entry: number of runs, compliance, seeds."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from mlsub.audit.cross import audit_entry
from mlsub.audit.seeds import audit_seeds
from mlsub.divisions import division_of
from mlsub.findings import Finding
from mlsub.judge.seeds import check_seeds
from mlsub.log.report import LogReport
from mlsub.rounds import Round
from mlsub.rules.catalogue import finding
from mlsub.rules.load import Benchmark
from mlsub.submission.model import Entry

#: What rightly lies beside results: the committee's scaling factor, power measurements, flags of the package checker.
KNOWN_COMPANIONS = frozenset(("scaling.json", "power", "package_checker_params"))


def judge_entry(entry: Entry, needs: Benchmark, round_: Round) -> tuple[Finding, ...]:
    """Everything there is to say of an entry beyond its single logs.

    The convergence test (RCP) has its place behind the seeds; it is not part of this version.
    """
    findings = [*_files(entry, needs), *_compliance(entry, needs)]
    division = division_of(entry.division)
    bound = division is not None and division.seeds and round_.seeds != "unchecked"
    seeds = list(check_seeds(entry.logs, required=round_.seeds == "required")) if bound else []
    findings.extend(seeds)
    shared = frozenset(f.path for f in seeds if f.rule == "seed.shared")
    findings.extend(audit_seeds(entry.logs, shared))
    findings.extend(audit_entry(entry))
    return tuple(findings)


def _files(entry: Entry, needs: Benchmark) -> Iterator[Finding]:
    runs = len(entry.files.results)
    strays = [name for name in entry.files.strays if name not in KNOWN_COMPANIONS]
    weak = entry.files.scaling_type == "weak"
    if runs < needs.runs or (runs > needs.runs and not weak):
        misnamed = f"; also there: {', '.join(strays[:5])}" if strays else ""
        yield finding(
            "entry.run-count",
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


def _name(log: LogReport) -> str:
    return log.path.rpartition("/")[2]


def _list(names: Sequence[str]) -> str:
    return ", ".join(names[:10]) + (", …" if len(names) > 10 else "")


def _compliance(entry: Entry, needs: Benchmark) -> Iterator[Finding]:
    missing = [log for log in entry.logs if log.without_run]
    bad = [_name(log) for log in entry.logs if not log.compliant]
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
