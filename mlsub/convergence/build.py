"""Build reference convergence points from runs of the reference implementation."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from functools import lru_cache
from pathlib import Path
from typing import Any

import msgspec

from mlsub.audit.cross import audit_same_runs
from mlsub.convergence.algorithm import Algorithm, algorithm_of, newest_algorithm, unit_of
from mlsub.convergence.point import paired_rule
from mlsub.convergence.reference import points_name
from mlsub.convergence.runs import progress_of
from mlsub.log.report import LogReport
from mlsub.rounds import Round
from mlsub.rules.load import benchmark, rules_for
from mlsub.rules.model import RuleSet
from mlsub.show import show

#: Logged with every run, and no choice of whoever trains.
_NO_CHOICE = frozenset(("global_batch_size", "train_samples", "eval_samples", "seed", "cache_clear"))


class Provenance(msgspec.Struct, frozen=True):
    """Who ran the reference, when and on what; None to read it off the logs."""

    creator: str | None = None
    when: str | None = None
    platform: str | None = None


_FROM_LOGS = Provenance()


class Built(msgspec.Struct, frozen=True):
    """Records in the official format by their names, what forbids to use them, and what a reader should know."""

    records: dict[str, dict[str, Any]]
    problems: tuple[str, ...]
    notes: tuple[str, ...]


def algorithm_for(round_: Round) -> Algorithm:
    """The algorithm of a round; the newest where it has none yet."""
    return algorithm_of(round_.usage, round_.name, round_.overlay) or newest_algorithm()


def build_records(logs: Sequence[LogReport], name: str, round_: Round, provenance: Provenance = _FROM_LOGS) -> Built:
    """One record a batch size.

    Args:
        logs: judged logs of one benchmark, each a run of the reference implementation.
        name: the benchmark.
        round_: whose rules hold.
        provenance: what the caller knows better than the logs.
    """
    needs = benchmark(round_.usage, round_.name, name, round_.overlay)
    rules = rules_for(round_.usage, round_.name, "closed", name, round_.overlay)
    problems = [*_of_runs(logs, name, round_, rules), *_copies(logs)]
    notes: list[str] = []
    records: dict[str, dict[str, Any]] = {}
    groups = _by_batch_size(logs)
    for size in sorted(groups):
        runs = groups[size]
        if len(runs) < 2 * needs.runs:
            problems.append(
                f"batch size {show(size)} has {len(runs)} runs, {2 * needs.runs - len(runs)} too few: "
                f"a reference needs {2 * needs.runs}, twice those of an entry"
            )
        hyperparameters, differing = _hyperparameters(runs, rules)
        notes += [f"batch size {show(size)}: the runs differ in {key}, which is left out" for key in differing]
        records[f"{name}_ref_{show(size)}"] = {
            "Benchmark": name,
            **_provenance(runs, provenance),
            "BS": size,
            "Hyperparams": hyperparameters,
            points_name(name): [point for log in runs if (point := _point(log, name, round_, rules)) is not None],
        }
    return Built(records, tuple(problems), tuple(notes))


def _point(log: LogReport, name: str, round_: Round, rules: RuleSet) -> float | None:
    progress = progress_of([log.run], name, algorithm_for(round_), unit_of(name), paired_rule(rules))
    return progress.by_run[0]


def _of_runs(logs: Sequence[LogReport], name: str, round_: Round, rules: RuleSet) -> Iterator[str]:
    """Why a run is none of the reference."""
    for log in logs:
        if not log.compliant:
            why = next((finding.message for finding in log.findings if finding.rejects), "see mlsub check")
            yield f"{log.path} is noncompliant: {why}"
        elif not log.run.converged:
            yield f"{log.path} did not converge: its status is {show(log.status)}"
        elif _point(log, name, round_, rules) is None:
            yield f"{log.path} says nowhere at what point it converged"
        elif not _is_size(log.run.hyperparameters.get("global_batch_size")):
            yield f"{log.path} has no global_batch_size that is a number"


def _copies(logs: Sequence[LogReport]) -> Iterator[str]:
    for finding in audit_same_runs(logs):
        yield f"{finding.path}: {finding.message} ({finding.actual})"


def _is_size(value: Any) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool) and 0 < value < 1e15


def _by_batch_size(logs: Sequence[LogReport]) -> dict[Any, list[LogReport]]:
    groups: dict[Any, list[LogReport]] = {}
    for log in logs:
        size = log.run.hyperparameters.get("global_batch_size")
        if _is_size(size):
            groups.setdefault(size, []).append(log)
    return groups


def _hyperparameters(runs: Sequence[LogReport], rules: RuleSet) -> tuple[dict[str, Any], list[str]]:
    """What the rules of the benchmark ask for and all runs have set alike; and in what they differ."""
    wanted = [rule.key for rule in rules.rules]
    wanted += [rule.key for variant in rules.variants for rule in variant.rules]
    same: dict[str, Any] = {}
    differing = []
    for key in dict.fromkeys(wanted):
        values = [log.run.hyperparameters[key] for log in runs if key in log.run.hyperparameters]
        if key in _NO_CHOICE or not values or values[0] is None:
            continue
        if all(value == values[0] for value in values):
            same[key] = values[0]
        else:
            differing.append(key)
    return same, differing


def _provenance(runs: Sequence[LogReport], told: Provenance) -> dict[str, str]:
    started = min((log.run.timeline.run_start or 0 for log in runs), default=0)
    day = datetime.fromtimestamp(started / 1000, UTC).date().isoformat() if 0 < started < 1e14 else "unknown"
    return {
        "Creator": told.creator or _agreed(runs, "submission_org"),
        "When": told.when or day,
        "Platform": told.platform or _agreed(runs, "submission_platform"),
    }


def _agreed(runs: Sequence[LogReport], key: str) -> str:
    values = {str(log.run.identity.get(key)) for log in runs if log.run.identity.get(key)}
    return ", ".join(sorted(values))[:200] or "unknown"


@lru_cache(maxsize=1)
def _schema() -> Any:
    return json.loads(Path(__file__).with_name("rcp_schema.json").read_text("utf-8"))


def against_schema(records: dict[str, Any]) -> list[str]:
    """In words, where records are not of the official format."""
    from jsonschema import Draft202012Validator

    found = Draft202012Validator(_schema()).iter_errors(records)
    return [f"{'/'.join(map(str, error.absolute_path))}: {error.message}"[:200] for error in found]
