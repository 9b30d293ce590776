"""Build reference convergence points from runs of the reference implementation."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from difflib import get_close_matches
from itertools import groupby
from operator import itemgetter
from pathlib import Path
from typing import Any

import msgspec

from mlsub.commands.rcp.run import NewPoint, NewReference
from mlsub.convergence import algorithm_of, cut_of, newest_algorithm, traits_of, unit_of, unit_words
from mlsub.convergence.curves import prune
from mlsub.convergence.filecheck import check_records, check_reference_file, is_deep
from mlsub.convergence.reference import Point, read_points, reference_file
from mlsub.convergence.target import MeasureReader, target_of
from mlsub.convergence.verdict import progress_of
from mlsub.divisions import CLOSED
from mlsub.findings import Effect, Finding
from mlsub.io import MlsubError
from mlsub.io.problems import find_flaws
from mlsub.io.show import plural, readable, same_name, show, utc
from mlsub.log.event import Defect
from mlsub.log.events import EventTally, LogReader, read_log
from mlsub.log.reading import LARGEST_COUNT, usable_number
from mlsub.log.run import RunFold
from mlsub.review.fingerprints import audit_same_runs, fingerprint_logs
from mlsub.rounds import Round
from mlsub.rounds.benchmarks import names_by_title
from mlsub.rules.catalogue import has_effect
from mlsub.rules.constraints import StatedValues
from mlsub.rules.load import entry_requirements, rules_for
from mlsub.submission.model import LogReport

#: Logged with every run, and no choice of whoever trains.
_NO_CHOICE = frozenset(("global_batch_size", "train_samples", "eval_samples", "seed", "cache_clear"))
#: Characters of a hyperparameter; also a bound on how deep it is nested.
_MAX_VALUE = 1000


class BuiltRecords(msgspec.Struct, frozen=True):
    """Records in the official format by their names, what forbids to use them, and what a reader should know.

    ``findings`` are what makes files no runs of a submission, where that does not forbid it.
    """

    records: dict[str, dict[str, Any]]
    problems: tuple[str, ...]
    notes: tuple[str, ...]
    findings: tuple[Finding, ...] = ()


class _EveryRecord(LogReader):
    """Reads also records at which the official parser ends: without ``time_ms``, or with text behind them."""

    def defect(self, defect: Defect) -> None:
        if defect.event is not None:
            self._dispatch([defect.line], [defect.event])


def reference_run(file: Path, log: LogReport, round_: Round) -> LogReport:
    """Return a log with the facts of its run from every record, and with its benchmark as the round calls it."""
    if log.undecodable and not log.without_run:
        fold = RunFold(tally := EventTally())
        read_log(file, _EveryRecord([fold], log_format=round_.log_format, tally=tally))
        log = msgspec.structs.replace(log, run=fold.finish())
    stated = str(log.run.identity.get("submission_benchmark") or "")[:80]
    named = same_name(stated, round_.benchmarks, names_by_title()) or readable(stated)
    return msgspec.structs.replace(log, benchmark=named or None)


def _first_reached(log: LogReport, name: str, round_: Round) -> float | None:
    """Return how far the training had come at the first evaluation that reaches the target."""
    stated = StatedValues(log.run.hyperparameters)
    target = target_of(round_, CLOSED.name, name, stated)
    if target is None:
        return None
    measures = MeasureReader(target, stated)
    reached = (one for one in log.run.evaluations if measures.read(one.event(target.key)).reached)
    point = usable_number(getattr(next(reached, None), unit_of(name), None))
    return None if point is None else round(point, 3)


def build_records(
    logs: Sequence[LogReport],
    name: str,
    round_: Round,
    *,
    prefix: str | None = None,
    hyperparameters: Sequence[str] = (),
    digests: Mapping[str, str] | None = None,
) -> BuiltRecords:
    """Return one record a batch size.

    Args:
        logs: judged logs of one benchmark, each a run of the reference implementation.
        name: the benchmark.
        round_: whose rules apply.
        prefix: stands in the name of each record before its batch size.
        hyperparameters: logged keys to write besides the usual ones.
        digests: the SHA-256 of each log by its path, where runs need not be submissions.
    """
    listed: tuple[Finding, ...] = ()
    if digests is None:
        points = {log.path: progress_of([log.run], name, round_).by_run[0] for log in logs}
    else:
        listed = tuple(one for log in logs for one in log.findings if one.rejects)
        empty = {one.path for one in listed if has_effect(one, Effect.NO_RECORDS)}
        logs = [log for log in logs if log.path not in empty]
        points = {log.path: _first_reached(log, name, round_) for log in logs}
    problems = list(_problems_of_runs(logs, points, submissions=digests is None))
    problems += [f"{copy.path}: {copy.message} ({copy.actual})" for copy in audit_same_runs(fingerprint_logs(logs))]
    problems += _problems_of_keys(logs, hyperparameters)
    stopped = [log for log in logs if log.compliant and not log.run.converged]
    notes = [f"{log.path} did not converge by its own word: its status is {show(log.status)}" for log in stopped]
    keys = [*_usual_keys(name, round_), *hyperparameters]
    needed = 2 * entry_requirements(round_.usage, round_.name, name, round_.overlay).runs
    records: dict[str, dict[str, Any]] = {}
    sized = [(size, log) for log in logs if (size := _size_of(log)) is not None]
    for size, of_size in groupby(sorted(sized, key=itemgetter(0)), itemgetter(0)):
        runs = [log for _, log in of_size]
        if len(runs) < needed:
            (problems if digests is None else notes).append(
                f"batch size {show(size)} has {plural(len(runs), 'run')}, {needed - len(runs)} too few: "
                f"a reference needs {needed}, twice those of an entry"
            )
        if digests is not None and len(runs) <= 2 * cut_of(name):
            notes.append(f"batch size {show(size)} has too few runs for an olympic mean, and is left out")
            continue
        agreed, left_out = _agreed_hyperparameters(runs, keys)
        notes += [f"batch size {show(size)}: {why}, which is left out" for why in left_out]
        records[f"{prefix or f'{name}_ref'}_{show(size)}"] = {
            "Benchmark": name,
            **_provenance(runs),
            "BS": size,
            "Hyperparams": agreed,
            traits_of(name).points: [points[log.path] for log in runs if points[log.path] is not None],
            **({"Logs": {log.path: digests.get(log.path, "") for log in runs}} if digests is not None else {}),
        }
    return BuiltRecords(records, tuple(problems), tuple(notes), listed)


def _problems_of_runs(
    logs: Sequence[LogReport], points: Mapping[str, float | None], *, submissions: bool
) -> Iterator[str]:
    """Yield why a run is none of the reference; ``submissions``: each has to be a run of a submission."""
    for log in logs:
        if submissions and not log.compliant:
            why = next((finding.message for finding in log.findings if finding.rejects), "see mlsub check")
            yield f"{log.path} is noncompliant: {why}"
        elif submissions and not log.run.converged:
            yield f"{log.path} did not converge: its status is {show(log.status)}"
        elif points[log.path] is None:
            yield f"{log.path} does not say at what point it converged"
        elif _size_of(log) is None:
            yield f"{log.path} has no global_batch_size that is a number"


def _problems_of_keys(logs: Sequence[LogReport], hyperparameters: Sequence[str]) -> Iterator[str]:
    """Yield the hyperparameters asked for that no log has."""
    logged = set().union(*(log.run.hyperparameters for log in logs))
    for key in hyperparameters:
        if key not in logged:
            close = get_close_matches(key, sorted(logged), n=1)
            yield f"no log has the hyperparameter {show(key)}" + (f"; did you mean {close[0]}?" if close else "")


def _size_of(log: LogReport) -> int | float | None:
    """Return the batch size, a whole one as such however it was logged; None where no number is logged."""
    size = log.run.hyperparameters.get("global_batch_size")
    if not isinstance(size, (int, float)) or isinstance(size, bool) or not 0 < size < LARGEST_COUNT:
        return None
    return int(size) if size == int(size) else size


def _usual_keys(name: str, round_: Round) -> list[str]:
    """Return the hyperparameters that the rules of the benchmark ask for, and those that its installed reference names.

    They keep the names of the logs: files of earlier rounds have others here and there (optimizer for opt_name), and
    the official tool reads none of them.
    """
    keys = [rule.key for rule in rules_for(round_.usage, round_.name, CLOSED.name, name, round_.overlay).every]
    file = reference_file(round_.usage, round_.ruleset, name)
    if file is not None and not any(problem.severity == "error" for problem in check_reference_file(file)):
        keys += [key for record in json.loads(file.read_bytes()).values() for key in record["Hyperparams"]]
    return [key for key in dict.fromkeys(keys) if key not in _NO_CHOICE]


def _agreed_hyperparameters(runs: Sequence[LogReport], keys: Sequence[str]) -> tuple[dict[str, Any], list[str]]:
    """Return what all runs have set alike; and why a key is left out, that only some have or have otherwise."""
    same: dict[str, Any] = {}
    left_out = []
    for key in dict.fromkeys(keys):
        values = [log.run.hyperparameters[key] for log in runs if log.run.hyperparameters.get(key) is not None]
        if not values:
            continue
        texts = {_json_of(value) for value in values}
        if len(values) < len(runs):
            left_out.append(f"{len(values)} of {len(runs)} runs have {key}")
        elif len(texts) > 1:
            left_out.append(f"the runs differ in {key}")
        elif None in texts or is_deep({"Hyperparams": {key: values[0]}}):
            left_out.append(f"{key} is infinite, not a number, too long or nested too deeply")
        else:
            same[key] = values[0]
    return same, left_out


def _json_of(value: Any) -> str | None:
    """Return a value as JSON, numbers alike however they are written; None for what JSON cannot hold or is too long."""
    plain = value
    if isinstance(value, int) and not isinstance(value, bool) and abs(value) < LARGEST_COUNT:
        plain = float(value)
    try:
        text = json.dumps(plain, allow_nan=False, sort_keys=True)
    except (TypeError, ValueError, RecursionError):
        return None
    return text if len(text) <= _MAX_VALUE else None


def _provenance(runs: Sequence[LogReport]) -> dict[str, str]:
    """Return who ran the reference, when and on what, as the logs say it."""

    def stated(key: str) -> str:
        values = {str(log.run.identity[key]) for log in runs if log.run.identity.get(key)}
        return ", ".join(sorted(values))[:200] or "unknown"

    started = min((log.run.timeline.run_start or 0 for log in runs), default=0)
    day = utc(started) if started > 0 else None
    when = day.date().isoformat() if day else "unknown"
    return {"Creator": stated("submission_org"), "When": when, "Platform": stated("submission_platform")}


def known_records(file: Path) -> dict[str, Any]:
    """Return the records of a file to add to.

    Raises:
        MlsubError: it is not a whole reference file.
    """
    problem = next((one for one in check_reference_file(file) if one.severity == "error"), None)
    if problem is not None:
        where = f"{file}: {problem.record}" if problem.record else str(file)
        raise MlsubError(f"{where}: {problem.message}. Only a whole reference file can be added to.")
    return dict(json.loads(file.read_bytes()))


def problems_of(built: BuiltRecords, known: dict[str, Any]) -> list[str]:
    """Return why records cannot be used beside those that are known; empty where they can."""
    problems = [*built.problems, *(f"{name} is in the file already" for name in built.records if name in known)]
    if problems:
        return problems
    records = {**known, **built.records}
    broken = [f"{p.record or 'the file'}: {p.message}" for p in check_records(records) if p.severity == "error"]
    return broken or against_schema(records)


def against_schema(records: dict[str, Any]) -> list[str]:
    """Return in words where records are not of the official format."""
    schema = json.loads(Path(__file__).with_name("rcp_schema.json").read_text("utf-8"))
    return [f"{'/'.join(map(str, path))}: {message}"[:200] for path, message in find_flaws(records, schema)]


def compare_with_installed(file: Path, built: BuiltRecords, name: str, round_: Round) -> NewReference:
    """Return the points of a file that was written, and where they lie beside those that are installed."""
    algorithm = algorithm_of(round_.usage, round_.name, round_.overlay) or newest_algorithm()
    runs = entry_requirements(round_.usage, round_.name, name, round_.overlay).runs
    earlier = dict(algorithm.earlier).get(name, 0)
    new = {record["BS"] for record in built.records.values()}
    points = [point for point in read_points(file, name, runs, algorithm) if point.batch_size in new]
    there = reference_file(round_.usage, round_.ruleset, name)
    installed: tuple[Point, ...] = ()
    with suppress(MlsubError):
        installed = read_points(there, name, runs, algorithm) if there else ()
    beside = [point for point in installed if point.batch_size not in new]
    kept = prune(sorted([*beside, *points], key=lambda point: point.batch_size), algorithm, runs)
    replaced = {point.batch_size: point.mean for point in installed}
    return NewReference(
        file=str(file),
        benchmark=name,
        unit=unit_words(name, round_),
        installed=len(installed),
        points=tuple(
            NewPoint(
                **msgspec.structs.asdict(point) | {"minimum": point.accepted_from(earlier)},
                kept=point in kept,
                replaces=replaced.get(point.batch_size),
            )
            for point in points
        ),
        notes=built.notes,
        findings=built.findings,
    )
